//! LightGCN's propagation over the graph of users and items: `kernels/propagate.cu`.
//!
//! ```text
//! P = (E + A E + ... + A^L E) / (L + 1)        A_ui = 1 / sqrt(d_u d_i) for each interaction, and A_iu = A_ui
//! ```
//! in the form of trainer/models/src/graph/mod.rs, both sides at once. A row's sum follows the order of its neighbours, in pieces of [`PIECE`] where there
//! are more, so that its bits depend on the graph and the vectors alone.

mod edges;
#[cfg(test)]
#[cfg(feature = "emulator")]
mod tests;

use crate::{
    Buffer, Gpu, Result,
    buffer::{read, write},
    launch::{Grid, LaunchArgument, count, number},
};
use edges::Edges;

/// Neighbours of a piece.
pub const PIECE: usize = 256;

/// The graph, and room for the vectors of its layers.
#[derive(Debug)]
pub struct Graph {
    layers: usize,
    edges: Edges,
    /// Vectors after the layers of odd and of even number, but for the last.
    room: [[Buffer<f32>; 2]; 2],
    /// The tables that gradients are made in.
    result: Option<[Buffer<f32>; 2]>,
    /// `[pieces, dim]`, the sums of pieces.
    parts: Buffer<f32>,
    /// An empty list of marks, where there are none.
    none: Buffer<u8>,
}

