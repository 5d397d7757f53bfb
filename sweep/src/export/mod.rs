//! Exports to other programs: the splits of a dataset, to train elsewhere on the same interactions, and the vectors of a trained model.
//!
//! Beside each stand `user_ids.txt` and `item_ids.txt`: own ids, one in a line, in the order of the rows.

mod ids;
mod npy;
mod splits;
mod vectors;

use crate::{model::Model, usage::Usage};
use anyhow::{Result, bail};
use clap::ValueEnum;
use dataset::{Dataset, Location};

/// The content and the format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Splits as RecBole's benchmark files: NAME.train.inter, NAME.valid.inter, NAME.test.inter
    Recbole,
    /// Splits as Parquet tables with LensKit's column names
    Lenskit,
    /// Splits as tab-separated files for Elliot's fixed strategy
    Elliot,
    /// Splits as comma-separated files with own ids
    Csv,
    /// Splits as sparse matrices that scipy.sparse.load_npz reads
    Npz,
    /// Vectors of a trial as arrays of NumPy
    Npy,
    /// Vectors of a trial as one file of tensors
    Safetensors,
    /// Vectors of a trial as tables with own ids
    Parquet,
}

/// Refuses places that must not be written over.
type Check<'a> = &'a dyn Fn(&[Location]) -> Result<()>;

/// A file that is written: its name and its content.
type File = (String, Vec<u8>);

/// The function that makes the files of a dataset's splits, of which the first is told a name.
type OfSplits = fn(&str, &Dataset) -> Result<Vec<splits::PartFile>>;
/// The function that makes the files of a model's vectors.
type OfVectors = fn(&vectors::ModelVectors<'_>) -> Result<Vec<File>>;

/// The function that writes a format: of splits, or of vectors.
enum Writer {
    Splits(OfSplits),
    Vectors(OfVectors),
}

impl ExportFormat {
    fn writer(self) -> Writer {
        match self {
            Self::Recbole => Writer::Splits(splits::recbole::files),
            Self::Lenskit => Writer::Splits(splits::lenskit::files),
            Self::Elliot => Writer::Splits(splits::elliot::files),
            Self::Csv => Writer::Splits(splits::csv::files),
            Self::Npz => Writer::Splits(splits::npz::files),
            Self::Npy => Writer::Vectors(vectors::npy::files),
            Self::Safetensors => Writer::Vectors(vectors::safetensors::files),
            Self::Parquet => Writer::Vectors(vectors::parquet::files),
        }
    }

    /// Whether it is one of vectors, which a trial has.
    pub(crate) fn is_of_vectors(self) -> bool {
        matches!(self.writer(), Writer::Vectors(_))
    }
}

/// Writes the splits of a dataset, under a name that is also that of its folder; gives the folder.
///
/// # Errors
/// A format of vectors, an id that the format cannot hold, a folder with a file of a part that the dataset has not, what `check` refuses, or a store that fails.
pub(crate) fn write_splits(out: &Location, name: &str, dataset: &Dataset, format: ExportFormat, check: Check<'_>) -> Result<Location> {
    let Writer::Splits(files) = format.writer() else {
        return Err(Usage("the format is one of vectors, which a trial has".to_owned()).into());
    };
    let folder = out.join(name);
    let mut written = Vec::new();
    for splits::PartFile { name, content } in files(name, dataset)? {
        match content {
            Some(content) => written.push((name, content)),
            None if folder.join(&name).exists()? => bail!(
                "{folder} has the file {name} of another export, and dataset `{}` has no such part: remove it, or take another `--out`",
                dataset.name
            ),
            None => {}
        }
    }
    write(&folder, dataset, written, check)?;
    Ok(folder)
}

/// Writes the vectors of a model; gives how its scores are made of them.
///
/// # Errors
/// A format of splits, a model without vectors, what `check` refuses, or a store that fails.
pub(crate) fn write_vectors(out: &Location, model: &Model, format: ExportFormat, check: Check<'_>) -> Result<evaluator::Similarity> {
    let Writer::Vectors(files) = format.writer() else {
        return Err(Usage("the format is one of splits, not of a trial".to_owned()).into());
    };
    let named = vectors::ModelVectors::of(model)?;
    write(out, &model.dataset, files(&named)?, check)?;
    Ok(named.similarity)
}

fn write(folder: &Location, dataset: &Dataset, files: Vec<File>, check: Check<'_>) -> Result<()> {
    let (places, contents): (Vec<Location>, Vec<Vec<u8>>) =
        files.into_iter().chain(ids::files(dataset)?).map(|(name, content)| (folder.join(&name), content)).unzip();
    check(&places)?;
    places.iter().zip(contents).try_for_each(|(place, content)| Ok(place.write(content)?))
}
