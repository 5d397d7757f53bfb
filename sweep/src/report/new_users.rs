//! Users whom no training saw, where the split holds users out as a whole.

use super::{Input, number, splits::splits};

/// How models know the users that are ranked, where no training saw them.
pub(super) fn remark(input: &Input, dataset: &str) -> Option<String> {
    let folded = input.manifests.iter().find(|manifest| manifest.name == dataset)?.fold_in?;
    let of_splits: Vec<usize> = splits(input, dataset).iter().filter_map(|split| split.manifest.fold_in).collect();
    let counted = match (of_splits.iter().min(), of_splits.iter().max()) {
        (Some(least), Some(most)) if least < most => {
            format!("{} to {} on each split", number::count(*least), number::counted(*most, "interaction"))
        }
        _ => format!("{} in all", number::counted(folded, "interaction")),
    };
    Some(format!(
        "No training saw the users who are ranked: models know them by histories to fold in, of {counted}, whose items are not ranked."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn users_who_are_held_out_are_said() {
        let mut sweep = example::sweep();
        assert_eq!(remark(&sweep.input(), "books"), None);
        sweep.manifests[0].fold_in = Some(1_200);
        let said = remark(&sweep.input(), "books").unwrap();
        assert!(said.starts_with(
            "No training saw the users who are ranked: models know them by histories to fold in, of 1,200 interactions in all"
        ));
        assert_eq!(remark(&sweep.input(), "films"), None);
    }
}
