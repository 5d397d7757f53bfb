//! The content of a raw file as a stream, decompressed by its suffix: `.gz` (of any number of members) and `.zst`.

use crate::{Error, Result};
use dataset::Location;
use flate2::read::MultiGzDecoder;
use memchr::memchr_iter;
use std::io::{self, BufReader, ErrorKind, Read};

/// Bytes from which lines are counted.
const SAMPLE: u64 = 1 << 20;
/// Bytes of the buffer before decompression.
const BUFFER: usize = 256 << 10;

/// Opens a raw file, to be read in large blocks.
pub(crate) fn open(at: &Location) -> Result<Box<dyn Read + Send>> {
    decompressed(at, at.open()?)
}

/// The lines of a raw file, by those in its first bytes.
pub(crate) fn lines(at: &Location) -> Result<u64> {
    let size = at.size()?;
    let mut text = Vec::new();
    // A compressed file that is cut off gives what came before.
    let _ = decompressed(at, at.open()?.take(SAMPLE))?.read_to_end(&mut text);
    let lines = memchr_iter(b'\n', &text).count() as u64;
    Ok((lines as f64 * size as f64 / SAMPLE.min(size).max(1) as f64) as u64)
}

fn decompressed(at: &Location, raw: impl Read + Send + 'static) -> Result<Box<dyn Read + Send>> {
    Ok(match suffix(at.name()) {
        Some(".gz") => Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, raw))),
        Some(_) => Box::new(zstd::stream::read::Decoder::new(raw).map_err(|source| unreadable(at, 0, source))?),
        None => Box::new(raw),
    })
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
    fn the_plain_name_has_no_suffix_of_compression() {
        let at = |name: &str| Location::parse(&format!("memory:///content/{name}")).unwrap();
        assert_eq!(plain_name(&at("ratings.dat.gz")), "ratings.dat");
        assert_eq!(plain_name(&at("ratings.csv")), "ratings.csv");
    }
}
