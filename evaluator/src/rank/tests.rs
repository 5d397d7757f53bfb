//! The engine against full sorts of exact scores, and against itself under other threads and budgets.

use super::*;
use crate::{
    Error, Factors, Histories, ItemWeights, Layer, Matrix, Network, Similarity, SparseItemWeights, SparseMatrix, TanhLayer, UserNeighbours,
};
use proptest::prelude::*;

/// A small problem whose scores are exact in `f32`, so that ties are real ones.
#[derive(Clone, Debug)]
struct Problem {
    scorer: Scorer,
    history: Interactions,
    validation: Interactions,
    held_out: Interactions,
}

fn matrix(rows: usize, dim: usize, similarity: Similarity) -> impl Strategy<Value = Matrix> {
    let exact_norms = similarity == Similarity::Cosine;
    prop::collection::vec(prop::collection::vec(-2i8..3, dim), rows).prop_map(move |rows| {
        let values = rows.iter().flat_map(|row| row.iter().map(|&value| f32::from(value)).collect::<Vec<_>>());
        let mut matrix = Matrix { rows: rows.len(), dim, values: values.collect() };
        if exact_norms {
            // One number of each row stays: cosines are -1, 0 and 1.
            for (at, row) in matrix.values.chunks_mut(dim).enumerate() {
                (0..dim).filter(|&d| d != at % dim).for_each(|d| row[d] = 0.0);
            }
        }
        matrix
    })
}

fn scorer(users: usize, items: usize) -> impl Strategy<Value = Scorer> {
    let similarity = prop_oneof![Just(Similarity::Dot), Just(Similarity::Cosine), Just(Similarity::NegativeSquaredDistance)];
    let factors = (similarity, 1usize..6).prop_flat_map(move |(similarity, dim)| {
        (matrix(users, dim, similarity), matrix(items, dim, similarity))
            .prop_map(move |(users, items)| Scorer::Factors(Factors { users, items, similarity }))
    });
    let histories = (matrix(users, 3, Similarity::Dot), matrix(users, 3, Similarity::Dot), matrix(items, 3, Similarity::Dot));
    let histories = histories
        .prop_map(|(validation, test, items)| Scorer::Histories(Histories { validation, test, items, similarity: Similarity::Dot }));
    let sizes = (0usize..3, prop_oneof![Just(vec![]), Just(vec![2]), Just(vec![3, 2])])
        .prop_filter("no numbers", |(product, hidden)| product + hidden.len() > 0);
    let network = sizes.prop_flat_map(move |(product, hidden)| {
        let dim = product + hidden.first().unwrap_or(&0);
        let plain = |rows: usize, dim: usize| matrix(rows, dim, Similarity::Dot);
        let layer = |(&from, &to): (&usize, &usize)| (plain(to, from), plain(1, to)).prop_map(|(weights, bias)| Layer { weights, bias });
        let layers: Vec<_> = hidden.iter().zip(hidden.iter().skip(1).chain([&1])).map(layer).collect();
        (plain(users, dim), plain(items, dim), layers)
            .prop_map(move |(users, items, layers)| Scorer::Network(Network { users, items, product, layers }))
    });
    // Of one sum, so that scores of different sums are apart also as `f32`.
    let plain = |rows: usize| matrix(rows, 1, Similarity::Dot);
    let tanh_layer =
        (plain(users), plain(items), plain(1)).prop_map(|(users, items, weights)| Scorer::TanhLayer(TanhLayer { users, items, weights }));
    let weights = matrix(items, items, Similarity::Dot).prop_map(|weights| Scorer::ItemWeights(ItemWeights { weights }));
    let of_items = sparse(items).prop_map(|weights| Scorer::SparseItemWeights(SparseItemWeights { weights }));
    let of_users = sparse(users).prop_map(move |weights| Scorer::UserNeighbours(UserNeighbours { weights, items }));
    prop_oneof![factors, histories, network, tanh_layer, weights, of_items, of_users]
}

/// Some entries of a square table; stored zeros are among them.
fn sparse(rows: usize) -> impl Strategy<Value = SparseMatrix> {
    let row = prop::collection::btree_map(0..rows as u32, (-2i8..3).prop_map(f32::from), 0..=rows.min(6));
    let rows_of = prop::collection::vec(row.prop_map(|row| row.into_iter().collect()), rows);
    rows_of.prop_map(move |entries: Vec<Vec<(u32, f32)>>| SparseMatrix::from_rows(rows, &entries))
}

