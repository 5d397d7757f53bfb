//! Walks over the train graph.
//!
//! ```text
//! P(x | v)    = 1 / d_v                                       the first step, and each step of a uniform walk
//! P(x | t, v) proportional to 1 / p for x = t, else 1 / q     from t to v to a neighbour x of v
//! ```
//! The graph has users and items on two sides: no neighbour of v is one of t, so that the distribution's third case never comes, and only the ratio q / p matters.
//! With it r = (q / p) / (q / p + d_v - 1) is the probability of going back, and all other neighbours are equally likely: no tables are needed.

use dataset::Interactions;
use streams::Stream;

/// The train interactions from both sides; users are the first nodes, items follow.
pub(crate) struct Bipartite<'d> {
    users: &'d Interactions,
    items: Interactions,
}

impl<'d> Bipartite<'d> {
    pub(crate) fn new(train: &'d Interactions, items: usize) -> Self {
        Self { users: train, items: train.transpose(items) }
    }

    /// Users and items.
    pub(crate) fn nodes(&self) -> usize {
        self.users.users() + self.items.users()
    }

    /// Neighbours of a node.
    pub(crate) fn degree(&self, node: usize) -> usize {
        self.row(node as u32).0.len()
    }

    /// The neighbours of a node on their side, and the node that is that side's first.
    fn row(&self, node: u32) -> (&[u32], u32) {
        let users = self.users.users();
        match (node as usize).checked_sub(users) {
            None => (self.users.row(node as usize), users as u32),
            Some(item) => (self.items.row(item), 0),
        }
    }

    /// A walk of so many nodes from one that has a neighbour, `back` being q / p.
    pub(crate) fn walk(&self, start: u32, length: usize, back: f64, stream: &mut Stream) -> Vec<u32> {
        let mut walk = Vec::with_capacity(length);
        walk.push(start);
        while walk.len() < length {
            let at = walk[walk.len() - 1];
            let last = walk.len().checked_sub(2).map(|last| walk[last]);
            walk.push(self.step(last, at, back, stream));
        }
        walk
    }

    /// A step from a node to which another led.
    fn step(&self, last: Option<u32>, at: u32, back: f64, stream: &mut Stream) -> u32 {
        let (neighbours, first) = self.row(at);
        let count = neighbours.len() as u32;
        let any = |stream: &mut Stream| first + neighbours[stream.below(count) as usize];
        let Some(last) = last.filter(|_| back != 1.0) else {
            return any(stream);
        };
        if count == 1 || stream.fraction() < back / (back + f64::from(count - 1)) {
            return last;
        }
        loop {
            let next = any(stream);
            if next != last {
                return next;
            }
        }
    }
}
