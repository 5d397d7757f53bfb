//! Models that tell no item from another: untrained, fallen to zeros, or all of them at one place.

use super::check;
use crate::{
    Result, Scorer,
    scorer::scores::{Scores, Scratch, TILE, users_per_block},
};
use dataset::Interactions;
use rayon::prelude::*;

/// Users that are looked at first: of most models they tell that items differ.
const FIRST: usize = 64;

/// Whether every item of the catalogue has the same score, for each of these users. A top-N list tells the items that it names from the others, and
/// these by their scores.
///
/// # Errors
/// Those of [`top_k()`](super::top_k()).
pub fn is_constant(scorer: &Scorer, history: &Interactions, users: &[u32], memory: usize) -> Result<bool> {
    if let Some(lists) = scorer.lists() {
        return Ok(users.iter().all(|&user| is_level(lists.row(user as usize), scorer.items())));
    }
    check::users(scorer, history, &[], users)?;
    let scores = scorer.scores(history, false, memory)?;
    let (first, others) = users.split_at(users.len().min(FIRST));
    for users in [first, others] {
        let blocks: Vec<Result<bool>> = users
            .par_chunks(users_per_block(&*scores, users.len(), memory))
            .map_init(Scratch::default, |scratch, users| block(&*scores, users, scratch))
            .collect();
        if !blocks.into_iter().collect::<Result<Vec<bool>>>()?.into_iter().all(|same| same) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a list tells no item from another: it is empty, or names all of them with one score.
fn is_level(mut row: impl ExactSizeIterator<Item = (u32, f64)>, items: usize) -> bool {
    let named = row.len();
    let first = row.next();
    named == 0 || (named == items && row.all(|(_, score)| Some(score) == first.map(|(_, score)| score)))
}

/// Whether all items have the same score for each of some users. Scores are compared as ranking compares them, without a user's offset.
fn block(scores: &dyn Scores, users: &[u32], scratch: &mut Scratch) -> Result<bool> {
    scores.load(users, scratch);
    let mut of_users: Vec<Option<f32>> = vec![None; users.len()];
    for tile in scores.tiles() {
        scores.score(users.len(), tile.clone(), scratch);
        for (first, row) in of_users.iter_mut().zip(scratch.scores.chunks_exact(TILE)) {
            let row = &row[..tile.len()];
            if scores.to_check() && check::not_finite(row).is_some() {
                return Err(check::first_not_finite(scores, users, scratch));
            }
            let first = *first.get_or_insert(row[0]);
            if row.iter().any(|score| *score != first) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Factors, ItemWeights, Lists, Matrix, Similarity};

    fn of(users: &[f32], items: &[f32]) -> bool {
        let matrix = |values: &[f32]| Matrix { rows: values.len(), dim: 1, values: values.to_vec() };
        let scorer = Scorer::Factors(Factors { users: matrix(users), items: matrix(items), similarity: Similarity::Dot });
        let all: Vec<u32> = (0..users.len() as u32).collect();
        is_constant(&scorer, &Interactions::empty(users.len()), &all, 1 << 20).unwrap()
    }

    #[test]
    fn a_model_is_constant_where_no_user_has_a_better_item() {
        assert!(of(&[0.0, 0.0], &[1.0, 2.0, 3.0]) && of(&[1.0, 2.0], &[0.5, 0.5, 0.5]) && of(&[1e-30; 2], &[1e-30, 2e-30, 3e-30]));
        assert!(!of(&[0.0, 1.0], &[1.0, 2.0, 3.0]) && !of(&[1.0; 100], &[1.0, 1.0, 1.5]));
        let last: Vec<f32> = (0..100).map(|user| f32::from(u8::from(user == 99))).collect();
        assert!(!of(&last, &[1.0, 2.0]));
    }

    #[test]
    fn lists_tell_what_they_name_from_what_they_do_not() {
        let of = |rows: Vec<Vec<(u32, f64)>>| {
            let users: Vec<u32> = (0..rows.len() as u32).collect();
            let lists = Scorer::Lists(Lists::from_rows(3, rows).unwrap());
            is_constant(&lists, &Interactions::empty(users.len()), &users, 1 << 20).unwrap()
        };
        assert!(!of(vec![vec![(0, 1.0), (2, 1.0)], vec![]]));
        assert!(of(vec![vec![], vec![(0, 1.0), (1, 1.0), (2, 1.0)]]));
        assert!(!of(vec![vec![], vec![(0, 2.0), (1, 2.0), (2, 1.0)]]));
    }

    #[test]
    fn weights_of_zeros_are_constant() {
        let weights =
            |value: f32| Scorer::ItemWeights(ItemWeights { weights: Matrix { rows: 2, dim: 2, values: vec![0.0, value, value, 0.0] } });
        let history = Interactions::from_pairs(2, [(0, 0), (1, 1)].into_iter());
        assert!(is_constant(&weights(0.0), &history, &[0, 1], 1 << 20).unwrap());
        assert!(!is_constant(&weights(1e-20), &history, &[0, 1], 1 << 20).unwrap());
    }
}
