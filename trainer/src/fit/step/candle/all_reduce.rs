//! The sum of the gradients of ranks that have devices: from one device to the others; the ids of rows alone come to the host.
//!
//! ```text
//! whole    gradients [rows, dim] and marks [rows] of all ranks are added up
//! by row   ids and gradients of the touched rows of all ranks are gathered, and added up in the order of the ranks
//! ```
//! The way with fewer bytes is taken. All of a step's are one group of calls.

use super::touched::{Gradients, Reach, marks};
use crate::{Result, collective::Collective, device::all_reduce::is_by_row};
use candle_core::Tensor;
use gpu::{CollectiveCall, Gpu};
use models::sum_rows;

/// What stands for a row where a rank has fewer than there is room for.
const NONE: u32 = u32::MAX;
/// The name of the calls.
const WHAT: &str = "the gradients of the vectors";

/// Adds up the gradients of all ranks, and joins their marks; `reach` is how many rows of each matrix a batch reaches, of which all ranks know the same.
pub(crate) fn all_reduce(gpu: &Gpu, collective: &Collective, own: Gradients, reach: &[Option<Reach>]) -> Result<Gradients> {
    let (mut calls, ranks) = (Vec::new(), collective.ranks() as usize);
    for ((gradient, marks), reach) in own.iter().zip(reach).filter(|((gradient, _), _)| gradient.elem_count() > 0) {
        let (rows, dim) = gradient.dims2()?;
        let room = reach.map(|Reach { batch, of_row }| batch.div_ceil(ranks).saturating_mul(of_row).min(rows));
        calls.extend(match room.filter(|&room| is_by_row(ranks, room, [rows, dim])) {
            Some(room) => by_row(gpu, collective, gradient, marks.as_deref(), room)?,
            None => whole(gpu, gradient, marks.as_deref())?,
        });
    }
    let under_way = collective.exchange_buffers(WHAT, gpu, calls)?;
    let mut calls = collective.join_buffers(WHAT, under_way)?.into_iter();
    collective.finish(WHAT, gpu)?; // reading would wait for ever where a rank is lost
    let mut all = Vec::new();
    for (gradient, own) in own {
        all.push(match gradient.elem_count() {
            0 => (gradient, own),
            _ => taken(gpu, collective, gradient, own, [calls.next(), calls.next()])?,
        });
    }
    Ok(all)
}

/// All rows with their marks; all are marked where there are no marks.
fn whole(gpu: &Gpu, gradient: &Tensor, marks: Option<&[bool]>) -> Result<[CollectiveCall; 2]> {
    let (rows, dim) = gradient.dims2()?;
    let marks = marks.map_or_else(|| vec![1.0; rows], |marks| marks.iter().map(|&mark| f32::from(u8::from(mark))).collect());
    let mut values = gpu.zeros(rows * dim)?;
    gpu.fill(&mut values, gradient)?;
    Ok([CollectiveCall::AllReduce(values), CollectiveCall::AllReduce(gpu.upload(&marks)?)])
}

/// The marked rows, of which there is room for so many.
fn by_row(gpu: &Gpu, collective: &Collective, gradient: &Tensor, marks: Option<&[bool]>, room: usize) -> Result<[CollectiveCall; 2]> {
    let (rows, dim) = gradient.dims2()?;
    let is_marked = |row: &u32| marks.is_none_or(|marks| marks[*row as usize]);
    let touched: Vec<u32> = (0..rows as u32).filter(is_marked).collect();
    if touched.len() > room {
        return Err(collective.error(WHAT, format!("this rank has gradients of {} rows: expected at most {room}", touched.len())));
    }
    let (mut ids, mut values) = (vec![NONE; room], gpu.zeros(room * dim)?);
    ids[..touched.len()].copy_from_slice(&touched);
    if !touched.is_empty() {
        gpu.fill(&mut values, &gradient.index_select(&Tensor::from_slice(&touched, touched.len(), gradient.device())?, 0)?)?;
    }
    let all = room * collective.ranks() as usize;
    let ids = [gpu.upload(&ids)?, gpu.zeros(all)?];
    Ok([CollectiveCall::AllGatherIds(ids), CollectiveCall::AllGather([values, gpu.zeros(all * dim)?])])
}

