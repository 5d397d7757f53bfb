//! A scorer on storage.
//!
//! ```text
//! scorer.safetensors   f32 tensors: users [users, dim] and items [items, dim], with a network layer1.weights [out, in], layer1.bias [1, out] and
//!                      so on, or weights [items, items]; or a sparse table: starts [rows + 1] as u64, columns [entries] as u32 and values [entries];
//!                      or top-N lists: starts [users + 1] as u64, items [entries] as u32 and scores [entries] as f64
//! scorer.json          schema version, kind, sizes, similarity, and the checksum of the tensors; written last, and a marker
//! ```

use super::{
    Layer, Matrix, Network, Scorer,
    description::{Description, Factors, ItemWeights, Kind, ListSizes, NetworkSizes, REMEDY, SparseItemWeights, UserNeighbours},
    tensors::{dense, lists, sparse, view},
};
use crate::{Error, Result};
use dataset::{FileEntry, Location, marker};
use safetensors::{Dtype, SafeTensors};

/// The description's name.
const DESCRIPTION: &str = "scorer.json";
/// The name of the tensors' file.
const TENSORS: &str = "scorer.safetensors";

impl Scorer {
    /// Writes the tensors and then their description into a checkpoint's folder.
    ///
    /// # Errors
    /// As for [`files`](Self::files), and [`Error::Dataset`] when it cannot be stored.
    pub fn write(&self, folder: &Location) -> Result<()> {
        for (name, content) in self.files(folder)? {
            folder.join(name).write(content)?;
        }
        Ok(())
    }

