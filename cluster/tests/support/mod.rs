//! Sweeps of every shape, on their way to a cluster.

#![allow(clippy::unwrap_used, reason = "a test file outside of `cfg(test)`")]
#![allow(dead_code, reason = "each test file uses a part")]

use cluster::{Object, Resources, Stage, Submission, objects};

/// One trial for each index, all at once.
const ALL: [Stage; 3] = [Stage::Prepare, Stage::Train { trials: 12, rung: None }, Stage::Evaluate];

/// The shapes by name, each with the `resources` of its sweep file and its stages.
pub(crate) const SHAPES: [(&str, &str, &[Stage]); 11] = [
    ("single-gpu", "{gpus: 1, cpu: 4, memory: 16Gi, secret: bucket}", &ALL),
    (
        "multi-gpu",
        "gpus: 8
cpu: 32
memory: 256Gi
scratch: 100Gi
node_selector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]
priority_class: research
runtime_class: nvidia
parallelism: 4
service_account: bucket-reader
image_pull_secrets: [registry]
prepare: {cpu: 8, memory: 64Gi, node_selector: {}, tolerations: []}
evaluate: {cpu: 16, node_selector: {pool: cpu}, tolerations: []}
",
        &ALL,
    ),
    ("shared-gpu", "{gpus: 1, trials_per_gpu: 4, cpu: 4, memory: 32Gi, secret: bucket}", &ALL),
    (
        "multi-node",
        "{gpus: 4, nodes: 2, cpu: 16, memory: 128Gi, secret: bucket}",
        &[Stage::Prepare, Stage::Train { trials: 2, rung: None }, Stage::Evaluate],
    ),
    (
        "kueue",
        "{gpus: 1, cpu: 4, memory: 16Gi, queue: research, secret: bucket, retries: 1, labels: {team: search}, annotations: {sidecar.istio.io/inject: 'false'}}",
        &ALL,
    ),
    (
        "rungs",
        "{cpu: 500m, memory: 1.5Gi, secret: bucket, environment: {AWS_ENDPOINT_URL: 'http://minio:9000', ODD: 'a$(HOME)', WORD: 'yes'}}",
        &[
            Stage::Prepare,
            Stage::Train { trials: 9, rung: Some(0) },
            Stage::Train { trials: 3, rung: Some(1) },
            Stage::Train { trials: 1, rung: Some(2) },
            Stage::Evaluate,
        ],
    ),
    (
        "placed",
        "gpus: 1
gpu_resource: nvidia.com/mig-1g.10gb
secret: bucket
priority_class: research
log_format: json
ttl_seconds_after_finished: 3600
trials_per_pod: 5
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: In, values: [a, b]}]}]}}}
topology_spread_constraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway}]
",
        &ALL,
    ),
    ("volume", "{cpu: 4, memory: 16Gi, volume: {claim: runs, path: /data}}", &ALL),
    ("node-cache", "{secret: bucket, trials_per_pod: 4, cache: {host_path: /var/cache/ranksweep}}", &ALL),
    ("executors", "{cpu: 4, memory: 16Gi, secret: bucket, prepare: {cpu: 8, memory: 32Gi, scratch: 500Gi}}", &ALL),
    ("watched", "{secret: bucket, metrics_port: 9464, annotations: {team: search}, cache: {claim: datasets}}", &ALL),
];

/// The sweep of a shape.
pub(crate) fn submission(name: &str) -> Submission {
    let (name, resources, stages) = SHAPES.into_iter().find(|(other, ..)| *other == name).unwrap();
    let resources: Resources = serde_yaml::from_str(resources).unwrap();
    resources.check().unwrap();
    let storage = if resources.volume.is_some() { "/data/runs" } else { "s3://bucket/runs" };
    let text =
        format!("name: {name}\nstorage: {storage}\ndatasets: [{{name: toys, source: {{format: movielens, path: \"${{RATINGS}}\"}}}}]\n");
    Submission {
        name: name.to_owned(),
        namespace: "ranksweep".to_owned(),
        image: "registry.example.com/ranksweep:0.1.0".to_owned(),
        meaning: text.clone(),
        text,
        variables: [("RATINGS".to_owned(), "s3://bucket/ratings.csv".to_owned())].into(),
        storage: storage.to_owned(),
        plan: format!("{storage}/sweeps/{name}/plans/0123456789abcdef.json"),
        stages: stages.to_vec(),
        executors: if name == "executors" { 8 } else { 0 },
        resources,
    }
}

/// All objects of a shape.
pub(crate) fn rendered(name: &str) -> Vec<Object> {
    objects(&submission(name)).unwrap()
}
