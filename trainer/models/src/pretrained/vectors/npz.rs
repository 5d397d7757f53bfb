//! `.npz`: several arrays of NumPy in a ZIP archive, compressed or not.

use super::{super::Content, Vectors, choose, npy};
use std::io::{Cursor, Read};
use zip::ZipArchive;

/// Bytes that any array may take, and how many times the archive's size that of a large one.
const LEAST_BOUND: u64 = 512 << 20;
const MOST_EXPANSION: u64 = 1_000;

/// Reads the array of a name, or the only one.
pub(super) fn read(content: &Content, key: Option<&str>) -> Result<Vectors, String> {
    let refuse = |error: zip::result::ZipError| format!("it is no .npz file: {error}");
    let mut archive = ZipArchive::new(Cursor::new(&content.bytes)).map_err(refuse)?;
    let files: Vec<String> = archive.file_names().map(|name| Ok(name.map_err(refuse)?.into_owned())).collect::<Result<_, String>>()?;
    let names: Vec<&str> = files.iter().filter_map(|name| name.strip_suffix(".npy")).collect();
    let name = choose(&names, key, "array")?;
    let entry = archive.by_name(&format!("{name}.npy")).map_err(refuse)?;
    let most = LEAST_BOUND.max(MOST_EXPANSION * content.bytes.len() as u64);
    let mut bytes = Vec::new();
    entry.take(most + 1).read_to_end(&mut bytes).map_err(|error| format!("its array `{name}` cannot be decompressed: {error}"))?;
    if bytes.len() as u64 > most {
        return Err(format!("its array `{name}` expands to more than {} MiB", most >> 20));
    }
    npy::parse(&bytes).map_err(|reason| format!("array `{name}`: {reason}"))
}
