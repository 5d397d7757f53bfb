//! Two sweeps side by side, for whoever reads standard output.

use super::{Change, DatasetDifference, Difference};
use crate::{
    number,
    plan::Plan,
    report::{Style, words},
    text_table::TextTable,
};

/// Values that are longer are cut.
const LONGEST: usize = 60;

impl Difference<'_> {
    /// The sweeps, what differs in their settings, and what they have in common.
    pub(super) fn terminal(&self, style: Style) -> String {
        let mut lines = Vec::new();
        for (name, side) in ["A", "B"].iter().zip(self.sides) {
            let Plan { methods, .. } = &side.plan;
            let counts = format!("{}, {}", number::counted(methods.len(), "method"), number::counted(side.trials.len(), "trial"));
            lines.push(style.bold(&format!("{name}  {}: {}, plan {}, {counts}", side.folder, side.plan.name, side.plan.hash())));
        }
        lines.push(String::new());
        lines.extend(self.settings_lines(style));
        match self.nothing_to_compare() {
            Some(reason) => lines.push(style.wrap(&format!("Nothing to compare: {reason}."))),
            None => {
                for dataset in &self.datasets {
                    lines.extend([String::new(), self.dataset(dataset, style)]);
                }
                lines.push(style.wrap(&self.how()));
            }
        }
        lines.join("\n")
    }

    fn settings_lines(&self, style: Style) -> Vec<String> {
        let settings = &self.settings;
        let mut lines = Vec::new();
        for (what, alone) in [("datasets", &settings.datasets_alone), ("methods", &settings.methods_alone)] {
            for (side, names) in ["A", "B"].iter().zip(alone).filter(|(_, names)| !names.is_empty()) {
                lines.push(style.wrap(&format!("{what} of {side} alone: {}", names.join(", "))));
            }
        }
        if settings.changes.is_empty() {
            lines.push("Settings: what both have has the same.".to_owned());
            return lines;
        }
        let mut table = TextTable::of_words(&["of", "setting", "A", "B"]);
        for Change { of, name, values } in &settings.changes {
            let [first, second] = values.clone().map(|value| value.map_or_else(|| "-".to_owned(), |value| cut(&value)));
            table.add([of.clone(), name.clone(), first, second]);
        }
        lines.push(table.to_string());
        lines
    }

    fn dataset(&self, dataset: &DatasetDifference, style: Style) -> String {
        let heading = style.bold(&self.heading(dataset));
        if dataset.methods.is_empty() {
            return heading;
        }
        let mut table = TextTable::new(&["method", "A", "B", "difference", "p", "B is"]);
        for row in &dataset.methods {
            let [first, second] = row.means.map(number::value);
            let (difference, p, verdict) = match &row.tested {
                None => ("-".to_owned(), "-".to_owned(), "the same trials"),
                Some(tested) => (number::difference(tested.difference), number::p_value(tested.judged.p_adjusted), row.verdict()),
            };
            table.add([row.title.clone(), first, second, difference, p, verdict.to_owned()]);
        }
        format!("{heading}\n{table}")
    }

    /// Why there is no table of methods; none where there is one.
    pub(super) fn nothing_to_compare(&self) -> Option<String> {
        match self.incomparable {
            Some(key) => Some(format!(
                "`evaluation.{key}` differs, so that the values do not compare; give both the same and run `ranksweep evaluate`"
            )),
            None => self.datasets.is_empty().then(|| "no dataset has results in both".to_owned()),
        }
    }

    /// A dataset, the metric, and the users whose values are compared.
    pub(super) fn heading(&self, dataset: &DatasetDifference) -> String {
        if dataset.splits == 0 {
            return format!("{} by {}: the two have no split in common, so that the values do not compare", dataset.name, self.at);
        }
        let [first, second] = dataset.users_of.map(number::count);
        let data = if dataset.is_same { "the same data and split" } else { "data or split differ" };
        let users = format!("{} ranked by both (A {first}, B {second})", number::counted(dataset.users, "user"));
        format!("{} by {}: {data}; {users}", dataset.name, self.at)
    }

    /// How the differences were tested.
    pub(super) fn how(&self) -> String {
        let evaluation = &self.sides[1].plan.evaluation;
        let over = words::over(evaluation.significance.over, false);
        let level = evaluation.significance.alpha;
        format!(
            "Means over the users that both ranked, by their own ids. Differences are tested over {over}, paired by user; p-values are adjusted after Holm for all rows, level {level}. Where no method has several seeds or splits, trained models are compared, which says nothing of other trainings."
        )
    }
}

fn cut(value: &str) -> String {
    if value.chars().count() <= LONGEST {
        return value.to_owned();
    }
    value.chars().take(LONGEST - 1).chain(['…']).collect()
}
