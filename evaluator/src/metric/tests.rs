//! The values and test vectors of the reference (METRICS.md sections 1 and 6).

use super::*;
use crate::{Lists, Scorer, rank::rank_within};
use dataset::Interactions;
use proptest::prelude::*;
use vectors::Ties;

fn of(metric: Metric, cutoff: u32, ranks: &[u32]) -> f64 {
    with(metric, cutoff, ranks, RecallDenominator::Standard)
}

fn with(metric: Metric, cutoff: u32, ranks: &[u32], recall: RecallDenominator) -> f64 {
    value(metric, &Ranked { user: 0, ranks, candidates: 100, auc: 0.75, tied: false, list: &[] }, cutoff, recall)
}

fn value(metric: Metric, ranked: &Ranked<'_>, cutoff: u32, recall: RecallDenominator) -> f64 {
    let Measure::Ranks(value) = metric.kind().measure() else { panic!("{} is not of ranks", metric.name()) };
    value(ranked, cutoff, recall)
}

/// The metrics of the first ranks.
fn of_ranks() -> impl Iterator<Item = Metric> {
    Metric::ALL.into_iter().filter(|metric| metric.is_of_ranks() && metric.has_cutoff())
}

/// Top 5 = (7, 3, 9, 1, 4), held out {3, 4, 8}: hits at 2 and 5; item 8 stands far behind.
const EXAMPLE: [u32; 3] = [2, 5, 60];

#[test]
fn the_running_example() {
    let expected = [
        (Metric::Precision, 0.4),
        (Metric::Recall, 0.66666667),
        (Metric::HitRate, 1.0),
        (Metric::Ndcg, 0.47762370),
        (Metric::Mrr, 0.5),
        (Metric::Map, 0.3),
        (Metric::Auc, 0.75),
    ];
    for (metric, expected) in expected {
        let value = of(metric, 5, &EXAMPLE);
        assert!((value - expected).abs() < 5e-9, "{}: {value}", metric.name());
    }
    assert!((with(Metric::Recall, 2, &EXAMPLE, RecallDenominator::Capped) - 0.5).abs() < 5e-9);
    assert!((with(Metric::Recall, 2, &EXAMPLE, RecallDenominator::Standard) - 0.33333333).abs() < 5e-9);
    assert!((with(Metric::Recall, 5, &EXAMPLE, RecallDenominator::Capped) - 0.66666667).abs() < 5e-9);
}

#[test]
fn a_next_item_at_rank_3() {
    assert!((of(Metric::Ndcg, 10, &[3]) - 0.5).abs() < 1e-15);
    assert!((of(Metric::Mrr, 10, &[3]) - 0.33333333).abs() < 5e-9);
    assert_eq!((of(Metric::Ndcg, 2, &[3]), of(Metric::Mrr, 2, &[3])), (0.0, 0.0));
}

#[test]
fn one_held_out_item_at_the_top() {
    for metric in of_ranks() {
        assert_eq!(of(metric, 1, &[1]), 1.0, "{}", metric.name());
    }
}

#[test]
fn more_held_out_items_than_places() {
    let ranks: Vec<u32> = (1..=8).collect();
    assert_eq!(of(Metric::Ndcg, 5, &ranks), 1.0);
    assert_eq!(of(Metric::Map, 5, &ranks), 1.0);
    assert_eq!(of(Metric::Recall, 5, &ranks), 0.625);
    assert_eq!(with(Metric::Recall, 5, &ranks, RecallDenominator::Capped), 1.0);
}

#[test]
fn no_hits() {
    for metric in of_ranks() {
        assert_eq!(of(metric, 5, &[6, 9]).to_bits(), 0, "{}", metric.name());
    }
}

#[test]
fn without_a_cutoff_the_whole_list_counts() {
    let (lists, held_out) = (Lists::from_rows(8, vec![(0..8).map(|item| (item, 8.0 - f64::from(item))).collect()]).unwrap(), [(0, 3)]);
    let (history, held_out) = (Interactions::empty(1), Interactions::from_pairs(1, held_out.into_iter()));
    let rankings = rank_within(&Scorer::Lists(lists), &history, &[], &held_out, Ties::Pessimistic, 0, None).unwrap();
    let given = Given::new(RecallDenominator::Standard, &history, 8);
    let of = |metric| values(&rankings, MetricAt { metric, cutoff: None }, &given)[0];
    assert_eq!((of(Metric::Mrr), of(Metric::Precision), of(Metric::Recall)), (0.25, 0.125, 1.0));
}

proptest! {
    #[test]
    fn mrr_is_average_precision_for_one_held_out_item(rank in 1u32..50, cutoff in 1u32..50) {
        prop_assert_eq!(of(Metric::Mrr, cutoff, &[rank]), of(Metric::Map, cutoff, &[rank]));
    }

    #[test]
    fn all_values_are_between_0_and_1(ranks in prop::collection::btree_set(1u32..200, 1..60), cutoff in 1u32..250) {
        let ranks: Vec<u32> = ranks.into_iter().collect();
        for metric in of_ranks() {
            let value = of(metric, cutoff, &ranks);
            prop_assert!((0.0..=1.0 + 1e-12).contains(&value), "{} {}", metric.name(), value);
        }
    }
}

#[test]
fn a_metric_has_one_name() {
    for metric in Metric::ALL {
        assert_eq!(serde_json::to_value(metric).unwrap(), metric.name());
    }
}

