//! The rows of a step and of the next one: those of the next are drawn and sorted on a stream of their own, beside what the step computes.

use super::Step;
use crate::{Result, device::batch::BatchIds};
use gpu::Gpu;

/// Rows that are drawn one step ahead.
#[derive(Debug)]
pub(super) struct DrawnAhead {
    stream: SecondStream,
    /// Those of steps with an even number, and with an odd one.
    ids: [BatchIds; 2],
    /// The step whose rows are at hand or on their way, beside those that are in use.
    next: Option<Step>,
    /// Which rows are in use.
    current: usize,
}

/// Waits for its work when it goes: memory that the work uses goes after it.
#[derive(Debug)]
struct SecondStream(Gpu);

impl Drop for SecondStream {
    fn drop(&mut self) {
        let _ = self.0.wait(); // what failed there fails on the first stream too, and is told
    }
}

impl DrawnAhead {
    /// Makes room for batches of at most `rows` rows of `width` items, of tables with so many users and items.
    pub(super) fn new(gpu: &Gpu, [rows, width]: [usize; 2], sizes: [usize; 2]) -> Result<Self> {
        let ids = || BatchIds::new(gpu, [rows, width], sizes);
        let ids = [ids()?, ids()?];
        Ok(Self { stream: SecondStream(gpu.second_stream()?), ids, next: None, current: 0 })
    }

    /// Has the rows of a step, before what is asked of `gpu` from now on, and begins with those of the next.
    pub(super) fn advance(
        &mut self,
        gpu: &Gpu,
        step: Step,
        next: Option<Step>,
        draw: impl Fn(&Gpu, Step, &mut BatchIds) -> Result<()>,
    ) -> Result<()> {
        let Self { stream: SecondStream(stream), ids, next: at_hand, current } = self;
        let place = |step: Step| step.step as usize % 2;
        if *at_hand != Some(step) {
            stream.wait_for(gpu)?; // the order of a new epoch is there, and no step uses the rows
            draw(stream, step, &mut ids[place(step)])?;
        }
        (*current, *at_hand) = (place(step), next);
        gpu.wait_for(stream)?;
        if let Some(next) = next {
            stream.wait_for(gpu)?; // the step before this one is done with its rows, whose place those of the next take
            draw(stream, next, &mut ids[place(next)])?;
        }
        Ok(())
    }

    /// The rows in use.
    pub(super) fn ids(&self) -> &BatchIds {
        &self.ids[self.current]
    }

    /// The rows in use, for sums by their users and items.
    pub(super) fn ids_mut(&mut self) -> &mut BatchIds {
        &mut self.ids[self.current]
    }
}
