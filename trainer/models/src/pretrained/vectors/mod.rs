//! Vectors of users or items, from a file: `.npy`, `.npz`, `.safetensors` or `.parquet`. A format is one file and one line.
//!
//! Rows of a Parquet file have ids of their own. Those of all other formats have the ids of a text file beside it, one in a line, or are in the
//! order of the prepared dataset, as `ranksweep export` writes it. Numbers of 16, 32 and 64 bits are taken as 32-bit floats.

mod npy;
mod npz;
mod parquet;
mod safetensors;

use super::{
    Content, Findings, Side,
    findings::{Named, counted},
    suffix,
};
use dataset::panics;
use vectors::Matrix;

/// Rows of numbers as a file has them.
#[derive(Debug, PartialEq)]
pub struct Vectors {
    /// Numbers of a row.
    dim: usize,
    /// `[rows, dim]`
    values: Vec<f32>,
    /// The rows' own ids, where the file has them.
    ids: Option<Vec<String>>,
}

/// What reads a file: its content, and the name of an array, a tensor or a column in it.
type Read = fn(&Content, Option<&str>) -> Result<Vectors, String>;

/// The formats by the suffixes of their files.
const FORMATS: [(&str, Read); 4] = [("npy", npy::read), ("npz", npz::read), ("safetensors", safetensors::read), ("parquet", parquet::read)];

/// Whether the format of a file has ids of its own.
pub fn has_ids(name: &str) -> bool {
    suffix(name) == "parquet"
}

/// Checks that a file's name says its format.
///
/// # Errors
/// In words: an unknown suffix.
pub fn check_name(name: &str) -> Result<(), String> {
    format(name).map(drop)
}

fn format(name: &str) -> Result<Read, String> {
    let found = suffix(name);
    let read = FORMATS.into_iter().find(|(suffix, _)| *suffix == found).map(|(_, read)| read);
    read.ok_or_else(|| format!("`{}` has an unknown suffix (expected .npy, .npz, .safetensors or .parquet)", dataset::quote::value(name)))
}

impl Vectors {
    /// Reads a file by its suffix; `key` names the array, the tensor or the column where there are several, and `ids` is the file of own ids.
    ///
    /// # Errors
    /// In words, with the file: what is no such file, has no such key, or no two dimensions.
    pub fn read(content: &Content, key: Option<&str>, ids: Option<&Content>) -> Result<Self, String> {
        let read = format(content.at.name()).and_then(|read| {
            // Decoders trust what a file says of itself.
            panics::caught(|| read(content, key)).unwrap_or_else(|_| Err("its content contradicts itself".to_owned()))
        });
        let mut vectors = read.map_err(|reason| format!("{}: {reason}", content.at))?;
        if let Some(ids) = ids {
            let found = lines(ids)?;
            if found.len() != vectors.rows() {
                return Err(format!("{} has {} ids and {} has {} rows", ids.at, found.len(), content.at, vectors.rows()));
            }
            vectors.ids = Some(found);
        }
        Ok(vectors)
    }

    /// Makes vectors of a shape and as many values.
    fn of_shape(shape: &[usize], values: Vec<f32>) -> Result<Self, String> {
        match *shape {
            [_, dim] if dim > 0 => Ok(Self { dim, values, ids: None }),
            _ => Err(format!("its shape is {shape:?} (expected two dimensions: a row of numbers for each user or item)")),
        }
    }

    fn rows(&self) -> usize {
        self.values.len() / self.dim
    }

