//! Numbers as a reader sees them.

/// Items of a long list that are named.
const LISTED: usize = 10;

/// A metric's value: four decimals.
pub(super) fn value(value: f64) -> String {
    format!("{value:.4}")
}

/// A number with the decimals that a unit of its last digit has: `0.40` where that is 0.01.
pub(super) fn rounded(value: f64, unit: f64) -> String {
    let decimals = (-unit.log10()).round().clamp(0.0, 17.0) as usize;
    format!("{value:.decimals$}")
}

/// A difference: four decimals and a sign.
pub(super) fn difference(difference: f64) -> String {
    format!("{difference:+.4}").replace('-', "\u{2212}")
}

/// A number of unknown size: three significant digits.
pub(crate) fn short(number: f64) -> String {
    let size = number.abs();
    let decimals = if size == 0.0 || !size.is_finite() { 0 } else { (2 - size.log10().floor() as i32).clamp(0, 6) as usize };
    format!("{number:.decimals$}").replace('-', "\u{2212}")
}

/// A p-value: two significant digits, nothing below a thousandth.
pub(super) fn p_value(p: f64) -> String {
    match p {
        p if p < 0.001 => "< 0.001".to_owned(),
        p if p < 0.1 => format!("{p:.3}"),
        p => format!("{p:.2}"),
    }
}

/// A bound from above of p-values: as [`p_value`], rounded up.
pub(super) fn p_value_at_most(p: f64) -> String {
    let unit = if p < 0.1 { 1e3 } else { 1e2 };
    p_value(((p * unit - 1e-9).ceil() / unit).min(1.0))
}

/// A count, with a comma between thousands.
pub(crate) fn count(count: usize) -> String {
    let digits = count.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A count and its noun: `1 trial`, `2 trials`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A span of time in its two largest units.
pub(super) fn seconds(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..10 => format!("{seconds:.1} s"),
        10..60 => format!("{whole} s"),
        60..3_600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3_600, whole % 3_600 / 60),
    }
}

/// A flat JSON object as `temperature 0.2, learning_rate 0.01`; only `keys` where they are given.
pub(super) fn parameters(parameters: &serde_json::Value, keys: Option<&[String]>) -> String {
    let shown = |key: &String| keys.is_none_or(|keys| keys.contains(key));
    let all: Vec<(&String, &serde_json::Value)> = parameters.as_object().into_iter().flatten().filter(|(key, _)| shown(key)).collect();
    let alone = |key: &str| all.iter().filter(|(other, _)| own(other) == own(key)).count() == 1;
    let pairs =
        all.iter().map(|(key, value)| format!("{} {}", if alone(key) { own(key) } else { key.as_str() }, crate::plan::plain(value)));
    pairs.collect::<Vec<_>>().join(", ")
}

/// A key without the role before the dot: `temperature` of `loss.temperature`.
pub(super) fn own(key: &str) -> &str {
    key.rsplit_once('.').map_or(key, |(_, own)| own)
}

/// A list in a sentence: `a`, `a and b`, `a, b and c`; of a long one the first, and how many there are beside them.
pub(super) fn listed(items: &[String]) -> String {
    match items {
        [first @ .., _, _, _] if first.len() >= LISTED => {
            format!("{} and {} others", first[..LISTED].join(", "), count(items.len() - LISTED))
        }
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_names_its_first() {
        let items = |count: usize| (0..count).map(|item| item.to_string()).collect::<Vec<_>>();
        assert_eq!(listed(&items(12)), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 11");
        assert_eq!(listed(&items(13)), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 3 others");
        assert_eq!(listed(&items(1_200)), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 1,190 others");
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!([0, 999, 1_000, 234_521, 1_027_464].map(count), ["0", "999", "1,000", "234,521", "1,027,464"]);
        assert_eq!((counted(1, "trial"), counted(2, "trial")), ("1 trial".into(), "2 trials".into()));
    }

    #[test]
    fn short_numbers_have_three_digits() {
        assert_eq!([0.714_285, -12.34, 1_234.5, 0.0].map(short), ["0.714", "\u{2212}12.3", "1234", "0"]);
    }

    #[test]
    fn small_p_values_are_bounds() {
        assert_eq!([0.000_9, 0.012_3, 0.734].map(p_value), ["< 0.001", "0.012", "0.73"]);
    }

    #[test]
    fn time_has_two_units() {
        assert_eq!([2.34, 59.4, 61.0, 3_725.0].map(seconds), ["2.3 s", "59 s", "1 min 01 s", "1 h 02 min"]);
    }

    #[test]
    fn parameters_are_words() {
        let json = serde_json::json!({"backbone.kind": "mf", "loss.kind": "bpr", "optimizer.learning_rate": 0.1, "optimizer.weight_decay": 1e-5, "x": 200.0});
        assert_eq!(parameters(&json, None), "backbone.kind mf, loss.kind bpr, learning_rate 0.1, weight_decay 0.00001, x 200");
        assert_eq!(parameters(&json, Some(&["loss.kind".to_owned()])), "kind bpr");
    }
}
