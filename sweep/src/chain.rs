//! An error and its causes in one line.

use dataset::redact::redacted;

/// The error, then each cause that says something new, joined by colons, without secrets. Some libraries repeat their cause's text; this
/// does not.
pub(crate) fn chain(error: &anyhow::Error) -> String {
    let text = error.chain().map(ToString::to_string).fold(String::new(), |text, cause| match (text.is_empty(), text.contains(&cause)) {
        (true, _) => cause,
        (_, true) => text,
        _ => format!("{text}: {cause}"),
    });
    redacted(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::chain;
    use anyhow::{Context, anyhow};

    #[test]
    fn no_text_stands_twice() {
        let disk = anyhow!("no space left").context("store: cannot copy: no space left").context("cannot write runs/a");
        assert_eq!(chain(&disk), "cannot write runs/a: store: cannot copy: no space left");
        let dataset = Err::<(), _>(anyhow!("line 3: bad")).context("dataset `d`").unwrap_err();
        assert_eq!(chain(&dataset), "dataset `d`: line 3: bad");
    }
}
