//! `docs/kinds.md`: every loss, sampler, model and optimizer, made of the enums, the settings, the heads of the files and the facts beside them.

mod gpu;
mod head;
mod pairs;
mod settings;

use super::{BACKBONES, LOSSES, OPTIMIZERS, SAMPLERS};
use head::Head;
use losses::{Per, Update};
use pairs::Case;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use settings::{LeftOut, expected, keys};
use std::fmt::Write;
use std::path::Path;
use trainer::{Backbone, Loss, Optimizer, Sampler};

const INTRODUCTION: &str = "\
# Losses, samplers, models and optimizers

Every `kind` of `losses`, `samplers`, `backbones` and `optimizer` in a sweep file. This page is made from the code, and a test holds it against the code:
`RANKSWEEP_RENEW=1 cargo test --workspace --locked --test kinds page` writes it anew.

In equations `s_ui` is the score of the positive i of user u, `s_uj` that of a negative j, of N. Costs are those of a row beside its
scores; n is the number of items, m of users, d the length of vectors, P the positives of a list, P_u the user's train items. State is
checkpointed, and a training that is resumed has the same bits. Values are those that papers print: of paper SL@K (Yang et al., KDD 2025)
those of matrix factorisation on Health / Electronic / Gowalla / Book; of paper RG (\"NDCG-Consistent Softmax
Approximation with Accelerated Convergence\") the numbers of negatives. A dash stands for what is not printed.

A GPU trains a trial by `kernels` where model, sampler, loss and optimizer (each without `batch_l2`) all have them, with the loss's formula among them where it is no kernel itself, and by `candle`'s
operations where one of these has none; `not` says why it stays on the CPU ([gpu.md](gpu.md)).

The first tables are of each kind with its defaults, or the example of a test where it has none: other settings may have another row, state or path on a GPU, as the kind's own section says.

[learning-rates.md](learning-rates.md) has three learning rates of Adam for each loss on a small dataset, and what validation made of them: where to begin.
";

const SAMPLER_WORDS: &str = "\
A sampler draws candidates from a **pool**, and a **rule** that looks at their scores keeps some of them or weighs them all; the kinds `all`,
`uniform`, `popularity`, `in-batch`, `ppr`, `aobpr`, `kernel` and `irgan` are pools alone, whose draws are the negatives. Where `pool` is a key it takes
such a kind with its keys but `negatives`, or `ada-sir`: `{kind: softmax-v, candidates: 200, divergence: 1, pool: {kind: ppr}}`. Over `in-batch` the
key `candidates` may be left out and stands for all other rows of the batch; over `all` it has to be, as all items are candidates.
";

const MODEL_WORDS: &str = "\
A user is unknown who has no train interaction: with `split: {kind: temporal}` one who first appears after the moment of the split. `evaluation.users`
is `known` unless it says `all`, and leaves such users out of the test ranking; validation during training always does. `recommend` makes
lists for them, by the scores that the table tells of, and says how many they are. A new user, of whom no training knew, is folded in from a history
(`recommend --histories`, and `split: {kind: users}`: [protocols.md](protocols.md)): exactly; attached to the train graph, whose equation
stands in `trainer/models/src/new_users/forward.rs`; or by a ridge regression on the history's items, whose penalty `ridge` weighs.
";

const OPTIMIZER_WORDS: &str = "\
A loss is the mean over the rows of a batch, as in PyTorch. So `sgd` has rates above those of programs that move by one pair at a time, as many times as a batch has rows:
BPR on `mf` with `dim: 32` and batches of 256 on MovieLens-100K has learned nothing after 30 epochs at a rate of 0.1, comes to an NDCG@20 of 0.33 at 10, and diverges at 100
(`adagrad` at 0.01 to 0.32, `adam` at 0.001 to 0.36); with momentum, 1 - `momentum` times as much. `weight_decay` falls on all parameters, of `lazy-adam` on rows with a gradient.
`batch_l2` is LightGCN's and MixGCF's: it adds to the loss

```text
batch_l2 / (2 B) (sum_u |e_u|^2 + sum_i |e_i|^2 + sum_j |e_j|^2)
```

over the users, positives and drawn negatives of the batch's B rows, a vector as often as it stands there; e are the rows of the tables, before any propagation.
Steps are made in `f32`, with the same bits for any number of threads, and a GPU has kernels for each optimizer.
";

const PAIR_WORDS: &str = "\
✗ is refused, (✗) with some settings. The pools `all` and `in-batch` are refused wherever the samplers of these names are. Losses stand here with their default `similarity`;
with another than `dot` all of them are refused beside `mix-gcf`.
";

const WITH_MODELS_WORDS: &str = "\
These tables are of `mf`. Any other model that learns by a loss can have the same pairs, but for these, and but for what follows from them: a sampler over a pool that the model cannot have as a
sampler, and beside `neu-mf` and `ncf` any loss whose `similarity` is not `dot`.
";

/// A kind and the settings of an example of it.
struct Example<T> {
    kind: String,
    settings: Value,
    read: T,
}

fn examples<T: DeserializeOwned>(examples: &[(&str, &str)]) -> Vec<Example<T>> {
    let example = |text: &str| {
        let whole: Value = serde_json::from_str(&format!("{{{text}}}")).unwrap();
        let (kind, settings) = whole.as_object().unwrap().iter().next().unwrap();
        Example { kind: kind.clone(), settings: settings.clone(), read: serde_json::from_value(whole.clone()).unwrap() }
    };
    examples.iter().map(|(text, _)| example(text)).collect()
}

/// An example of each kind, in the order of the enum.
fn one_of_each<T: DeserializeOwned>(of: &[(&str, &str)]) -> Vec<Example<T>> {
    let error = serde_json::from_str::<T>(r#"{"?": {}}"#).err().unwrap().to_string();
    let first = |kind: String| examples(of).into_iter().find(|example| example.kind == kind).unwrap();
    expected(&error).into_iter().map(first).collect()
}

fn cases<T: DeserializeOwned + Serialize>(of: &[(&str, &str)]) -> Vec<Case> {
    let mut cases: Vec<Case> = examples::<T>(of).iter().map(|example| Case::new(&serde_json::to_value(&example.read).unwrap())).collect();
    let order: Vec<String> = one_of_each::<T>(of).into_iter().map(|example| example.kind).collect();
    cases.sort_by_key(|case| order.iter().position(|kind| *kind == case.kind));
    cases
}

fn loss_table(losses: &[Example<Loss>]) -> String {
    let mut page = "| kind | paper | score | a row | state | cost | on a GPU |\n|---|---|---|---|---|---|---|\n".to_owned();
    for Example { kind, read: loss, .. } in losses {
        let score = serde_json::to_value(loss.similarity()).unwrap();
        let row = loss.list().map_or("a pair", |_| "a user's list");
        let facts = loss.facts();
        writeln!(
            page,
            "| [`{kind}`](#loss-{kind}) | {} | {} | {row} | {} | {} | {} |",
            facts.paper,
            score.as_str().unwrap(),
            state(loss),
            facts.cost,
            gpu::of_loss(loss)
        )
        .unwrap();
    }
    page
}

/// What a loss keeps, as the training loop is told.
fn state(loss: &Loss) -> String {
    let mut state: Vec<String> = Vec::new();
    if loss.quantiles().is_some() {
        state.push("a quantile of each user, set every `quantile_every` epochs".into());
    }
    let columns = loss.columns();
    let sizes = columns.iter().map(|column| if let Per::Whole(size) = column.per { size } else { 0 });
    let are_learned = columns.iter().all(|column| matches!(column.update, Update::Learned(_)));
    if are_learned && columns.len() > 3 {
        state.push(format!("{} learned numbers", sizes.sum::<usize>()));
    } else {
        state.extend(columns.iter().map(|column| {
            let of = match column.per {
                Per::Users => " of each user",
                Per::Items => " of each item",
                Per::Whole(_) => "",
            };
            let motion = match column.update {
                Update::Learned(_) => "learned",
                Update::Remembered => "moved after each step",
                Update::Summed => "summed over an epoch",
                Update::Set => "set after each epoch",
            };
            format!("{}{of}, {motion}", column.name.replace('_', " "))
        }));
    }
    if loss.adversary().is_some() {
        state.push("an adversary's tables, (m + n) `adversary_dim`, learned".into());
    }
    if loss.needs_ranks() {
        state.push("none; exact ranks are those of the moment".into());
    }
    if state.is_empty() { "none".into() } else { state.join("; ") }
}

fn sampler_table(samplers: &[Example<Sampler>]) -> String {
    let mut page = "| kind | paper | the loss sees | state | cost | on a GPU |\n|---|---|---|---|---|---|\n".to_owned();
    for Example { kind, read: sampler, .. } in samplers {
        let facts = sampler.facts();
        let sees = match sampler.rule(0).map(|rule| rule.subset()) {
            None if sampler.candidates(64).is_none() => "every other item",
            None if sampler.candidates(64) != sampler.negatives(64) => "`negatives`, mixed of `candidates` each",
            None => "what is drawn",
            Some(Some(1)) => "one candidate",
            Some(Some(_)) => "`negatives` candidates",
            Some(None) => "all candidates, weighed",
        };
        let on_gpu = gpu::of_sampler(sampler);
        writeln!(page, "| [`{kind}`](#sampler-{kind}) | {} | {sees} | {} | {} | {on_gpu} |", facts.paper, facts.state, facts.cost).unwrap();
    }
    page
}

fn model_table(models: &[Example<Backbone>]) -> String {
    let mut page =
        "| kind | paper | fits by | cost of a step, or of the fit | an unknown user is scored | a new user is folded in | on a GPU |\n|---|---|---|---|---|---|---|\n".to_owned();
    for Example { kind, read: model, .. } in models {
        let fits_by = match (model.fits_without_sampling(), model.has_epochs()) {
            _ if model.is_pretrained() => "another program; its files are read",
            (true, true) => "an objective of its own, in epochs",
            (true, false) => "no sampling, at once",
            _ => "a loss and a sampler",
        };
        let (facts, folded) = (model.facts(), model.how_to_fold_in().words());
        writeln!(
            page,
            "| [`{kind}`](#backbone-{kind}) | {} | {fits_by} | {} | {} | {folded} | {} |",
            facts.paper,
            facts.cost,
            facts.unknown_user,
            gpu::of_model(model)
        )
        .unwrap();
    }
    page
}

fn optimizer_table(optimizers: &[Example<Optimizer>]) -> String {
    let mut page = "| kind | paper | rows without a gradient | cost of a step |\n|---|---|---|---|\n".to_owned();
    for Example { kind, read: optimizer, .. } in optimizers {
        let facts = optimizer.facts();
        writeln!(page, "| [`{kind}`](#optimizer-{kind}) | {} | {} | {} |", facts.paper, facts.idle_rows, facts.cost).unwrap();
    }
    page
}

/// What one kind is, computes and takes.
fn section<T: DeserializeOwned + Serialize>(
    part: &str,
    example: &Example<T>,
    values: Option<&str>,
    is_possible: impl Fn(&T) -> bool,
) -> String {
    let Example { kind, settings, .. } = example;
    let head = Head::find(part, kind);
    let mut page = format!("\n### {part} `{kind}`\n\n[{}](../{})\n", head.title.trim_end_matches('.'), head.path);
    if let Some(equation) = head.equation {
        write!(page, "\n```text\n{equation}\n```\n").unwrap();
    }
    let keys = keys::<T>(kind, settings, is_possible);
    if !keys.is_empty() {
        page += "\n| key | default | |\n|---|---|---|\n";
    }
    for key in keys {
        let default = match key.left_out {
            LeftOut::Required => "required".to_owned(),
            LeftOut::None => "none".to_owned(),
            LeftOut::Value(value) => format!("`{value}`"),
        };
        let choices = if key.choices.is_empty() { String::new() } else { format!(" {}.", key.choices.join(", ")) };
        writeln!(page, "| `{}` | {default} | {}{choices} |", key.name, head.fields[&key.name].replace('|', "\\|")).unwrap();
    }
    if let Some(values) = values {
        write!(page, "\nPapers' values: {values}.\n").unwrap();
    }
    page
}

fn page() -> String {
    let (losses, samplers, models) = (one_of_each::<Loss>(LOSSES), one_of_each::<Sampler>(SAMPLERS), one_of_each::<Backbone>(BACKBONES));
    let of_losses: String =
        losses.iter().map(|loss| section("loss", loss, Some(loss.read.facts().values), |loss: &Loss| loss.check().is_ok())).collect();
    let of_samplers: String = samplers
        .iter()
        .map(|sampler| section("sampler", sampler, Some(sampler.read.facts().values), |sampler: &Sampler| sampler.check().is_ok()))
        .collect();
    let of_models: String = models
        .iter()
        .map(|model| section("backbone", model, Some(model.read.facts().values), |model: &Backbone| model.check().is_ok()))
        .collect();
    let optimizers = one_of_each::<Optimizer>(OPTIMIZERS);
    let of_optimizers: String = optimizers
        .iter()
        .map(|optimizer| section("optimizer", optimizer, None, |optimizer: &Optimizer| optimizer.check().is_ok()))
        .collect();
    let (of_pairs, of_pools) = (with_dot_products(cases::<Loss>(LOSSES)), plain_pools());
    let pairs = pairs::page(&of_pairs, &of_pools);
    let with_models = pairs::of_models(&models_of_losses(), &of_pairs, &of_pools);
    format!(
        "{INTRODUCTION}\n## Losses\n\n{}\n## Samplers\n\n{SAMPLER_WORDS}\n{}\n## Models\n\n{MODEL_WORDS}\n{}\n## Optimizers\n\n{OPTIMIZER_WORDS}\n{}\n## Impossible pairs\n\n{PAIR_WORDS}\n{pairs}\n{WITH_MODELS_WORDS}\n{with_models}\n## Each loss\n{of_losses}\n\
         ## Each sampler\n{of_samplers}\n## Each model\n{of_models}\n## Each optimizer\n{of_optimizers}",
        loss_table(&losses),
        sampler_table(&samplers),
        model_table(&models),
        optimizer_table(&optimizers)
    )
}

/// The losses, and those of other scores once more with dot products, where they can have them.
fn with_dot_products(losses: Vec<Case>) -> Vec<Case> {
    let possible = |case: &Case| serde_json::from_value::<Loss>(case.whole()).unwrap().check().is_ok();
    losses.into_iter().flat_map(|case| std::iter::once(case.clone()).chain(case.with_dot_products().filter(possible))).collect()
}

/// The models that learn by a loss, but for `mf`.
fn models_of_losses() -> Vec<Case> {
    let learns = |case: &Case| !serde_json::from_value::<Backbone>(case.whole()).unwrap().fits_without_sampling();
    cases::<Backbone>(BACKBONES).into_iter().filter(|case| case.kind != "mf" && learns(case)).collect()
}

/// The samplers without the examples whose pool is refused by itself.
fn plain_pools() -> Vec<Case> {
    cases::<Sampler>(SAMPLERS).into_iter().filter(|case| !case.has_pool("all") && !case.has_pool("in-batch")).collect()
}

#[test]
fn the_page_of_kinds_is_that_of_the_code() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/kinds.md");
    let page = page();
    if std::env::var_os("RANKSWEEP_RENEW").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    let remedy =
        "docs/kinds.md is not what the code says: write it anew by `RANKSWEEP_RENEW=1 cargo test --workspace --locked --test kinds page`";
    assert!(std::fs::read_to_string(&file).unwrap_or_default() == page, "{remedy}");
}

#[test]
fn the_readme_names_every_kind_on_the_page() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md")).unwrap();
    let kinds = one_of_each::<Loss>(LOSSES).into_iter().map(|loss| loss.kind);
    let kinds = kinds.chain(one_of_each::<Sampler>(SAMPLERS).into_iter().map(|sampler| sampler.kind));
    let kinds = kinds.chain(one_of_each::<Optimizer>(OPTIMIZERS).into_iter().map(|optimizer| optimizer.kind));
    for kind in kinds.chain(one_of_each::<Backbone>(BACKBONES).into_iter().map(|model| model.kind)) {
        assert!(readme.contains(&format!("`{kind}`")), "README.md does not name `{kind}`");
    }
}

#[test]
fn pools_on_the_page_are_refused_like_samplers() {
    pairs::assert_pools_are_refused_like_samplers(&cases::<Loss>(LOSSES), &cases::<Sampler>(SAMPLERS));
}
