//! Devices meet, by NCCL.
//!
//! What a [`Party`] is asked for happens on a stream of its own, after all kernels that were asked for before it, and beside those that are asked
//! for after it, until the device [joins](Pending::join) it. Meanwhile the buffers are nobody's: a [`Pending`] owns them. No call of NCCL's blocks:
//! a rank waits by looking again and again, at NCCL, at the clock and at who is lost, and ends the communicator when nothing will come of it.
#![allow(unsafe_code)]

mod group;

use crate::{Error, Gpu, Result};
use candle_core::cuda_backend::cudarc::{
    driver::{
        CudaEvent, CudaStream, DriverError,
        sys::{CUresult, cuStreamQuery},
    },
    nccl::sys::{self, ncclConfig_t, ncclResult_t, ncclUniqueId},
};
use std::{
    cell::Cell,
    ffi::CStr,
    ptr::null,
    sync::Arc,
    time::{Duration, Instant},
};

/// The identity of a communicator; one rank makes it and tells the others.
pub type Id = [u8; 128];

/// How NCCL knows that a configuration was filled in, and for which version of its fields (2.30).
const MAGIC: u32 = 0xcafe_beef;
const VERSION: u32 = 23_000;
/// A setting that is left to NCCL.
const UNSET: i32 = i32::MIN;

/// The longest that leaving takes.
const PARTING: Duration = Duration::from_secs(10);

/// Looks at NCCL for one at the clock and at who is lost.
const LOOKS: u32 = 64;

/// Looks without a nap between them, and the nap.
const SPINS: u32 = 4_096;
const NAP: Duration = Duration::from_micros(20);

/// How long a rank waits, and for whom no more.
#[derive(Clone, Copy)]
pub struct Patience<'a> {
    /// The longest.
    pub limit: Duration,
    /// Why no one need wait, once that is so: a rank that was lost.
    pub lost: &'a dyn Fn() -> Option<String>,
}

/// A rank's part in a communicator. Dropped after [`finish`](Self::finish) it leaves in order; else it ends the communicator, and what that
/// has not finished, for all ranks.
#[derive(Debug)]
pub struct Party {
    comm: sys::ncclComm_t,
    /// Stream of the device's kernels; `exchange` is that of what ranks exchange.
    stream: Arc<CudaStream>,
    exchange: Arc<CudaStream>,
    ranks: usize,
    ended: Cell<bool>,
    /// Whether nothing was asked for since all was finished.
    idle: Cell<bool>,
}

/// An exchange under way between the ranks, with the buffers that it reads and writes. Dropped before it is joined, it has them freed after
/// it is done; where nobody can tell when that is, never.
#[derive(Debug)]
#[must_use = "its buffers are there again when it is joined"]
pub struct Pending<B> {
    /// The buffers; there until the exchange is joined.
    buffers: Option<B>,
    /// The event after which the ranks' stream is done with the buffers, once that was asked for.
    done: Option<CudaEvent>,
    /// Stream of the buffers' device, on which they are freed.
    stream: Arc<CudaStream>,
}

// SAFETY: NCCL takes a communicator from any thread, from one at a time. A party holds the only copy of it, and is not `Sync`.
unsafe impl Send for Party {}

/// The version of the library, such as 22907 for 2.29.7.
///
/// # Errors
/// [`Error::Device`].
pub fn version() -> Result<i32> {
    let mut version = 0;
    // SAFETY: NCCL writes one number.
    let result = unsafe { sys::ncclGetVersion(&raw mut version) };
    if result == ncclResult_t::ncclSuccess { Ok(version) } else { Err(failed("state NCCL's version", words(result))) }
}

/// A new communicator's.
///
/// # Errors
/// [`Error::Device`], as where there is no network to meet by.
pub fn id() -> Result<Id> {
    let mut id = ncclUniqueId { internal: [0; 128] };
    // SAFETY: NCCL writes one id.
    let result = unsafe { sys::ncclGetUniqueId(&raw mut id) };
    let bytes = || id.internal.map(|byte| byte as u8);
    if result == ncclResult_t::ncclSuccess { Ok(bytes()) } else { Err(failed("make an id for NCCL", words(result))) }
}

