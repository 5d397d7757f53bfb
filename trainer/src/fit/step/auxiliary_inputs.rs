//! What a loss looks at beside the scores of a step: scores among users and among items, and ranks.

use dataset::Interactions;
use embeddings::{Batch, Neighbours, Others, Pairs, Ranks, RowGradients, Vectors};
use evaluator::settings::Ties;
use losses::{Loss, Related};

/// What the loss asks for, and buffers that are reused from step to step.
pub(crate) struct AuxiliaryInputs {
    related: Related,
    ranked: bool,
    negatives: Neighbours,
    users: Pairs,
    positives: Pairs,
    ranks: Ranks,
    among_others: bool,
    others: Others,
}

/// What was found of a step; nothing that the loss does not ask for.
pub(crate) struct AuxiliaryScores {
    relations: [Option<Vec<f32>>; 3],
    ranks: Option<[Vec<f32>; 2]>,
    /// How many of the user's other train items score above each positive and above each negative, and how many such items there are.
    others: Option<[Vec<f32>; 3]>,
}

impl AuxiliaryInputs {
    pub(crate) fn new(loss: &Loss) -> Self {
        let similarity = loss.similarity();
        Self {
            related: loss.relations(),
            ranked: loss.needs_ranks(),
            negatives: Neighbours::new(similarity),
            users: Pairs::new(similarity),
            positives: Pairs::new(similarity),
            ranks: Ranks::default(),
            among_others: loss.needs_others(),
            others: Others::default(),
        }
    }

    /// Finds what the loss asks for of a batch whose rows scored the items `ids [B, P + N]`.
    pub(crate) fn find(&mut self, vectors: Vectors, batch: Batch, ids: &[u32], train: &Interactions) -> AuxiliaryScores {
        let Related { of_negatives, of_rows } = self.related;
        let relations = [
            of_negatives.then(|| self.negatives.score(vectors.items, ids, batch.users.len())),
            of_rows.then(|| self.users.score(vectors.users, batch.queries)),
            of_rows.then(|| self.positives.score(vectors.items, batch.positives)),
        ];
        let (list, width) = (batch.list(), ids.len() / batch.users.len());
        let ranks = self.ranked.then(|| parted(&self.ranks.find(vectors, batch.queries, ids, Ties::Optimistic), list, width));
        let others = self.among_others.then(|| {
            let [above, counts] = self.others.find(vectors, batch, ids, train);
            let [of_positives, of_negatives] = parted(&above, list, width);
            [of_positives, of_negatives, counts]
        });
        AuxiliaryScores { relations, ranks, others }
    }

    /// Adds the gradient from the derivatives by the relations to those of the tables.
    pub(crate) fn backward(&mut self, batch: Batch, derivatives: &[Vec<f32>; 3], users: &mut RowGradients, items: &mut RowGradients) {
        let [of_negatives, of_users, of_positives] = derivatives;
        if self.related.of_negatives {
            self.negatives.backward(of_negatives, items);
        }
        if self.related.of_rows {
            self.users.backward(batch.queries, of_users, users);
            self.positives.backward(batch.positives, of_positives, items);
        }
    }
}

/// What is of the positives and of the negatives of rows `[B, P + N]`.
fn parted(values: &[f32], list: usize, width: usize) -> [Vec<f32>; 2] {
    let rows = || values.chunks_exact(width).map(|row| row.split_at(list));
    [rows().flat_map(|row| row.0).copied().collect(), rows().flat_map(|row| row.1).copied().collect()]
}

impl AuxiliaryScores {
    /// Relations of the negatives, of the users and of the positives.
    pub(crate) fn relations(&self) -> [Option<&[f32]>; 3] {
        self.relations.each_ref().map(Option::as_deref)
    }

    /// How many of the user's other train items score above each positive and above each negative, and how many such items there are.
    pub(crate) fn others(&self) -> Option<[&[f32]; 3]> {
        self.others.as_ref().map(|others| others.each_ref().map(Vec::as_slice))
    }

    /// Ranks of the positives and of the negatives.
    pub(crate) fn ranks(&self) -> Option<[&[f32]; 2]> {
        self.ranks.as_ref().map(|ranks| ranks.each_ref().map(Vec::as_slice))
    }
}
