//! The pods' folders: the root file system is read-only.

use super::{RenderContext, config_map};
use crate::{
    reserved::{CACHE, SCRATCH, SWEEP_FOLDER},
    resources::{Cache, Share},
};
use k8s_openapi::{
    api::core::v1::{
        ConfigMapVolumeSource, EmptyDirVolumeSource, HostPathVolumeSource, PersistentVolumeClaimVolumeSource, Volume, VolumeMount,
    },
    apimachinery::pkg::api::resource::Quantity,
};

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
    Some(mounted(claimed("storage", &asked.claim), &asked.path))
}

/// The cache of datasets that the pods of trials share. A folder of the node is not made: the kubelet would make it root's.
pub(super) fn cache(context: &RenderContext<'_>) -> Option<(Volume, VolumeMount)> {
    let Cache { host_path, claim } = context.submission.resources.cache.as_ref()?;
    let of_node = |path: &String| {
        let source = HostPathVolumeSource { path: path.clone(), type_: Some("Directory".to_owned()) };
        Volume { name: "cache".to_owned(), host_path: Some(source), ..Volume::default() }
    };
    let volume = host_path.as_ref().map(of_node).or_else(|| claim.as_ref().map(|claim| claimed("cache", claim)))?;
    Some(mounted(volume, CACHE))
}

fn claimed(name: &str, claim: &str) -> Volume {
    let claim = PersistentVolumeClaimVolumeSource { claim_name: claim.to_owned(), ..PersistentVolumeClaimVolumeSource::default() };
    Volume { name: name.to_owned(), persistent_volume_claim: Some(claim), ..Volume::default() }
}

fn mounted(volume: Volume, path: &str) -> (Volume, VolumeMount) {
    let mount = VolumeMount { name: volume.name.clone(), mount_path: path.to_owned(), ..VolumeMount::default() };
    (volume, mount)
}
