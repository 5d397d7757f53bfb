//! The ways to train a trial here.

use super::DoctorReport;
use trainer::{Device, Operations, Ranks};

/// Where, by what, and by how many ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) name: String,
    pub(super) device: Device,
    pub(super) operations: Operations,
    pub(super) ranks: Ranks,
}

impl Way {
    fn new(name: String, device: Device, ranks: u32) -> Self {
        Self { name, device, operations: Operations::Fastest, ranks: Ranks::threads(ranks) }
    }

    /// The same in candle's operations alone.
    fn by_candle(self) -> Self {
        Self { name: format!("{} by candle", self.name), operations: Operations::Candle, ..self }
    }
}

/// Every way that there is: the reference first, one rank on the CPU. A GPU by itself, and the first with the next, which meet by NCCL; the CPU, each GPU and the
/// first two GPUs together once more by candle.
pub(super) fn all(report: &DoctorReport) -> Vec<Way> {
    let on_cpu = [1, 2, 4].map(|ranks| Way::new(counted("cpu", ranks), Device::Cpu, ranks));
    let gpus = report.devices.iter().map(|gpu| Way::new(format!("cuda:{}", gpu.ordinal), Device::Cuda { ordinal: gpu.ordinal }, 1));
    let has_nccl = report.build.features.contains(&"nccl");
    let most = if has_nccl { u32::try_from(report.devices.len()).unwrap_or(u32::MAX) } else { 1 };
    let together = [2, 4, 8].into_iter().filter(|&ranks| ranks <= most);
    let together = together.map(|ranks| Way::new(counted("cuda:0", ranks), Device::Cuda { ordinal: 0 }, ranks));
    let by_candle = on_cpu.iter().take(1).cloned().chain(gpus.clone()).chain(together.clone().take(1)).map(Way::by_candle);
    let by_candle: Vec<Way> = by_candle.collect();
    on_cpu.into_iter().chain(gpus).chain(together).chain(by_candle).collect()
}

fn counted(device: &str, ranks: u32) -> String {
    if ranks == 1 { device.to_owned() } else { format!("{device}, {ranks} ranks") }
}
