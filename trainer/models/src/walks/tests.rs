//! Walks against their distribution, and the pairs that are made of them.

use super::super::Backbone;
use super::*;
use evaluator::{Factors, Scorer};
use testing::assert_drawn_from;
use testing::dataset_of;

/// Four users and four items: nodes 0 to 3 and 4 to 7; item 3 has user 3 alone, and both no other.
const PAIRS: [(u32, u32); 8] = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 1), (2, 2), (3, 3)];

fn walks(back: f64) -> Walks {
    Walks {
        dim: 4,
        walk_length: 12,
        walks_per_node: 2,
        window: 3,
        negatives: 2,
        exponent: 0.75,
        learning_rate: 0.1,
        item_vectors: ItemVectors::Input,
        back,
    }
}

fn neighbours(node: u32) -> Vec<u32> {
    PAIRS.iter().filter_map(|&(user, item)| if node == user { Some(4 + item) } else { (node == 4 + item).then_some(user) }).collect()
}

/// How often each node follows each two that follow each other; the distribution by its weights, 1 / p of the node before.
fn assert_distribution(p: f64, q: f64) {
    let dataset = dataset_of([4, 4], &PAIRS);
    let graph = Bipartite::new(&dataset.train, 4);
    let mut found = vec![[0.0; 8]; 64];
    let mut second = vec![[0.0; 8]; 8];
    for row in 0..16_000u32 {
        let walk = graph.walk(row % 8, 9, q / p, &mut Stream::new(12, Purpose::Walks, 1, 0, row));
        assert_eq!((walk.len(), walk[0]), (9, row % 8));
        second[walk[0] as usize][walk[1] as usize] += 1.0;
        for step in walk.windows(3) {
            found[8 * step[0] as usize + step[1] as usize][step[2] as usize] += 1.0;
        }
    }
    for from in 0..8u32 {
        let beside = neighbours(from);
        let uniform: Vec<f64> = (0..8).map(|node| if beside.contains(&node) { 1.0 / beside.len() as f64 } else { 0.0 }).collect();
        match beside.len() {
            1 => assert_eq!(second[from as usize].iter().sum::<f64>(), second[from as usize][beside[0] as usize]),
            _ => assert_drawn_from(&second[from as usize], &uniform, 1.0),
        }
        for at in beside {
            let beside = neighbours(at);
            let weight = |node: u32| if node == from { 1.0 / p } else { 1.0 / q };
            let total: f64 = beside.iter().map(|&node| weight(node)).sum();
            let distribution: Vec<f64> = (0..8).map(|node| if beside.contains(&node) { weight(node) / total } else { 0.0 }).collect();
            let found = &found[8 * from as usize + at as usize];
            match beside.len() {
                1 => assert_eq!(found.iter().sum::<f64>(), found[from as usize]),
                _ => assert_drawn_from(found, &distribution, 1.0),
            }
        }
    }
}

#[test]
fn uniform_walks_follow_their_distribution() {
    assert_distribution(1.0, 1.0);
}

#[test]
fn walks_that_weigh_going_back_follow_their_distribution() {
    assert_distribution(4.0, 0.5);
    assert_distribution(0.25, 2.0);
    assert_distribution(1.0, 3.0);
}

