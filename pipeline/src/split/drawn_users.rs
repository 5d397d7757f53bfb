//! Which users are held out as a whole: the first in a frozen random order of all users.
//!
//! The hash is SipHash-2-4 with the key (seed, 3) over the user's own id. Of `n` users the floor(test * n) with the lowest hashes are test users, and of
//! the others the floor(validation * n) with the lowest are validation users. Who they are depends on the seed and the users' ids, and on no interaction.

use super::ratio::Ratio;
use crate::{Error, Result};
use dataset::Split;
use siphasher::sip::SipHasher24;

/// What sets the order apart from that of a user's interactions.
const PURPOSE: u64 = 3;

/// The own ids of all users.
pub(crate) trait UserIds {
    /// Gives each user's own id.
    ///
    /// # Errors
    /// When they cannot be read.
    fn each(&mut self, give: &mut dyn FnMut(&str)) -> Result<()>;
}

impl UserIds for &[String] {
    fn each(&mut self, give: &mut dyn FnMut(&str)) -> Result<()> {
        self.iter().for_each(|id| give(id));
        Ok(())
    }
}

/// Users that are held out: those with hashes below a border. The default holds none out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct DrawnUsers {
    seed: u64,
    /// Below it are test users.
    test: u64,
    /// Below it, and not below that of test, are validation users.
    validation: u64,
}

impl DrawnUsers {
    /// Draws test and validation users, by the keys of their shares and the shares, which leave some users beside.
    ///
    /// # Errors
    /// [`Error::Setting`] when a share above 0 is of no user.
    pub(crate) fn new(ids: &mut dyn UserIds, seed: u64, shares: [(&'static str, Ratio); 2]) -> Result<Self> {
        let mut hashes = Vec::new();
        ids.each(&mut |id| hashes.push(hash(seed, id)))?;
        let all = hashes.len();
        if let Some((key, _)) = shares.iter().find(|(_, share)| !share.is_zero() && share.of(all) == 0) {
            return Err(Error::setting(key, format!("its share of {all} users is less than one user (expected a greater share)")));
        }
        hashes.sort_unstable();
        let [test, validation] = shares.map(|(_, share)| share.of(all));
        Ok(Self { seed, test: hashes[test], validation: hashes[test + validation] })
    }

    /// The part of what a user is ranked on; `None` for a user whom training sees.
    pub(crate) fn part(&self, user: &str) -> Option<Split> {
        match hash(self.seed, user) {
            hash if hash < self.test => Some(Split::Test),
            hash if hash < self.validation => Some(Split::Validation),
            _ => None,
        }
    }
}

fn hash(seed: u64, user: &str) -> u64 {
    SipHasher24::new_with_keys(seed, PURPOSE).hash(user.as_bytes())
}
