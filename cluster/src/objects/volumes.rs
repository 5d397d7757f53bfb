//! The pods' folders: the root file system is read-only.

use super::{RenderContext, config_map};
use crate::resources::Share;
use k8s_openapi::{
    api::core::v1::{ConfigMapVolumeSource, EmptyDirVolumeSource, PersistentVolumeClaimVolumeSource, Volume, VolumeMount},
    apimachinery::pkg::api::resource::Quantity,
};

/// The folder of the sweep file.
pub(super) const SWEEP_FOLDER: &str = "/sweep";
/// Temporary files, and the cache of datasets.
pub(super) const SCRATCH: &str = "/tmp";

/// Shared memory for each GPU of a pod: NCCL's buffers between the GPUs of one node.
const SHARED_GIB: u32 = 1;

/// Volumes and where they are mounted.
pub(super) fn volumes(context: &RenderContext<'_>, share: &Share<'_>) -> (Vec<Volume>, Vec<VolumeMount>) {
    let always = [sweep(context), scratch()];
    let shared = (share.gpus > 1).then(|| shared_memory(share.gpus));
    always.into_iter().chain(shared).chain(storage(context)).unzip()
}

fn sweep(context: &RenderContext<'_>) -> (Volume, VolumeMount) {
    let config_map = ConfigMapVolumeSource { name: config_map::name(context), ..ConfigMapVolumeSource::default() };
    let volume = Volume { name: "sweep".to_owned(), config_map: Some(config_map), ..Volume::default() };
    let (volume, mount) = mounted(volume, SWEEP_FOLDER);
    (volume, VolumeMount { read_only: Some(true), ..mount })
}

fn scratch() -> (Volume, VolumeMount) {
    let empty_dir = Some(EmptyDirVolumeSource::default());
    mounted(Volume { name: "scratch".to_owned(), empty_dir, ..Volume::default() }, SCRATCH)
}

/// Counts against the pod's memory. The container runtime's own /dev/shm has 64 MiB.
fn shared_memory(gpus: u32) -> (Volume, VolumeMount) {
    let size = Quantity(format!("{}Gi", gpus * SHARED_GIB));
    let empty_dir = Some(EmptyDirVolumeSource { medium: Some("Memory".to_owned()), size_limit: Some(size) });
    mounted(Volume { name: "shared-memory".to_owned(), empty_dir, ..Volume::default() }, "/dev/shm")
}

fn storage(context: &RenderContext<'_>) -> Option<(Volume, VolumeMount)> {
    let asked = context.submission.resources.volume.as_ref()?;
    let claim = PersistentVolumeClaimVolumeSource { claim_name: asked.claim.clone(), ..PersistentVolumeClaimVolumeSource::default() };
    let volume = Volume { name: "storage".to_owned(), persistent_volume_claim: Some(claim), ..Volume::default() };
    Some(mounted(volume, &asked.path))
}

fn mounted(volume: Volume, path: &str) -> (Volume, VolumeMount) {
    let mount = VolumeMount { name: volume.name.clone(), mount_path: path.to_owned(), ..VolumeMount::default() };
    (volume, mount)
}
