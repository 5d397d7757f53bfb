//! A scorer on storage.
//!
//! ```text
//! scorer.safetensors   f32 tensors: users [users, dim] and items [items, dim], with a network layer1.weights [out, in], layer1.bias [1, out] and
//!                      so on, or weights [items, items]; or a sparse table: starts [rows + 1] as u64, columns [entries] as u32 and values [entries];
//!                      or top-N lists: starts [users + 1] as u64, items [entries] as u32 and scores [entries] as f64
//! scorer.json          schema version, kind, sizes, similarity, and the checksum of the tensors; written last, and a marker
//! ```

use super::{Scorer, Sizes, tensors::Tensors};
use crate::{Error, Result};
use dataset::{FileEntry, Location, TensorFile, marker};
use serde::{Deserialize, Serialize};

/// The version of this contract: 2, as the description has a checksum of its own.
const SCHEMA_VERSION: u32 = 2;
/// What to do where a checkpoint is damaged.
const REMEDY: &str = "delete the trial's folder and train it again";
/// The description's name.
const DESCRIPTION: &str = "scorer.json";
/// The name of the tensors' file.
const TENSORS: &str = "scorer.safetensors";

/// `scorer.json`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    schema_version: u32,
    scorer: Sizes,
    tensors: FileEntry,
}

/// What every version of a description has.
#[derive(Deserialize)]
struct Version {
    schema_version: u32,
}

impl Description {
    /// Reads a description and checks its version and its own checksum.
    fn read(at: &Location) -> Result<Self> {
        let refuse = |reason| Error::Scorer { at: at.to_string(), reason };
        // The version first: another one may have other keys, and an older one no checksum of its own.
        match serde_json::from_slice::<Version>(&at.read()?).map(|stored| stored.schema_version) {
            Ok(newer) if newer > SCHEMA_VERSION => {
                let reason =
                    format!("schema version {newer} is newer than {SCHEMA_VERSION}, which this build reads; use a newer ranksweep");
                Err(refuse(reason))
            }
            Ok(older) if older < SCHEMA_VERSION => {
                Err(refuse(format!("schema version {older} where this build reads {SCHEMA_VERSION}; train the trial again")))
            }
            _ => Ok(marker::read(at, REMEDY)?),
        }
    }
}

/// What the files of a checkpoint hold: the tensors where they are, and their description.
pub struct CheckpointContent<'a> {
    tensors: TensorFile<'a>,
    description: String,
}

impl CheckpointContent<'_> {
    /// The names of the files and their contents in pieces, in the order in which they are to be written.
    pub fn files(&self) -> [(&'static str, Vec<&[u8]>); 2] {
        [(TENSORS, self.tensors.pieces()), (DESCRIPTION, vec![self.description.as_bytes()])]
    }
}

impl Scorer {
    /// Writes the tensors and then their description into a checkpoint's folder.
    ///
    /// # Errors
    /// As for [`content`](Self::content), and [`Error::Dataset`] when it cannot be stored.
    pub fn write(&self, folder: &Location) -> Result<()> {
        let content = self.content(folder)?;
        content.files().iter().try_for_each(|(name, pieces)| Ok(folder.join(name).write_pieces(pieces)?))
    }

