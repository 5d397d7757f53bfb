//! Which trials can be trained on a GPU, and which of them by kernels.

use crate::{Learning, Trial};
use dataset::quote::kind;
use losses::{Loss, QuantileEstimator};

/// Whether a trial can be trained on a GPU: what learns by a loss can, by kernels or by candle's operations.
///
/// # Errors
/// A sentence that says why it is trained on the CPU.
pub fn fits_gpu(trial: &Trial) -> Result<(), String> {
    let backbone = kind(&trial.backbone);
    match (&trial.learning, trial.backbone.has_epochs()) {
        (Some(_), _) => Ok(()),
        (None, _) if trial.backbone.is_pretrained() => Err(format!("the backbone `{backbone}` is read from files, not trained")),
        (None, true) => Err(format!("the backbone `{backbone}` learns towards an objective of its own, whose code is the CPU's")),
        (None, false) => Err(format!("the backbone `{backbone}` fits at once, on the CPU")),
    }
}

/// Whether a GPU has kernels for every step of a trial.
///
/// # Errors
/// A sentence that says what of it has none: candle's operations train it there.
pub fn has_kernels(trial: &Trial) -> Result<(), String> {
    fits_gpu(trial)?;
    let Some(learning) = &trial.learning else { return Ok(()) };
    if trial.backbone.mean_of_layers().is_none() {
        return Err(format!("the vectors of the backbone `{}` have no kernel", kind(&trial.backbone)));
    }
    if learning.optimizer.batch_l2().is_some() {
        return Err("the `batch_l2` of the optimizer has no kernel".to_owned());
    }
    sampler(learning)?;
    loss(&learning.loss).map_err(|reason| format!("the loss `{}` {reason}, for which there is no kernel", kind(&learning.loss)))
}

fn sampler(learning: &Learning) -> Result<(), String> {
    match learning.sampler.lacks_kernel() {
        Some(reason) => Err(format!("the sampler `{}` {reason}, for which there is no kernel", kind(&learning.sampler))),
        None => Ok(()),
    }
}

fn loss(loss: &Loss) -> Result<(), &'static str> {
    match loss.lacks_kernel() {
        Some(reason) => Err(reason),
        _ if loss.list().is_some() => Err("has several positives in a row"),
        _ if !loss.looks_at_scores_alone() => Err("looks at more than the scores of its rows"),
        _ if loss.needs_log_probabilities() => Err("looks at the probabilities of the draws"),
        _ if loss.estimated_rank_margin().is_some() => Err("looks at estimated ranks"),
        _ if loss.max_norm().is_some() => Err("bounds the vectors' norms"),
        _ if loss.quantiles().is_some_and(|schedule| schedule.estimator != QuantileEstimator::default()) => {
            Err("estimates quantiles by another rule than `sample`")
        }
        _ if loss.compares_rows_alone() => Err("compares the rows of a batch"),
        _ if loss.ranking() != loss.similarity() => Err("ranks by another similarity than it trains by"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(backbone: &str, loss: &str, sampler: &str) -> Trial {
        let text = format!(
            r#"{{"version": 4, "dataset": "x", "select_by": "ndcg@20", "backbone": {backbone}, "learning": {{"loss": {loss}, "sampler": {sampler},
            "optimizer": {{"adam": {{"learning_rate": 0.1}}}}, "seed": 1, "training": {{"epochs": 1, "batch_size": 8, "evaluate_every": 1}}}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn what_has_no_kernel_is_named() {
        let (mf, bpr, uniform) = (r#"{"mf": {"dim": 8}}"#, r#"{"bpr": {}}"#, r#"{"uniform": {"negatives": 5}}"#);
        let gcn = r#"{"light-gcn": {"dim": 8, "layers": 2}}"#;
        let softmax_at_k = r#"{"softmax-at-k": {"cutoff": 5, "temperature": 0.2, "weight_temperature": 1, "quantile_every": 1}}"#;
        assert_eq!(has_kernels(&trial(mf, bpr, uniform)), Ok(()));
        assert_eq!(has_kernels(&trial(gcn, softmax_at_k, r#"{"popularity": {"negatives": 5}}"#)), Ok(()));
        assert_eq!(has_kernels(&trial(mf, r#"{"bce": {}}"#, uniform)), Ok(()));
        let reason = |loss: &str, sampler: &str| has_kernels(&trial(mf, loss, sampler)).unwrap_err();
        assert_eq!(
            reason(bpr, r#"{"dns": {"candidates": 5}}"#),
            "the sampler `dns` chooses among its candidates by their scores, for which there is no kernel"
        );
        let text = serde_json::to_string(&trial(mf, bpr, uniform)).unwrap();
        let with_l2 = text.replace(r#""learning_rate":0.1"#, r#""learning_rate":0.1,"batch_l2":0.001"#);
        assert!(has_kernels(&serde_json::from_str(&with_l2).unwrap()).unwrap_err().starts_with("the `batch_l2` of the optimizer"));
        assert!(reason(bpr, r#"{"all": {}}"#).starts_with("the sampler `all` takes every item"));
        assert!(reason(r#"{"sparsemax": {}}"#, uniform).starts_with("the loss `sparsemax` sorts its scores"));
        let regression = r#""quantile_estimator": {"regression": {"learning_rate": 0.1}}}}"#;
        let softmax_at_k = softmax_at_k.replace("}}", &format!(", {regression}"));
        assert!(reason(&softmax_at_k, uniform).starts_with("the loss `softmax-at-k` estimates quantiles by another rule than `sample`"));
        assert!(
            reason(r#"{"llpauc": {"true_positive_rate": 0.5, "false_positive_rate": 0.5}}"#, uniform)
                .contains("looks at more than the scores")
        );
    }

    #[test]
    fn what_learns_by_a_loss_trains_on_a_gpu() {
        let ngcf = trial(r#"{"ngcf": {"dim": 8, "layers": 1}}"#, r#"{"smooth-ndcg": {"temperature": 1}}"#, r#"{"all": {}}"#);
        assert_eq!(fits_gpu(&ngcf), Ok(()));
        assert_eq!(has_kernels(&ngcf), Err("the vectors of the backbone `ngcf` have no kernel".to_owned()));
        let without = |backbone: &str| {
            let text = format!(r#"{{"version": 4, "dataset": "x", "select_by": "ndcg@20", "backbone": {backbone}, "learning": null}}"#);
            fits_gpu(&serde_json::from_str(&text).unwrap()).unwrap_err()
        };
        assert_eq!(without(r#"{"popularity": {}}"#), "the backbone `popularity` fits at once, on the CPU");
        assert!(without(r#"{"ials": {"dim": 4, "regularization": 1}}"#).ends_with("an objective of its own, whose code is the CPU's"));
        assert!(without(r#"{"run": {"name": "bm25", "path": "l.csv"}}"#).ends_with("is read from files, not trained"));
    }
}