/// The ratio alone counts.
#[test]
fn node2vec_with_p_as_q_is_deep_walk() {
    let dataset = dataset_of([4, 4], &PAIRS);
    let trained = |text: &str| {
        let model: Backbone = serde_json::from_str(text).unwrap();
        let mut training = model.iterative().unwrap().start(&dataset, 3).unwrap();
        let losses = [1, 2].map(|epoch| training.epoch(epoch).unwrap());
        let values = training.state().into_iter().map(|(_, values)| values.to_vec()).collect::<Vec<_>>();
        (losses, values)
    };
    let deep_walk = trained(r#"{"deep-walk": {"dim": 4}}"#);
    assert!(deep_walk == trained(r#"{"node2vec": {"dim": 4}}"#));
    assert!(deep_walk == trained(r#"{"node2vec": {"dim": 4, "p": 3.0, "q": 3.0}}"#));
    assert!(deep_walk != trained(r#"{"node2vec": {"dim": 4, "p": 3.0}}"#));
    assert!(trained(r#"{"node2vec": {"dim": 4, "p": 4.0, "q": 2.0}}"#) == trained(r#"{"node2vec": {"dim": 4, "p": 2.0}}"#));
}

/// The training is the same one.
#[test]
fn items_are_ranked_by_the_vectors_that_are_asked_for() {
    let dataset = dataset_of([4, 4], &PAIRS);
    for (item_vectors, table) in [(ItemVectors::Input, 0), (ItemVectors::Output, 1)] {
        let mut training = Walks { item_vectors, ..walks(1.0) }.start("deep-walk", &dataset, 3).unwrap();
        training.epoch(1).unwrap();
        let Scorer::Factors(Factors { users, items, .. }) = training.scorer().unwrap() else { panic!("{item_vectors:?}") };
        let state = training.state();
        assert_eq!([users.values, items.values], [state[0].1[..16].to_vec(), state[table].1[16..].to_vec()]);
    }
}

/// User 4 and items 4 and 5 have no edge.
#[test]
fn an_epoch_walks_once_from_each_node_with_an_edge() {
    let dataset = dataset_of([5, 6], &PAIRS);
    let mut corpus = Corpus::new(&walks(1.0), &dataset, 3);
    let starts = [1, 2].map(|epoch| {
        corpus.begin(epoch);
        (0..corpus.pieces()).map(|at| corpus.piece(epoch, at).inputs[0]).collect::<Vec<u32>>()
    });
    assert_ne!(starts[0], starts[1]);
    for mut starts in starts {
        starts.sort_unstable();
        assert_eq!(starts, [0, 1, 2, 3, 5, 6, 7, 8]);
    }
}

/// A place's window has all places within its width on both sides, as far as the walk goes; widths are uniform.
#[test]
fn pairs_are_those_of_the_windows() {
    let dataset = dataset_of([4, 4], &PAIRS);
    let mut corpus = Corpus::new(&walks(1.0), &dataset, 3);
    let mut widths = [0.0; 3];
    for epoch in 1..200 {
        corpus.begin(epoch);
        for at in 0..8 {
            let piece = corpus.piece(epoch, at);
            assert_eq!((piece.inputs.len(), piece.groups().count()), (12, 12));
            for ((places, outputs), at) in piece.groups().zip(0u32..) {
                let width = places.iter().map(|place| place.abs_diff(at)).max().unwrap();
                let expected: Vec<u32> = (0..12).filter(|&place| place != at && place.abs_diff(at) <= width).collect();
                assert_eq!(places, expected);
                assert_eq!((outputs.len(), outputs[0]), (3, 8 + piece.inputs[at as usize]));
                assert!(outputs[1..].iter().all(|negative| (8..16).contains(negative)));
                widths[width as usize - 1] += 1.0;
            }
        }
    }
    assert_drawn_from(&widths, &[1.0 / 3.0; 3], 1.0);
    let mut narrow = Corpus::new(&Walks { window: 1, ..walks(1.0) }, &dataset, 3);
    narrow.begin(1);
    let pairs: usize = narrow.piece(1, 0).groups().map(|(places, _)| places.len()).sum();
    assert_eq!(pairs, 2 * 11);
}

/// The nodes of a piece follow each other on edges.
#[test]
fn walks_go_along_edges() {
    let dataset = dataset_of([4, 4], &PAIRS);
    for back in [1.0, 0.2, 1e-9, 1e9] {
        let mut corpus = Corpus::new(&walks(back), &dataset, 3);
        corpus.begin(1);
        for at in 0..8 {
            let walk = corpus.piece(1, at).inputs;
            assert!(walk.windows(2).all(|step| neighbours(step[0]).contains(&step[1])), "{walk:?}");
        }
    }
}

/// One item that everybody has: pieces that all start from its row as it stood would overshoot, and the loss would grow beyond that of vectors of zeros.
#[test]
fn an_item_of_everybody_is_learned() {
    let others = |user: u32| (1..4).map(move |at| (user, 1 + (user * 7 + at * at * 31) % 299));
    let pairs: Vec<(u32, u32)> = (0..1_000).flat_map(|user| others(user).chain([(user, 0)])).collect();
    let dataset = dataset_of([1_000, 300], &pairs);
    let settings =
        Walks { dim: 16, walk_length: 40, walks_per_node: 1, window: 10, negatives: 5, exponent: 0.75, learning_rate: 0.025, ..walks(1.0) };
    let loss = settings.start("deep-walk", &dataset, 1).unwrap().epoch(1).unwrap();
    let of_zeros = 6.0 * 2f64.ln();
    assert!(loss < 0.9 * of_zeros, "{loss} {of_zeros}");
}
