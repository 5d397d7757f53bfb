use super::super::{best, sums};
use super::*;
use crate::testing::assert_near;
use streams::{Purpose, Stream};

fn draws(block: u32) -> impl FnMut(u32) -> u32 {
    let mut stream = Stream::new(2023, Purpose::Order, 0, block, 0);
    move |bound| stream.below(bound)
}

fn study(permutations: u32) -> Study {
    Study { positives: 200, negatives: 800, permutations, cutoffs: vec![5, 10, 20, 50, 100] }
}

/// Figure 6 of paper 003 by an independent program with 100,000 permutations: best depth, its correlation, that at b = K. The last is that
/// of AUC, exact: as AUC and the metric are sums over the positives' places, it is that of place and discount over all places (numpy).
#[test]
fn correlations_are_those_of_the_figure() {
    let found = study(20_000).run(draws);
    let at = |metric, cutoff, depth| {
        let row = found.correlations.iter().find(|row| (row.metric, row.cutoff, row.depth) == (metric, cutoff, depth));
        row.and_then(|row| row.value).unwrap()
    };
    let expected = [
        (TopKMetric::Recall, 5, 5, 0.9176, 0.9176, 0.1222),
        (TopKMetric::Recall, 10, 10, 0.9216, 0.9216, 0.1723),
        (TopKMetric::Recall, 20, 20, 0.9249, 0.9249, 0.2425),
        (TopKMetric::Recall, 50, 60, 0.9381, 0.9249, 0.3775),
        (TopKMetric::Recall, 100, 100, 0.9211, 0.9211, 0.5196),
        (TopKMetric::Ndcg, 5, 5, 0.9568, 0.9568, 0.1145),
        (TopKMetric::Ndcg, 10, 10, 0.9542, 0.9542, 0.1570),
        (TopKMetric::Ndcg, 20, 20, 0.9435, 0.9435, 0.2166),
        (TopKMetric::Ndcg, 50, 50, 0.9277, 0.9277, 0.3349),
        (TopKMetric::Ndcg, 100, 100, 0.9194, 0.9194, 0.4651),
    ];
    for (metric, cutoff, depth, largest, at_cutoff, auc) in expected {
        assert_near(at(metric, cutoff, depth), largest, 0.01);
        assert_near(at(metric, cutoff, cutoff), at_cutoff, 0.01);
        // A small correlation of 20,000 lists is off by 1 / sqrt(20,000) = .007 on average, and those of one run are off together.
        assert_near(at(metric, cutoff, 800), auc, 0.02);
        let best = best(&found.correlations, metric, cutoff).unwrap();
        assert!(best.depth.abs_diff(depth) <= depth / 2 && best.value.unwrap() - largest < 0.01, "{best:?}");
        if metric == TopKMetric::Recall {
            assert_eq!(at(TopKMetric::Precision, cutoff, depth), at(TopKMetric::Recall, cutoff, depth));
        }
    }
    assert!(found.brackets.iter().all(|(_, brackets)| brackets.lists == 20_000 && brackets.violations == 0));
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| study(5_500).run(draws));
    assert_eq!(on(1), on(3));
}

/// Against the plain definitions, list by list.
#[test]
fn one_pass_counts_what_the_definitions_say() {
    let study = Study { positives: 4, negatives: 7, permutations: 2, cutoffs: vec![1, 3, 11] };
    let layout = Layout::new(&study);
    let mut draw = draws(0);
    let mut list = vec![false; 11];
    let mut pass = Pass { hits: vec![0; 12], gains: vec![0.0; 12], sums: vec![0; 8] };
    for _ in 0..200 {
        permute(&mut list, 4, &mut draw);
        pass.over(&list, &layout.discounts);
        assert_eq!(pass.sums, sums(list.iter().copied()));
        for cutoff in study.cutoffs.iter().map(|&cutoff| cutoff as usize) {
            assert_eq!(pass.hits[cutoff] as usize, list[..cutoff].iter().filter(|&&positive| positive).count());
            let gain: f64 = (0..cutoff).filter(|&place| list[place]).map(|place| 1.0 / (place as f64 + 2.0).log2()).sum();
            assert_near(pass.gains[cutoff], gain, 1e-12);
        }
    }
}

/// Chi-square over the 10 subsets of 2 of 5 places: 9 degrees of freedom, 27.9 at a thousandth.
#[test]
fn subsets_are_uniform() {
    let mut counts = std::collections::BTreeMap::new();
    let (mut draw, mut list) = (draws(1), vec![false; 5]);
    for _ in 0..20_000 {
        permute(&mut list, 2, &mut draw);
        *counts.entry(list.clone()).or_insert(0.0) += 1.0;
    }
    assert_eq!(counts.len(), 10);
    let statistic: f64 = counts.values().map(|count: &f64| (count - 2_000.0).powi(2) / 2_000.0).sum();
    assert!(statistic < 27.9, "{statistic}");
}

/// The expectations that values are taken less: exact means over all lists.
#[test]
fn expectations_are_means_over_all_lists() {
    let study = Study { positives: 3, negatives: 5, permutations: 2, cutoffs: vec![2, 4] };
    let layout = Layout::new(&study);
    let lists: Vec<u32> = (0..256_u32).filter(|list| list.count_ones() == 3).collect();
    let mean = |value: &dyn Fn(u32) -> f64| lists.iter().map(|&list| value(list)).sum::<f64>() / lists.len() as f64;
    for (place, &depth) in layout.depths.iter().enumerate() {
        let sum = |list: u32| sums((0..8).map(|place| list >> place & 1 == 1))[depth as usize] as f64;
        assert_near(mean(&sum), layout.mean_sums[place], 1e-12);
    }
    assert_near(mean(&|list| f64::from((list & 3).count_ones())), layout.mean_hits[0], 1e-12);
}

#[test]
fn what_does_not_exist_is_refused() {
    let refused = |study: Study| study.check().unwrap_err().to_string();
    assert_eq!(study(100_000).check(), Ok(()));
    assert_eq!(refused(study(0)), "--permutations 0: expected 2 to 4294967295, as one alone has no correlation");
    assert_eq!(refused(Study { cutoffs: vec![5, 1_001], ..study(10) }), "--cutoffs 1001: expected 1 to 1000, the places of a list");
    assert_eq!(refused(Study { positives: 0, ..study(10) }), "--positives 0: expected 1 to 16777216");
    assert!(refused(Study { negatives: u32::MAX, ..study(10) }).starts_with("--negatives 4294967295: expected 1 to 16777016"));
}