    /// Numbers of a row.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The rows in the order of dense ids; a user without train interactions who has no row has zeros. `None`, with the reasons, where that is not
    /// possible.
    pub fn in_order(self, content: &Content, side: &Side<'_>, findings: &mut Findings) -> Option<Matrix> {
        let (at, noun, rows) = (&content.at, side.noun, self.rows());
        let places = match &self.ids {
            None if rows != side.ids.len() => {
                findings.wrong(format!(
                    "{at}: {} for {}: rows without ids are in the order of {noun}_ids.txt, which `ranksweep export` writes; or name the file of their ids by `{noun}_ids`",
                    counted(rows, "row"),
                    side.counted()
                ));
                return None;
            }
            None => (0..rows).map(Some).collect(),
            Some(ids) => places(ids, at, side, findings)?,
        };
        let mut values = vec![0.0; side.ids.len() * self.dim];
        let mut not_finite = Named::default();
        for ((place, row), id) in places.iter().zip(values.chunks_exact_mut(self.dim)).zip(side.ids) {
            let Some(place) = place else { continue };
            row.copy_from_slice(&self.values[place * self.dim..(place + 1) * self.dim]);
            if row.iter().any(|value| !value.is_finite()) {
                not_finite.add(id);
            }
        }
        if let Some(words) = not_finite.words(noun) {
            findings.wrong(format!("{at}: vectors with NaN or infinite numbers, as 32-bit floats, of {words}"));
            return None;
        }
        Some(Matrix { rows: side.ids.len(), dim: self.dim, values })
    }
}

/// The row of each dense id. Ids that are not known are a remark; doubled ones are not possible, and missing ones are not but for users of whom no
/// training can know.
fn places(ids: &[String], at: &dataset::Location, side: &Side<'_>, findings: &mut Findings) -> Option<Vec<Option<usize>>> {
    let noun = side.noun;
    let mut places = vec![None; side.ids.len()];
    let (mut doubled, mut unknown, mut missing, mut late) = (Named::default(), Named::default(), Named::default(), Named::default());
    for (row, id) in ids.iter().enumerate() {
        match side.dense(id) {
            None => unknown.add(id),
            Some(dense) if places[dense as usize].is_some() => doubled.add(id),
            Some(dense) => places[dense as usize] = Some(row),
        }
    }
    for ((place, id), is_known) in places.iter().zip(side.ids).zip(&side.is_known) {
        match place {
            None if !is_known => late.add(id),
            None => missing.add(id),
            Some(_) => {}
        }
    }
    let all_unknown = unknown.count() == ids.len() && !ids.is_empty();
    if all_unknown {
        let words = unknown.words("id").unwrap_or_default();
        let example = side.ids.first().map_or_else(String::new, |id| format!(" such as `{}`", dataset::quote::value(id)));
        findings.wrong(format!("{at}: none of its {words} is a {noun} of the dataset (expected the {noun}s' own ids{example})"));
        return None;
    }
    if let Some(words) = doubled.words(noun) {
        findings.wrong(format!("{at}: more than one row for {words}"));
    }
    if let Some(words) = missing.words(noun) {
        let advice = match noun {
            "item" => "; give items that its training did not see a row too",
            _ => "; give one to each with train interactions or a history to fold in",
        };
        findings.wrong(format!("{at}: no row for {words} of {}{advice}", side.counted()));
    }
    if doubled.count() + missing.count() > 0 {
        return None;
    }
    if let Some(words) = unknown.words(noun) {
        findings.remark(format!("rows of {words} that the dataset does not have were passed over"));
    }
    if let Some(words) = late.words(noun) {
        findings.remark(format!("zeros stand for {words} without train interactions, who had no row"));
    }
    Some(places)
}

/// The ids of a text file, one in a line.
fn lines(ids: &Content) -> Result<Vec<String>, String> {
    let text = std::str::from_utf8(&ids.bytes).map_err(|_| format!("{} is no UTF-8 text (expected one id in a line)", ids.at))?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text).lines().map(str::to_owned).collect())
}

/// The name that is asked for among those that there are, or the only one.
fn choose<'n>(names: &[&'n str], key: Option<&str>, what: &str) -> Result<&'n str, String> {
    let found = || if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", dataset::quote::names(names)) };
    match (key, names) {
        (Some(key), _) => names
            .iter()
            .find(|name| **name == key)
            .copied()
            .ok_or_else(|| format!("no {what} `{}`; {}", dataset::quote::value(key), found())),
        (None, [only]) => Ok(only),
        (None, _) => Err(format!("which {what} is meant is not clear: {}; name one by `user_key` or `item_key`", found())),
    }
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
