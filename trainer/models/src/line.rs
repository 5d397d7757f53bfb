//! LINE: users and items with an edge get vectors that point the same way (first order), or vectors that foretell the other side's contexts (second order).
//!
//! ```text
//! first:  l(v, c) = softplus(-x_v . x_c) + sum over K negatives n of softplus(x_v . x_n)        s(u, i) = x_u . x_i
//! second: l(v, c) = softplus(-x_v . y_c) + sum over K negatives n of softplus(x_v . y_n)        s(u, i) = x_u . y_i
//! both:   the sum of both, with the same x                                                      s(u, i) = x_u . x_i
//! ```
//! An epoch draws as many edges as there are train interactions, with replacement, and takes each in both directions; negatives are of the side of c. The
//! paper trains both orders apart and joins their vectors; `both` is RecBole's `order: 2`, whose orders share x, and the second has the weight 1. The second
//! order alone never lets two inputs meet, so that it is ranked by what it foretells. `skip_gram/mod.rs` has how it learns.
//! Tang et al., WWW 2015, doi:10.1145/2736277.2741093.

use super::{
    BackboneKind, Epochs, Facts, Sizes, Stored,
    deep_walk::{exponent, learning_rate, negatives},
    kind::Iterative,
    limits::check_dim,
    skip_gram::{self, Contexts, Decay, Embedding, NoiseLaw, Piece, PieceSize, Source},
};
use crate::Error;
use dataset::{Dataset, Interactions};
use serde::{Deserialize, Serialize};
use streams::{Purpose, Stream};

/// Edges of a piece.
const EDGES: usize = 16;

/// `line` in a sweep file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Length of a vector.
    pub dim: u32,
    /// What vectors are to tell.
    #[serde(default)]
    pub order: Order,
    /// Epochs over which the learning rate falls, each of which draws as many edges as there are; further epochs keep its floor.
    #[serde(default = "ten")]
    pub samples_per_edge: u32,
    /// Negatives of an edge, in each direction.
    #[serde(default = "negatives")]
    pub negatives: u32,
    /// Power of the degrees that negatives are drawn by.
    #[serde(default = "exponent")]
    pub exponent: f64,
    /// Learning rate at the start.
    #[serde(default = "learning_rate")]
    pub learning_rate: f64,
}

/// `order` of [`Line`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Edges.
    First,
    /// Neighbours in common.
    Second,
    /// Edges and neighbours in common.
    #[default]
    Both,
}

fn ten() -> u32 {
    10
}

impl Line {
    fn contexts(&self) -> Contexts {
        match self.order {
            Order::First => Contexts::None,
            Order::Second => Contexts::OfItems,
            Order::Both => Contexts::Aside,
        }
    }

    fn samples<'d>(&self, dataset: &'d Dataset, seed: u64) -> EdgeSamples<'d> {
        let (train, users, degrees) = (&dataset.train, dataset.users(), dataset.train.item_counts(dataset.items()));
        let noise = [
            NoiseLaw::new(0, (0..users).map(|user| train.row(user).len()), self.exponent),
            NoiseLaw::new(users, degrees.into_iter().map(|degree| degree as usize), self.exponent),
        ];
        EdgeSamples { settings: self.clone(), seed, train, nodes: users + dataset.items(), noise }
    }

    fn size(&self) -> PieceSize {
        let groups = if self.order == Order::Both { 4 * EDGES } else { 2 * EDGES };
        PieceSize { rows: 2 * EDGES + groups * (1 + self.negatives as usize), pairs: groups, of_one_node: 0.0 }
    }
}

impl BackboneKind for Line {
    fn facts(&self) -> Facts {
        Facts {
            paper: "Tang et al. 2015",
            cost: "of each train interaction 6 (1 + negatives) d multiplications, twice for `both`",
            unknown_user: "by the vector that it began with, as no edge comes to it: in random order",
            values: "paper: `negatives` 5, `learning_rate` 0.025, `dim` 128",
        }
    }

    fn check(&self) -> Result<(), String> {
        check_dim(self.dim)?;
        if self.samples_per_edge == 0 {
            return Err("samples_per_edge is 0, expected at least 1".to_owned());
        }
        skip_gram::check(self.negatives, self.exponent, self.learning_rate)
    }

    fn stored(&self) -> Stored {
        Stored::Vectors { dim: self.dim as usize }
    }
}

impl Iterative for Line {
    fn start<'d>(&self, dataset: &'d Dataset, seed: u64) -> crate::Result<Box<dyn Epochs + 'd>> {
        if dataset.train.is_empty() {
            return Err(Error::Impossible("line: there are no train interactions to draw from".to_owned()));
        }
        let decay = Decay { learning_rate: self.learning_rate, epochs: self.samples_per_edge };
        Ok(Box::new(Embedding::new(dataset, seed, self.dim, self.samples(dataset, seed), decay, self.contexts())))
    }

    fn memory(&self, sizes: Sizes, ranking: u64) -> u64 {
        skip_gram::memory(sizes, ranking, self.dim, self.contexts(), self.size())
    }
}

/// Edges drawn with replacement, some to a piece.
struct EdgeSamples<'d> {
    settings: Line,
    seed: u64,
    train: &'d Interactions,
    nodes: usize,
    /// Over the users, and over the items.
    noise: [NoiseLaw; 2],
}

