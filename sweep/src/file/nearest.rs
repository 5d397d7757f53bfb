//! The nearest valid spelling of a word that is not known.

use dataset::quote;
use evaluator::Metric;

/// Two words this alike are taken for a slip of the same word: of ten letters, at most four are wrong, missing or swapped.
const ALIKE: f64 = 0.6;
/// Bytes of a word that may be a slip.
const LONGEST: usize = 64;

/// Words of other libraries, in lower case and with hyphens, and what they are called here: keys and kinds of all parts of a sweep file. Metrics have theirs themselves.
const SYNONYMS: [(&str, &str); 31] = [
    ("bpr", "mf"),
    ("bpr-mf", "mf"),
    ("bprmf", "mf"),
    ("csv", "delimited"),
    ("embedding-dim", "dim"),
    ("embedding-size", "dim"),
    ("eval-every", "evaluate_every"),
    ("eval-step", "evaluate_every"),
    ("gpu", "cuda"),
    ("infonce", "softmax"),
    ("info-nce", "softmax"),
    ("item-id", "item"),
    ("k", "cutoffs"),
    ("l2", "weight_decay"),
    ("leave-one-out", "leave-last"),
    ("loo", "leave-last"),
    ("lr", "learning_rate"),
    ("neg-samples", "negatives"),
    ("num-negatives", "negatives"),
    ("pop", "popularity"),
    ("random", "uniform"),
    ("reg-weight", "weight_decay"),
    ("sep", "separator"),
    ("stopping-step", "patience"),
    ("t-test", "paired-t"),
    ("tau", "temperature"),
    ("topk", "cutoffs"),
    ("tsv", "delimited"),
    ("ttest", "paired-t"),
    ("user-id", "user"),
    ("valid-metric", "select_by"),
];

/// Keys that people of other libraries, whose settings are flat, look for elsewhere, and where they belong.
const HOMES: [(&str, &str); 20] = [
    ("backbones", "a block of `grid`"),
    ("batch_size", "training"),
    ("cutoffs", "evaluation"),
    ("epochs", "training"),
    ("evaluate_every", "training"),
    ("k_core", "an entry of `datasets`"),
    ("learning_rate", "the `optimizer` of a block of `grid`"),
    ("losses", "a block of `grid`"),
    ("metrics", "evaluation"),
    ("min_rating", "an entry of `datasets`"),
    ("optimizer", "a block of `grid`"),
    ("patience", "training"),
    ("primary", "evaluation"),
    ("samplers", "a block of `grid`"),
    ("seeds", "the file itself"),
    ("select_by", "training"),
    ("significance", "evaluation"),
    ("source", "an entry of `datasets`"),
    ("split", "an entry of `datasets`"),
    ("weight_decay", "the `optimizer` of a block of `grid`"),
];

/// Where a key belongs that has no place here, in words: ``under `evaluation` ``.
fn home(word: &str) -> Option<String> {
    let plain = word.to_lowercase().replace('_', "-");
    let called = SYNONYMS.into_iter().find_map(|(other, word)| (other == plain).then_some(word));
    let of = |name: &str| HOMES.into_iter().find_map(|(key, home)| (key == name).then_some((key, home)));
    let (key, home) = of(word).or_else(|| of(called?))?;
    let at = if home.contains(' ') { home.to_owned() } else { format!("`{home}`") };
    Some(if key == word {
        format!("it belongs under {at}")
    } else {
        format!("`{key}`, which is what it is called here, belongs under {at}")
    })
}

/// ``unknown key `tempratur`: did you mean `temperature`? (expected `temperature`)``
pub(crate) fn unknown(what: &str, word: &str, expected: &[&str]) -> String {
    let list = match expected {
        [] => "no key is expected here".to_owned(),
        [only] => format!("expected `{only}`"),
        _ => format!("expected one of {}", expected.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")),
    };
    let (near, word) = (nearest(word, expected), quote::value(word));
    let is_metric_at = |(metric, cutoff): &(&str, &str)| what == "name" && expected.contains(metric) && cutoff.parse::<u32>().is_ok();
    if let Some((metric, cutoff)) = word.split_once('@').filter(is_metric_at) {
        return format!("unknown {what} `{word}`: write `{metric}` here, and {cutoff} under `cutoffs` ({list})");
    }
    if what == "key" && !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()) {
        return format!("unknown {what} `{word}`: a comma ends a value, and decimals stand behind a point, `0.{word}` ({list})");
    }
    if let Some((key, value)) = word.split_once(':').filter(|(key, _)| what == "key" && expected.contains(key)) {
        return format!("unknown {what} `{word}`: write `{key}: {value}`, with a blank behind the colon ({list})");
    }
    match near {
        Some(near) => format!("unknown {what} `{word}`: did you mean `{near}`? ({list})"),
        None => match home(&word).filter(|_| what == "key") {
            Some(home) => format!("unknown {what} `{word}`: {home} ({list})"),
            None => format!("unknown {what} `{word}`: {list}"),
        },
    }
}

