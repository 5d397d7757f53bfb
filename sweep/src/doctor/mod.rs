//! The devices that this program can train with here, and whether all of them compute the same: `ranksweep doctor`.
//!
//! [`look`] says what there is. [`check`] trains a small sweep in every way that there is, against one rank on the CPU, and compares every
//! kernel of each GPU with the same computation on the CPU; [`time`] times the kernels. A [`DoctorReport`] is one JSON file, or tables for a terminal.

mod machine;
mod report;
mod show;
mod trials;
mod ways;

pub use machine::Hardware;
pub(crate) use machine::{memory_limit, soft_limit};
pub use report::{Build, DoctorReport, Judged, Timed};

use anyhow::{Result, ensure};
use trainer::{device, device_checks};

/// The program, its machine and its devices; nothing is computed.
pub fn look() -> DoctorReport {
    let (devices, missing) = match device::found() {
        Ok(devices) => (devices, Vec::new()),
        Err(error) => (Vec::new(), vec![error.to_string()]),
    };
    let build = Build::of_this_program();
    let missing = missing.into_iter().chain(build.lacks(devices.is_empty())).collect();
    DoctorReport {
        build,
        machine: Hardware::look(),
        driver: device::driver(),
        libraries: device::libraries(),
        devices,
        missing,
        comparisons: Vec::new(),
        timings: Vec::new(),
    }
}

/// Compares what can be compared here, and adds it to the report.
///
/// # Errors
/// When the small sweep cannot be trained on the CPU, which everything is compared with.
pub fn check(report: &mut DoctorReport, memory: usize) -> Result<()> {
    for gpu in &report.devices {
        let on = format!("cuda:{}", gpu.ordinal);
        match device_checks::compare(gpu.ordinal) {
            Ok(comparisons) => report.comparisons.extend(comparisons.into_iter().map(|comparison| Judged::of(&on, comparison))),
            Err(error) => report.comparisons.push(Judged::failed(&on, "kernels", &error)),
        }
    }
    report.comparisons.extend(trials::compare(&ways::all(report), memory)?);
    Ok(())
}

/// Times the kernels of each GPU, and adds that to the report.
///
/// # Errors
/// Where there is no GPU, or one fails.
pub fn time(report: &mut DoctorReport) -> Result<()> {
    ensure!(!report.devices.is_empty(), "--bench times the kernels of GPUs: {}", report.missing.join("; "));
    for gpu in &report.devices {
        report.timings.extend(device_checks::time(gpu.ordinal)?.into_iter().map(|timing| Timed::of(gpu, timing)));
    }
    Ok(())
}