/// Which rows of users and items are marked, and why.
#[derive(Clone, Copy)]
enum Marks<'a> {
    None,
    /// The vectors of all others are zero, whatever stands there.
    OthersAreZero([&'a Buffer<u8>; 2]),
    /// No others are wanted of the last layer.
    OthersAreUnwanted([&'a Buffer<u8>; 2]),
}

/// One layer, of users and items.
struct Layer<'a> {
    first: bool,
    /// The factor of the mean over layers, in the last layer; 0 in the others.
    mean: f32,
    marks: Marks<'a>,
    /// E
    tables: [&'a Buffer<f32>; 2],
    /// Z before it.
    vectors: [&'a Buffer<f32>; 2],
    out: [&'a mut Buffer<f32>; 2],
    dim: usize,
}

/// Makes a pair of buffers as long as `lengths`, unless it is.
fn make_room(gpu: &Gpu, pair: &mut [Buffer<f32>; 2], lengths: [usize; 2]) -> Result<()> {
    for (buffer, length) in pair.iter_mut().zip(lengths).filter(|(buffer, length)| buffer.len() != *length) {
        *buffer = gpu.zeros(length)?;
    }
    Ok(())
}

impl Graph {
    /// Makes the graph of train interactions from both sides: where each user's items begin (`[users + 1]`) and the items, and where each item's
    /// users do (`[items + 1]`) and the users.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// When the sides do not have as many interactions.
    pub fn new(gpu: &Gpu, users: (&[u32], &[u32]), items: (&[u32], &[u32]), layers: usize) -> Result<Self> {
        let pair = || Ok([gpu.zeros(0)?, gpu.zeros(0)?]);
        let room = [pair()?, pair()?];
        Ok(Self { layers, edges: Edges::new(gpu, users, items)?, room, result: None, parts: gpu.zeros(0)?, none: gpu.zeros(1)? })
    }

    /// P of the tables of users and items, in rows that are `wanted` (`[users]` and `[items]`, not 0); other rows of `out` are left as they are.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// When buffers have other lengths than `[users, dim]` and `[items, dim]`.
    pub fn forward(
        &mut self,
        gpu: &Gpu,
        tables: [&Buffer<f32>; 2],
        wanted: Option<[&Buffer<u8>; 2]>,
        out: [&mut Buffer<f32>; 2],
        dim: usize,
    ) -> Result<()> {
        if self.layers == 0 {
            return tables.into_iter().zip(out).try_for_each(|(table, out)| gpu.copy(table, out));
        }
        self.run(gpu, tables, wanted.map_or(Marks::None, Marks::OthersAreUnwanted), out, dim)
    }

    /// Gradients of P to gradients of E, in place. Rows that are not `touched` (`[users]` and `[items]`) have none before; all have one after.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// When buffers have other lengths than `[users, dim]` and `[items, dim]`.
    pub fn backward(&mut self, gpu: &Gpu, gradients: [&mut Buffer<f32>; 2], touched: [&mut Buffer<u8>; 2], dim: usize) -> Result<()> {
        if self.layers == 0 {
            return Ok(());
        }
        let lengths = self.edges.rows.map(|rows| rows * dim);
        let [mut users, mut items] = match self.result.take() {
            Some(result) if result.each_ref().map(Buffer::len) == lengths => result,
            _ => [gpu.zeros(lengths[0])?, gpu.zeros(lengths[1])?],
        };
        let marks = Marks::OthersAreZero(touched.each_ref().map(|touched| &**touched));
        self.run(gpu, gradients.each_ref().map(|gradient| &**gradient), marks, [&mut users, &mut items], dim)?;
        gradients.into_iter().zip([&mut users, &mut items]).for_each(|(gradient, result)| std::mem::swap(gradient, result));
        self.result = Some([users, items]);
        touched.into_iter().try_for_each(|touched| {
            let rows = touched.len();
            gpu.launch("propagate_mark", Grid::threads(rows), &[write(touched), count(rows)])
        })
    }

    fn run(&mut self, gpu: &Gpu, tables: [&Buffer<f32>; 2], marks: Marks, out: [&mut Buffer<f32>; 2], dim: usize) -> Result<()> {
        let (Self { layers, edges, room, parts, none, .. }, [users_out, items_out]) = (self, out);
        let lengths = edges.rows.map(|rows| rows * dim);
        assert_eq!(tables.map(Buffer::len), lengths, "tables of the graph's users and items");
        assert_eq!([users_out.len(), items_out.len()], lengths, "vectors of the graph's users and items");
        for pair in &mut room[..(*layers - 1).min(2)] {
            make_room(gpu, pair, lengths)?;
        }
        if parts.len() < edges.pieces * dim {
            *parts = gpu.zeros(edges.pieces * dim)?;
        }
        for at in 1..=*layers {
            let [odd, even] = room.each_mut();
            let (before, after) = if at % 2 == 1 { (even, odd) } else { (odd, even) };
            let last = at == *layers;
            let layer = Layer {
                first: at == 1,
                mean: if last { 1.0 / (*layers + 1) as f32 } else { 0.0 },
                marks: if last || matches!(marks, Marks::OthersAreZero(_)) { marks } else { Marks::None },
                tables,
                vectors: if at == 1 { tables } else { before.each_ref() },
                out: if last { [&mut *users_out, &mut *items_out] } else { after.each_mut() },
                dim,
            };
            run_layer(gpu, edges, layer, parts, none)?;
        }
        Ok(())
    }
}

/// Short rows and the pieces of long ones, and then what the pieces come to.
fn run_layer(gpu: &Gpu, edges: &Edges, mut layer: Layer, parts: &mut Buffer<f32>, none: &Buffer<u8>) -> Result<()> {
    let nodes = edges.rows[0] + edges.rows[1];
    let mut arguments = layer.arguments(edges, none, &edges.list, edges.pieces);
    arguments.extend([count(nodes), write(parts)]);
    gpu.launch("propagate_pull", Grid::warps(edges.pieces + nodes), &arguments)?;
    let mut arguments = layer.arguments(edges, none, &edges.longs, edges.long);
    arguments.push(read(parts));
    gpu.launch("propagate_pieces", Grid::warps(edges.long), &arguments)
}

impl Layer<'_> {
    /// The arguments of both kernels, with a list of so many pieces or long rows.
    fn arguments<'a>(
        &'a mut self,
        edges: &'a Edges,
        none: &'a Buffer<u8>,
        list: &'a Buffer<u32>,
        entries: usize,
    ) -> Vec<LaunchArgument<'a>> {
        let Self { first, mean, marks, tables, vectors, out: [users, items], dim } = self;
        let (kind, marks) = match *marks {
            Marks::None => (0, [none; 2]),
            Marks::OthersAreZero(marks) => (1, marks),
            Marks::OthersAreUnwanted(marks) => (2, marks),
        };
        assert!(kind == 0 || marks.map(Buffer::len) == edges.rows, "marks of the graph's users and items");
        let graph = [read(&edges.offsets), read(&edges.neighbours), count(edges.rows[0]), count(*dim), read(&edges.scales)];
        let kinds = [count(usize::from(*first)), count(kind), number(*mean)];
        let [tables, vectors] = [*tables, *vectors].map(|pair| pair.map(read));
        let end = [write(users), write(items), read(list), count(entries)];
        graph.into_iter().chain(kinds).chain(tables).chain(vectors).chain(marks.map(read)).chain(end).collect()
    }
}