impl Source for EdgeSamples<'_> {
    fn begin(&mut self, _epoch: u32) {}

    fn pieces(&self) -> usize {
        self.train.len().div_ceil(EDGES)
    }

    fn piece(&self, epoch: u32, at: usize) -> Piece {
        let Self { settings: Line { order, negatives, .. }, train, .. } = self;
        let mut stream = Stream::new(self.seed, Purpose::Walks, epoch, 0, at as u32);
        let edges = (at * EDGES..train.len().min((at + 1) * EDGES)).flat_map(|_| {
            let edge = stream.below(train.len() as u32) as usize;
            let user = train.offsets().partition_point(|&start| start <= edge) - 1;
            [user as u32, train.users() as u32 + train.items()[edge]]
        });
        let nodes: Vec<u32> = edges.collect();
        let mut piece = Piece::new(nodes.clone(), *negatives);
        let mut stream = Stream::new(self.seed, Purpose::Negatives, epoch, 0, at as u32);
        for (at, other) in (0..nodes.len()).map(|at| (at, at ^ 1)) {
            let noise = &self.noise[other % 2];
            for contexts in [0, self.nodes as u32] {
                if *order == Order::Both || (*order == Order::Second) == (contexts > 0) {
                    piece.add([at as u32].into_iter(), contexts + nodes[other], || contexts + noise.draw(&mut stream));
                }
            }
        }
        piece
    }

    fn size(&self) -> PieceSize {
        self.settings.size()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::dataset;
    use super::*;
    use testing::assert_drawn_from;
    use testing::dataset_of;

    fn line(order: Order) -> Line {
        Line { order, ..serde_json::from_str(r#"{"dim": 4, "negatives": 3}"#).unwrap() }
    }

    fn sampled(settings: Line, dataset: &Dataset) -> EdgeSamples<'_> {
        settings.samples(dataset, 3)
    }

    /// Five users and five items with ten edges: an epoch has one piece of ten edges, each in both directions.
    #[test]
    fn edges_are_drawn_uniformly_in_both_directions() {
        let dataset = dataset();
        let edges: Vec<(u32, u32)> = dataset.train.pairs().collect();
        let (mut found, mut negatives) = ([0.0; 10], [0.0; 10]);
        let sampled = sampled(line(Order::First), &dataset);
        for epoch in 1..3_000 {
            let piece = sampled.piece(epoch, 0);
            assert_eq!((sampled.pieces(), piece.inputs.len(), piece.groups().count()), (1, 20, 20));
            for ((places, outputs), at) in piece.groups().zip(0u32..) {
                let (input, positive) = (piece.inputs[at as usize], outputs[0]);
                assert_eq!(places, [at]);
                assert!(outputs[1..].iter().all(|&negative| (negative < 5) == (positive < 5) && negative < 10));
                outputs[1..].iter().for_each(|&negative| negatives[negative as usize] += 1.0);
                let edge = (input.min(positive), input.max(positive) - 5);
                found[edges.iter().position(|&other| other == edge).unwrap()] += 0.5;
            }
        }
        assert_drawn_from(&found, &[0.1; 10], 1.0);
        // Users have 2, 2, 3, 1 and 2 items, items 2, 2, 2, 2 and 2 users.
        let powers = [2.0, 2.0, 3.0, 1.0, 2.0].map(|degree: f64| degree.powf(0.75));
        assert_drawn_from(&negatives[..5], &powers.map(|power| power / powers.iter().sum::<f64>()), 1.0);
        assert_drawn_from(&negatives[5..], &[0.2; 5], 1.0);
    }

    #[test]
    fn orders_stand_beside_inputs_contexts_or_both() {
        let dataset = dataset();
        let positives = |order: Order| {
            let piece = sampled(line(order), &dataset).piece(1, 0);
            let groups = piece.groups().map(|(places, outputs)| (piece.inputs[places[0] as usize], outputs[0]));
            (groups.collect::<Vec<_>>(), piece.inputs)
        };
        let ((first, inputs), (second, _), (both, _)) = (positives(Order::First), positives(Order::Second), positives(Order::Both));
        assert!((0..20).all(|at| first[at] == (inputs[at], inputs[at ^ 1])));
        assert!((0..20).all(|at| second[at] == (inputs[at], 10 + inputs[at ^ 1])));
        assert!((0..20).all(|at| both[2 * at..2 * at + 2] == [first[at], second[at]]));
    }

    #[test]
    fn the_last_piece_has_the_edges_that_are_left() {
        let pairs: Vec<(u32, u32)> = (0..35).map(|at| (at % 6, at / 6)).collect();
        let dataset = dataset_of([6, 6], &pairs);
        let sampled = sampled(line(Order::Both), &dataset);
        let inputs: Vec<usize> = (0..sampled.pieces()).map(|at| sampled.piece(1, at).inputs.len()).collect();
        assert_eq!(inputs, [32, 32, 6]);
    }

    #[test]
    fn settings_are_read_with_their_defaults() {
        let plain = Line { dim: 8, order: Order::Both, samples_per_edge: 10, negatives: 5, exponent: 0.75, learning_rate: 0.025 };
        assert_eq!(serde_json::from_str::<Line>(r#"{"dim": 8}"#).unwrap(), plain);
        assert!(serde_json::from_str::<Line>(r#"{"dim": 8, "walks": 1}"#).is_err());
    }
}