prop_compose! {
    fn problem()(users in 1usize..20, items in 2usize..40)(
        scorer in scorer(users, items),
        parts in prop::collection::vec(prop::collection::vec(0u8..6, items), users),
    ) -> Problem {
        let part = |wanted: u8| {
            let rows = parts.iter().enumerate();
            let pairs: Vec<(u32, u32)> = rows
                .flat_map(|(user, row)| row.iter().enumerate().filter(move |&(_, &part)| part == wanted).map(move |(item, _)| (user as u32, item as u32)))
                .collect();
            Interactions::from_pairs(parts.len(), pairs.into_iter())
        };
        Problem { scorer, history: part(0), validation: part(1), held_out: part(2) }
    }
}

/// The score by its definition, exact for the numbers drawn here.
fn score(problem: &Problem, user: usize, item: usize) -> f64 {
    match &problem.scorer {
        Scorer::Factors(Factors { users, items, similarity }) | Scorer::Histories(Histories { test: users, items, similarity, .. }) => {
            let pairs = || users.row(user).iter().zip(items.row(item)).map(|(&p, &q)| (f64::from(p), f64::from(q)));
            let dot: f64 = pairs().map(|(p, q)| p * q).sum();
            match similarity {
                Similarity::Dot => dot,
                Similarity::Cosine if dot == 0.0 => 0.0,
                Similarity::Cosine => dot / (pairs().map(|(p, _)| p * p).sum::<f64>() * pairs().map(|(_, q)| q * q).sum::<f64>()).sqrt(),
                Similarity::NegativeSquaredDistance => -pairs().map(|(p, q)| (p - q) * (p - q)).sum::<f64>(),
            }
        }
        Scorer::Network(Network { users, items, product, layers }) => {
            let (user, item): (Vec<f64>, Vec<f64>) =
                [users.row(user), items.row(item)].map(|row| row.iter().copied().map(f64::from).collect()).into();
            let products = (0..*product).map(|k| user[k] * item[k]).sum::<f64>();
            let mut hidden: Vec<f64> = (*product..user.len()).map(|k| user[k] + item[k]).collect();
            for Layer { weights, bias } in layers {
                let relu: Vec<f64> = hidden.iter().map(|value| value.max(0.0)).collect();
                let row = |row: usize| weights.row(row).iter().zip(&relu).map(|(&weight, value)| f64::from(weight) * value).sum::<f64>();
                hidden = (0..weights.rows).map(|at| row(at) + f64::from(bias.values[at])).collect();
            }
            products + hidden.first().copied().unwrap_or_default()
        }
        Scorer::TanhLayer(TanhLayer { users, items, weights }) => {
            f64::from(weights.values[0]) * f64::from(users.row(user)[0] + items.row(item)[0]).tanh()
        }
        Scorer::ItemWeights(ItemWeights { weights }) => {
            problem.history.row(user).iter().map(|&known| f64::from(weights.row(known as usize)[item])).sum()
        }
        Scorer::SparseItemWeights(SparseItemWeights { weights }) => {
            let weight = |known: u32| weights.row(known as usize).find(|entry| entry.0 as usize == item).map_or(0.0, |entry| entry.1);
            problem.history.row(user).iter().map(|&known| f64::from(weight(known))).sum()
        }
        Scorer::UserNeighbours(UserNeighbours { weights, .. }) => {
            let have_it = weights.row(user).filter(|&(other, _)| problem.history.contains(other as usize, item as u32));
            have_it.map(|(_, weight)| f64::from(weight)).sum()
        }
        Scorer::Lists(lists) => lists.row(user).find(|entry| entry.0 as usize == item).map_or(f64::NEG_INFINITY, |entry| entry.1),
    }
}