/// The words of [`unknown`] without the list of what was expected.
pub(crate) fn without_list(words: &str) -> &str {
    let ends = [": expected one of ", " (expected one of "].into_iter().filter_map(|list| words.find(list));
    ends.min().map_or(words, |end| &words[..end])
}

/// Whether a word is taken for a slip of one of the others.
pub(super) fn is_near(word: &str, expected: &[&str]) -> bool {
    nearest(word, expected).is_some()
}

/// The most similar of the words, where one is similar enough.
fn nearest<'a>(word: &str, expected: &[&'a str]) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let plain = word.to_lowercase().replace('_', "-");
    if let Some(same) = expected.iter().find(|known| known.replace('_', "-") == plain) {
        return Some(same);
    }
    let metrics = Metric::ALL.into_iter().flat_map(|metric| metric.also_called().iter().map(move |other| (*other, metric.name())));
    let mut called = SYNONYMS.into_iter().chain(metrics).filter(|(other, _)| *other == plain);
    if let Some(word) = called.find_map(|(_, word)| expected.iter().find(|known| **known == word)) {
        return Some(word);
    }
    let likeness = |candidate: &str| strsim::normalized_damerau_levenshtein(&plain, &candidate.replace('_', "-"));
    let scored = expected.iter().map(|&candidate| (likeness(candidate), candidate));
    scored.filter(|(score, _)| *score >= ALIKE).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        let kinds = ["bce", "bpr", "cce", "softmax", "softmax-at-k"];
        assert_eq!(nearest("sofmax", &kinds), Some("softmax"));
        assert_eq!(nearest("Softmax_At_K", &kinds), Some("softmax-at-k"));
        assert_eq!(nearest("brp", &kinds), Some("bpr"));
        assert_eq!(nearest("hinge", &kinds), None);
        assert_eq!(nearest("gpu", &["auto", "cpu", "cuda"]), Some("cuda"));
        assert_eq!(nearest("Embedding_Size", &["dim", "init"]), Some("dim"));
        assert_eq!(nearest("hr", &["ndcg", "hit-rate"]), Some("hit-rate"));
        assert_eq!(nearest("BPR", &["bpr", "mf"]), Some("bpr"), "what there is comes first");
        assert_eq!(nearest("bpr", &["mf", "light-gcn"]), Some("mf"));
        assert_eq!(unknown("key", "x", &["dim"]), "unknown key `x`: expected `dim`");
        assert_eq!(
            unknown("key", "2", &["dim"]),
            "unknown key `2`: a comma ends a value, and decimals stand behind a point, `0.2` (expected `dim`)"
        );
        assert_eq!(
            unknown("key", "dim:8", &["dim"]),
            "unknown key `dim:8`: write `dim: 8`, with a blank behind the colon (expected `dim`)"
        );
        assert_eq!(unknown("key", "metrics", &["users"]), "unknown key `metrics`: it belongs under `evaluation` (expected `users`)");
        let rate = unknown("key", "lr", &["epochs"]);
        assert!(
            rate.contains("`learning_rate`, which is what it is called here, belongs under the `optimizer` of a block of `grid`"),
            "{rate}"
        );
        assert!(!unknown("kind", "metrics", &["mf"]).contains("belongs"));
        assert!(unknown("kind", "softmax@20", &kinds).contains("did you mean `softmax"));
        assert_eq!(without_list(&unknown("kind", "hinge", &kinds)), "unknown kind `hinge`");
        assert_eq!(without_list(&unknown("kind", "sofmax", &kinds)), "unknown kind `sofmax`: did you mean `softmax`?");
        let metric = unknown("name", "ndcg@20", &["ndcg", "mrr"]);
        assert_eq!(metric, "unknown name `ndcg@20`: write `ndcg` here, and 20 under `cutoffs` (expected one of `ndcg`, `mrr`)");
    }
}
