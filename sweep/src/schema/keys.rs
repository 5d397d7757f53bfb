//! The keys of a sweep file, each with its schema.

use super::Parts;
use crate::file::{AskedDevice, PreparedBy, Search};
use cluster::Resources;
use evaluator::{Evaluation, MetricAt, settings::Margin};
use models::NewNodes;
use pipeline::Preparation;
use schemars::JsonSchema;
use serde_json::{Map, Value, json};
use trainer::{Backbone, Loss, Optimizer, Sampler, Training};

/// Keys of the grid's kinds in the schema's parts.
const TUNED: &str = "Tuned";

/// All keys, in the order in which files have them.
pub(super) fn all(parts: &mut Parts) -> Vec<(&'static str, Value)> {
    vec![
        ("name", described(text(), "The sweep's name: its folder under `sweeps/`.")),
        ("storage", described(text(), "Where everything is stored, a folder or a URL; `./runs` when left out.")),
        ("datasets", described(list(dataset(parts)), "The datasets: where interactions come from, and how they are filtered and split.")),
        (
            "grid",
            described(list(block(parts)), "Blocks that add up, each of them backbones x losses x samplers x values of the optimizer."),
        ),
        ("training", described(training(parts), "Epochs, batches and stopping.")),
        (
            "seeds",
            described(
                json!({"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1}),
                "The seeds of every trial; `[1]` when left out.",
            ),
        ),
        ("search", described(plain::<Search>(parts), "How tuned values are searched; `{kind: grid}` when left out.")),
        ("evaluation", described(plain::<Evaluation>(parts), "The metrics and the tests.")),
        ("printed", described(printed(parts), "The numbers that a paper prints of the methods: a CSV table.")),
        ("claims", described(list(claim(parts)), "What a paper says of the methods, each to be judged by a test.")),
        ("device", described(plain::<AskedDevice>(parts), "Where trials are trained; `auto` when left out.")),
        ("preparation", described(plain::<PreparedBy>(parts), "What the datasets are prepared by; it changes no byte of them.")),
        ("resources", described(plain::<Resources>(parts), "The resources of the pods of a trial on a cluster.")),
    ]
}

/// A schema with words about it; draft 7 looks at nothing beside a reference.
fn described(schema: Value, words: &str) -> Value {
    match schema.get("$ref") {
        Some(_) => json!({"description": words, "allOf": [schema]}),
        None => {
            let mut schema = schema;
            schema["description"] = words.into();
            schema
        }
    }
}

fn text() -> Value {
    json!({"type": ["string", "number", "boolean"]})
}

fn list(of: Value) -> Value {
    json!({"type": "array", "items": of, "minItems": 1})
}

/// One, or a list of several.
fn one_or_more(of: Value) -> Value {
    json!({"anyOf": [of, list(of.clone())]})
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// The schema of a type whose values stand as they are.
fn plain<T: JsonSchema>(parts: &mut Parts) -> Value {
    let [schema] = parts.of("", false, |generator| [generator.subschema_for::<T>().to_value()]);
    schema
}

/// A dataset; its split may have a list of seeds, for as many splits.
fn dataset(parts: &mut Parts) -> Value {
    let schema = plain::<Preparation>(parts);
    if let Some(Value::Array(kinds)) = parts.definitions.get_mut("Split").and_then(|split| split.get_mut("oneOf")) {
        for seed in kinds.iter_mut().filter_map(|kind| kind["properties"].get_mut("seed")) {
            let one = seed.take();
            let several = json!({"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1, "uniqueItems": true});
            *seed = json!({"description": "The seed; several are as many splits of the dataset.", "anyOf": [one, several]});
        }
    }
    schema
}

fn block(parts: &mut Parts) -> Value {
    let [backbone, loss, sampler, optimizer] = parts.of(TUNED, true, |generator| {
        [
            generator.subschema_for::<Backbone>(),
            generator.subschema_for::<Loss>(),
            generator.subschema_for::<Sampler>(),
            generator.subschema_for::<Optimizer>(),
        ]
        .map(schemars::Schema::to_value)
    });
    let keys = json!({
        "backbones": described(list(backbone), "The models that are compared."),
        "losses": described(list(loss), "The losses that are compared."),
        "samplers": described(list(sampler), "The samplers that are compared: where negatives come from."),
        "optimizer": described(optimizer, "The optimizer and its tuned values."),
        "training": described(object(Value::Object(of_trials(parts)), &[]), "Epochs, batches and stopping of its trials; what is left out is the sweep's."),
    });
    let mut block = object(keys, &["backbones"]);
    block["dependencies"] = json!({
        "losses": ["samplers", "optimizer"],
        "samplers": ["losses", "optimizer"],
        "optimizer": ["losses", "samplers"],
    });
    block
}

/// `training`: what a trial learns with, and what a run does beside it.
fn training(parts: &mut Parts) -> Value {
    let minutes = |words: &str| json!({"description": words, "type": ["number", "null"], "exclusiveMinimum": 0});
    let select_by =
        described(plain::<MetricAt>(parts), "The validation metric that picks values and checkpoints; `ndcg@20` when left out.");
    let ridge = "What the penalty of a new user's vector weighs, where a split holds users out; 10 when left out.";
    let fold_in = described(plain::<NewNodes>(parts), "How users whom a split holds out come to a train graph; `attach` when left out.");
    let more = [
        ("select_by", select_by),
        ("fold_in", fold_in),
        ("ridge", json!({"description": ridge, "type": "number", "exclusiveMinimum": 0})),
        (
            "checkpoint_minutes",
            minutes("The state is written when so many minutes have passed since it was last written; 10 when left out."),
        ),
        ("time_limit_minutes", minutes("The longest training of one trial.")),
    ];
    let more = more.map(|(key, schema)| (key.to_owned(), schema));
    object(Value::Object(of_trials(parts).into_iter().chain(more).collect()), &[])
}

/// What a trial learns with, each key of which may be left out.
fn of_trials(parts: &mut Parts) -> Map<String, Value> {
    let [mut schema] = parts.of("", false, |generator| [generator.root_schema_for::<Training>().to_value()]);
    match schema["properties"].take() {
        Value::Object(keys) => keys,
        _ => Map::new(),
    }
}

fn printed(parts: &mut Parts) -> Value {
    let margin =
        described(plain::<Margin>(parts), "A number is reproduced where the difference is within it; 5% of the number when left out.");
    let keys = json!({
        "values": described(text(), "The path of the table, from the sweep file's folder."),
        "margin": margin,
        "runs": {"description": "Trainings that each number is the mean of; 1 when left out.", "type": "integer", "minimum": 1},
        "same_split": {
            "description": "Whether the numbers are of the very test users and test items that the sweep has; when left out, of datasets whose split is `given`.",
            "type": ["boolean", "null"]
        },
    });
    json!({"anyOf": [text(), object(keys, &["values"])]})
}

fn claim(parts: &mut Parts) -> Value {
    let trend = json!({"type": "array", "items": text(), "minItems": 3});
    let keys = json!({
        "better": described(text(), "The method that ranks better."),
        "worse": described(one_or_more(text()), "The method that ranks worse, or several."),
        "increasing": described(trend.clone(), "Methods, each better than the one before it, by and large."),
        "decreasing": described(trend, "Methods, each worse than the one before it, by and large."),
        "equal": described(
            json!({"type": "array", "items": text(), "minItems": 2}),
            "Methods that rank alike: the difference of each to the first is within `margin` of the significance tests.",
        ),
        "faster": described(text(), "The method that comes to the same validation value in fewer epochs."),
        "slower": described(one_or_more(text()), "The method that needs more epochs, or several."),
        "metric": described(one_or_more(plain::<MetricAt>(parts)), "The metrics that it is about; that of the verdicts when left out, and of `faster` that of `select_by`."),
        "dataset": described(json!({"type": ["string", "number", "boolean", "null"]}), "The dataset that it is about; each of them when left out."),
        "place": described(text(), "The place in the paper that claims it."),
    });
    let mut claim = object(keys, &[]);
    claim["oneOf"] = json!([
        {"required": ["better", "worse"]},
        {"required": ["increasing"]},
        {"required": ["decreasing"]},
        {"required": ["equal"]},
        {"required": ["faster", "slower"]},
    ]);
    claim
}
