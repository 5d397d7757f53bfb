//! The losses that are checked on a device. `tests/kinds.rs` reads this file too, and fails where a loss that has a kernel is not among them.

/// Each kernel, and each of its ways: every number that it is given with several values, and every flag with both. What a comparison is called, and a loss.
pub(super) const LOSSES: [(&str, &str); 16] = [
    ("bce", r#"{"bce": {}}"#),
    ("bpr", r#"{"bpr": {}}"#),
    ("cce", r#"{"cce": {}}"#),
    ("softmax", r#"{"softmax": {"temperature": 0.2}}"#),
    ("softmax with its positive", r#"{"softmax": {"temperature": 0.1, "include_positive": true}}"#),
    ("softmax at k", r#"{"softmax-at-k": {"cutoff": 5, "temperature": 0.2, "weight_temperature": 1.5, "quantile_every": 1}}"#),
    (
        "softmax at k with its positive",
        r#"{"softmax-at-k": {"cutoff": 5, "temperature": 0.5, "weight_temperature": 0.8, "quantile_every": 1, "include_positive": true}}"#,
    ),
    (
        "softmax at k with constant weights",
        r#"{"softmax-at-k": {"cutoff": 5, "temperature": 0.2, "weight_temperature": 1.5, "quantile_every": 1, "detach_weight": true}}"#,
    ),
    ("bsl", r#"{"bsl": {"positive_temperature": 0.3, "negative_temperature": 0.2, "form": "pairs"}}"#),
    ("psl", r#"{"psl": {"temperature": 0.1}}"#),
    ("psl with another temperature of scores", r#"{"psl": {"temperature": 0.2, "score_temperature": 0.8}}"#),
    ("ccl", r#"{"ccl": {"margin": 0.1, "negative_weight": 3}}"#),
    ("ccl with a wide margin", r#"{"ccl": {"margin": 0.4, "negative_weight": 10}}"#),
    ("mse", r#"{"mse": {}}"#),
    ("mse with a weight", r#"{"mse": {"positive_weight": 5}}"#),
    ("gbce, by its formula", r#"{"gbce": {"calibration": 0.75}}"#),
];
