//! Amounts as Kubernetes writes them: `4`, `500m`, `16Gi`.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A number with an optional unit, kept as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Quantity(String);

/// The units, by the power of two or of ten that they stand for.
const UNITS: [(&str, f64); 16] = [
    ("", 1.0),
    ("n", 1e-9),
    ("u", 1e-6),
    ("m", 1e-3),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("P", 1e15),
    ("E", 1e18),
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("Pi", 1_125_899_906_842_624.0),
    ("Ei", 1_152_921_504_606_846_976.0),
];

impl Quantity {
    /// The number of cores or bytes.
    pub fn value(&self) -> f64 {
        parse(&self.0).expect("a quantity is checked when it is made")
    }
}

/// Digits with at most one point, and then a unit or an exponent.
fn parse(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    if !digits.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if let Some(exponent) = unit.strip_prefix(['e', 'E']).filter(|exponent| !exponent.is_empty()) {
        let exponent: i32 = exponent.parse().ok()?;
        return format!("{digits}e{exponent}").parse().ok();
    }
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
    digits.parse::<f64>().ok().map(|number| number * factor)
}

impl TryFrom<String> for Quantity {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let refuse = || format!("`{text}` is no quantity: expected a number and, where needed, a unit, such as `4`, `500m` or `16Gi`");
        parse(&text).filter(|value| value.is_finite()).ok_or_else(refuse)?;
        Ok(Self(text))
    }
}

impl From<Quantity> for String {
    fn from(quantity: Quantity) -> Self {
        quantity.0
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<f64> {
        Quantity::try_from(text.to_owned()).ok().map(|quantity| quantity.value())
    }

    #[test]
    fn units_are_those_of_kubernetes() {
        let cases = [
            ("4", 4.0),
            ("500m", 0.5),
            ("0.1", 0.1),
            ("1e3", 1000.0),
            ("2E-1", 0.2),
            ("1k", 1000.0),
            ("1E", 1e18),
            (".5", 0.5),
            ("5.", 5.0),
        ];
        for (text, expected) in cases {
            assert_eq!(value(text), Some(expected), "{text}");
        }
        assert_eq!(value("16Gi"), Some(17_179_869_184.0));
        assert_eq!(value("1.5Mi"), Some(1_572_864.0));
    }

    #[test]
    fn what_kubernetes_refuses_is_no_quantity() {
        for text in ["", "Gi", "16GB", "16gi", "4 ", "1.2.3", "four", "1e", "1e3Gi", "-1", "1K", "1e400"] {
            let quantity = Quantity::try_from(text.to_owned());
            assert!(quantity.is_err(), "{text}: {quantity:?}");
        }
    }
}
