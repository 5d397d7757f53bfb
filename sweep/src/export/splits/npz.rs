//! Sparse matrices of users and items in compressed rows, as `scipy.sparse.load_npz` reads them; rows and columns are dense ids.
//!
//! ```text
//! format: b'csr'   shape: [users, items]   indptr: [users + 1]   indices, data (ones): [interactions]
//! ```

use super::{super::npy, PartFile};
use anyhow::Result;
use dataset::{Dataset, Interactions};
use std::io::{Cursor, Write};
use zip::{CompressionMethod, DateTime, ZipWriter, write::SimpleFileOptions};

pub(in super::super) fn files(_name: &str, dataset: &Dataset) -> Result<Vec<PartFile>> {
    super::files(dataset, |split| format!("{}.npz", split.name()), |part| matrix(part.interactions, dataset.items()))
}

/// The bytes of an archive, which are the same at any time.
fn matrix(part: &Interactions, items: usize) -> Result<Vec<u8>> {
    let starts: Vec<i64> = part.offsets().iter().map(|&start| start as i64).collect();
    let shape = [part.users() as i64, items as i64];
    let ones = vec![1f32; part.len()];
    let arrays = [
        ("format", npy::bytes("|S3", &[], b"csr")),
        ("shape", npy::bytes("<i8", &[2], bytemuck::cast_slice(&shape))),
        ("indptr", npy::bytes("<i8", &[starts.len()], bytemuck::cast_slice(&starts))),
        ("indices", npy::bytes("<i4", &[part.len()], bytemuck::cast_slice(part.items()))),
        ("data", npy::bytes("<f4", &[part.len()], bytemuck::cast_slice(&ones))),
    ];
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).last_modified_time(DateTime::default());
    for (name, array) in arrays {
        writer.start_file(format!("{name}.npy"), options)?;
        writer.write_all(&array)?;
    }
    Ok(writer.finish()?.into_inner())
}
