//! The distributions as a safetensors file: preparing them is worth keeping.

use super::{Base, PprPool, PprProposal, distributions::Distributions, row};
use dataset::{Interactions, Location};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Raised when the same settings and interactions give other distributions, or the file another form.
const VERSION: u32 = 3;

/// The name of the checksum. It stands among the tensors, as metadata of several entries are written in any order.
const CHECKSUM: &str = "sha256";

impl PprPool {
    /// Names what is prepared: the settings, and the train interactions among so many items.
    pub(super) fn key(&self, train: &Interactions, items: usize) -> String {
        let mut hash = Sha256::new();
        hash.update(serde_json::to_vec(&(VERSION, self, train.users(), items)).expect("settings are plain data"));
        for user in 0..train.users() {
            hash.update((train.row(user).len() as u64).to_le_bytes());
        }
        train.items().iter().for_each(|item| hash.update(item.to_le_bytes()));
        hex::encode(&hash.finalize()[..8])
    }
}

impl PprProposal {
    /// The proposal as it was kept in a folder; or prepared, and kept there.
    ///
    /// # Errors
    /// When the store fails, or the file that is found is not what its name says.
    pub(crate) fn cached(settings: &PprPool, train: &Interactions, items: usize, cache: Option<&Location>) -> dataset::Result<Self> {
        let Some(cache) = cache else { return Ok(Self::new(settings, train, items)) };
        let key = settings.key(train, items);
        let at = cache.join(&format!("ppr-{key}.safetensors"));
        match at.read() {
            Ok(bytes) => Self::from_bytes(&bytes, &key, settings, train, items)
                .map_err(|reason| dataset::Error::content(&at, format!("{reason}; delete the file, and it is made again"))),
            Err(dataset::Error::NotFound { .. }) => {
                let prepared = Self::new(settings, train, items);
                at.write(prepared.to_bytes(&key))?;
                Ok(prepared)
            }
            Err(error) => Err(error),
        }
    }

    /// The distributions as a file with their [key](PprPool::key).
    pub(super) fn to_bytes(&self, key: &str) -> Vec<u8> {
        let Distributions { offsets, items, starts, shares, own, .. } = &self.distributions;
        let sum = checksum(&self.distributions);
        let views = [
            ("offsets", view(Dtype::U64, offsets)),
            ("items", view(Dtype::U32, items)),
            ("starts", view(Dtype::U32, starts)),
            ("shares", view(Dtype::U32, shares)),
            ("own", view(Dtype::F32, own)),
            (CHECKSUM, view(Dtype::U8, &sum)),
        ];
        let metadata = HashMap::from([("key".to_owned(), key.to_owned())]);
        safetensors::serialize(views, Some(metadata)).expect("vectors have their own lengths")
    }

    /// The distributions of a file.
    ///
    /// # Errors
    /// Says what of the file is not as the key, the settings and the interactions say.
    pub(super) fn from_bytes(bytes: &[u8], key: &str, settings: &PprPool, train: &Interactions, items: usize) -> Result<Self, String> {
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
        let found = header.metadata().as_ref().and_then(|metadata| metadata.get("key"));
        if found.map(String::as_str) != Some(key) {
            return Err(format!("it holds what was prepared as {found:?}, expected `{key}`"));
        }
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
        let mut distributions = Distributions {
            offsets: values(&tensors, "offsets", Dtype::U64)?,
            items: values(&tensors, "items", Dtype::U32)?,
            starts: values(&tensors, "starts", Dtype::U32)?,
            guide: Vec::new(),
            shares: values(&tensors, "shares", Dtype::U32)?,
            own: values(&tensors, "own", Dtype::F32)?,
            own_offsets: train.offsets().to_vec(),
        };
        check(&distributions, settings, train, items)?;
        if values::<u8>(&tensors, CHECKSUM, Dtype::U8)? != checksum(&distributions) {
            return Err("its values are not those that it was written with".to_owned());
        }
        distributions.guide.reserve_exact(distributions.items.len());
        for stored in distributions.offsets.windows(2) {
            distributions.guide.extend(row::guide(&distributions.starts[stored[0] as usize..stored[1] as usize]));
        }
        Ok(Self { base: Base::new(settings.form, &train.item_counts(items)), distributions })
    }
}

