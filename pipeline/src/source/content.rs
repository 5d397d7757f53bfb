//! The content of a raw file as a stream, taken out of its archive and decompressed by what its first bytes say.

use super::{
    archive::{self, Member},
    compression::{self, Compression, SUFFIXES},
};
use crate::{Error, Result, checksum};
use dataset::{Location, panics};
use flate2::{CrcReader, read::DeflateDecoder};
use memchr::memchr_iter;
use std::{
    io::{self, BufReader, Cursor, ErrorKind, Read},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

/// Bytes of the file from which lines are counted, and bytes of text that are looked at for that.
const SAMPLE: u64 = 1 << 20;
const SAMPLED_TEXT: u64 = 16 << 20;
/// Bytes of the buffer before decompression.
const BUFFER: usize = 256 << 10;
/// Text that a compressed file may hold whatever its size; and how many times its size a larger one.
const LEAST_BOUND: u64 = 16 << 20;
const MOST_EXPANSION: u64 = 250;

/// Opens a raw file, to be read in large blocks.
pub(crate) fn open(at: &Location) -> Result<Box<dyn Read + Send>> {
    Raw::open(at)?.text(at, u64::MAX, &Arc::default())
}

/// The lines of a raw file, by those in its first bytes.
pub(crate) fn lines(at: &Location) -> Result<u64> {
    count(at, |block| memchr_iter(b'\n', block).count())
}

/// What a raw file has of something, by what `counted` finds in blocks of its first bytes.
pub(crate) fn count(at: &Location, counted: impl Fn(&[u8]) -> usize) -> Result<u64> {
    let (raw, taken) = (Raw::open(at)?, Arc::<Taken>::default());
    let size = raw.size.map_or_else(|| at.size(), Ok)?;
    let mut content = raw.text(at, SAMPLE, &taken)?;
    let (mut block, mut bytes, mut found) = (vec![0; BUFFER], 0, 0);
    // A compressed file that is cut off gives what came before.
    while let Ok(length @ 1..) = content.read(&mut block) {
        found += counted(&block[..length]);
        bytes += length as u64;
        if bytes >= SAMPLED_TEXT {
            break;
        }
    }
    Ok((found as f64 * size as f64 / taken.bytes.load(Ordering::Relaxed).max(1) as f64) as u64)
}

/// The bytes of a file as they are stored, in an archive or in none.
struct Raw {
    bytes: Box<dyn Read + Send>,
    /// How many there are, where an archive says so.
    size: Option<u64>,
    /// What an archive says of them.
    packed: Option<Packed>,
}

/// How an archive holds a file.
struct Packed {
    is_deflated: bool,
    checksum: u32,
}

impl Raw {
    fn open(at: &Location) -> Result<Self> {
        let of_member = |Member { bytes, size, is_deflated, checksum }: Member| Self {
            bytes,
            size: Some(size),
            packed: Some(Packed { is_deflated, checksum }),
        };
        if let Some((archive, name)) = archive::through(at)? {
            return archive::member(&archive, Some(&name)).map(of_member);
        }
        let (first, bytes) = peeked(verified(at)?).map_err(|source| unreadable(at, 0, source))?;
        match archive::is(&first) {
            true => archive::member(at, None).map(of_member),
            false => Ok(Self { bytes, size: None, packed: None }),
        }
    }

    /// What the first so many bytes hold; `taken` counts those that were read of them.
    fn text(self, at: &Location, bytes: u64, taken: &Arc<Taken>) -> Result<Box<dyn Read + Send>> {
        let raw = Box::new(Counted { raw: self.bytes.take(bytes), taken: Arc::clone(taken) });
        let content = match self.packed {
            Some(Packed { is_deflated: true, checksum }) => {
                let content = CrcReader::new(expanded(Box::new(DeflateDecoder::new(BufReader::with_capacity(BUFFER, raw))), taken));
                Box::new(Checked { content, checksum }) as Box<dyn Read + Send>
            }
            Some(Packed { is_deflated: false, checksum }) => Box::new(Checked { content: CrcReader::new(raw), checksum }),
            None => raw,
        };
        let failed = |source| unreadable(at, 0, source);
        let (first, content) = peeked(content).map_err(failed)?;
        Ok(match Compression::of(&first) {
            Some(compression) => expanded(compression.decoder(content).map_err(failed)?, taken),
            None => content,
        })
    }
}

/// A file whose bytes are held, when the last of them was read, against the checksum that the dataset's fingerprint has of them.
fn verified(at: &Location) -> Result<Box<dyn Read + Send>> {
    let bytes = at.open()?;
    Ok(match checksum::known(at)? {
        Some(checksum) => Box::new(Verified { bytes, hash: blake3::Hasher::new(), checksum }),
        None => Box::new(bytes),
    })
}

struct Verified<R> {
    bytes: R,
    hash: blake3::Hasher,
    checksum: String,
}

impl<R: Read> Read for Verified<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.bytes.read(buffer)?;
        self.hash.update(&buffer[..length]);
        match length == 0 && !buffer.is_empty() && self.hash.finalize().to_string() != self.checksum {
            true => Err(io::Error::other(OtherBytes)),
            false => Ok(length),
        }
    }
}

