//! Groups of users for whoever reads standard output.

use super::{OnDataset, UserGroups};
use crate::{number, report::Style, tested::Tested, text_table::TextTable};
use evaluator::significance::Verdict;

impl UserGroups {
    /// A table for each dataset: a line for each group, with the method that ranks best there.
    pub(crate) fn terminal(&self, style: Style) -> String {
        self.datasets.iter().map(|dataset| self.dataset(dataset, style)).collect::<Vec<_>>().join("\n\n")
    }

    fn dataset(&self, dataset: &OnDataset, style: Style) -> String {
        let heading = format!("{} by {}, groups of {}", dataset.name, self.at, self.column);
        let mut table = TextTable::new(&[&self.column, "users", "best in the group", "its mean", "of the best overall", "difference", "p"]);
        for group in &dataset.groups {
            let Some(best) = group.methods.first() else { continue };
            let control = group.methods.iter().find(|method| method.title == dataset.control);
            let (difference, p) = match &best.against {
                Some(against) => (number::difference(against.difference), number::p_value(against.judged.p_adjusted)),
                None => ("-".to_owned(), "-".to_owned()),
            };
            let of_control = control.map_or_else(|| "-".to_owned(), |control| number::value(control.mean));
            table.add([
                group.value.clone(),
                number::count(group.users),
                best.title.clone(),
                number::value(best.mean),
                of_control,
                difference,
                p,
            ]);
        }
        let others: Vec<&Tested> = dataset.groups.iter().filter_map(|group| group.methods.first()?.against.as_ref()).collect();
        let sure = others.iter().filter(|against| against.judged.verdict == Verdict::Better).count();
        let groups = number::counted(dataset.groups.len(), "group");
        let found = match others.len() {
            0 => format!("ranks best over all users, and in each of {groups}"),
            more => format!(
                "ranks best over all users; in {more} of {groups} another method has the highest mean, and in {sure} of these that method is significantly better{}",
                if self.has_margin { ", and not known to be equivalent" } else { "" }
            ),
        };
        let said = format!(
            "{} {found}. In every group all methods are compared with it, by the {} at {}, and p-values are adjusted after Holm for all of these.{}",
            dataset.control,
            dataset.test,
            self.alpha,
            left_out(dataset)
        );
        format!("{}\n{table}\n{}", style.bold(&heading), style.wrap(&said))
    }
}

/// The users who are in no group, in words that follow a sentence.
fn left_out(dataset: &OnDataset) -> String {
    let [unknown, small] = dataset.left_out;
    let unknown = (unknown > 0).then(|| format!(" {} without a group in the file.", number::counted(unknown, "ranked user")));
    let small = (small > 0).then(|| format!(" {} alone in a group, which is left out.", number::counted(small, "user")));
    unknown.into_iter().chain(small).collect()
}