    /// The names and contents of the files of a checkpoint, in the order in which they are to be written; `folder` names it in errors.
    ///
    /// # Errors
    /// [`Error::Scorer`] for a value that is not finite or sizes that do not fit.
    pub fn files(&self, folder: &Location) -> Result<[(&'static str, Vec<u8>); 2]> {
        let refuse = |reason| Error::Scorer { at: folder.to_string(), reason };
        self.check().map_err(refuse)?;
        let dense = self.tensors().into_iter().map(|(name, matrix)| {
            let shape = vec![matrix.rows, matrix.dim];
            (name, view(Dtype::F32, shape, bytemuck::cast_slice(&matrix.values)))
        });
        let sparse = self.sparse().into_iter().flat_map(|weights| {
            let starts = view(Dtype::U64, vec![weights.rows() + 1], bytemuck::cast_slice(weights.starts()));
            let columns = view(Dtype::U32, vec![weights.entries()], bytemuck::cast_slice(weights.columns()));
            let values = view(Dtype::F32, vec![weights.entries()], bytemuck::cast_slice(weights.values()));
            [("starts".to_owned(), starts), ("columns".to_owned(), columns), ("values".to_owned(), values)]
        });
        let listed = self.lists().into_iter().flat_map(|lists| {
            let starts = view(Dtype::U64, vec![lists.users() + 1], bytemuck::cast_slice(lists.starts()));
            let items = view(Dtype::U32, vec![lists.entries()], bytemuck::cast_slice(lists.all_items()));
            let scores = view(Dtype::F64, vec![lists.entries()], bytemuck::cast_slice(lists.all_scores()));
            [("starts".to_owned(), starts), ("items".to_owned(), items), ("scores".to_owned(), scores)]
        });
        let bytes = safetensors::serialize(dense.chain(sparse).chain(listed), None).map_err(|error| refuse(error.to_string()))?;
        let description = Description::new(self, FileEntry::of(&bytes));
        Ok([(TENSORS, bytes), (DESCRIPTION, marker::text(&description).into_bytes())])
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
        let tensors = SafeTensors::deserialize(&bytes).map_err(|error| refuse(error.to_string()))?;
        let scorer = Self::of_kind(description.scorer, &tensors).map_err(refuse)?;
        scorer.check().map_err(refuse)?;
        Ok(scorer)
    }

    fn of_kind(kind: Kind, tensors: &SafeTensors<'_>) -> Result<Self, String> {
        let matrix = |name: &str, rows, dim| dense(tensors, name, rows, dim);
        Ok(match kind {
            Kind::Factors(Factors { similarity, users, items, dim }) => {
                Self::Factors { users: matrix("users", users, dim)?, items: matrix("items", items, dim)?, similarity }
            }
            Kind::Histories(Factors { similarity, users, items, dim }) => Self::Histories {
                validation: matrix("users_before_validation", users, dim)?,
                test: matrix("users_before_test", users, dim)?,
                items: matrix("items", items, dim)?,
                similarity,
            },
            Kind::Network(NetworkSizes { users, items, product, hidden }) => {
                let dim = hidden.first().map_or(Some(product), |&hidden| product.checked_add(hidden));
                let dim = dim.ok_or("the sizes of its vectors are too large")?;
                let layers = hidden.iter().zip(hidden.iter().skip(1).chain([&1])).zip(1..).map(|((&from, &to), at)| {
                    let weights = matrix(&format!("layer{at}.weights"), to, from)?;
                    Ok(Layer { weights, bias: matrix(&format!("layer{at}.bias"), 1, to)? })
                });
                let network = Network { product, layers: layers.collect::<Result<_, String>>()? };
                Self::Network { users: matrix("users", users, dim)?, items: matrix("items", items, dim)?, network }
            }
            Kind::ItemWeights(ItemWeights { items }) => Self::ItemWeights { weights: matrix("weights", items, items)? },
            Kind::SparseItemWeights(SparseItemWeights { items, entries }) => {
                Self::SparseItemWeights { weights: sparse(tensors, items, entries)? }
            }
            Kind::UserNeighbours(UserNeighbours { users, items, entries }) => {
                Self::UserNeighbours { weights: sparse(tensors, users, entries)?, items }
            }
            Kind::Lists(ListSizes { users, items, entries }) => Self::Lists(lists(tensors, users, items, entries)?),
        })
    }

    /// The checksum of a checkpoint's tensors (SHA-256, in hex), as its description has it.
    ///
    /// # Errors
    /// As for [`read`](Self::read), of the description alone.
    pub fn checksum(folder: &Location) -> Result<String> {
        Ok(Description::read(&folder.join(DESCRIPTION))?.tensors.sha256)
    }

    /// That lengths fit and all values are finite.
    fn check(&self) -> Result<(), String> {
        for (name, matrix) in self.tensors() {
            let Matrix { rows, dim, values } = matrix;
            if *dim == 0 || values.len() != rows * dim {
                return Err(format!("tensor `{name}` holds {} values where [{rows}, {dim}] are expected", values.len()));
            }
            check_finite(&name, matrix.first_non_finite())?;
        }
        if let Some(weights) = self.sparse() {
            check_finite("values", weights.first_non_finite())?;
            if weights.rows() != weights.dim() {
                return Err(format!("sparse weights are [{}, {}]; they must be square", weights.rows(), weights.dim()));
            }
        }
        match self {
            Self::Factors { users, items, .. } if users.dim != items.dim => {
                Err(format!("user vectors have {} dimensions, item vectors {}", users.dim, items.dim))
            }
            Self::Histories { validation, test, items, .. }
                if [validation.dim, test.dim] != [items.dim; 2] || validation.rows != test.rows =>
            {
                let [before, after] = [validation, test].map(|users| format!("[{}, {}]", users.rows, users.dim));
                Err(format!(
                    "user vectors are {before} before validation and {after} before test, item vectors have {} dimensions",
                    items.dim
                ))
            }
            Self::Network { users, items, network } => {
                network.check(users.dim)?;
                network.check(items.dim)
            }
            Self::ItemWeights { weights } if weights.rows != weights.dim => {
                Err(format!("item weights are [{}, {}]; they must be square", weights.rows, weights.dim))
            }
            _ => Ok(()),
        }
    }
}

fn check_finite(name: &str, first_non_finite: Option<(usize, usize, f32)>) -> Result<(), String> {
    first_non_finite.map_or(Ok(()), |(row, column, value)| {
        Err(format!("tensor `{name}` holds {value} in row {row}, column {column}; every value must be finite"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Similarity, SparseMatrix, scorer::Lists};

    fn factors(values: Vec<f32>) -> Scorer {
        let users = Matrix { rows: values.len() / 2, dim: 2, values };
        let items = Matrix { rows: 1, dim: 2, values: vec![0.5, -0.25] };
        Scorer::Factors { users, items, similarity: Similarity::Cosine }
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
        let network = Scorer::Network { users: matrix(4, 5), items: matrix(6, 5), network: Network { product: 2, layers } };
        let product = Scorer::Network { users: matrix(4, 5), items: matrix(6, 5), network: Network { product: 5, layers: vec![] } };
        let factors = factors(vec![1.0, 2.0, 3.0, -0.0]);
        let similarity = Similarity::Dot;
        let histories = Scorer::Histories { validation: matrix(4, 2), test: matrix(4, 2), items: matrix(6, 2), similarity };
        let weights = Scorer::ItemWeights { weights };
        let (sparse, users) =
            (Scorer::SparseItemWeights { weights: sparse_weights() }, Scorer::UserNeighbours { weights: sparse_weights(), items: 7 });
        let lists = |rows: Vec<Vec<(u32, f64)>>| Scorer::Lists(Lists::from_rows(5, rows).unwrap());
        let (listed, unlisted) = (lists(vec![vec![(3, -0.1), (1, 1e300)], vec![], vec![(4, 0.5)]]), lists(vec![vec![]; 3]));
        let none = Scorer::SparseItemWeights { weights: SparseMatrix::from_rows(2, &[vec![], vec![]]) };
        let dense = [("factors", factors), ("histories", histories), ("weights", weights), ("network", network), ("product", product)];
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
        let starts = ("starts", view(Dtype::U64, vec![starts.len()], bytemuck::cast_slice(&starts)));
        let columns = ("columns", view(Dtype::U32, vec![columns.len()], bytemuck::cast_slice(&columns)));
        let values = ("values", view(Dtype::F32, vec![values.len()], bytemuck::cast_slice(&values)));
        let bytes = safetensors::serialize([starts, columns, values], None).unwrap();
        let folder = Location::parse("memory:///scorer/changed").unwrap();
        let description = Description::new(&Scorer::SparseItemWeights { weights }, FileEntry::of(&bytes));
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
        let [[_, (name, expected)], _] = [(&one, 1.0), (&other, 2.0)].map(|(folder, value)| {
            let scorer = factors(vec![value, 2.0]);
            scorer.write(folder).unwrap();
            scorer.files(folder).unwrap()
        });
        let expected = FileEntry::of(&expected);
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
        assert!(Scorer::ItemWeights { weights }.write(&folder).unwrap_err().to_string().contains("[1, 2]; they must be square"));
        let weights = SparseMatrix::from_rows(2, &[vec![(1, 1.0)]]);
        assert!(Scorer::SparseItemWeights { weights }.write(&folder).unwrap_err().to_string().contains("[1, 2]; they must be square"));
        let one = |dim: usize| Matrix { rows: 1, dim, values: vec![0.5; dim] };
        let network = |product: usize, to: usize| {
            let weights = Matrix { rows: to, dim: 2, values: vec![0.5; 2 * to] };
            let network = Network { product, layers: vec![Layer { weights, bias: one(to) }] };
            Scorer::Network { users: one(3), items: one(3), network }.write(&folder).map_err(|error| error.to_string())
        };
        assert_eq!(network(1, 1), Ok(()));
        assert!(network(2, 1).unwrap_err().contains("vectors have 3 numbers where the network has 2 products and 2 hidden ones"));
        assert!(network(1, 2).unwrap_err().contains("layer 1 has 2 numbers where 1 are expected"));
        let histories = |test: usize, items: usize| {
            let scorer = Scorer::Histories { validation: one(2), test: one(test), items: one(items), similarity: Similarity::Dot };
            scorer.write(&folder).map_err(|error| error.to_string())
        };
        assert_eq!(histories(2, 2), Ok(()));
        assert!(
            histories(3, 2).unwrap_err().contains("are [1, 2] before validation and [1, 3] before test, item vectors have 2 dimensions")
        );
        assert!(histories(2, 3).unwrap_err().contains("item vectors have 3 dimensions"));
        let users = Matrix { rows: 2, dim: 1, values: vec![0.0] };
        let scorer = Scorer::Factors { users: users.clone(), items: users, similarity: Similarity::Dot };
        assert!(scorer.write(&folder).unwrap_err().to_string().contains("`users` holds 1 values where [2, 1]"));
    }
}