/// A file has other bytes than its checksum is of.
#[derive(Debug, thiserror::Error)]
#[error("its bytes are not those that its checksum was taken of")]
struct OtherBytes;

/// The first bytes, and all of them.
fn peeked(mut bytes: impl Read + Send + 'static) -> io::Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut first = Vec::new();
    bytes.by_ref().take(compression::FIRST).read_to_end(&mut first)?;
    Ok((first.clone(), Box::new(Cursor::new(first).chain(bytes))))
}

/// What was read of a file.
#[derive(Default)]
struct Taken {
    bytes: AtomicU64,
    /// Whether the file itself could not be read further.
    has_failed: AtomicBool,
}

/// A file, and what is taken of it.
struct Counted<R> {
    raw: R,
    taken: Arc<Taken>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.raw.read(buffer).inspect_err(|_| self.taken.has_failed.store(true, Ordering::Relaxed))?;
        self.taken.bytes.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

fn expanded(content: Box<dyn Read + Send>, taken: &Arc<Taken>) -> Box<dyn Read + Send> {
    Box::new(Expanded { content, taken: Arc::clone(taken), given: 0 })
}

/// What a compressed file holds, as long as it is not more than interactions can be compressed.
struct Expanded {
    content: Box<dyn Read + Send>,
    taken: Arc<Taken>,
    given: u64,
}

impl Read for Expanded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let content = &mut self.content;
        let read = panics::caught(|| content.read(buffer)).unwrap_or_else(|panic| Err(io::Error::new(ErrorKind::InvalidData, panic)));
        let length = read.map_err(|error| match error.kind() {
            ErrorKind::Interrupted | ErrorKind::UnexpectedEof | ErrorKind::OutOfMemory | ErrorKind::FileTooLarge => error,
            _ if self.taken.has_failed.load(Ordering::Relaxed) => error,
            // Zstandard's decoder has no kind for a window beyond its bound.
            _ if error.to_string().contains("too much memory") => io::Error::new(ErrorKind::OutOfMemory, error),
            _ => io::Error::new(ErrorKind::InvalidData, error),
        })?;
        self.given += length as u64;
        let most = MOST_EXPANSION * self.taken.bytes.load(Ordering::Relaxed);
        if self.given > LEAST_BOUND.max(most) {
            let words = format!("it expands to more than {MOST_EXPANSION} times its size");
            return Err(io::Error::new(ErrorKind::FileTooLarge, words));
        }
        Ok(length)
    }
}

/// What an archive holds, with the checksum that it has of it.
struct Checked<R> {
    content: CrcReader<R>,
    checksum: u32,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.content.read(buffer)?;
        match length == 0 && !buffer.is_empty() && self.content.crc().sum() != self.checksum {
            true => Err(io::Error::new(ErrorKind::InvalidData, "its checksum is not the one in the archive")),
            false => Ok(length),
        }
    }
}

/// The file's name without the suffix of its compression or archive.
pub(crate) fn plain_name(at: &Location) -> &str {
    let name = at.name();
    let suffix = SUFFIXES.into_iter().find(|suffix| name.ends_with(suffix));
    &name[..name.len() - suffix.map_or(0, str::len)]
}

