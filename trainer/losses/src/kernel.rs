//! What a GPU runs for a loss of one positive and its negatives: a function of `trainer/losses/kernels`, with the loss's values.

/// A kernel with its arguments. It replaces a row's scores by the derivatives of the loss times a scale, and writes the loss.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// The name of its function.
    pub name: &'static str,
    /// What the function takes between the width of a row and the scale.
    pub arguments: Vec<KernelArgument>,
}

/// An argument of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KernelArgument {
    /// A number: `float`.
    Number(f32),
    /// A choice, 1 or 0: `unsigned`.
    Flag(bool),
    /// The quantiles of all users: `const float*`.
    Quantiles,
    /// A null pointer in the place of numbers that the kernel then does not look at: `const float*`.
    NoNumbers,
    /// The user of each row: `const unsigned*`.
    Users,
}
