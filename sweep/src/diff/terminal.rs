//! Two sweeps side by side, for whoever reads standard output.

use super::{Change, DatasetDifference, Difference};
use crate::{
    number,
    plan::Plan,
    report::{Style, words},
    text_table::TextTable,
};
use evaluator::settings::Over;

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
        lines.extend(self.without_result_lines().map(|line| style.wrap(&line)));
        match self.nothing_to_compare() {
            Some(reason) => lines.push(style.wrap(&format!("Nothing to compare: {reason}."))),
            None => {
                for dataset in &self.datasets {
                    lines.extend([String::new(), self.dataset(dataset, style)]);
                }
                lines.push(style.wrap(&self.how(&self.datasets)));
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

    /// What both plan and one has no result of: a line for each sweep that lacks something.
    pub(super) fn without_result_lines(&self) -> impl Iterator<Item = String> {
        let sides = ["A", "B"].into_iter().zip(&self.without_result).filter(|(_, lacking)| !lacking.is_empty());
        sides.map(|(side, lacking)| format!("no result in {side}: {}", lacking.join(", ")))
    }

    fn dataset(&self, dataset: &DatasetDifference, style: Style) -> String {
        let mut lines = vec![style.bold(&self.heading(dataset))];
        if !dataset.methods.is_empty() {
            lines.push(rows(dataset).to_string());
        }
        lines.extend(dataset.without_values().map(|line| style.wrap(&line)));
        lines.join("\n")
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
        let split = if dataset.is_repeated() { "splits" } else { "split" };
        let data = if dataset.is_same { format!("the same data and {split}") } else { format!("data or {split} differ") };
        let users = format!("{} ranked by both (A {first}, B {second})", number::counted(dataset.users, "user"));
        let parts = [Some(data), dataset.counted_splits(), Some(users)];
        format!("{} by {}: {}", dataset.name, self.at, parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
    }

    /// How the differences of these datasets were tested.
    pub(super) fn how(&self, datasets: &[DatasetDifference]) -> String {
        let evaluation = &self.sides[1].plan.evaluation;
        let over = over(evaluation.significance.over, datasets);
        let level = evaluation.significance.alpha;
        format!(
            "Means over the users that both ranked, by their own ids. Differences are tested over {over}, paired by user; p-values are adjusted after Holm for all rows, level {level}. Where no method has several seeds or splits, trained models are compared, which says nothing of other trainings. Where one has all trainings of the other, nothing is tested; where both have some in common and each has others, these count on both sides."
        )
    }
}

impl DatasetDifference {
    fn is_repeated(&self) -> bool {
        self.splits_of.iter().any(|&splits| splits > 1)
    }

    /// How many splits count; none where neither sweep has several.
    fn counted_splits(&self) -> Option<String> {
        let [first, second] = self.splits_of.map(number::count);
        self.is_repeated().then(|| format!("{} counted (A {first}, B {second})", number::counted(self.splits, "split")))
    }

    /// The methods that are not compared though both have results of them; none where all are.
    pub(super) fn without_values(&self) -> Option<String> {
        let is_known = self.splits > 0 && self.users > 0; // else the heading says why nothing is compared
        (is_known && !self.uncounted.is_empty()).then(|| format!("not in both on these splits: {}", self.uncounted.join(", ")))
    }
}

/// What tests of these datasets are over; where several splits count on some of them alone, with their names.
fn over(counted: Over, datasets: &[DatasetDifference]) -> String {
    let compared = datasets.iter().filter(|dataset| !dataset.methods.is_empty());
    let (several, single): (Vec<&DatasetDifference>, Vec<&DatasetDifference>) = compared.partition(|dataset| dataset.splits > 1);
    let [of_single, of_several] = [false, true].map(|splits| words::over(counted, splits));
    if several.is_empty() || of_single == of_several {
        return of_single.to_owned();
    }
    if single.is_empty() {
        return of_several.to_owned();
    }
    let names: Vec<&str> = several.iter().map(|dataset| dataset.name.as_str()).collect();
    format!("{of_single}, and over {of_several} on {}", names.join(", "))
}

fn rows(dataset: &DatasetDifference) -> TextTable {
    let mut table = TextTable::new(&["method", "A", "B", "difference", "p", "B is"]);
    for row in &dataset.methods {
        let [first, second] = row.means.map(number::value);
        let tested = row.tested.map(|tested| [number::difference(tested.difference), number::p_value(tested.judged.p_adjusted)]);
        let [difference, p] = tested.unwrap_or_else(|| ["-", "-"].map(str::to_owned));
        table.add([row.title.clone(), first, second, difference, p, row.said()]);
    }
    table
}

fn cut(value: &str) -> String {
    if value.chars().count() <= LONGEST {
        return value.to_owned();
    }
    value.chars().take(LONGEST - 1).chain(['…']).collect()
}