/// The error of a reader that failed after `line`.
pub(crate) fn unreadable(at: &Location, line: u64, source: io::Error) -> Error {
    if source.get_ref().is_some_and(|inner| inner.is::<OtherBytes>()) {
        return Error::Changed { at: at.to_string() };
    }
    let reason = match source.kind() {
        ErrorKind::UnexpectedEof => "the compressed data ends in the middle; copy or download the file again",
        ErrorKind::InvalidInput | ErrorKind::InvalidData => "the compressed data is damaged; copy or download the file again",
        ErrorKind::FileTooLarge => "no interactions are that alike; decompress it first, if it is what it should be",
        ErrorKind::OutOfMemory => {
            "its decompression takes too much memory; compress it with a smaller dictionary or window, or decompress it first"
        }
        _ => "its store fails",
    };
    Error::Unreadable { at: at.to_string(), line, reason, source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn content(name: &str, bytes: Vec<u8>) -> io::Result<String> {
        let at = Location::parse(&format!("memory:///content/{name}")).unwrap();
        at.write(bytes).unwrap();
        let mut text = String::new();
        open(&at).unwrap().read_to_string(&mut text)?;
        Ok(text)
    }

    /// What other programs made of [`rows`]: see `tests/packed/make.py`.
    macro_rules! packed {
        ($($name:literal),+) => {
            [$(($name, include_bytes!(concat!("../../tests/packed/", $name)).to_vec())),+]
        };
    }

    fn rows() -> String {
        (0..400).map(|n| format!("u{},i{},{},{n}\n", n % 17, n * 7919 % 101, n % 5 + 1)).collect()
    }

    #[test]
    fn compression_goes_by_the_first_bytes() {
        assert_eq!(content("plain.csv.gz", b"a,b\n".to_vec()).unwrap(), "a,b\n");
        assert_eq!(content("one.csv", gzip("a,b\n")).unwrap(), "a,b\n");
        assert_eq!(content("two.csv.gz", zstd::encode_all(&b"a,b\n"[..], 1).unwrap()).unwrap(), "a,b\n");
        assert_eq!(
            (content("none.csv", vec![]).unwrap(), content("letters.csv", b"BZh9,b\n".to_vec()).unwrap()),
            (String::new(), "BZh9,b\n".into())
        );
        for (name, bytes) in packed!("ratings.bz2", "ratings.xz", "ratings.zip", "stored.zip", "streamed.zip", "nested.zip") {
            assert_eq!(content(name, bytes.clone()).unwrap(), rows(), "{name}");
            assert_eq!(content("another-name.csv", bytes).unwrap(), rows(), "{name}");
        }
    }

    /// All formats have checksums: whatever changes, there are the rows, or an error, or a file that is no longer known for a compressed one.
    #[test]
    fn a_changed_byte_gives_no_other_rows() {
        for (name, whole) in packed!("ratings.bz2", "ratings.xz", "ratings.zip", "stored.zip", "nested.zip") {
            let mut errors = 0;
            for place in 0..whole.len() {
                let mut bytes = whole.clone();
                bytes[place] ^= 0x55;
                let at = Location::parse(&format!("memory:///content/changed-{name}")).unwrap();
                at.write(bytes.clone()).unwrap();
                let mut found = Vec::new();
                match open(&at).and_then(|mut text| text.read_to_end(&mut found).map_err(|source| unreadable(&at, 0, source))) {
                    Ok(_) => assert!(found == rows().into_bytes() || found == bytes, "{name} {place}"),
                    Err(_) => errors += 1,
                }
            }
            assert!(2 * errors > whole.len(), "{name}: {errors}");
        }
    }

    #[test]
    fn all_members_are_read() {
        let members = [gzip("a,b\n"), gzip("c,d\n")].concat();
        assert_eq!(content("members.gz", members).unwrap(), "a,b\nc,d\n");
        let frames = [zstd::encode_all(&b"a\n"[..], 1).unwrap(), zstd::encode_all(&b"b\n"[..], 1).unwrap()].concat();
        assert_eq!(content("frames.zst", frames).unwrap(), "a\nb\n");
    }

    #[test]
    fn a_cut_file_is_no_shorter_file() {
        let text: String = (0..5_000).map(|n| format!("{n},{}\n", n * 7919 % 1_000)).collect();
        let made = [("cut.gz", gzip(&text)), ("cut.zst", zstd::encode_all(text.as_bytes(), 1).unwrap())];
        for (name, bytes) in made.into_iter().chain(packed!("ratings.bz2", "ratings.xz")) {
            let half = bytes[..bytes.len() / 2].to_vec();
            assert_eq!(content(name, half).unwrap_err().kind(), ErrorKind::UnexpectedEof, "{name}");
        }
    }

    #[test]
    fn a_bomb_is_refused_and_its_lines_are_not_all_counted() {
        let text = "u1,i1\n".repeat(40 << 20 >> 2);
        let bomb = zstd::encode_all(text.as_bytes(), 1).unwrap();
        let at = Location::parse("memory:///content/bomb.csv.zst").unwrap();
        at.write(bomb.clone()).unwrap();
        assert!(lines(&at).unwrap() > 1 << 20);
        let made = [("bomb.zst", bomb), ("bomb.gz", gzip(&"1".repeat(64 << 20)))];
        for (name, bytes) in made.into_iter().chain(packed!("bomb.bz2", "bomb.xz", "bomb.zip")) {
            let error = content(name, bytes).map(|text| format!("{name}: {} bytes", text.len())).unwrap_err();
            assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::FileTooLarge, "it expands to more than 250 times its size"));
        }
    }

    /// A dictionary of a gigabyte, of which the header alone tells.
    #[test]
    fn a_decoder_that_asks_for_much_memory_is_refused() {
        let [(name, bytes)] = packed!("wide.xz");
        assert_eq!(content(name, bytes).unwrap_err().kind(), ErrorKind::OutOfMemory);
    }

    #[test]
    fn lines_are_counted_as_the_file_is_large() {
        let text: String = (0u64..400_000).map(|n| format!("{},{}\n", n * 7919 % 100_003, n * 31 % 9_973)).collect();
        let at = |name: &str| Location::parse(&format!("memory:///content/{name}")).unwrap();
        for (name, bytes) in [("lines.csv", text.clone().into_bytes()), ("lines.csv.gz", gzip(&text))] {
            at(name).write(bytes).unwrap();
            let counted = lines(&at(name)).unwrap();
            assert!((380_000..420_000).contains(&counted), "{name}: {counted}");
        }
    }

    #[test]
    fn the_plain_name_has_no_suffix_of_compression() {
        let at = |name: &str| Location::parse(&format!("memory:///content/{name}")).unwrap();
        assert_eq!(plain_name(&at("ratings.dat.gz")), "ratings.dat");
        assert_eq!((plain_name(&at("ratings.csv")), plain_name(&at("ratings.csv.zip"))), ("ratings.csv", "ratings.csv"));
    }
}