/// One user's candidates by descending score, ties for or against the held-out items, and whether each is held out.
fn sorted(problem: &Problem, user: usize, ties: Ties) -> Vec<(f64, bool)> {
    let known = |item: u32| problem.history.contains(user, item) || problem.validation.contains(user, item);
    let mut list: Vec<(f64, bool)> = (0..problem.scorer.items() as u32)
        .filter(|&item| !known(item))
        .map(|item| (score(problem, user, item as usize), problem.held_out.contains(user, item)))
        .collect();
    list.sort_by(|a, b| {
        let held_out_first = b.1.cmp(&a.1);
        let rule = if ties == Ties::Optimistic { held_out_first } else { held_out_first.reverse() };
        b.0.partial_cmp(&a.0).unwrap().then(rule)
    });
    list
}

proptest! {
    #[test]
    fn ranks_are_those_of_a_full_sort(problem in problem(), optimistic: bool, memory in prop_oneof![Just(0), Just(usize::MAX)]) {
        let ties = if optimistic { Ties::Optimistic } else { Ties::Pessimistic };
        let masked = [&problem.history, &problem.validation];
        let rankings = rank(&problem.scorer, &problem.history, &masked, &problem.held_out, ties, memory).unwrap();
        let with_held_out = (0..problem.history.users() as u32).filter(|&user| !problem.held_out.row(user as usize).is_empty());
        prop_assert!(rankings.users.iter().copied().eq(with_held_out));
        for ranked in rankings.iter() {
            let list = sorted(&problem, ranked.user as usize, ties);
            let ranks: Vec<u32> = (1..).zip(&list).filter(|(_, (_, held_out))| *held_out).map(|(rank, _)| rank).collect();
            prop_assert_eq!(ranked.ranks, &ranks[..]);
            prop_assert_eq!(ranked.candidates as usize, list.len());
            let (mut ordered, mut pairs, mut tied) = (0.0, 0.0, false);
            for positive in list.iter().filter(|(_, held_out)| *held_out) {
                for negative in list.iter().filter(|(_, held_out)| !*held_out) {
                    pairs += 1.0;
                    ordered += if positive.0 > negative.0 { 1.0 } else if positive.0 == negative.0 { 0.5 } else { 0.0 };
                    tied |= positive.0 == negative.0;
                }
            }
            let auc = if pairs > 0.0 { ordered / pairs } else { 0.5 };
            prop_assert!((ranked.auc - auc).abs() < 1e-12 && ranked.tied == tied);
        }
    }

    #[test]
    fn a_limit_leaves_the_ranks_within_it(problem in problem(), optimistic: bool, limit in 1u32..45) {
        let ties = if optimistic { Ties::Optimistic } else { Ties::Pessimistic };
        let masked = [&problem.history];
        let all = rank(&problem.scorer, &problem.history, &masked, &problem.held_out, ties, 0).unwrap();
        let within = rank_within(&problem.scorer, &problem.history, &masked, &problem.held_out, ties, 0, Some(limit)).unwrap();
        prop_assert_eq!(&all.users, &within.users);
        for (all, within) in all.iter().zip(within.iter()) {
            let expected: Vec<u32> = all.ranks.iter().map(|&rank| if rank <= limit { rank } else { u32::MAX }).collect();
            prop_assert_eq!(within.ranks, &expected[..]);
            prop_assert_eq!(within.candidates, all.candidates);
            prop_assert!(all.tied || !within.tied);
            prop_assert!(within.auc.is_nan());
        }
        let best = rank_within(&problem.scorer, &problem.history, &masked, &problem.held_out, Ties::Optimistic, 0, Some(limit)).unwrap();
        let worst = rank_within(&problem.scorer, &problem.history, &masked, &problem.held_out, Ties::Pessimistic, 0, Some(limit)).unwrap();
        prop_assert!(best.iter().zip(worst.iter()).all(|(best, worst)| best.tied == worst.tied && (best.tied || best.ranks == worst.ranks)));
    }

    #[test]
    fn lists_come_with_the_ranks_and_change_none(problem in problem(), optimistic: bool, limit in prop::option::of(0u32..45), list in 1u32..45) {
        let ties = if optimistic { Ties::Optimistic } else { Ties::Pessimistic };
        let masked = [&problem.history, &problem.validation];
        let ranked = |depth: Depth| rank_within(&problem.scorer, &problem.history, &masked, &problem.held_out, ties, 0, depth).unwrap();
        let (plain, found) = (ranked(limit.into()), ranked(Depth { ranks: limit, list }));
        let expected = top_k(&problem.scorer, &problem.history, &masked, &found.users, list as usize, 0).unwrap();
        prop_assert_eq!(&plain.users, &found.users);
        for ((plain, found), expected) in plain.iter().zip(found.iter()).zip(&expected) {
            let known = |ranked: Ranked<'_>| (ranked.ranks.to_vec(), ranked.candidates, ranked.auc.to_bits(), ranked.tied);
            prop_assert_eq!(known(plain), known(found));
            prop_assert!(plain.list.is_empty() && found.list.iter().eq(expected.iter().map(|(item, _)| item)));
        }
    }

    #[test]
    fn counts_that_were_made_elsewhere_give_the_same_rankings(problem in problem(), optimistic: bool, limit in prop::option::of(1u32..45)) {
        let ties = if optimistic { Ties::Optimistic } else { Ties::Pessimistic };
        let (masked, held_out, items) = (&problem.history, &problem.held_out, problem.scorer.items());
        let expected = rank_within(&problem.scorer, masked, &[masked], held_out, ties, 0, limit).unwrap();
        let before = held_out.pairs().map(|(user, item)| {
            let user = user as usize;
            let others = (0..items).filter(|&item| !masked.contains(user, item as u32) && !held_out.contains(user, item as u32));
            let above = |other: usize| score(&problem, user, other) - score(&problem, user, item as usize);
            others.fold((0, 0), |(at_least, higher), other| (at_least + u32::from(above(other) >= 0.0), higher + u32::from(above(other) > 0.0)))
        });
        let found = Rankings::from_counts(held_out, masked, items, &before.collect::<Vec<_>>(), ties, limit);
        prop_assert_eq!(&found.users, &expected.users);
        for (found, expected) in found.iter().zip(expected.iter()) {
            // Without its bits an unknown area equals nothing.
            let known = |ranked: Ranked<'_>| (ranked.ranks.to_vec(), ranked.candidates, ranked.auc.to_bits(), ranked.tied);
            prop_assert_eq!(known(found), known(expected));
        }
    }

    #[test]
    fn the_top_k_is_the_head_of_a_full_sort(problem in problem(), k in 0usize..45) {
        let users: Vec<u32> = (0..problem.history.users() as u32).rev().collect();
        let masked = [&problem.history, &problem.validation];
        let lists = top_k(&problem.scorer, &problem.history, &masked, &users, k, 0).unwrap();
        for (list, &user) in lists.iter().zip(&users) {
            let known = |item: u32| masked.iter().any(|masked| masked.contains(user as usize, item));
            let mut expected: Vec<(u32, f32)> = (0..problem.scorer.items() as u32)
                .filter(|&item| !known(item))
                .map(|item| (item, score(&problem, user as usize, item as usize) as f32))
                .collect();
            expected.sort_by(|a, b| b.1.partial_cmp(&a.1).unwrap().then(a.0.cmp(&b.0)));
            expected.truncate(k);
            let items = |list: &[(u32, f32)]| list.iter().map(|entry| entry.0).collect::<Vec<u32>>();
            prop_assert_eq!(items(list), items(&expected));
            // Scores are exact but for those of tanh.
            let allowed = if matches!(problem.scorer, Scorer::TanhLayer(_)) { 5e-7 } else { 0.0 };
            prop_assert!(list.iter().zip(&expected).all(|(found, expected)| (found.1 - expected.1).abs() <= allowed));
        }
    }
}