/// The SHA-256 of all values.
fn checksum(distributions: &Distributions) -> [u8; 32] {
    let Distributions { offsets, items, starts, shares, own, .. } = distributions;
    let mut hash = Sha256::new();
    hash.update(bytemuck::cast_slice(offsets));
    [items, starts, shares].into_iter().for_each(|values| hash.update(bytemuck::cast_slice(values)));
    hash.update(bytemuck::cast_slice(own));
    hash.finalize().into()
}

fn view<T: bytemuck::Pod>(dtype: Dtype, values: &[T]) -> TensorView<'_> {
    TensorView::new(dtype, vec![values.len()], bytemuck::cast_slice(values)).expect("a vector has its own length")
}

fn values<T: bytemuck::Pod>(tensors: &SafeTensors, name: &str, dtype: Dtype) -> Result<Vec<T>, String> {
    let tensor = tensors.tensor(name).map_err(|error| error.to_string())?;
    if tensor.dtype() != dtype || tensor.shape().len() != 1 {
        return Err(format!("`{name}` is {:?} {:?}, expected a vector of {dtype:?}", tensor.dtype(), tensor.shape()));
    }
    let mut values = vec![T::zeroed(); tensor.shape()[0]];
    bytemuck::cast_slice_mut::<T, u8>(&mut values).copy_from_slice(tensor.data());
    Ok(values)
}

/// Whether the vectors fit each other and the interactions, so that no draw leaves them or draws an item of the user's own.
fn check(distributions: &Distributions, settings: &PprPool, train: &Interactions, items: usize) -> Result<(), String> {
    let Distributions { offsets, shares, own, .. } = distributions;
    let stored = distributions.items.len();
    let lengths = [offsets.len(), distributions.starts.len(), shares.len(), own.len()];
    if lengths != [train.users() + 1, stored, train.users(), train.len()] {
        return Err(format!("its vectors have lengths {lengths:?} with {stored} items"));
    }
    if offsets[0] != 0 || !offsets.is_sorted() || offsets[train.users()] != stored as u64 {
        return Err("its rows are not its items".to_owned());
    }
    let wrong = (0..train.users()).find(|&user| {
        let row = offsets[user] as usize..offsets[user + 1] as usize;
        let (ids, starts, own) = (&distributions.items[row.clone()], &distributions.starts[row], train.row(user));
        let ascending = ids.is_sorted_by(|one, other| one < other) && starts.is_sorted() && starts.first().is_none_or(|&first| first == 0);
        let possible = ids.last().is_none_or(|&last| (last as usize) < items) && ids.iter().all(|id| own.binary_search(id).is_err());
        let size = ids.len() <= settings.neighbours as usize && (!ids.is_empty() || shares[user] == 0);
        !(ascending && possible && size)
    });
    wrong.map_or(Ok(()), |user| Err(format!("the row of user {user} is not a distribution of its negatives")))
}

#[cfg(test)]
mod tests {
    use super::super::{Form, NonPositives, Temperature, tests::chain};
    use super::*;

    const KEY: &str = "0123456789abcdef";