    /// What the files of a checkpoint hold; `folder` names it in errors.
    ///
    /// # Errors
    /// [`Error::Scorer`] for a value that is not finite or sizes that do not fit.
    pub fn content(&self, folder: &Location) -> Result<CheckpointContent<'_>> {
        let refuse = |reason| Error::Scorer { at: folder.to_string(), reason };
        self.check().map_err(refuse)?;
        let tensors = TensorFile::new(self.tensors(), None).map_err(|error| refuse(error.to_string()))?;
        let entry = FileEntry::of_pieces(&tensors.pieces());
        let description = Description { schema_version: SCHEMA_VERSION, scorer: self.sizes(), tensors: entry };
        Ok(CheckpointContent { tensors, description: marker::text(&description) })
    }

    /// Reads a checkpoint and checks it against its description.
    ///
    /// # Errors
    /// [`Error::Dataset`] for a missing or damaged file; [`Error::Scorer`] for another schema version, sizes that do not fit, or a value that
    /// is not finite, with its tensor and row.
    pub fn read(folder: &Location) -> Result<Self> {
        Self::described(folder, &folder.join(DESCRIPTION))
    }

    /// Reads the checkpoint of a trial whose marker says what description it has.
    ///
    /// # Errors
    /// As for [`read`](Self::read), and [`Error::Dataset`] for another description.
    pub fn read_marked(folder: &Location, description: &FileEntry) -> Result<Self> {
        Self::described(folder, &folder.join(DESCRIPTION).holding(description, REMEDY))
    }

    fn described(folder: &Location, description: &Location) -> Result<Self> {
        let description = Description::read(description)?;
        let at = folder.join(TENSORS).holding(&description.tensors, REMEDY);
        let refuse = |reason| Error::Scorer { at: at.to_string(), reason };
        let bytes = at.read()?;
        let tensors = Tensors::of(&bytes).map_err(refuse)?;
        let scorer = Self::of_sizes(description.scorer, &tensors).map_err(refuse)?;
        scorer.check().map_err(refuse)?;
        Ok(scorer)
    }

    /// The checksum of a checkpoint's tensors (SHA-256, in hex), as its description has it.
    ///
    /// # Errors
    /// As for [`read`](Self::read), of the description alone.
    pub fn checksum(folder: &Location) -> Result<String> {
        Ok(Description::read(&folder.join(DESCRIPTION))?.tensors.sha256)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scorer::tensors::view;
    use crate::{
        Factors, Histories, ItemWeights, Layer, Lists, Matrix, Network, Similarity, SparseItemWeights, SparseMatrix, TanhLayer,
        UserNeighbours,
    };
    use safetensors::Dtype;

    fn factors(values: Vec<f32>) -> Scorer {
        let users = Matrix { rows: values.len() / 2, dim: 2, values };
        let items = Matrix { rows: 1, dim: 2, values: vec![0.5, -0.25] };
        Scorer::Factors(Factors { users, items, similarity: Similarity::Cosine })
    }

    /// `[[0, 0.5, 0], [0, 0, 0], [-0.25, 0, 1.5]]`
    fn sparse_weights() -> SparseMatrix {
        SparseMatrix::from_rows(3, &[vec![(1, 0.5)], vec![], vec![(0, -0.25), (2, 1.5)]])
    }

    #[test]
    fn what_is_written_is_read() {
        let weights = Matrix { rows: 2, dim: 2, values: vec![0.0, 1.5, f32::MIN_POSITIVE, 0.0] };
        let matrix = |rows: usize, dim: usize| Matrix { rows, dim, values: (0..rows * dim).map(|at| at as f32 - 1.5).collect() };
        let layers = vec![Layer { weights: matrix(2, 3), bias: matrix(1, 2) }, Layer { weights: matrix(1, 2), bias: matrix(1, 1) }];
        let network = Scorer::Network(Network { users: matrix(4, 5), items: matrix(6, 5), product: 2, layers });
        let product = Scorer::Network(Network { users: matrix(4, 5), items: matrix(6, 5), product: 5, layers: vec![] });
        let tanh_layer = Scorer::TanhLayer(TanhLayer { users: matrix(4, 6), items: matrix(5, 6), weights: matrix(1, 3) });
        let factors = factors(vec![1.0, 2.0, 3.0, -0.0]);
        let similarity = Similarity::Dot;
        let histories = Scorer::Histories(Histories { validation: matrix(4, 2), test: matrix(4, 2), items: matrix(6, 2), similarity });
        let weights = Scorer::ItemWeights(ItemWeights { weights });
        let (sparse, users) = (
            Scorer::SparseItemWeights(SparseItemWeights { weights: sparse_weights() }),
            Scorer::UserNeighbours(UserNeighbours { weights: sparse_weights(), items: 7 }),
        );
        let lists = |rows: Vec<Vec<(u32, f64)>>| Scorer::Lists(Lists::from_rows(5, rows).unwrap());
        let (listed, unlisted) = (lists(vec![vec![(3, -0.1), (1, 1e300)], vec![], vec![(4, 0.5)]]), lists(vec![vec![]; 3]));
        let none = Scorer::SparseItemWeights(SparseItemWeights { weights: SparseMatrix::from_rows(2, &[vec![], vec![]]) });
        let dense = [
            ("factors", factors),
            ("histories", histories),
            ("weights", weights),
            ("network", network),
            ("product", product),
            ("tanh-layer", tanh_layer),
        ];
        for (name, scorer) in
            dense.into_iter().chain([("sparse", sparse), ("users", users), ("none", none), ("listed", listed), ("unlisted", unlisted)])
        {
            let folder = Location::parse("memory:///scorer").unwrap().join(name);
            scorer.write(&folder).unwrap();
            assert_eq!(Scorer::read(&folder).unwrap(), scorer);
        }
    }

    #[test]
    fn a_value_that_is_not_finite_is_named_by_tensor_and_row() {
        let folder = Location::parse("memory:///scorer/nan").unwrap();
        let message = factors(vec![1.0, 2.0, 3.0, f32::NAN]).write(&folder).unwrap_err().to_string();
        assert!(message.contains("`users` holds NaN in row 1, column 1"), "{message}");
    }

    #[test]
    fn damage_is_found() {
        let folder = Location::parse("memory:///scorer/damaged").unwrap();
        factors(vec![1.0, 2.0]).write(&folder).unwrap();
        let at = folder.join("scorer.safetensors");
        let mut bytes = at.read().unwrap().to_vec();
        *bytes.last_mut().unwrap() ^= 1;
        at.write(bytes).unwrap();
        let message = Scorer::read(&folder).unwrap_err().to_string();
        assert!(message.contains("scorer.safetensors: its checksum differs from the one in its marker"), "{message}");
    }

    /// Writes sparse item weights as their own description has them, but for the parts that `change` changes, and reads them.
    fn read_changed(change: impl Fn(&mut Vec<u64>, &mut Vec<u32>, &mut Vec<f32>)) -> String {
        let weights = sparse_weights();
        let (mut starts, mut columns, mut values) = (weights.starts().to_vec(), weights.columns().to_vec(), weights.values().to_vec());
        change(&mut starts, &mut columns, &mut values);
        let starts = view("starts", Dtype::U64, vec![starts.len()], &starts);
        let columns = view("columns", Dtype::U32, vec![columns.len()], &columns);
        let values = view("values", Dtype::F32, vec![values.len()], &values);
        let bytes = safetensors::serialize([starts, columns, values], None).unwrap();
        let folder = Location::parse("memory:///scorer/changed").unwrap();
        let scorer = Scorer::SparseItemWeights(SparseItemWeights { weights }).sizes();
        let description = Description { schema_version: SCHEMA_VERSION, scorer, tensors: FileEntry::of(&bytes) };
        folder.join(TENSORS).write(bytes).unwrap();
        folder.join(DESCRIPTION).write(marker::text(&description)).unwrap();
        Scorer::read(&folder).map_or_else(|error| error.to_string(), |_| "read".to_owned())
    }

    #[test]
    fn a_sparse_table_that_is_none_is_refused() {
        assert_eq!(read_changed(|_, _, _| ()), "read");
        for (message, expected) in [
            (read_changed(|starts, _, _| starts[3] = 2), "tensor `starts` goes from 0 to 2 where there are 3 columns and 3 values"),
            (
                read_changed(|starts, _, _| starts[1] = u64::MAX),
                "tensor `starts` holds 1 after 18446744073709551615 in row 1; rows must follow",
            ),
            (read_changed(|starts, _, _| starts.truncate(3)), "tensor `starts` is U64 [3] where scorer.json says U64 [4]"),
            (read_changed(|_, columns, _| columns.swap(1, 2)), "tensor `columns` holds 0 after 2 in row 2; a row's columns must ascend"),
            (read_changed(|_, columns, _| columns[0] = 3), "tensor `columns` holds 3 in row 0, outside its 3 columns"),
            (read_changed(|_, columns, _| columns.push(2)), "tensor `columns` is U32 [4] where scorer.json says U32 [3]"),
            (read_changed(|_, _, values| values[2] = f32::NAN), "tensor `values` holds NaN in row 2, column 2; every value must be finite"),
            (read_changed(|_, _, values| values.truncate(2)), "tensor `values` is F32 [2] where scorer.json says F32 [3]"),
        ] {
            assert!(message.contains("scorer.safetensors") && message.contains(expected), "{message}");
        }
    }

    #[test]
    fn the_description_of_another_model_is_refused() {
        let [one, other] = ["one", "other"].map(|name| Location::parse("memory:///scorer/marked").unwrap().join(name));
        let [(name, expected), _] = [(&one, 1.0), (&other, 2.0)].map(|(folder, value)| {
            let scorer = factors(vec![value, 2.0]);
            scorer.write(folder).unwrap();
            let content = scorer.content(folder).unwrap();
            let [_, (name, description)] = content.files();
            (name, FileEntry::of_pieces(&description))
        });
        assert!(Scorer::read_marked(&one, &expected).is_ok());
        let message = Scorer::read_marked(&other, &expected).unwrap_err().to_string();
        assert!(message.contains(&format!("other/{name}: its checksum differs")), "{message}");
    }

    #[test]
    fn another_schema_version_and_a_missing_description_are_refused() {
        let folder = Location::parse("memory:///scorer/version").unwrap();
        factors(vec![1.0, 2.0]).write(&folder).unwrap();
        for (version, expected) in [(7, "schema version 7 is newer than 2"), (1, "schema version 1 where this build reads 2")] {
            folder.join("scorer.json").write(format!(r#"{{"schema_version": {version}}}"#)).unwrap();
            let message = Scorer::read(&folder).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
        folder.join("scorer.json").delete().unwrap();
        assert!(matches!(Scorer::read(&folder), Err(Error::Dataset(dataset::Error::NotFound { .. }))));
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        let folder = Location::parse("memory:///scorer/sizes").unwrap();
        let weights = Matrix { rows: 1, dim: 2, values: vec![0.0, 1.0] };
        assert!(
            Scorer::ItemWeights(ItemWeights { weights }).write(&folder).unwrap_err().to_string().contains("[1, 2]; they must be square")
        );
        let weights = SparseMatrix::from_rows(2, &[vec![(1, 1.0)]]);
        assert!(
            Scorer::SparseItemWeights(SparseItemWeights { weights })
                .write(&folder)
                .unwrap_err()
                .to_string()
                .contains("[1, 2]; they must be square")
        );
        let one = |dim: usize| Matrix { rows: 1, dim, values: vec![0.5; dim] };
        let network = |product: usize, to: usize| {
            let weights = Matrix { rows: to, dim: 2, values: vec![0.5; 2 * to] };
            let layers = vec![Layer { weights, bias: one(to) }];
            Scorer::Network(Network { users: one(3), items: one(3), product, layers }).write(&folder).map_err(|error| error.to_string())
        };
        assert_eq!(network(1, 1), Ok(()));
        assert!(network(2, 1).unwrap_err().contains("vectors have 3 numbers where the network has 2 products and 2 hidden ones"));
        assert!(network(1, 2).unwrap_err().contains("layer 1 has 2 numbers where 1 are expected"));
        let layer = |users: usize, items: usize, layer: usize| {
            let scorer = Scorer::TanhLayer(TanhLayer { users: one(users), items: one(items), weights: one(layer) });
            scorer.write(&folder).map_err(|error| error.to_string())
        };
        assert_eq!([layer(3, 3, 3), layer(4, 4, 2)], [Ok(()), Ok(())]);
        assert!(
            layer(4, 2, 2).unwrap_err().contains("item vectors have 2 numbers where the layer has 2; both sides have one or two for each")
        );
        assert!(layer(3, 3, 2).unwrap_err().contains("user vectors have 3 numbers where the layer has 2"));
        let histories = |test: usize, items: usize| {
            let scorer =
                Scorer::Histories(Histories { validation: one(2), test: one(test), items: one(items), similarity: Similarity::Dot });
            scorer.write(&folder).map_err(|error| error.to_string())
        };
        assert_eq!(histories(2, 2), Ok(()));
        assert!(
            histories(3, 2).unwrap_err().contains("are [1, 2] before validation and [1, 3] before test, item vectors have 2 dimensions")
        );
        assert!(histories(2, 3).unwrap_err().contains("item vectors have 3 dimensions"));
        let users = Matrix { rows: 2, dim: 1, values: vec![0.0] };
        let scorer = Scorer::Factors(Factors { users: users.clone(), items: users, similarity: Similarity::Dot });
        assert!(scorer.write(&folder).unwrap_err().to_string().contains("`users` holds 1 values where [2, 1]"));
    }
}