/// The gradient of all ranks, from what the calls for it brought.
fn taken(
    gpu: &Gpu,
    collective: &Collective,
    own: Tensor,
    own_marks: Option<Vec<bool>>,
    calls: [Option<CollectiveCall>; 2],
) -> Result<(Tensor, Option<Vec<bool>>)> {
    let (rows, dim) = own.dims2()?;
    match calls {
        [Some(CollectiveCall::AllReduce(values)), Some(CollectiveCall::AllReduce(counts))] => {
            let marks = match own_marks {
                Some(_) => Some(gpu.read(&counts)?.iter().map(|&count| count > 0.0).collect()),
                None => None,
            };
            Ok((gpu.into_tensor(values, (rows, dim))?, marks))
        }
        [Some(CollectiveCall::AllGatherIds([_, ids])), Some(CollectiveCall::AllGather([_, values]))] => {
            let ids = gpu.read(&ids)?;
            if let Some(id) = ids.iter().find(|&&id| id != NONE && id as usize >= rows) {
                return Err(collective.error(WHAT, format!("a rank brings row {id} of a matrix of {rows}")));
            }
            // What is no row has a gradient of zeros, which any row may have besides.
            let places: Vec<u32> = ids.iter().map(|&id| if id == NONE { 0 } else { id }).collect();
            let sums = sum_rows(&gpu.into_tensor(values, (ids.len(), dim))?, &places, rows)?;
            Ok((sums, Some(marks(ids.into_iter().filter(|&id| id != NONE), rows))))
        }
        _ => unreachable!("calls come back as they were made"),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::touched, *};
    use crate::collective;
    use candle_core::{DType, Device};
    use std::time::Duration;

    const LONG: Duration = Duration::from_secs(60);

    /// What a rank of three has of two matrices of ten rows, which it touches in part, one without marks, and one without rows.
    fn own(rank: usize) -> Gradients {
        let tensor = |rows: &[(usize, [f32; 2])]| {
            let mut values = vec![0.0f32; 20];
            rows.iter().for_each(|(row, gradient)| values[2 * row..][..2].copy_from_slice(gradient));
            Tensor::from_vec(values, (10, 2), &Device::Cpu).unwrap()
        };
        let few: [&[(usize, [f32; 2])]; 3] = [&[(1, [1e8, 1.0]), (4, [2.0, 3.0])], &[], &[(9, [0.0, 0.5]), (1, [-1e8, 100.0])]];
        let some = few[rank];
        let marked = Some(marks(some.iter().map(|(row, _)| *row as u32), 10));
        let without_rows = Tensor::zeros((0, 2), DType::F32, &Device::Cpu).unwrap();
        vec![(tensor(some), marked.clone()), (tensor(some), marked), (tensor(some), None), (without_rows, None)]
    }

    fn values(gradients: &Gradients) -> Vec<(Vec<f32>, Option<Vec<bool>>)> {
        let values = |tensor: &Tensor| tensor.flatten_all().unwrap().to_vec1().unwrap();
        gradients.iter().map(|(gradient, marks)| (values(gradient), marks.clone())).collect()
    }

    /// By row, as whole matrices, and without marks; `(1e8 + 0) - 1e8` leaves nothing of the first rank's row.
    #[test]
    fn devices_leave_what_the_host_does() {
        let reach = [Some(Reach { batch: 4, of_row: 1 }), Some(Reach { batch: 1, of_row: 5 }), None, None];
        let work = |collective: Collective| {
            let gpu = Gpu::emulated();
            let collective = collective.on(&gpu, LONG)?;
            let found = all_reduce(&gpu, &collective, own(collective.rank() as usize), &reach)?;
            let mut to_host = Vec::new();
            for ((gradient, marks), reach) in own(collective.rank() as usize).into_iter().zip(reach) {
                to_host.push(touched::all_reduce_on_host(&collective, gradient, marks, reach)?);
            }
            Ok((values(&found), values(&to_host)))
        };
        let (found, to_host) = collective::run(collective::threads(3, LONG), work, work).unwrap();
        let mut expected = (vec![0.0; 20], vec![false; 10]);
        for (row, gradient) in [(1, [0.0, 101.0]), (4, [2.0, 3.0]), (9, [0.0, 0.5])] {
            expected.0[2 * row..][..2].copy_from_slice(&gradient);
            expected.1[row] = true;
        }
        let marked = (expected.0.clone(), Some(expected.1));
        assert_eq!(found, [marked.clone(), marked, (expected.0, None), (Vec::new(), None)]);
        assert_eq!(to_host, found);
    }

    /// A rank that is not of this build.
    #[test]
    fn rows_that_are_none_are_refused() {
        let work = |collective: Collective| {
            let (gpu, leads) = (Gpu::emulated(), collective.leads());
            if leads {
                return all_reduce(&gpu, &collective, own(0), &[Some(Reach { batch: 4, of_row: 1 })]).map(|_| ());
            }
            let ids = [gpu.upload(&[10u32, NONE])?, gpu.zeros(4)?];
            let calls = [CollectiveCall::AllGatherIds(ids), CollectiveCall::AllGather([gpu.zeros(4)?, gpu.zeros(8)?])];
            collective.exchange_buffers(WHAT, &gpu, calls).map(|_| ())
        };
        let error = collective::run(collective::threads(2, LONG), work, work).unwrap_err().to_string();
        assert!(error.contains("a rank brings row 10 of a matrix of 10"), "{error}");
        let many =
            all_reduce(&Gpu::emulated(), &Collective::Single, own(0), &[Some(Reach { batch: 1, of_row: 1 })]).unwrap_err().to_string();
        assert!(many.contains("this rank has gradients of 2 rows: expected at most 1"), "{many}");
    }
}
