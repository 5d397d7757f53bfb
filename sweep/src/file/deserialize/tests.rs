//! Values that are read, and errors of those that cannot be.

use crate::file::node::Node;
use serde::{Deserialize, de::DeserializeOwned};

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Loss {
    Bpr(Bpr),
    Softmax(Softmax),
    SoftmaxAtK(Softmax),
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bpr {}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Softmax {
    temperature: f64,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    dim: u32,
    inner: Option<Loss>,
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    Node::parse(text, "s.yaml").unwrap().read().map_err(|error| error.to_string())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    losses: Vec<Loss>,
    model: Option<Model>,
}

#[test]
fn kinds_and_their_values_are_read() {
    let block: Block = read("losses:\n  - {kind: bpr}\n  - kind: softmax\n    temperature: 1\nmodel: ~\n").unwrap();
    assert_eq!(block.losses, [Loss::Bpr(Bpr {}), Loss::Softmax(Softmax { temperature: 1.0 })]);
    assert_eq!(block.model, None);
    let model: Model = read("{dim: 8, inner: {kind: softmax-at-k, temperature: 1e-1}}").unwrap();
    assert_eq!(model, Model { dim: 8, inner: Some(Loss::SoftmaxAtK(Softmax { temperature: 0.1 })) });
}

#[test]
fn a_wrong_key_inside_a_loss_names_its_line_and_the_nearest() {
    assert_eq!(
        read::<Block>("losses:\n  - {kind: bpr}\n  - kind: softmax\n    tempratur: 0.1\n").unwrap_err(),
        "s.yaml:4:5: losses[1].tempratur: unknown key `tempratur`: did you mean `temperature`? (expected `temperature`)"
    );
    assert_eq!(
        read::<Block>("losses:\n  - {kind: bpr, temperature: 0.1}\n").unwrap_err(),
        "s.yaml:2:17: losses[0].temperature: unknown key `temperature`: no key is expected here"
    );
}

#[test]
fn unknown_and_missing_kinds_are_named() {
    assert_eq!(
        read::<Block>("losses: [{kind: sofmax, temperature: 0.1}]").unwrap_err(),
        "s.yaml:1:17: losses[0].kind: unknown kind `sofmax`: did you mean `softmax`? (expected one of `bpr`, `softmax`, `softmax-at-k`)"
    );
    assert_eq!(
        read::<Block>("losses: [{temperature: 0.1}]").unwrap_err(),
        "s.yaml:1:10: losses[0]: the key `kind` is missing (one of bpr, softmax, softmax-at-k)"
    );
    assert_eq!(
        read::<Block>("losses: [{kind:bpr, temperature: 1}]").unwrap_err(),
        "s.yaml:1:10: losses[0]: the key `kind` is missing (one of bpr, softmax, softmax-at-k); `kind:bpr` lacks a blank behind its colon"
    );
    assert_eq!(read::<Block>("losses: [bpr]").unwrap_err(), "s.yaml:1:10: losses[0]: expected a mapping, found `bpr`: write `{kind: bpr}`");
}

#[test]
fn a_wrong_type_names_the_value_and_what_was_expected() {
    let wrong = |value: &str| read::<Model>(&format!("inner: ~\ndim: {value}\n")).unwrap_err();
    assert_eq!(wrong("wide"), "s.yaml:2:6: dim: expected a whole number from 0 to 4294967295, found `wide`");
    assert_eq!(wrong("64.0"), "s.yaml:2:6: dim: expected a whole number from 0 to 4294967295, found `64.0`");
    assert_eq!(wrong("-1"), "s.yaml:2:6: dim: expected a whole number from 0 to 4294967295, found `-1`");
    assert_eq!(wrong("'64'"), "s.yaml:2:6: dim: expected a whole number from 0 to 4294967295, found the text \"64\"");
    assert_eq!(wrong("{a: 1}"), "s.yaml:2:6: dim: expected a whole number from 0 to 4294967295, found a mapping");
    assert_eq!(read::<Loss>("{kind: softmax, temperature: hot}").unwrap_err(), "s.yaml:1:30: temperature: expected a number, found `hot`");
    assert_eq!(read::<Loss>("{kind: softmax, temperature: }").unwrap_err(), "s.yaml:1:28: temperature: expected a number, found nothing");
    assert_eq!(read::<Loss>("{kind: softmax}").unwrap_err(), "s.yaml:1:1: the key `temperature` is missing");
}

#[test]
fn names_without_content_are_bare_words() {
    let mask: evaluator::settings::Mask = read("train-only").unwrap();
    assert_eq!(mask, evaluator::settings::Mask::TrainOnly);
    assert_eq!(
        read::<evaluator::settings::Mask>("train_only").unwrap_err(),
        "s.yaml:1:1: unknown name `train_only`: did you mean `train-only`? (expected one of `train-and-validation`, `train-only`)"
    );
}
