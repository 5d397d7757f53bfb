//! What trained a trial, as its results name it.

use super::Device;
use crate::{Ranks, Result, device::look};

/// `cpu`, `cuda: NVIDIA H200`; with the ranks where there are several: `cpu, 2 ranks`.
pub(crate) fn label(device: Device, ranks: &Ranks) -> Result<String> {
    let device = match device {
        Device::Cpu => "cpu".to_owned(),
        Device::Cuda { ordinal } => format!("cuda: {}", look(ordinal)?.name),
        #[cfg(test)]
        Device::Emulated => "emulated".to_owned(),
    };
    Ok(match ranks.count() {
        ..=1 => device,
        ranks => format!("{device}, {ranks} ranks"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_ranks_are_named() {
        assert_eq!(label(Device::Cpu, &Ranks::default()).unwrap(), "cpu");
        assert_eq!(label(Device::Cpu, &Ranks::threads(2)).unwrap(), "cpu, 2 ranks");
    }
}
