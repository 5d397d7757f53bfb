//! A method of a dataset: its trials, and what it is called.

use crate::tables::TrialRow;

/// One row of the leaderboard, and the trials behind it.
#[derive(Clone, Debug)]
pub(super) struct Method<'a> {
    /// The key: the same in every table.
    pub(super) key: &'a str,
    /// As short as it can be without being taken for another method of the dataset: `softmax-at-k(20) on mf-64`.
    pub(super) title: String,
    /// Its trials, in the order of the plan. Never empty.
    pub(super) trials: Vec<&'a TrialRow>,
}

/// The methods of a dataset, in the order of the plan.
pub(super) fn methods<'a>(trials: &'a [TrialRow], dataset: &str) -> Vec<Method<'a>> {
    let mut methods: Vec<Method<'a>> = Vec::new();
    for trial in trials.iter().filter(|trial| trial.dataset == dataset) {
        match methods.iter_mut().find(|method| method.key == trial.method) {
            Some(method) => method.trials.push(trial),
            None => methods.push(Method { key: &trial.method, title: String::new(), trials: vec![trial] }),
        }
    }
    let firsts: Vec<&TrialRow> = methods.iter().map(|method| method.trials[0]).collect();
    for (method, first) in methods.iter_mut().zip(&firsts) {
        method.title = title(first, &firsts);
    }
    methods
}

/// Says values in brackets, the sampler, what else is in the key, and then the whole key, only where another method would read the same.
fn title(method: &TrialRow, all: &[&TrialRow]) -> String {
    let levels: [fn(&TrialRow) -> String; 4] = [bare, short, with_sampler, with_the_rest];
    let alone = |level: &&fn(&TrialRow) -> String| all.iter().filter(|other| level(other) == level(method)).count() == 1;
    levels.iter().find(alone).map_or_else(|| method.method.clone(), |level| level(method))
}

fn bare(method: &TrialRow) -> String {
    short(&TrialRow { loss: method.loss.as_deref().map(without_values), backbone: without_values(&method.backbone), ..method.clone() })
}

/// A part's name without the values that tell it from others of the sweep: `softmax-at-k(20)` of `softmax-at-k(20, quantile_every=5)`.
fn without_values(part: &str) -> String {
    let Some((head, inside)) = part.strip_suffix(')').and_then(|part| part.split_once('(')) else {
        return part.to_owned();
    };
    let first: Vec<&str> = inside.split(", ").take_while(|value| !value.contains('=')).collect();
    if first.is_empty() { head.to_owned() } else { format!("{head}({})", first.join(", ")) }
}

fn short(method: &TrialRow) -> String {
    match &method.loss {
        Some(loss) => format!("{loss} on {}", method.backbone),
        None => method.backbone.clone(),
    }
}

fn with_sampler(method: &TrialRow) -> String {
    match &method.sampler {
        Some(sampler) => format!("{} with {sampler}", short(method)),
        None => short(method),
    }
}

fn with_the_rest(method: &TrialRow) -> String {
    let rest: Vec<&str> = method.method.split(" / ").skip(3).collect();
    format!("{}, {}", with_sampler(method), rest.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    fn method(key: &str, sampler: &str) -> TrialRow {
        TrialRow { method: key.into(), sampler: Some(sampler.into()), ..example::trial("d", "mf-64", Some("bpr")) }
    }

    fn titles(trials: &[TrialRow]) -> Vec<String> {
        methods(trials, "d").into_iter().map(|method| method.title).collect()
    }

    #[test]
    fn the_sampler_is_said_only_where_it_is_needed() {
        let trials = [method("u", "uniform-1"), method("p", "popularity-1"), example::trial("d", "ease", None)];
        assert_eq!(titles(&trials), ["bpr on mf-64 with uniform-1", "bpr on mf-64 with popularity-1", "ease"]);
    }

    #[test]
    fn values_are_said_only_where_they_are_needed() {
        let method = |key: &str, backbone: &str, loss: &str| TrialRow { method: key.into(), ..example::trial("d", backbone, Some(loss)) };
        let trials = [
            method("1", "mf-64(init=xavier-normal)", "bpr"),
            method("2", "mf-64(init=normal)", "softmax-at-k(20, quantile_every=5)"),
            method("3", "mf-64(init=normal)", "softmax(temperature=0.1)"),
            method("4", "mf-64(init=normal)", "softmax(temperature=0.2)"),
        ];
        let expected = ["bpr on mf-64", "softmax-at-k(20) on mf-64", "softmax(temperature=0.1) on mf-64(init=normal)"];
        assert_eq!(titles(&trials)[..3], expected);
    }

    #[test]
    fn what_else_differs_comes_from_the_key() {
        let trials = [method("mf-64 / bpr / uniform-1 / adam", "uniform-1"), method("mf-64 / bpr / uniform-1 / lazy-adam", "uniform-1")];
        assert_eq!(titles(&trials), ["bpr on mf-64 with uniform-1, adam", "bpr on mf-64 with uniform-1, lazy-adam"]);
        assert_eq!(titles(&[method("one", "uniform-1"), method("two", "uniform-1")]), ["one", "two"]);
    }

    #[test]
    fn another_dataset_is_no_other_method() {
        let elsewhere = TrialRow { dataset: "e".into(), ..method("p", "popularity-1") };
        assert_eq!(titles(&[method("u", "uniform-1"), method("u", "uniform-1"), elsewhere]), ["bpr on mf-64"]);
    }
}
