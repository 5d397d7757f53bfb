//! `device` in a sweep file: of a run, not of its trials' identity.

use serde::Deserialize;

/// Where trials are trained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AskedDevice {
    /// Trials are trained on a GPU where the build has CUDA, a GPU is there and can train the trial; else on the CPU.
    #[default]
    Auto,
    /// Trials are trained on the CPU.
    Cpu,
    /// Trials are trained on a GPU, or not at all.
    Cuda,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::node::Node;

    fn read(text: &str) -> crate::file::Result<AskedDevice> {
        Node::parse(text, "s").unwrap().read()
    }

    #[test]
    fn a_device_is_a_name() {
        assert_eq!([read("auto").unwrap(), read("cpu").unwrap()], [AskedDevice::Auto, AskedDevice::Cpu]);
        assert_eq!(read("cuda").unwrap(), AskedDevice::Cuda);
        let message = |text: &str| read(text).unwrap_err().to_string();
        assert!(
            message("gpu").contains("unknown name `gpu`: did you mean `cuda`? (expected one of `auto`, `cpu`, `cuda`)"),
            "{}",
            message("gpu")
        );
        assert!(message("{kind: cuda}").contains("expected a name, found a mapping: write `cuda`"), "{}", message("{kind: cuda}"));
    }
}