impl Party {
    /// Joins the others of so many ranks, each on a device of its own, as the one of that number.
    ///
    /// # Errors
    /// [`Error::Device`] when not all come in time, or NCCL does not find a way between them.
    pub fn new(gpu: &Gpu, rank: u32, ranks: u32, id: &Id, patience: Patience) -> Result<Self> {
        let what = "join the other ranks";
        let stream = stream(gpu)?.clone();
        let exchange = stream.context().new_stream().map_err(order(what))?;
        let [rank, count] = [rank, ranks].map(|number| i32::try_from(number).expect("there are fewer than 2^31 ranks"));
        let mut party =
            Self { comm: std::ptr::null_mut(), stream, exchange, ranks: ranks as usize, ended: Cell::new(false), idle: Cell::new(true) };
        party.bind(what)?;
        let (id, mut config) = (ncclUniqueId { internal: id.map(|byte| byte as std::ffi::c_char) }, configuration());
        // SAFETY: NCCL reads the configuration, whose size stands in it, and writes the communicator, both before it returns.
        let result = unsafe { sys::ncclCommInitRankConfig(&raw mut party.comm, count, id, rank, &raw mut config) };
        party.settle(what, result, patience)?;
        Ok(party)
    }

    /// Waits until the device has done everything that was asked of it. Nothing else may wait for it after a call of this party: when another
    /// rank is lost, that would be for ever.
    ///
    /// # Errors
    /// [`Error::Device`] when the device fails, or another rank is lost.
    pub fn finish(&self, patience: Patience) -> Result<()> {
        let what = "finish what the ranks do together";
        self.bind(what)?;
        self.wait(what, patience, || {
            // SAFETY: the stream lives as long as the party.
            match unsafe { cuStreamQuery(self.stream.cu_stream()) } {
                CUresult::CUDA_SUCCESS => Ok(true),
                CUresult::CUDA_ERROR_NOT_READY => self.is_settled().map(|_| false),
                error => Err(format!("{error:?}")),
            }
        })?;
        self.idle.set(true);
        Ok(())
    }

    /// Waits until NCCL is through with a call; an error ends the communicator.
    fn settle(&self, what: &str, result: ncclResult_t, patience: Patience) -> Result<()> {
        self.idle.set(false);
        match result {
            ncclResult_t::ncclSuccess => Ok(()),
            ncclResult_t::ncclInProgress => self.wait(what, patience, || self.is_settled()),
            error => Err(self.end(what, words(error))),
        }
    }

    /// Whether NCCL takes the next call.
    fn is_settled(&self) -> Result<bool, String> {
        let mut state = ncclResult_t::ncclSuccess;
        // SAFETY: NCCL writes one number; the communicator has not ended.
        match unsafe { sys::ncclCommGetAsyncError(self.comm, &raw mut state) } {
            ncclResult_t::ncclSuccess => match state {
                ncclResult_t::ncclSuccess => Ok(true),
                ncclResult_t::ncclInProgress => Ok(false),
                error => Err(words(error)),
            },
            error => Err(words(error)),
        }
    }

    /// Looks until it is done; ends the communicator where it never will be.
    fn wait(&self, what: &str, patience: Patience, done: impl Fn() -> Result<bool, String>) -> Result<()> {
        if self.ended.get() {
            return Err(failed(what, "the ranks have parted".to_owned()));
        }
        let start = Instant::now();
        for turn in 0u32.. {
            match done() {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(reason) => return Err(self.end(what, (patience.lost)().unwrap_or(reason))),
            }
            if turn.is_multiple_of(LOOKS) {
                if let Some(reason) = (patience.lost)() {
                    return Err(self.end(what, reason));
                }
                if start.elapsed() >= patience.limit {
                    break;
                }
            }
            match turn {
                ..SPINS => std::thread::yield_now(),
                _ => std::thread::sleep(NAP), // a long wait leaves its core to others
            }
        }
        Err(self.end(what, format!("waited {:?} for the other ranks", patience.limit)))
    }

    /// Ends the communicator, and whatever it does on the device, which is free then.
    fn end(&self, what: &str, reason: String) -> Error {
        if !self.ended.replace(true) && !self.comm.is_null() {
            // SAFETY: the communicator was made by `new`, and is not used again. There is nothing to do about an error.
            let _result = unsafe { sys::ncclCommAbort(self.comm) };
        }
        failed(what, reason)
    }

