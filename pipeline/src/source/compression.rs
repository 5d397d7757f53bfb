//! How a raw file is compressed, told by its first bytes, whatever it is called: gzip, zstd, bzip2 and xz, each of any number of members.
//!
//! What a decoder may take is bounded, since a header of a few bytes can ask for gigabytes.

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use std::io::{self, BufReader, Read};

/// First bytes that tell a compression.
pub(super) const FIRST: u64 = 10;
/// What the files are called, for names without them.
pub(super) const SUFFIXES: [&str; 5] = [".gz", ".zst", ".bz2", ".xz", ".zip"];
/// Bytes of the buffer before decompression.
const BUFFER: usize = 256 << 10;
/// KiB that a decoder may take, as zstd's own limit is: `xz -9` asks for half of it.
const XZ_MEMORY: u32 = 128 << 10;

/// A compression of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
}

impl Compression {
    /// The one that begins with these bytes, which no text does.
    pub(super) fn of(first: &[u8]) -> Option<Self> {
        match first {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            // The digits of pi begin a block, those of its root the end of a file without any.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, ..] => Some(Self::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            _ => None,
        }
    }

    /// What the bytes hold.
    pub(super) fn decoder(self, raw: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
        let raw = BufReader::with_capacity(BUFFER, raw);
        Ok(match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(raw)),
            Self::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(raw)?),
            Self::Bzip2 => Box::new(MultiBzDecoder::new(raw)),
            Self::Xz => Box::new(XzReader::new_mem_limit(raw, true, XZ_MEMORY)),
        })
    }
}
