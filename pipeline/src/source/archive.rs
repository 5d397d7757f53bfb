//! A file in a zip archive: `ml-1m.zip/ml-1m/ratings.dat`, or `ratings.csv.zip`, where the archive holds one file alone.
//!
//! The archive's directory says where a member's bytes stand; they are read from there as those of any other file are. Names that begin with `_` or `.`
//! are passed over, as macOS packs such beside each file.

use super::files;
use crate::{Error, Result};
use dataset::{Location, quote};
use std::io::{self, Read, Seek, SeekFrom};
use zip::{CompressionMethod, ZipArchive, result::ZipError};

/// What an archive is called.
pub(super) const SUFFIX: &str = ".zip";
/// Bytes of an archive that are read for its directory: some 300,000 members.
const DIRECTORY: u64 = 32 << 20;
/// How the file of interactions is called among the others of a release.
const USUAL: [&str; 4] = ["ratings.", "interactions.", "u.data", "reviews."];
const USUAL_SUFFIX: &str = ".inter";

/// Whether a file that begins so is an archive; also one without members.
pub(super) fn is(first: &[u8]) -> bool {
    first.starts_with(b"PK\x03\x04") || first.starts_with(b"PK\x05\x06")
}

/// The archive through which a path leads, and the member's name in it; `None` for a path through folders alone.
///
/// # Errors
/// When the store cannot tell.
pub(crate) fn through(at: &Location) -> Result<Option<(Location, String)>> {
    let Some((archive, member)) = at.split_after(SUFFIX) else { return Ok(None) };
    Ok(archive.exists()?.then_some((archive, member)))
}

/// Whether a file stands there, in an archive or in none.
///
/// # Errors
/// When the store cannot tell, or an archive cannot be read.
pub(super) fn exists(at: &Location) -> Result<bool> {
    match through(at)? {
        Some((archive, member)) => Ok(Directory::read(&archive)?.names().contains(&member.as_str())),
        None => Ok(at.exists()?),
    }
}

/// The path of the file of interactions in an archive that is looked at for the first time: of one file, or of the one that is called as such files are.
/// Other paths stay.
///
/// # Errors
/// An archive that cannot be read, or whose files of interactions are none or several.
pub(super) fn expanded(path: &str) -> Result<String> {
    if files::are_several(path) || !path.to_ascii_lowercase().ends_with(SUFFIX) {
        return Ok(path.to_owned());
    }
    let at = Location::parse(path)?;
    let mut first = Vec::new();
    at.open()?.take(4).read_to_end(&mut first).map_err(|source| unreadable(&at, source))?;
    if !is(&first) {
        return Ok(path.to_owned());
    }
    let directory = Directory::read(&at)?;
    let names = directory.names();
    let usual: Vec<&str> = names.iter().copied().filter(|name| is_usual(name)).collect();
    match (&names[..], &usual[..]) {
        ([one], _) | (_, [one]) => Ok(format!("{path}/{one}")),
        _ => Err(directory.which()),
    }
}

/// Whether a file is called as files of interactions are.
pub(super) fn is_usual(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    USUAL.iter().any(|usual| last.starts_with(usual)) || last.ends_with(USUAL_SUFFIX)
}

/// The bytes of a member as they stand in its archive.
pub(super) struct Member {
    pub(super) bytes: Box<dyn Read + Send>,
    /// How many these are.
    pub(super) size: u64,
    pub(super) is_deflated: bool,
    /// The checksum of what they hold.
    pub(super) checksum: u32,
}

/// A member, by its name; the only one where none is named.
///
/// # Errors
/// [`Error::File`] for what is no archive that can be read, names no member of it, or does not say which.
pub(super) fn member(at: &Location, name: Option<&str>) -> Result<Member> {
    let mut directory = Directory::read(at)?;
    let place = match name {
        Some(name) => directory.members.iter().position(|member| member.name == plain(name)).ok_or_else(|| {
            let all: Vec<&str> = directory.members.iter().map(|member| member.name.as_str()).collect();
            Error::file(at, format!("the archive has no file `{}`; its files are {}", quote::value(name), quote::names(&all)))
        })?,
        None => directory.only().ok_or_else(|| directory.which())?,
    };
    let ArchiveFile { index, name, .. } = directory.members.swap_remove(place);
    let refused = |reason: &str| Error::file(at, format!("its file `{}` {reason}; decompress the archive first", quote::value(&name)));
    let found = directory.archive.by_index_raw(index).map_err(|error| damaged(at, &error))?;
    if found.encrypted() {
        return Err(refused("is encrypted"));
    }
    let is_deflated = match found.compression() {
        CompressionMethod::Stored => false,
        CompressionMethod::Deflated => true,
        other => return Err(refused(&format!("is compressed by {other} (expected DEFLATE)"))),
    };
    let (start, size, checksum) = (found.data_start(), found.compressed_size(), found.crc32());
    drop(found);
    let start = start.ok_or_else(|| refused("has no place in it"))?;
    let mut file = directory.archive.into_inner().file;
    file.seek(SeekFrom::Start(start)).map_err(|source| unreadable(at, source))?;
    Ok(Member { bytes: Box::new(file.take(size)), size: size.min(at.size()?), is_deflated, checksum })
}