/// Factors without structure, and two items for each of the users' parts.
fn large(users: usize, items: usize, dim: usize, similarity: Similarity) -> Problem {
    let number = |at: usize| ((at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f32 / 1e7 - 0.8;
    let numbers = |rows: usize, shift: usize| Matrix { rows, dim, values: (0..rows * dim).map(|at| number(at + shift)).collect() };
    let part = |step: usize| {
        let pairs: Vec<(u32, u32)> = (0..users)
            .flat_map(|user| (0..user % 90).map(move |nth| (user as u32, ((user * 7 + nth * 3 * 11 + step) % items) as u32)))
            .collect();
        Interactions::from_pairs(users, pairs.into_iter())
    };
    let scorer = Scorer::Factors(Factors { users: numbers(users, 0), items: numbers(items, 1 << 30), similarity });
    Problem { scorer, history: part(0), validation: part(11), held_out: part(22) }
}

/// Sparse scorers without structure: of items, and of users.
fn large_sparse(users: usize, items: usize) -> [Scorer; 2] {
    let weights = |rows: usize| {
        let row =
            |row: usize| (row % 7..rows).step_by(1 + row % 29).map(move |column| (column as u32, ((row * 31 + column * 17) as f32).sin()));
        SparseMatrix::from_rows(rows, &(0..rows).map(|at| row(at).collect()).collect::<Vec<_>>())
    };
    [
        Scorer::SparseItemWeights(SparseItemWeights { weights: weights(items) }),
        Scorer::UserNeighbours(UserNeighbours { weights: weights(users), items }),
    ]
}

#[test]
fn threads_and_memory_do_not_change_a_bit() {
    let factors =
        [Similarity::Dot, Similarity::Cosine, Similarity::NegativeSquaredDistance].map(|similarity| large(301, 3003, 33, similarity));
    let sparse = large_sparse(301, 3003).map(|scorer| Problem { scorer, ..large(301, 3003, 1, Similarity::Dot) });
    for problem in factors.into_iter().chain(sparse) {
        let masked = [&problem.history, &problem.validation];
        let run = |threads: usize, memory: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let rankings = rank(&problem.scorer, &problem.history, &masked, &problem.held_out, Ties::Pessimistic, memory).unwrap();
                let users: Vec<u32> = (0..301).collect();
                let lists = top_k(&problem.scorer, &problem.history, &masked, &users, 20, memory).unwrap();
                let within =
                    rank_within(&problem.scorer, &problem.history, &masked, &problem.held_out, Ties::Pessimistic, memory, Some(20));
                let ranks: Vec<Vec<u32>> = within.unwrap().iter().map(|ranked| ranked.ranks.to_vec()).collect();
                (rankings, lists, ranks)
            })
        };
        let expected = run(1, usize::MAX);
        for (threads, memory) in [(1, 0), (2, usize::MAX), (3, 1 << 19), (2, 1 << 22)] {
            assert!(run(threads, memory) == expected, "{threads} threads, {memory} bytes");
        }
    }
}

