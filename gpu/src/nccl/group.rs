//! Collective operations that NCCL is asked for at once, and makes in one launch.
#![allow(unsafe_code)]

use super::{Party, Patience, Pending};
use crate::{CollectiveCall, Result};
use candle_core::cuda_backend::cudarc::{
    driver::CudaStream,
    nccl::sys::{self, ncclDataType_t, ncclRedOp_t, ncclResult_t},
};
use std::{ffi::c_void, sync::Arc};

/// Addresses of device memory, and how much there is.
enum Span {
    /// Numbers that are added up in place.
    Reduced { address: u64, length: usize },
    /// Bytes of each rank, from one address, and those of all to the other.
    Gathered { from: u64, to: u64, bytes: usize },
}

impl Party {
    /// Has all ranks make these calls, at once, in an order of addition that follows from the ranks alone. Every rank asks for the same ones.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    ///
    /// # Panics
    /// When there is no room for what all ranks bring.
    pub fn exchange<B: AsMut<[CollectiveCall]>>(&self, mut calls: B, patience: Patience) -> Result<Pending<B>> {
        let what = "exchange numbers with all ranks";
        let all = calls.as_mut();
        all.iter().for_each(|call| call.check_room(self.ranks));
        self.begin(what, all.iter().all(|call| is_on(call, &self.stream)))?;
        let spans: Vec<Span> = all.iter_mut().map(Span::of).collect();
        let pending = self.lend(calls);
        let result = self.group(&spans);
        self.settle(what, result, patience)?;
        self.asked(what, pending)
    }

    /// Has NCCL note calls, and ask the device for all of them.
    fn group(&self, spans: &[Span]) -> ncclResult_t {
        let is_wrong = |result: &ncclResult_t| !matches!(result, ncclResult_t::ncclSuccess | ncclResult_t::ncclInProgress);
        // SAFETY: NCCL notes that a group begins, on this thread.
        let begun = unsafe { sys::ncclGroupStart() };
        if is_wrong(&begun) {
            return begun;
        }
        let noted: Vec<ncclResult_t> = spans.iter().map(|span| self.note(span)).collect();
        // SAFETY: the group that this thread began ends, also where a call of it was refused.
        let ended = unsafe { sys::ncclGroupEnd() };
        noted.into_iter().find(is_wrong).unwrap_or(ended)
    }

    /// Has NCCL note a call of a group.
    fn note(&self, span: &Span) -> ncclResult_t {
        match *span {
            Span::Reduced { address, length } => {
                let (from, to, float, sum) =
                    (address as *const c_void, address as *mut c_void, ncclDataType_t::ncclFloat32, ncclRedOp_t::ncclSum);
                // SAFETY: the buffer is of this device, and of that length; the `Pending` of its call keeps it until NCCL is done. NCCL adds up in place
                // where both addresses are one.
                unsafe { sys::ncclAllReduce(from, to, length, float, sum, self.comm, self.raw()) }
            }
            Span::Gathered { from, to, bytes } => {
                let (from, to) = (from as *const c_void, to as *mut c_void);
                // SAFETY: both buffers are of this device, the second holds so many bytes of every rank, and the `Pending` of their call keeps them until
                // NCCL is done.
                unsafe { sys::ncclAllGather(from, to, bytes, ncclDataType_t::ncclUint8, self.comm, self.raw()) }
            }
        }
    }
}

impl Span {
    fn of(call: &mut CollectiveCall) -> Self {
        match call {
            CollectiveCall::AllReduce(buffer) => Self::Reduced { address: buffer.address_mut(), length: buffer.len() },
            CollectiveCall::AllGather([own, all]) => {
                Self::Gathered { from: own.address(), to: all.address_mut(), bytes: own.len() * size_of::<f32>() }
            }
            CollectiveCall::AllGatherIds([own, all]) => {
                Self::Gathered { from: own.address(), to: all.address_mut(), bytes: own.len() * size_of::<u32>() }
            }
        }
    }
}

/// Whether the buffers are of the device with this stream.
fn is_on(call: &CollectiveCall, stream: &Arc<CudaStream>) -> bool {
    match call {
        CollectiveCall::AllReduce(buffer) => buffer.is_on(stream),
        CollectiveCall::AllGather(buffers) => buffers.iter().all(|buffer| buffer.is_on(stream)),
        CollectiveCall::AllGatherIds(buffers) => buffers.iter().all(|buffer| buffer.is_on(stream)),
    }
}
