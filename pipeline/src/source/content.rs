//! The content of a raw file as a stream, decompressed by its suffix: `.gz` (of any number of members) and `.zst`.

use crate::{Error, Result};
use dataset::Location;
use flate2::read::MultiGzDecoder;
use memchr::memchr_iter;
use std::{
    io::{self, BufReader, ErrorKind, Read},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
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
    decompressed(at, at.open()?, &Arc::default())
}

/// The lines of a raw file, by those in its first bytes.
pub(crate) fn lines(at: &Location) -> Result<u64> {
    let (size, read) = (at.size()?, Arc::default());
    let mut content = decompressed(at, at.open()?.take(SAMPLE), &read)?;
    let (mut block, mut bytes, mut lines) = (vec![0; BUFFER], 0, 0);
    // A compressed file that is cut off gives what came before.
    while let Ok(length @ 1..) = content.read(&mut block) {
        lines += memchr_iter(b'\n', &block[..length]).count();
        bytes += length as u64;
        if bytes >= SAMPLED_TEXT {
            break;
        }
    }
    Ok((lines as f64 * size as f64 / read.load(Ordering::Relaxed).max(1) as f64) as u64)
}

/// The text of a file; `read` counts what is taken of the file itself.
fn decompressed(at: &Location, raw: impl Read + Send + 'static, read: &Arc<AtomicU64>) -> Result<Box<dyn Read + Send>> {
    let raw = Counted { raw, read: Arc::clone(read) };
    let expanded = |content| Box::new(Expanded { content, read: Arc::clone(read), given: 0 });
    Ok(match suffix(at.name()) {
        Some(".gz") => expanded(Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, raw))) as Box<dyn Read + Send>),
        Some(_) => expanded(Box::new(zstd::stream::read::Decoder::new(raw).map_err(|source| unreadable(at, 0, source))?)),
        None => Box::new(raw),
    })
}

/// A file, and how much of it was read.
struct Counted<R> {
    raw: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.raw.read(buffer)?;
        self.read.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

/// What a file holds, as long as it is not more than interactions can be compressed.
struct Expanded {
    content: Box<dyn Read + Send>,
    read: Arc<AtomicU64>,
    given: u64,
}

impl Read for Expanded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.content.read(buffer)?;
        self.given += length as u64;
        let most = MOST_EXPANSION * self.read.load(Ordering::Relaxed);
        if self.given > LEAST_BOUND.max(most) {
            let words = format!("it expands to more than {MOST_EXPANSION} times its size");
            return Err(io::Error::new(ErrorKind::FileTooLarge, words));
        }
        Ok(length)
    }
}

/// The file's name without the suffix of its compression.
pub(crate) fn plain_name(at: &Location) -> &str {
    let name = at.name();
    &name[..name.len() - suffix(name).map_or(0, str::len)]
}

/// The error of a reader that failed after `line`.
pub(crate) fn unreadable(at: &Location, line: u64, source: io::Error) -> Error {
    let reason = match source.kind() {
        ErrorKind::UnexpectedEof => "the compressed data ends in the middle; copy or download the file again",
        ErrorKind::InvalidInput | ErrorKind::InvalidData => "it is not what its suffix says; name it by its compression, or copy it again",
        ErrorKind::FileTooLarge => "no interactions are that alike; decompress it first, if it is what it should be",
        _ if suffix(at.name()) == Some(".zst") => "it is no complete zstd file; name it by its compression, or copy it again",
        _ => "its store fails",
    };
    Error::Unreadable { at: at.to_string(), line, reason, source }
}

fn suffix(name: &str) -> Option<&'static str> {
    [".gz", ".zst"].into_iter().find(|suffix| name.ends_with(suffix))
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

    #[test]
    fn compression_goes_by_suffix() {
        assert_eq!(content("plain.csv", b"a,b\n".to_vec()).unwrap(), "a,b\n");
        assert_eq!(content("one.csv.gz", gzip("a,b\n")).unwrap(), "a,b\n");
        assert_eq!(content("two.csv.zst", zstd::encode_all(&b"a,b\n"[..], 1).unwrap()).unwrap(), "a,b\n");
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
        for (name, bytes) in [("cut.gz", gzip(&text)), ("cut.zst", zstd::encode_all(text.as_bytes(), 1).unwrap())] {
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
        for (name, bytes) in [("bomb.zst", bomb), ("bomb.gz", gzip(&"1".repeat(64 << 20)))] {
            let error = content(name, bytes).map(|text| format!("{name}: {} bytes", text.len())).unwrap_err();
            assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::FileTooLarge, "it expands to more than 250 times its size"));
        }
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
        assert_eq!(plain_name(&at("ratings.csv")), "ratings.csv");
    }
}
