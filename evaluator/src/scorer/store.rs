//! A scorer on storage.
//!
//! ```text
//! scorer.safetensors   f32 tensors: users [users, dim] and items [items, dim], with a network layer1.weights [out, in], layer1.bias [1, out] and
//!                      so on, or weights [items, items]
//! scorer.json          schema version, kind, sizes, similarity, and the checksum of the tensors; written last, and a marker
//! ```

use super::{Layer, Matrix, Network, Scorer, Similarity};
use crate::{Error, Result};
use dataset::{FileEntry, Location, marker};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
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
    scorer: Kind,
    tensors: FileEntry,
}

/// What every version of a description has.
#[derive(Deserialize)]
struct Version {
    schema_version: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Factors(Factors),
    Network(NetworkSizes),
    ItemWeights(ItemWeights),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Factors {
    similarity: Similarity,
    users: usize,
    items: usize,
    dim: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NetworkSizes {
    users: usize,
    items: usize,
    product: usize,
    /// Of each hidden layer.
    hidden: Vec<usize>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ItemWeights {
    items: usize,
}

impl Description {
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
        let tensors = self.tensors().into_iter().map(|(name, matrix)| {
            let view = TensorView::new(Dtype::F32, vec![matrix.rows, matrix.dim], bytemuck::cast_slice(&matrix.values));
            (name, view.expect("the check compared shape and length"))
        });
        let bytes = safetensors::serialize(tensors, None).map_err(|error| refuse(error.to_string()))?;
        let description = Description { schema_version: SCHEMA_VERSION, scorer: self.kind(), tensors: FileEntry::of(&bytes) };
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
        let matrix = |name: &str, rows, dim| decode(&tensors, name, rows, dim).map_err(refuse);
        let scorer = match description.scorer {
            Kind::Factors(Factors { similarity, users, items, dim }) => {
                Self::Factors { users: matrix("users", users, dim)?, items: matrix("items", items, dim)?, similarity }
            }
            Kind::Network(NetworkSizes { users, items, product, hidden }) => {
                let dim = hidden.first().map_or(Some(product), |&hidden| product.checked_add(hidden));
                let dim = dim.ok_or_else(|| refuse("the sizes of its vectors are too large".to_owned()))?;
                let layers = hidden.iter().zip(hidden.iter().skip(1).chain([&1])).zip(1..).map(|((&from, &to), at)| {
                    let weights = decode(&tensors, &format!("layer{at}.weights"), to, from)?;
                    Ok(Layer { weights, bias: decode(&tensors, &format!("layer{at}.bias"), 1, to)? })
                });
                let network = Network { product, layers: layers.collect::<Result<_, String>>().map_err(refuse)? };
                Self::Network { users: matrix("users", users, dim)?, items: matrix("items", items, dim)?, network }
            }
            Kind::ItemWeights(ItemWeights { items }) => Self::ItemWeights { weights: matrix("weights", items, items)? },
        };
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

    /// That lengths fit and all values are finite.
    fn check(&self) -> Result<(), String> {
        for (name, matrix) in self.tensors() {
            let Matrix { rows, dim, values } = matrix;
            if *dim == 0 || values.len() != rows * dim {
                return Err(format!("tensor `{name}` holds {} values where [{rows}, {dim}] are expected", values.len()));
            }
            if let Some((row, column, value)) = matrix.first_non_finite() {
                return Err(format!("tensor `{name}` holds {value} in row {row}, column {column}; every value must be finite"));
            }
        }
        match self {
            Self::Factors { users, items, .. } if users.dim != items.dim => {
                Err(format!("user vectors have {} dimensions, item vectors {}", users.dim, items.dim))
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

    fn kind(&self) -> Kind {
        match self {
            Self::Factors { users, items, similarity } => {
                Kind::Factors(Factors { similarity: *similarity, users: users.rows, items: items.rows, dim: items.dim })
            }
            Self::Network { users, items, network: Network { product, layers } } => Kind::Network(NetworkSizes {
                users: users.rows,
                items: items.rows,
                product: *product,
                hidden: layers.iter().map(|layer| layer.weights.dim).collect(),
            }),
            Self::ItemWeights { weights } => Kind::ItemWeights(ItemWeights { items: weights.rows }),
        }
    }
}

fn decode(tensors: &SafeTensors<'_>, name: &str, rows: usize, dim: usize) -> Result<Matrix, String> {
    let tensor = tensors.tensor(name).map_err(|_| format!("tensor `{name}` is missing"))?;
    if tensor.dtype() != Dtype::F32 || tensor.shape() != [rows, dim] {
        return Err(format!("tensor `{name}` is {:?} {:?} where scorer.json says F32 [{rows}, {dim}]", tensor.dtype(), tensor.shape()));
    }
    let numbers = tensor.data().as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes));
    Ok(Matrix { rows, dim, values: numbers.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factors(values: Vec<f32>) -> Scorer {
        let users = Matrix { rows: values.len() / 2, dim: 2, values };
        let items = Matrix { rows: 1, dim: 2, values: vec![0.5, -0.25] };
        Scorer::Factors { users, items, similarity: Similarity::Cosine }
    }

    #[test]
    fn what_is_written_is_read() {
        let weights = Matrix { rows: 2, dim: 2, values: vec![0.0, 1.5, f32::MIN_POSITIVE, 0.0] };
        let matrix = |rows: usize, dim: usize| Matrix { rows, dim, values: (0..rows * dim).map(|at| at as f32 - 1.5).collect() };
        let layers = vec![Layer { weights: matrix(2, 3), bias: matrix(1, 2) }, Layer { weights: matrix(1, 2), bias: matrix(1, 1) }];
        let network = Scorer::Network { users: matrix(4, 5), items: matrix(6, 5), network: Network { product: 2, layers } };
        let product = Scorer::Network { users: matrix(4, 5), items: matrix(6, 5), network: Network { product: 5, layers: vec![] } };
        let factors = factors(vec![1.0, 2.0, 3.0, -0.0]);
        let weights = Scorer::ItemWeights { weights };
        for (name, scorer) in [("factors", factors), ("weights", weights), ("network", network), ("product", product)] {
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
        let one = |dim: usize| Matrix { rows: 1, dim, values: vec![0.5; dim] };
        let network = |product: usize, to: usize| {
            let weights = Matrix { rows: to, dim: 2, values: vec![0.5; 2 * to] };
            let network = Network { product, layers: vec![Layer { weights, bias: one(to) }] };
            Scorer::Network { users: one(3), items: one(3), network }.write(&folder).map_err(|error| error.to_string())
        };
        assert_eq!(network(1, 1), Ok(()));
        assert!(network(2, 1).unwrap_err().contains("vectors have 3 numbers where the network has 2 products and 2 hidden ones"));
        assert!(network(1, 2).unwrap_err().contains("layer 1 has 2 numbers where 1 are expected"));
        let users = Matrix { rows: 2, dim: 1, values: vec![0.0] };
        let scorer = Scorer::Factors { users: users.clone(), items: users, similarity: Similarity::Dot };
        assert!(scorer.write(&folder).unwrap_err().to_string().contains("`users` holds 1 values where [2, 1]"));
    }
}
