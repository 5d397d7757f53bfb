//! The sizes from which the memory of a GPU follows whose kernels train a trial.

use super::OPERATIONS;
use crate::{KernelSizes, Trial, fit::step::path::StepKind, has_kernels};
use dataset::Manifest;
use evaluator::Similarity;
use optimizers::Stepper;

/// The sizes of a trial that a GPU has kernels for; `None` of others.
pub fn kernel_sizes(trial: &Trial, manifest: &Manifest) -> Option<KernelSizes> {
    has_kernels(trial).ok()?;
    let (learning, mean) = (trial.learning.as_ref()?, trial.backbone.mean_of_layers()?);
    let kind = StepKind::new(&trial.backbone, learning, [manifest.users, manifest.items, manifest.train]);
    let may_leave = Stepper::new(&learning.optimizer, 0).may_leave();
    let (users, train) = (manifest.users as u64, manifest.train as u64);
    Some(KernelSizes {
        users,
        items: manifest.items as u64,
        train,
        validation: manifest.validation as u64,
        dim: mean.dim.into(),
        layers: mean.layers.into(),
        batch: learning.batch(users, train).0,
        negatives: learning.candidates().unwrap_or_default() as u64,
        is_cosine: learning.loss.similarity() == Similarity::Cosine,
        leaves: [kind.sparse_users, kind.sparse_items].map(|sparse| sparse && may_leave),
        has_quantiles: learning.loss.quantiles().is_some(),
        of_formula: if learning.loss.kernel().is_some() { 0 } else { OPERATIONS },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(backbone: &str, loss: &str, [users, items]: [usize; 2]) -> Option<KernelSizes> {
        let text = format!(
            r#"{{"version": 4, "dataset": "x", "select_by": "ndcg@20", "backbone": {{{backbone}}}, "learning": {{"loss": {{{loss}}}, "sampler": {{"uniform": {{"negatives": 5}}}},
            "optimizer": {{"adam": {{"learning_rate": 0.1}}}}, "seed": 1, "training": {{"epochs": 1, "batch_size": 10, "evaluate_every": 1}}}}}}"#
        );
        let manifest = Manifest {
            schema_version: dataset::SCHEMA_VERSION,
            name: "x".into(),
            fingerprint: "x".into(),
            users,
            items,
            train: 1000,
            fold_in: None,
            validation: 7,
            test: 0,
            one_node_set: false,
            ordered: false,
            steps: Vec::new(),
            settings: serde_json::Value::Null,
            files: Default::default(),
        };
        kernel_sizes(&serde_json::from_str(&text).unwrap(), &manifest)
    }

    /// Ten rows touch ten users and sixty items: 40 and 240 rows of a table are four times as many.
    #[test]
    fn sizes_follow_from_the_trial() {
        let expected = KernelSizes {
            users: 40,
            items: 239,
            train: 1000,
            validation: 7,
            dim: 8,
            layers: 0,
            batch: 10,
            negatives: 5,
            is_cosine: true,
            leaves: [true, false],
            has_quantiles: false,
            of_formula: 0,
        };
        let softmax = r#""softmax": {"temperature": 0.2}"#;
        assert_eq!(sizes(r#""mf": {"dim": 8}"#, softmax, [40, 239]), Some(expected));
        assert_eq!(sizes(r#""mf": {"dim": 8}"#, softmax, [39, 240]).unwrap().leaves, [false, true]);
        let of_graph = sizes(r#""light-gcn": {"dim": 8, "layers": 2}"#, r#""gbce": {"calibration": 0.75}"#, [40, 239]).unwrap();
        assert_eq!((of_graph.layers, of_graph.leaves, of_graph.of_formula), (2, [false, false], OPERATIONS));
        assert_eq!(sizes(r#""gcn": {"dim": 8, "layers": 2}"#, softmax, [40, 239]), None);
    }
}
