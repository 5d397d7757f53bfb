//! The values and test vectors of the reference (METRICS.md sections 1 and 6).

use super::*;
use proptest::prelude::*;

fn of(metric: Metric, cutoff: u32, ranks: &[u32]) -> f64 {
    with(metric, cutoff, ranks, Recall::Standard)
}

fn with(metric: Metric, cutoff: u32, ranks: &[u32], recall: Recall) -> f64 {
    value(&Ranked { user: 0, ranks, candidates: 100, auc: 0.75, tied: false }, MetricAt { metric, cutoff: Some(cutoff) }, recall)
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
    assert!((with(Metric::Recall, 2, &EXAMPLE, Recall::Capped) - 0.5).abs() < 5e-9);
    assert!((with(Metric::Recall, 2, &EXAMPLE, Recall::Standard) - 0.33333333).abs() < 5e-9);
    assert!((with(Metric::Recall, 5, &EXAMPLE, Recall::Capped) - 0.66666667).abs() < 5e-9);
}

#[test]
fn a_next_item_at_rank_3() {
    assert!((of(Metric::Ndcg, 10, &[3]) - 0.5).abs() < 1e-15);
    assert!((of(Metric::Mrr, 10, &[3]) - 0.33333333).abs() < 5e-9);
    assert_eq!((of(Metric::Ndcg, 2, &[3]), of(Metric::Mrr, 2, &[3])), (0.0, 0.0));
}

#[test]
fn one_held_out_item_at_the_top() {
    for metric in Metric::ALL.into_iter().filter(|&metric| metric != Metric::Auc) {
        assert_eq!(of(metric, 1, &[1]), 1.0, "{}", metric.name());
    }
}

#[test]
fn more_held_out_items_than_places() {
    let ranks: Vec<u32> = (1..=8).collect();
    assert_eq!(of(Metric::Ndcg, 5, &ranks), 1.0);
    assert_eq!(of(Metric::Map, 5, &ranks), 1.0);
    assert_eq!(of(Metric::Recall, 5, &ranks), 0.625);
    assert_eq!(with(Metric::Recall, 5, &ranks, Recall::Capped), 1.0);
}

#[test]
fn no_hits() {
    for metric in Metric::ALL.into_iter().filter(|&metric| metric != Metric::Auc) {
        assert_eq!(of(metric, 5, &[6, 9]).to_bits(), 0, "{}", metric.name());
    }
}

#[test]
fn without_a_cutoff_the_whole_list_counts() {
    let ranked = Ranked { user: 0, ranks: &[4], candidates: 8, auc: 0.0, tied: false };
    let of = |metric| value(&ranked, MetricAt { metric, cutoff: None }, Recall::Standard);
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
        for metric in Metric::ALL {
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
    for text in ["ndcg@20", "hit-rate@1", "auc"] {
        assert_eq!(text.parse::<MetricAt>().unwrap().to_string(), text);
    }
    for text in ["ndgc@20", "ndcg", "auc@5", "map@0", "map@x"] {
        assert!(text.parse::<MetricAt>().unwrap_err().to_string().contains(text));
    }
}

#[test]
fn a_ranking_goes_as_deep_as_its_metrics_look() {
    let metrics = |texts: &[&str]| -> Vec<MetricAt> { texts.iter().map(|text| text.parse().unwrap()).collect() };
    assert_eq!(depth(&metrics(&["ndcg@20", "recall@50", "mrr@5"])), Some(50));
    assert_eq!(depth(&metrics(&["ndcg@20", "auc"])), None);
}
