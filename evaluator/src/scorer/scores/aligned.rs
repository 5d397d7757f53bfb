//! Numbers that begin at a cache line, so that no vector of them straddles two.

use bytemuck::{Pod, Zeroable};

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([f32; 16]);

/// A growing buffer, at first zeros.
#[derive(Default)]
pub(crate) struct Aligned {
    lines: Vec<Line>,
}

impl Aligned {
    pub(super) fn zeros(length: usize) -> Self {
        let mut numbers = Self::default();
        numbers.grow(length);
        numbers
    }

    /// Makes room for at least so many numbers.
    pub(super) fn grow(&mut self, length: usize) {
        self.lines.resize(self.lines.len().max(length.div_ceil(16)), Line::zeroed());
    }
}

impl std::ops::Deref for Aligned {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        bytemuck::cast_slice(&self.lines)
    }
}

impl std::ops::DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [f32] {
        bytemuck::cast_slice_mut(&mut self.lines)
    }
}
