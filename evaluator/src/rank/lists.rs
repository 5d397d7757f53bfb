//! Scores of chosen items, user by user.

use super::check;
use crate::{
    Error, Result, Scorer,
    scorer::scores::{Scratch, users_per_block},
};
use dataset::Interactions;
use rayon::prelude::*;

/// What `reduce` makes of the scores of the items that `list` names for each user, in the bits that [`rank`](super::rank()) compares.
/// `reduce` may reorder them. `history` and `memory` are as for [`rank`](super::rank()).
///
/// # Errors
/// [`Error::Ranking`] when sizes do not fit, a user is unknown, or the scorer is top-N lists; [`Error::NotFinite`] for the first listed item of a user whose score is
/// NaN or infinite.
///
/// # Panics
/// When a listed item is outside the scorer.
pub fn reduce_lists<T: Send>(
    scorer: &Scorer,
    history: &Interactions,
    users: &[u32],
    list: impl Fn(u32, &mut Vec<u32>) + Sync,
    reduce: impl Fn(u32, &mut [f32]) -> T + Sync,
    memory: usize,
) -> Result<Vec<T>> {
    check::users(scorer, history, &[], users)?;
    let scores = scorer.scores(history, false, memory)?;
    let block = |scratch: &mut Scratch, users: &[u32]| {
        scores.load(users, scratch);
        let (mut items, mut values) = (Vec::new(), Vec::new());
        let of_user = |(position, &user): (usize, &u32)| {
            items.clear();
            values.clear();
            list(user, &mut items);
            scores.score_some(position, &items, scratch, &mut values);
            if let Some(at) = check::not_finite(&values) {
                return Err(Error::NotFinite { user, item: items[at] });
            }
            let offset = scores.offset(user as usize);
            values.iter_mut().for_each(|score| *score += offset);
            Ok(reduce(user, &mut values))
        };
        users.iter().enumerate().map(of_user).collect::<Result<Vec<T>>>()
    };
    let blocks: Vec<Result<Vec<T>>> =
        users.par_chunks(users_per_block(&*scores, users.len(), memory)).map_init(Scratch::default, block).collect();
    Ok(blocks.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::super::top_k;
    use super::*;
    use crate::{Factors, ItemWeights, Layer, Matrix, Network, Similarity, SparseItemWeights, SparseMatrix, TanhLayer, UserNeighbours};

    fn scorers() -> Vec<Scorer> {
        let matrix = |rows: usize, dim: usize, step: f32| {
            let values = (0..rows * dim).map(|at| (at as f32 * step).sin()).collect();
            Matrix { rows, dim, values }
        };
        let factors = |similarity| Scorer::Factors(Factors { users: matrix(9, 5, 0.7), items: matrix(700, 5, 0.31), similarity });
        let mut all = [Similarity::Dot, Similarity::Cosine, Similarity::NegativeSquaredDistance].map(factors).to_vec();
        let layers = vec![
            Layer { weights: matrix(3, 4, 0.9), bias: matrix(1, 3, 0.4) },
            Layer { weights: matrix(1, 3, 1.7), bias: matrix(1, 1, 1.0) },
        ];
        all.push(Scorer::Network(Network { users: matrix(9, 6, 0.7), items: matrix(700, 6, 0.31), product: 2, layers }));
        all.push(Scorer::TanhLayer(TanhLayer { users: matrix(9, 6, 0.7), items: matrix(700, 6, 0.31), weights: matrix(1, 3, 0.9) }));
        all.push(Scorer::ItemWeights(ItemWeights { weights: matrix(700, 700, 0.013) }));
        let sparse = |rows: u32| {
            let row = |row: u32| (row % 3..rows).step_by(3).map(|column| (column, (column as f32 * 0.7).sin())).collect();
            SparseMatrix::from_rows(rows as usize, &(0..rows).map(row).collect::<Vec<_>>())
        };
        all.push(Scorer::SparseItemWeights(SparseItemWeights { weights: sparse(700) }));
        all.push(Scorer::UserNeighbours(UserNeighbours { weights: sparse(9), items: 700 }));
        all
    }

    #[test]
    fn scores_are_those_of_the_ranking() {
        let history = Interactions::from_pairs(9, (0..9).flat_map(|user| (0..7).map(move |place| (user, (user * 31 + place * 97) % 700))));
        let users = [3, 0, 8];
        for scorer in scorers() {
            let every = top_k(&scorer, &history, &[], &users, 700, 1 << 20).unwrap();
            let list = |user: u32, items: &mut Vec<u32>| items.extend((0..700).filter(|item| (item + user).is_multiple_of(3)));
            let found = reduce_lists(&scorer, &history, &users, list, |_, scores| scores.to_vec(), 1 << 20).unwrap();
            for ((every, found), &user) in every.iter().zip(&found).zip(&users) {
                let mut items = Vec::new();
                list(user, &mut items);
                let expected = |item: &u32| every.iter().find(|(other, _)| other == item).map(|&(_, score)| score);
                assert_eq!(items.iter().map(expected).collect::<Option<Vec<f32>>>().unwrap(), *found);
            }
        }
    }

    #[test]
    fn unknown_users_and_scores_that_are_no_numbers_are_errors() {
        let mut scorer = scorers().remove(0);
        let history = Interactions::empty(9);
        let lists =
            |scorer: &Scorer, user: u32| reduce_lists(scorer, &history, &[user], |_, items| items.extend([4, 5]), |_, _| (), 1 << 20);
        assert!(lists(&scorer, 9).unwrap_err().to_string().contains("user 9 is outside the 9 users"));
        let Scorer::Factors(Factors { items, .. }) = &mut scorer else { panic!("factors") };
        items.values[5 * 5] = f32::NAN;
        assert!(matches!(lists(&scorer, 2), Err(Error::NotFinite { user: 2, item: 5 })));
    }
}