#[test]
fn names_are_parsed_and_printed() {
    for text in ["ndcg@20", "hit-rate@1", "auc", "average-popularity@5"] {
        assert_eq!(text.parse::<MetricAt>().unwrap().to_string(), text);
    }
    for text in ["ndgc@20", "ndcg", "auc@5", "map@0", "map@x", "gini"] {
        assert!(text.parse::<MetricAt>().unwrap_err().to_string().contains(text));
    }
}

#[test]
fn a_ranking_goes_as_deep_as_its_metrics_look() {
    let metrics = |texts: &[&str]| -> Vec<MetricAt> { texts.iter().map(|text| text.parse().unwrap()).collect() };
    assert_eq!(depth(&metrics(&["ndcg@20", "recall@50", "mrr@5"])), Depth { ranks: Some(50), list: 0 });
    assert_eq!(depth(&metrics(&["ndcg@20", "auc"])), Depth { ranks: None, list: 0 });
    assert_eq!(depth(&metrics(&["novelty@50", "ndcg@5", "gini@10"])), Depth { ranks: Some(5), list: 50 });
    assert_eq!(depth(&metrics(&["coverage@10"])), Depth { ranks: Some(0), list: 10 });
}

/// Six users' train items, the last one without any, and their lists, of seven items of which nobody has the last. User 2 has one candidate and user 4
/// none.
const TRAIN: [&[u32]; 6] = [&[0, 1], &[0, 1, 2], &[0, 3], &[0, 1, 4], &[0, 5], &[]];
const LISTS: [&[u32]; 6] = [&[2, 3, 6], &[3, 4, 5], &[1], &[2, 6, 3], &[], &[0, 1, 2]];

/// The values of a metric of the lists, which are three items long.
fn of_lists(text: &str) -> Vec<f64> {
    let row = |list: &[u32]| list.iter().zip([3.0, 2.0, 1.0]).map(|(&item, score)| (item, score)).collect();
    let scorer = Scorer::Lists(Lists::from_rows(7, LISTS.map(row).into()).unwrap());
    let pairs = (0..).zip(TRAIN).flat_map(|(user, items)| items.iter().map(move |&item| (user, item)));
    let (history, held_out) = (Interactions::from_pairs(6, pairs), Interactions::from_pairs(6, (0..6).map(|user| (user, 6))));
    let depth = Depth { ranks: Some(0), list: 3 };
    let rankings = rank_within(&scorer, &history, &[&history], &held_out, Ties::Pessimistic, 0, depth).unwrap();
    values(&rankings, text.parse().unwrap(), &Given::new(RecallDenominator::Standard, &history, 7))
}

/// By NumPy, from the formulas with dense matrices: pairs of items by `Xn.T @ Xn`, the Gini index also as the mean absolute difference.
#[test]
fn what_lists_are_like() {
    let expected: [(&str, &[f64]); 9] = [
        ("coverage@2", &[0.8571428571428571]),
        ("coverage@3", &[1.0]),
        ("gini@2", &[0.2857142857142857]),
        ("gini@3", &[0.24175824175824176]),
        ("average-popularity@3", &[0.6666666666666666, 1.0, 3.0, 0.6666666666666666, 0.0, 3.0]),
        ("novelty@3", &[2.321928094887362, 2.321928094887362, 0.7369655941662062, 2.321928094887362, 0.0, 1.0196312296845227]),
        ("diversity@3", &[1.0, 1.0, 0.0, 1.0, 0.0, 0.4002798220229775]),
        ("popularity-lift@3", &[-0.8333333333333334, -0.6666666666666666, 0.0, -0.7777777777777778, -1.0, 0.0]),
        ("popularity-deviation@3", &[0.5954372523105548, 1.0, 1.0, 0.20751874963942185, 1.0, 0.0]),
    ];
    for (text, expected) in expected {
        let found = of_lists(text);
        let near = found.len() == expected.len() && found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12);
        assert!(near, "{text}: {found:?}");
    }
}

/// By NumPy: at 2 the sixth user's list are the items 0 and 1, which have three users in common.
#[test]
fn lists_are_cut() {
    assert!((of_lists("diversity@2")[5] - 0.22540333075851648).abs() < 1e-12);
    assert!((of_lists("popularity-deviation@2")[3] - 0.1908745046211096).abs() < 1e-12);
    assert_eq!((of_lists("novelty@1").len(), of_lists("diversity@1")), (6, vec![0.0; 6]));
}

#[test]
#[should_panic(expected = "novelty@4 looks beyond the ranks or lists of Depth { ranks: Some(0), list: 3 }")]
fn a_list_that_was_not_kept_is_not_measured() {
    of_lists("novelty@4");
}

/// What lists are like decides nothing: a model that knows nothing of users has the best coverage.
#[test]
fn accuracy_alone_decides() {
    assert_eq!(Metric::deciding(), "ndcg, recall, precision, hit-rate, mrr, map, auc");
    let of = |is: fn(Metric) -> bool| Metric::ALL.into_iter().filter(|&metric| is(metric)).map(Metric::name).collect::<Vec<_>>();
    assert_eq!(of(|metric| !metric.is_per_user()), ["coverage", "gini"]);
    assert_eq!(of(|metric| metric.direction() == Direction::LowerIsBetter), ["gini", "popularity-deviation"]);
    assert_eq!(of(|metric| metric.direction() == Direction::Neither), ["average-popularity", "novelty", "diversity", "popularity-lift"]);
}
