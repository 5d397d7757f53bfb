//! From parameters to the vectors that are scored, and back. All gradients of a step are of those vectors first.

use crate::Result;
use crate::parameters::Parameters;
use embeddings::{RowGradients, Tables};
use vectors::Matrix;

/// A step that vectors are made for.
#[derive(Clone, Copy)]
pub struct TrainStep<'a> {
    /// The epoch, counted from 1.
    pub epoch: u32,
    /// The step, counted from 1 within the epoch.
    pub step: u32,
    /// `[B]`, those of all ranks.
    pub users: &'a [u32],
    /// `[B, P]`
    pub positives: &'a [u32],
    /// The rows whose vectors will be scored, and have gradients on the way back.
    pub wanted: Wanted<'a>,
}

/// The rows whose vectors will be scored; `None` means all.
#[derive(Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// Ids of users.
    pub users: Option<&'a [u32]>,
    /// Ids of items.
    pub items: Option<&'a [u32]>,
}

/// Marks of wanted rows of users and items.
#[derive(Default)]
pub struct Marks {
    marks: [Vec<bool>; 2],
    all: [bool; 2],
}

impl Marks {
    /// Makes marks for so many users and items.
    pub fn new(users: usize, items: usize) -> Self {
        Self { marks: [vec![false; users], vec![false; items]], all: [false; 2] }
    }

    /// Marks the wanted rows, and no others.
    pub fn set(&mut self, Wanted { users, items }: Wanted) {
        for ((marks, all), wanted) in self.marks.iter_mut().zip(&mut self.all).zip([users, items]) {
            marks.fill(false);
            *all = wanted.is_none();
        }
        self.add([users.unwrap_or(&[]), items.unwrap_or(&[])]);
    }

    /// Marks more rows.
    pub fn add(&mut self, rows: [&[u32]; 2]) {
        for (marks, rows) in self.marks.iter_mut().zip(rows) {
            rows.iter().for_each(|&row| marks[row as usize] = true);
        }
    }

    /// Marks of users and of items; `None` for all.
    pub fn get(&self) -> [Option<&[bool]>; 2] {
        [0, 1].map(|side| (!self.all[side]).then_some(self.marks[side].as_slice()))
    }
}

/// The gradients of the parameters, and what the model adds to the loss.
pub struct Backward<'a> {
    /// Gradients of the tables of users and of items.
    pub tables: [&'a RowGradients; 2],
    /// Gradients of the weights, in their order.
    pub weights: &'a [RowGradients],
    /// The model's own loss of the batch, a mean over its rows; its gradient is in the others.
    pub auxiliary: f64,
}

/// How parameters become the vectors that are scored.
pub trait Encoder: Send + Sync {
    /// Brings all vectors up to date as they are ranked: without noise and without dropout.
    ///
    /// # Errors
    /// Those of tensor operations.
    fn encode(&mut self, parameters: &Parameters) -> Result<()>;

    /// Brings the vectors that a step looks at up to date.
    ///
    /// # Errors
    /// Those of tensor operations.
    fn encode_step(&mut self, parameters: &Parameters, step: &TrainStep) -> Result<()>;

    /// Whether a step makes a vector for each row of its batch, in place of one for each user.
    fn has_vectors_of_rows(&self) -> bool {
        false
    }

    /// The vectors of all users as test is ranked, where these are not those of [`encode`](Self::encode).
    ///
    /// # Errors
    /// Those of tensor operations.
    fn users_before_test(&self, _parameters: &Parameters) -> Result<Option<Matrix>> {
        Ok(None)
    }

    /// The vectors of users and of items as they were last made; rows that were not wanted may be out of date.
    fn vectors<'a>(&'a self, parameters: &'a Parameters) -> [&'a Matrix; 2];

    /// Turns gradients of the vectors of the last [`encode_step`](Self::encode_step) into those of the parameters. The former may be
    /// changed.
    ///
    /// # Errors
    /// Those of tensor operations.
    fn backward<'a>(&'a mut self, vectors: [&'a mut RowGradients; 2]) -> Result<Backward<'a>>;

    /// The vectors of each layer, the mean of which are the vectors: for models with [`mean_of_layers`](super::BackboneKind::mean_of_layers).
    fn layers(&mut self, tables: [&Matrix; 2]) -> Vec<Tables> {
        vec![Tables::of(tables)]
    }

    /// Gradients of the tables from those of the vectors of each layer.
    fn layers_backward(&mut self, mut gradients: Vec<Tables>) -> Tables {
        gradients.pop().expect("the parameters are a layer")
    }
}

/// The tables are the vectors.
pub struct Identity;

impl Encoder for Identity {
    fn encode(&mut self, _parameters: &Parameters) -> Result<()> {
        Ok(())
    }

    fn encode_step(&mut self, _parameters: &Parameters, _step: &TrainStep) -> Result<()> {
        Ok(())
    }

    fn vectors<'a>(&'a self, parameters: &'a Parameters) -> [&'a Matrix; 2] {
        parameters.tables()
    }

    fn backward<'a>(&'a mut self, [users, items]: [&'a mut RowGradients; 2]) -> Result<Backward<'a>> {
        Ok(Backward { tables: [users, items], weights: &[], auxiliary: 0.0 })
    }
}
