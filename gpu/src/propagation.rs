//! stand-in
use crate::{Buffer, Gpu, Result};
/// x
#[derive(Debug)]
pub struct Graph;
impl Graph {
    /// x
    pub fn new(_gpu: &Gpu, _users: (&[u32], &[u32]), _items: (&[u32], &[u32]), _layers: u32) -> Result<Self> {
        todo!()
    }
    /// x
    pub fn forward(&mut self, _gpu: &Gpu, _t: [&Buffer<f32>; 2], _o: [&mut Buffer<f32>; 2], _dim: usize) -> Result<()> {
        todo!()
    }
    /// x
    pub fn backward(&mut self, _gpu: &Gpu, _g: [&mut Buffer<f32>; 2], _m: [&mut Buffer<u8>; 2], _dim: usize) -> Result<()> {
        todo!()
    }
}
