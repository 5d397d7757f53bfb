//! The processor and the memory of this machine.

use serde::Serialize;
use std::{fs, thread::available_parallelism};

/// The CPU, which trains where there is no GPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hardware {
    /// The processor's name, where the system tells (Linux).
    pub processor: Option<String>,
    /// Cores that this process may use.
    pub cores: usize,
    /// Bytes that this process may use: the least of the machine's memory, that of its control groups, and the process's own limit, where the system tells (Linux).
    pub memory: Option<u64>,
    /// Instruction sets that the program picks from when it starts, and that the processor has.
    pub instructions: Vec<&'static str>,
}

impl Hardware {
    pub(super) fn look() -> Self {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        Self {
            processor: value(&text("/proc/cpuinfo"), "model name"),
            cores: available_parallelism().map_or(1, usize::from),
            memory: memory_limit(),
            instructions: instructions(),
        }
    }
}

/// Bytes that this process may use: the least of the machine's memory, that of its control groups (containers, Slurm's jobs, systemd's units), and the
/// process's own limit (`ulimit -v`), where the system tells (Linux).
pub(crate) fn memory_limit() -> Option<u64> {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let groups: Vec<String> = limit_files(&text("/proc/self/cgroup")).iter().map(|path| text(path)).collect();
    memory(&text("/proc/meminfo"), &groups, &text("/proc/self/limits"))
}

/// The files of the limits of control groups: this process's group's and those above it, of both versions. In a container the group's path may be
/// that outside of it, which is not there; its root is the container's.
fn limit_files(groups: &str) -> Vec<String> {
    let of_line = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, group) = (fields.next()?, fields.next()?);
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|controller| controller == "memory") => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            _ => return None,
        };
        let ends = group.trim_end_matches('/').match_indices('/').map(|(end, _)| end).chain([group.trim_end_matches('/').len()]);
        Some(ends.map(|end| format!("{root}{}/{file}", &group[..end])).collect::<Vec<_>>())
    };
    groups.lines().filter_map(of_line).flatten().collect()
}

/// `key : value`
fn value(text: &str, key: &str) -> Option<String> {
    let (_, value) = text.lines().filter_map(|line| line.split_once(':')).find(|(name, _)| name.trim() == key)?;
    Some(value.trim().to_owned())
}

/// The least of the machine's, the groups', which is `max` or a very large number where one has no limit, and the process's.
fn memory(meminfo: &str, groups: &[String], limits: &str) -> Option<u64> {
    let total = value(meminfo, "MemTotal")?.strip_suffix(" kB")?.parse::<u64>().ok()? * 1024;
    let groups = groups.iter().filter_map(|limit| limit.trim().parse().ok());
    groups.chain(soft_limit(limits, "Max address space")).chain([total]).min()
}

/// The soft limit of a line of `/proc/self/limits`, such as `Max open files    1024    524288    files`; `None` where it is unlimited.
pub(crate) fn soft_limit(limits: &str, name: &str) -> Option<u64> {
    limits.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

#[cfg(target_arch = "x86_64")]
fn instructions() -> Vec<&'static str> {
    let known = [
        ("sse4.2", is_x86_feature_detected!("sse4.2")),
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
        ("avx512dq", is_x86_feature_detected!("avx512dq")),
    ];
    known.into_iter().filter_map(|(name, is_there)| is_there.then_some(name)).collect()
}

#[cfg(target_arch = "aarch64")]
fn instructions() -> Vec<&'static str> {
    if std::arch::is_aarch64_feature_detected!("neon") { vec!["neon"] } else { Vec::new() }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn instructions() -> Vec<&'static str> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_tells_processor_and_memory() {
        let cpuinfo = "processor\t: 0\nmodel name\t: AMD EPYC 9B14: 96-Core\nmodel name\t: another\n";
        assert_eq!(value(cpuinfo, "model name").as_deref(), Some("AMD EPYC 9B14: 96-Core"));
        let meminfo = "MemTotal:       2048 kB\nMemFree:        1024 kB\n";
        let limits = "Max open files            1024                 524288               files\nMax address space         524288               unlimited            bytes\n";
        let groups = |limits: &[&str]| limits.iter().map(|&limit| limit.to_owned()).collect::<Vec<_>>();
        assert_eq!(memory(meminfo, &groups(&["max\n"]), ""), Some(2_097_152));
        assert_eq!(memory(meminfo, &groups(&["max\n", "1048576\n", "", "9223372036854771712\n"]), ""), Some(1_048_576), "a group has less");
        assert_eq!(memory(meminfo, &groups(&["1048576\n"]), limits), Some(524_288), "this process may have less");
        assert_eq!((memory("", &groups(&["max"]), limits), value("", "model name")), (None, None));
    }

    #[test]
    fn limits_are_those_of_all_groups_above() {
        let unified = ["", "/slurm", "/slurm/job_7"].map(|group| format!("/sys/fs/cgroup{group}/memory.max"));
        assert_eq!(limit_files("0::/slurm/job_7\n"), unified);
        assert_eq!(limit_files("0::/\n"), ["/sys/fs/cgroup/memory.max"]);
        let older = ["", "/a"].map(|group| format!("/sys/fs/cgroup/memory{group}/memory.limit_in_bytes"));
        assert_eq!(limit_files("12:cpu,cpuacct:/b\n4:hugetlb,memory:/a\n1:name=systemd:/c\n"), older);
        assert_eq!(limit_files("nothing\n"), [""; 0]);
    }
}
