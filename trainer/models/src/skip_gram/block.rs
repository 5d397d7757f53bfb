//! What is learned at once: pairs of inputs and outputs, drawn before their turn.

use super::PieceSize;
use embeddings::Touched;

/// Pairs that one thread learns from, by groups: inputs that stand beside the same positive and negatives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Rows of the table.
    pub inputs: Vec<u32>,
    /// Rows of the table, of each group the positive and its negatives: `[groups, 1 + negatives]`.
    outputs: Vec<u32>,
    /// Outputs of a group.
    of_group: usize,
    /// Places of each group's inputs among the inputs.
    places: Vec<u32>,
    /// Where each group's places end.
    ends: Vec<u32>,
}

impl Piece {
    /// Pairs of these inputs, of which there are none yet.
    pub(crate) fn new(inputs: Vec<u32>, negatives: u32) -> Self {
        Self { inputs, outputs: Vec::new(), of_group: 1 + negatives as usize, places: Vec::new(), ends: Vec::new() }
    }

    /// Adds the pairs of the inputs at some places with a positive, and `negative` for each of their negatives.
    pub(crate) fn add(&mut self, places: impl Iterator<Item = u32>, positive: u32, negative: impl FnMut() -> u32) {
        self.places.extend(places);
        self.ends.push(self.places.len() as u32);
        self.outputs.push(positive);
        self.outputs.extend(std::iter::repeat_with(negative).take(self.of_group - 1));
    }

    /// The places of each group's inputs, and its outputs.
    #[cfg(test)]
    pub(crate) fn groups(&self) -> impl Iterator<Item = (&[u32], &[u32])> {
        split(&self.places, &self.ends).zip(self.outputs.chunks_exact(self.of_group))
    }
}

/// The parts of a list that end at these places.
fn split<'a>(list: &'a [u32], ends: &'a [u32]) -> impl Iterator<Item = &'a [u32]> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends).map(|(start, &end)| &list[start as usize..end as usize])
}

/// A piece by the rows that it has, each once.
pub(super) struct Local {
    /// Rows of the table, ascending.
    pub(super) rows: Vec<u32>,
    /// Places in `rows` of each group's inputs.
    inputs: Vec<u32>,
    /// Where each group's inputs end.
    ends: Vec<u32>,
    /// Places in `rows`: `[groups, of_group]`.
    outputs: Vec<u32>,
    of_group: usize,
}

impl Local {
    fn new(piece: Piece, touched: &mut Touched) -> Self {
        let Piece { mut inputs, outputs, of_group, mut places, ends } = piece;
        let of_inputs = inputs.len();
        inputs.extend_from_slice(&outputs);
        touched.find(&inputs);
        let (of_inputs, of_outputs) = touched.locals.split_at(of_inputs);
        places.iter_mut().for_each(|place| *place = of_inputs[*place as usize]);
        Self { rows: touched.rows.clone(), inputs: places, ends, outputs: of_outputs.to_vec(), of_group }
    }

    /// The inputs and the outputs of each group.
    pub(super) fn groups(&self) -> impl Iterator<Item = (&[u32], &[u32])> {
        split(&self.inputs, &self.ends).zip(self.outputs.chunks_exact(self.of_group))
    }
}

/// Pieces, and where each row of the table stands in them.
pub(super) struct Block {
    pub(super) pieces: Vec<Local>,
    pub(super) touched: Touched,
}

impl Block {
    pub(super) fn new(pieces: impl Iterator<Item = Piece>) -> Self {
        let mut touched = Touched::default();
        let pieces: Vec<Local> = pieces.map(|piece| Local::new(piece, &mut touched)).collect();
        let rows: Vec<u32> = pieces.iter().flat_map(|piece| &piece.rows).copied().collect();
        touched.find(&rows);
        Self { pieces, touched }
    }

    /// Pairs of an input and a positive.
    pub(super) fn pairs(&self) -> usize {
        self.pieces.iter().map(|piece| piece.inputs.len()).sum()
    }

    /// Bytes of so many pieces: of each row itself, its place in its piece, and 24 where it is looked for; of each pair a place.
    pub(super) fn bytes(pieces: usize, size: PieceSize) -> u64 {
        pieces as u64 * (size.rows as u64 * (2 * 4 + 24) + 4 * size.pairs as u64)
    }
}