#[test]
fn users_that_leave_early_have_the_ranks_of_those_that_stay() {
    for similarity in [Similarity::Dot, Similarity::Cosine, Similarity::NegativeSquaredDistance] {
        let mut problem = large(301, 3003, 33, similarity);
        if let Scorer::Factors(Factors { items, .. }) = &mut problem.scorer {
            // Lengths from 1 down to a thousandth, in no order of ids: most tiles are out of every user's reach.
            for (item, row) in items.values.chunks_mut(33).enumerate() {
                row.iter_mut().for_each(|value| *value *= 0.001f32.powf((item * 7 % 100) as f32 / 100.0));
            }
        }
        let masked = [&problem.history, &problem.validation];
        let all = rank(&problem.scorer, &problem.history, &masked, &problem.held_out, Ties::Pessimistic, 1 << 22).unwrap();
        for limit in [1, 20, 2900] {
            let within =
                rank_within(&problem.scorer, &problem.history, &masked, &problem.held_out, Ties::Pessimistic, 1 << 22, Some(limit))
                    .unwrap();
            for (all, within) in all.iter().zip(within.iter()) {
                let expected: Vec<u32> = all.ranks.iter().map(|&rank| if rank <= limit { rank } else { u32::MAX }).collect();
                assert_eq!(within.ranks, expected);
            }
            let depth = Depth { ranks: Some(limit), list: limit };
            let listed =
                rank_within(&problem.scorer, &problem.history, &masked, &problem.held_out, Ties::Pessimistic, 1 << 22, depth).unwrap();
            let best = top_k(&problem.scorer, &problem.history, &masked, &listed.users, limit as usize, 1 << 22).unwrap();
            for ((within, listed), best) in within.iter().zip(listed.iter()).zip(&best) {
                assert_eq!(within.ranks, listed.ranks);
                assert!(listed.list.iter().eq(best.iter().map(|(item, _)| item)));
            }
        }
    }
}

fn one_user(items: Vec<f32>, held_out: &[u32], ties: Ties) -> Result<Rankings> {
    let scorer = Scorer::Factors(Factors {
        users: Matrix { rows: 1, dim: 1, values: vec![1.0] },
        items: Matrix { rows: items.len(), dim: 1, values: items },
        similarity: Similarity::Dot,
    });
    let none = Interactions::empty(1);
    rank(&scorer, &none, &[], &Interactions::from_pairs(1, held_out.iter().map(|&item| (0, item))), ties, 0)
}

