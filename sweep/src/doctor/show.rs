//! The report as text for a terminal.

use super::DoctorReport;
use crate::text_table::TextTable;
use std::fmt::Write;

impl DoctorReport {
    /// The inventory, then a table of comparisons and one of timings, where there are any.
    pub fn text(&self) -> String {
        let mut text = self.inventory();
        if !self.comparisons.is_empty() {
            let _ = writeln!(text, "\n{}", self.compared());
        }
        if !self.timings.is_empty() {
            let _ = writeln!(text, "\n{}", self.timed());
        }
        text
    }

    fn inventory(&self) -> String {
        let features = if self.build.features.is_empty() { "none: trains on the CPU".to_owned() } else { self.build.features.join(", ") };
        let mut lines = vec![
            ("ranksweep", format!("{} (trainer {})", self.build.version, self.build.trainer_version)),
            ("features", features),
            ("processor", self.machine.processor.clone().unwrap_or_else(|| "unknown".to_owned())),
            ("cores", self.machine.cores.to_string()),
            ("memory", self.machine.memory.map_or_else(|| "unknown".to_owned(), gib)),
            ("instructions", self.machine.instructions.join(", ")),
        ];
        lines.extend(self.driver.iter().map(|driver| ("driver", driver.clone())));
        lines.extend(self.libraries.iter().map(|library| ("library", library.file.clone())));
        lines.extend(self.devices.iter().map(|gpu| {
            let (memory, bandwidth, flops) = (gib(gpu.memory), gpu.bandwidth / 1e12, gpu.flops / 1e12);
            let (ordinal, name, capability, units) = (gpu.ordinal, &gpu.name, &gpu.compute_capability, gpu.multiprocessors);
            let most = format!("at most {bandwidth:.2} TB/s and {flops:.1} TFLOP/s of f32");
            ("GPU", format!("cuda:{ordinal} {name}, {memory}, compute capability {capability}, {units} multiprocessors, {most}"))
        }));
        lines.extend(self.missing.iter().map(|missing| ("missing", missing.clone())));
        lines.into_iter().map(|(name, value)| format!("{name:<13}{value}\n")).collect()
    }

    fn compared(&self) -> TextTable {
        let mut rows = TextTable::new(&["compared", "on", "numbers", "largest difference", "allowed", "outcome"]);
        for judged in &self.comparisons {
            let compared = &judged.comparison;
            let outcome = if judged.agrees { "agrees" } else { "DIFFERS" };
            let (largest, allowed) = (number(compared.largest_difference), number(compared.allowed));
            rows.add([compared.what.clone(), judged.device.clone(), compared.cases.to_string(), largest, allowed, outcome.to_owned()]);
        }
        rows
    }

    fn timed(&self) -> TextTable {
        let mut rows = TextTable::new(&["timed", "on", "µs", "GB/s", "of bandwidth", "GFLOP/s", "of f32"]);
        for timed in &self.timings {
            let timing = &timed.timing;
            let rate = |count: u64| format!("{:.0}", count as f64 / timing.seconds / 1e9);
            let share = |share: Option<f64>| share.map_or_else(String::new, |share| format!("{:.1} %", 100.0 * share));
            rows.add([
                timing.what.clone(),
                timed.device.clone(),
                format!("{:.1}", 1e6 * timing.seconds),
                rate(timing.bytes),
                share(timed.share_of_bandwidth),
                rate(timing.flops),
                share(timed.share_of_flops),
            ]);
        }
        rows
    }
}

fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

fn number(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value if value.is_nan() => String::new(),
        value => format!("{value:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Build, DoctorReport, Hardware, Judged, Timed};
    use trainer::device::Found;
    use trainer::device_checks::{Comparison, Timing};

    fn report() -> DoctorReport {
        let gpu = Found {
            ordinal: 0,
            name: "NVIDIA H200".to_owned(),
            compute_capability: "9.0".to_owned(),
            memory: 140 << 30,
            multiprocessors: 132,
            bandwidth: 4.8e12,
            flops: 66.9e12,
        };
        let compared =
            |what: &str, largest_difference| Comparison { what: what.to_owned(), cases: 1_000, largest_difference, allowed: 1e-5 };
        let timing = Timing { what: "scores".to_owned(), seconds: 1e-3, bytes: 2_400_000_000, flops: 6_690_000_000 };
        DoctorReport {
            build: Build { version: "0.1.0", features: vec!["cuda", "nccl"], trainer_version: 3 },
            machine: Hardware { processor: None, cores: 16, memory: Some(1 << 37), instructions: vec!["avx2", "fma"] },
            driver: Some("580.159.04".to_owned()),
            libraries: Vec::new(),
            comparisons: vec![Judged::of("cuda:0", compared("draws", 0.0)), Judged::of("cuda:0", compared("scores", 0.5))],
            timings: vec![Timed::of(&gpu, timing)],
            missing: Vec::new(),
            devices: vec![gpu],
        }
    }

    #[test]
    fn what_differs_is_told_apart() {
        let text = report().text();
        let line = |what: &str| text.lines().find(|line| line.contains(what)).unwrap().to_owned();
        assert!(line("draws").contains("agrees") && line(" scores ").contains("DIFFERS"), "{text}");
        assert!(text.contains("GPU          cuda:0 NVIDIA H200, 140.0 GiB, compute capability 9.0"), "{text}");
        assert_eq!(report().differing().count(), 1);
    }

    /// 2.4 GB in a millisecond are 2.4 TB/s, half of what there is; 6.69 GFLOP in it are a tenth.
    #[test]
    fn times_stand_beside_what_the_device_could_do() {
        let text = report().text();
        for figure in ["1000.0", "2400", "50.0 %", "6690", "10.0 %"] {
            assert!(text.contains(figure), "{figure}: {text}");
        }
    }

    #[test]
    fn the_file_has_verdicts_and_shares() {
        let file: serde_json::Value = serde_json::from_str(&report().to_json()).unwrap();
        assert_eq!(file["comparisons"][1]["what"], "scores");
        assert_eq!((&file["comparisons"][0]["agrees"], &file["comparisons"][1]["agrees"]), (&true.into(), &false.into()));
        assert_eq!(file["timings"][0]["share_of_bandwidth"], 0.5);
        assert_eq!(file["devices"][0]["name"], "NVIDIA H200");
    }
}