    /// Has the ranks' stream wait for all kernels so far, those among them that the buffers were allocated by.
    fn begin(&self, what: &str, is_ours: bool) -> Result<()> {
        if !is_ours {
            return Err(failed(what, "a buffer is of another device than the communicator".to_owned()));
        }
        self.bind(what)?;
        self.stream.record_event(None).and_then(|ready| self.exchange.wait(&ready)).map_err(order(what))
    }

    /// Buffers that nobody touches from now on.
    fn lend<B>(&self, buffers: B) -> Pending<B> {
        Pending { buffers: Some(buffers), done: None, stream: self.stream.clone() }
    }

    /// The exchange that was last asked for, with an event at its end.
    fn asked<B>(&self, what: &str, pending: Pending<B>) -> Result<Pending<B>> {
        let mut pending = pending;
        pending.done = Some(self.exchange.record_event(None).map_err(order(what))?);
        Ok(pending)
    }

    /// NCCL and CUDA look at the device of the calling thread.
    fn bind(&self, what: &str) -> Result<()> {
        if self.ended.get() {
            return Err(failed(what, "the ranks have parted".to_owned()));
        }
        self.stream.context().bind_to_thread().map_err(|error| failed(what, error.to_string()))
    }

    fn raw(&self) -> sys::cudaStream_t {
        self.exchange.cu_stream().cast()
    }
}

impl<B> Pending<B> {
    /// Has the kernels that are asked for from now on wait until what is under way is done, and gives the buffers back to them.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn join(mut self) -> Result<B> {
        let done = self.done.as_ref().expect("a call that succeeded has an end");
        self.stream.wait(done).map_err(order("join what the ranks do together"))?;
        Ok(self.buffers.take().expect("buffers are there until they are joined"))
    }
}

impl<B> Drop for Pending<B> {
    fn drop(&mut self) {
        let Some(buffers) = self.buffers.take() else { return };
        // Memory is freed on the device's stream, when its turn has come there.
        let is_ordered = self.done.as_ref().is_some_and(|done| self.stream.wait(done).is_ok());
        if !is_ordered {
            std::mem::forget(buffers);
        }
    }
}

impl Drop for Party {
    fn drop(&mut self) {
        if self.ended.get() || !self.idle.get() || self.comm.is_null() || std::thread::panicking() || self.bind("part").is_err() {
            let _aborted = self.end("part", String::new());
            return;
        }
        let patience = Patience { limit: PARTING, lost: &|| None };
        // SAFETY: the communicator was made by `new`, and has nothing left to do.
        let result = unsafe { sys::ncclCommFinalize(self.comm) };
        if self.settle("part", result, patience).is_ok() {
            self.ended.set(true);
            // SAFETY: as before; it is not used again. There is nothing to do about an error.
            let _result = unsafe { sys::ncclCommDestroy(self.comm) };
        }
    }
}

/// Everything as NCCL has it, but that its calls return at once.
fn configuration() -> ncclConfig_t {
    ncclConfig_t {
        size: size_of::<ncclConfig_t>(),
        magic: MAGIC,
        version: VERSION,
        blocking: 0,
        cgaClusterSize: UNSET,
        minCTAs: UNSET,
        maxCTAs: UNSET,
        netName: null(),
        splitShare: UNSET,
        trafficClass: UNSET,
        commName: null(),
        collnetEnable: UNSET,
        CTAPolicy: UNSET,
        shrinkShare: UNSET,
        nvlsCTAs: UNSET,
        nChannelsPerNetPeer: UNSET,
        nvlinkCentricSched: UNSET,
        graphUsageMode: UNSET,
        numRmaCtx: UNSET,
        maxP2pPeers: UNSET,
    }
}

fn stream(gpu: &Gpu) -> Result<&Arc<CudaStream>> {
    match gpu {
        Gpu::Cuda(cuda) => Ok(cuda.stream()),
        #[cfg(feature = "emulator")]
        Gpu::Emulated(_) => Err(failed("join the other ranks", "NCCL needs CUDA devices".to_owned())),
    }
}

/// NCCL's words for a code.
fn words(result: ncclResult_t) -> String {
    // SAFETY: NCCL returns a text that is never freed.
    unsafe { CStr::from_ptr(sys::ncclGetErrorString(result)) }.to_string_lossy().into_owned()
}

/// The driver could not put streams in order.
fn order(what: &str) -> impl Fn(DriverError) -> Error + '_ {
    move |error| failed(what, error.to_string())
}

fn failed(what: &str, reason: String) -> Error {
    Error::Device { what: what.to_owned(), reason }
}