#[test]
fn ties_of_the_reference() {
    // METRICS.md section 3: s = (.9, .5, .5, .5, .1), item 1.
    let scores = vec![0.9, 0.5, 0.5, 0.5, 0.1];
    let pessimistic = one_user(scores.clone(), &[1], Ties::Pessimistic).unwrap();
    assert_eq!(pessimistic.iter().next().unwrap().ranks, [4]);
    assert_eq!(pessimistic.tied_users(), 1);
    assert_eq!(one_user(scores, &[1], Ties::Optimistic).unwrap().iter().next().unwrap().ranks, [2]);
}

#[test]
fn all_scores_equal() {
    let pessimistic = one_user(vec![0.25; 9], &[4], Ties::Pessimistic).unwrap();
    assert_eq!(pessimistic.iter().next().unwrap().ranks, [9]);
    assert_eq!(pessimistic.iter().next().unwrap().auc, 0.5);
    assert_eq!(one_user(vec![0.25; 9], &[4], Ties::Optimistic).unwrap().iter().next().unwrap().ranks, [1]);
}

#[test]
fn auc_of_the_reference() {
    // s+ = (.9, .5), s- = (.5, .1, .7)
    let scores = vec![0.9, 0.5, 0.5, 0.1, 0.7];
    assert_eq!(one_user(scores.clone(), &[0, 1], Ties::Pessimistic).unwrap().iter().next().unwrap().auc, 0.75);
    let negated = scores.iter().map(|score| -score).collect();
    assert_eq!(one_user(negated, &[0, 1], Ties::Pessimistic).unwrap().iter().next().unwrap().auc, 0.25);
}

#[test]
fn the_first_score_that_is_not_finite_is_named() {
    let mut scores = vec![0.5; 2000];
    scores[1700] = f32::NAN;
    scores[900] = f32::INFINITY;
    for held_out in [3, 900] {
        let error = one_user(scores.clone(), &[held_out], Ties::Pessimistic).unwrap_err();
        assert!(matches!(error, Error::NotFinite { user: 0, item: 900 }), "{error}");
    }
}

#[test]
fn a_score_that_overflows_is_named_although_its_user_is_done() {
    let matrix = |values: Vec<f32>| Matrix { rows: values.len() / 2, dim: 2, values };
    let mut items: Vec<f32> = (0..4000).map(|item| 4000.0 - item as f32).collect();
    items[3501] = 3e38;
    let scorer = Scorer::Factors(Factors { users: matrix(vec![2.0, 2.0]), items: matrix(items), similarity: Similarity::Dot });
    let (none, held_out) = (Interactions::empty(1), Interactions::from_pairs(1, [(0, 1900)].into_iter()));
    let error = rank_within(&scorer, &none, &[], &held_out, Ties::Pessimistic, 0, Some(5)).unwrap_err();
    assert!(matches!(error, Error::NotFinite { user: 0, item: 1750 }), "{error}");
    let error = top_k(&scorer, &none, &[], &[0], 5, 0).unwrap_err();
    assert!(matches!(error, Error::NotFinite { user: 0, item: 1750 }), "{error}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let problem = large(20, 50, 4, Similarity::Dot);
    let refused = |history: &Interactions, masked: &[&Interactions], held_out: &Interactions| {
        rank(&problem.scorer, history, masked, held_out, Ties::Pessimistic, 0).unwrap_err().to_string()
    };
    let fewer = Interactions::empty(19);
    assert!(refused(&fewer, &[], &fewer).contains("the scorer has 20 users, the dataset 19"));
    let outside = Interactions::from_pairs(20, [(3, 50)].into_iter());
    assert!(refused(&problem.history, &[], &outside).contains("held-out item 50 is outside the 50 items"));
    assert!(refused(&problem.history, &[&outside], &problem.held_out).contains("item 50 is outside the 50 items"));
    let leak = Interactions::from_pairs(20, [(3, 7)].into_iter());
    assert!(refused(&problem.history, &[&leak], &leak).contains("item 7 of user 3 is held out and masked"));
}
