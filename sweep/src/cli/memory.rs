//! The most memory that the process held at once, to be held against the plan's estimate.

/// Says it as the last event of the log, where the system tells (Linux).
pub(super) fn log_peak() {
    if let Some(peak) = peak() {
        tracing::info!(peak = peak_text(peak), "memory");
    }
}

/// Bytes that the process held at most, where the system tells.
fn peak() -> Option<u64> {
    parse(&std::fs::read_to_string("/proc/self/status").ok()?)
}

/// The resident set's high-water mark: `VmHWM:     1234 kB`.
fn parse(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(1024 * line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?)
}

fn peak_text(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_read_in_kibibytes() {
        let peak = parse("Name:\tx\nVmPeak:\t  900 kB\nVmHWM:\t    1536 kB\n").unwrap();
        assert_eq!((peak, peak_text(peak)), (1_572_864, "1.5 MiB".to_owned()));
        assert_eq!(parse("Name:\tx\n"), None);
    }
}
