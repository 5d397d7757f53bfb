//! What is written in a theme's colours can be read: a contrast of at least 4.5 to 1 (WCAG 2.2, success criterion 1.4.3) in both themes.

const THEME: &str = include_str!("theme.css");
/// Colours that text has.
const TEXT: [&str; 12] = ["ink", "soft", "bad", "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"];

/// A colour of a theme as red, green and blue, from 0 to 255.
fn color(theme: &str, name: &str) -> [u8; 3] {
    let start = theme.find(&format!("--{name}: #")).unwrap_or_else(|| panic!("no --{name}")) + name.len() + 5;
    [0, 2, 4].map(|digit| u8::from_str_radix(&theme[start + digit..start + digit + 2], 16).unwrap())
}

/// Relative luminance, as WCAG defines it.
fn luminance(color: [u8; 3]) -> f64 {
    let linear = color.map(|part| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// WCAG's own examples: black on white, and the grey that just passes.
#[test]
fn contrasts_are_those_of_the_recommendation() {
    assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 1e-9);
    assert!(contrast([0x76; 3], [255; 3]) > 4.5 && contrast([0x77; 3], [255; 3]) < 4.5);
}

#[test]
fn all_text_can_be_read() {
    let (light, dark) = THEME.split_once("@media").unwrap();
    for (name, theme) in [("light", light), ("dark", dark)] {
        for ground in ["paper", "wash"] {
            for text in TEXT {
                let found = contrast(color(theme, text), color(theme, ground));
                assert!(found >= 4.5, "{name}: --{text} on --{ground} has {found:.2}");
            }
        }
    }
}