    fn settings() -> PprPool {
        serde_json::from_str(r#"{"accuracy": 1e-4, "neighbours": 2}"#).unwrap()
    }

    #[test]
    fn files_give_back_what_was_prepared() {
        let (train, temperature) = (chain(), Form::Temperature(Temperature { temperature: 0.1 }));
        for settings in [settings(), PprPool { form: temperature, ..settings() }] {
            let proposal = PprProposal::new(&settings, &train, 4);
            let read = PprProposal::from_bytes(&proposal.to_bytes(KEY), KEY, &settings, &train, 4).unwrap();
            assert_eq!(read.distributions, proposal.distributions);
            assert_eq!(read.base.mass(NonPositives::new(&[0], 4)), proposal.base.mass(NonPositives::new(&[0], 4)));
        }
    }

    #[test]
    fn other_files_are_refused() {
        let (train, proposal) = (chain(), PprProposal::new(&settings(), &chain(), 4));
        let bytes = proposal.to_bytes(KEY);
        let refused = |bytes: &[u8], train: &Interactions| PprProposal::from_bytes(bytes, KEY, &settings(), train, 4).unwrap_err();
        assert!(refused(&proposal.to_bytes("other"), &train).contains("expected `0123456789abcdef`"));
        assert!(refused(&bytes, &Interactions::empty(3)).contains("lengths [4, "));
        refused(&bytes[..bytes.len() - 1], &train);
        refused(b"no such file", &train);
        let others = Interactions::from_pairs(3, train.pairs().map(|(user, item)| (user, 3 - item)));
        assert!(refused(&bytes, &others).contains("the row of user 0"));
    }

    #[test]
    fn rows_that_are_no_distributions_are_refused() {
        let (train, proposal) = (chain(), PprProposal::new(&settings(), &chain(), 4));
        let refused = |change: fn(&mut Distributions)| {
            let mut proposal = proposal.clone();
            change(&mut proposal.distributions);
            PprProposal::from_bytes(&proposal.to_bytes(KEY), KEY, &settings(), &train, 4).unwrap_err()
        };
        assert!(refused(|distributions| distributions.items[1] = 4).contains("user 0"));
        assert!(refused(|distributions| distributions.items[0] = 1).contains("user 0"));
        assert!(refused(|distributions| distributions.starts[0] = 1).contains("user 0"));
        assert!(refused(|distributions| distributions.items.swap(0, 1)).contains("user 0"));
        assert!(refused(|distributions| distributions.offsets[0] = 1).contains("rows"));
        assert!(refused(|distributions| distributions.offsets[1] = 9).contains("rows"));
        assert!(refused(|distributions| distributions.offsets[3] = 1).contains("rows"));
        assert!(refused(|distributions| distributions.offsets = vec![0, 0, 4, 6]).contains("user 0"));
        assert!(refused(|distributions| distributions.shares.truncate(2)).contains("lengths"));
    }

    /// Any bit of the file: of its header, or of values that are possible as well.
    #[test]
    fn a_flipped_bit_is_found() {
        let (train, proposal) = (chain(), PprProposal::new(&settings(), &chain(), 4));
        let bytes = proposal.to_bytes(KEY);
        for bit in 0..8 * bytes.len() {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let read = PprProposal::from_bytes(&flipped, KEY, &settings(), &train, 4);
            assert!(read.is_err() || read.is_ok_and(|read| read.distributions == proposal.distributions), "bit {bit}");
        }
    }

    #[test]
    fn keys_tell_apart_what_is_prepared_and_nothing_else() {
        let (train, plain) = (chain(), settings());
        let key = plain.key(&train, 4);
        let longer = Interactions::from_pairs(4, train.pairs());
        let moved = Interactions::from_pairs(3, train.pairs().map(|(user, item)| (user.max(1), item)));
        let keys = [
            PprPool { restart: 0.2, ..plain.clone() }.key(&train, 4),
            PprPool { accuracy: 1e-5, ..plain.clone() }.key(&train, 4),
            PprPool { neighbours: 3, ..plain.clone() }.key(&train, 4),
            PprPool { form: Form::Temperature(Temperature { temperature: 1.0 }), ..plain.clone() }.key(&train, 4),
            plain.key(&train, 5),
            plain.key(&longer, 4),
            plain.key(&moved, 4),
        ];
        assert_eq!(key.len(), 16);
        assert_eq!(key, plain.key(&chain(), 4));
        assert_eq!(keys.iter().collect::<std::collections::BTreeSet<_>>().len(), keys.len());
        assert!(!keys.contains(&key));
    }
}