/// What an archive says that it holds.
struct Directory<'a> {
    at: &'a Location,
    archive: ZipArchive<Bounded<Box<dyn ReadSeek>>>,
    members: Vec<ArchiveFile>,
}

/// A file of an archive.
struct ArchiveFile {
    /// Its place in the directory.
    index: usize,
    name: String,
    /// Whether it is called as files of data are: others are read where they are named.
    is_data: bool,
}

/// A name without steps that lead nowhere: `ratings.csv` for `./ratings.csv`.
fn plain(name: &str) -> String {
    name.split('/').filter(|step| !matches!(*step, "" | ".")).collect::<Vec<_>>().join("/")
}

impl<'a> Directory<'a> {
    fn read(at: &'a Location) -> Result<Self> {
        let file = Bounded { file: Box::new(at.seekable()?) as Box<dyn ReadSeek>, left: DIRECTORY };
        let archive = ZipArchive::new(file).map_err(|error| damaged(at, &error))?;
        let mut members = Vec::new();
        for index in 0..archive.len() {
            let name = archive.name_for_index(index).transpose().map_err(|error| damaged(at, &error))?.unwrap_or_default();
            if !name.ends_with('/') {
                let name = plain(&name);
                members.push(ArchiveFile { index, is_data: files::is_data(&name), name });
            }
        }
        Ok(Self { at, archive, members })
    }

    /// The files with data.
    fn names(&self) -> Vec<&str> {
        self.members.iter().filter(|member| member.is_data).map(|member| member.name.as_str()).collect()
    }

    /// The place of the only file with data; `None` where there are none or several.
    fn only(&self) -> Option<usize> {
        let mut places = self.members.iter().enumerate().filter(|(_, member)| member.is_data).map(|(place, _)| place);
        places.next().filter(|_| places.next().is_none())
    }

    /// The error where it is not said which file is meant.
    fn which(&self) -> Error {
        let names = self.names();
        let reason = match (&names[..], self.at.name().to_ascii_lowercase().ends_with(SUFFIX)) {
            ([], _) => match &self.members[..] {
                [] => "the archive holds no file; download it again".to_owned(),
                [first, ..] => {
                    let name = quote::value(&first.name);
                    format!("the archive holds files alone whose path has a `_` or a `.` before a name: name one, as `{}/{name}`", self.at.name())
                }
            },
            _ if names.iter().all(|name| name.ends_with(".npy")) => {
                "it is a file of NumPy or SciPy (`.npz`), which is not read here: from Python `ranksweep.Source.from_frame` takes a frame of users and items".to_owned()
            }
            ([first, ..], true) => {
                format!("the archive holds {}: name one, as `{}/{}`", quote::names(&names), self.at.name(), quote::value(first))
            }
            (_, false) => format!("the archive holds {}: call it `….zip`, so that one can be named", quote::names(&names)),
        };
        Error::file(self.at, reason)
    }
}

/// A file of which so many bytes are read and no more.
struct Bounded<F> {
    file: F,
    left: u64,
}

impl<F: Read> Read for Bounded<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(buffer)?;
        self.left = self
            .left
            .checked_sub(length as u64)
            .ok_or_else(|| io::Error::new(io::ErrorKind::FileTooLarge, format!("its directory is larger than {DIRECTORY} bytes")))?;
        Ok(length)
    }
}

impl<F: Seek> Seek for Bounded<F> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

trait ReadSeek: Read + Seek + Send {}

impl<F: Read + Seek + Send> ReadSeek for F {}

fn damaged(at: &Location, error: &ZipError) -> Error {
    Error::file(at, format!("it is no whole zip archive ({error}); copy or download the file again"))
}

fn unreadable(at: &Location, source: io::Error) -> Error {
    super::content::unreadable(at, 0, source)
}
