//! The critical-difference diagram: methods along an axis of average ranks, the best at the left, and bars under those that are not told apart.
//! Demsar, JMLR 7 (2006), Figure 1, whose axis runs the other way.

use super::axis::{Tick, tenth};
use anyhow::{Context, Result};
use minijinja::{AutoEscape, Environment, UndefinedBehavior, syntax::SyntaxConfig, value::Serde};
use serde::Serialize;

/// Length of the axis.
const AXIS: f64 = 420.0;
const MARGIN: f64 = 16.0;
/// Where the axis lies, below its marks and the ruler of the critical difference.
const TOP: f64 = 66.0;
/// Distance between two bars.
const BAR: f64 = 9.0;
/// Height of a label.
const ROW: f64 = 20.0;
/// Width of a letter, on average.
const LETTER: f64 = 6.6;
/// Distance between a label and its line.
const GAP: f64 = 6.0;

/// A diagram of critical differences.
pub(crate) struct CriticalDifference {
    /// The title, which says what the ranks are of.
    pub(crate) title: String,
    /// The methods, best first.
    pub(crate) methods: Vec<LabelledRank>,
    /// The first and the last of each group of methods that are not told apart.
    pub(crate) groups: Vec<(usize, usize)>,
    /// How far apart ranks must be.
    pub(crate) critical_difference: f64,
}

/// A method on the axis.
pub(crate) struct LabelledRank {
    /// Its name.
    pub(crate) title: String,
    /// Its average rank.
    pub(crate) rank: f64,
}

#[derive(Serialize)]
struct Diagram<'a> {
    style: Option<&'static str>,
    title: &'a str,
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    top: f64,
    ruler: Bar,
    ticks: Vec<Tick>,
    methods: Vec<RankedMethod<'a>>,
    groups: Vec<Bar>,
}

#[derive(Serialize)]
struct Bar {
    left: f64,
    right: f64,
    top: f64,
    label: String,
}

/// A line that falls from the axis and turns to a label.
#[derive(Serialize)]
struct RankedMethod<'a> {
    at: f64,
    top: f64,
    end: f64,
    label: f64,
    anchor: &'static str,
    title: &'a str,
    rank: String,
}

impl CriticalDifference {
    /// The diagram as a part of a page, which has the style.
    ///
    /// # Errors
    /// When the template and the diagram disagree.
    pub(crate) fn inline(&self) -> Result<String> {
        self.render(None)
    }

    /// The diagram as a file that needs nothing else.
    ///
    /// # Errors
    /// When the template and the diagram disagree.
    pub(crate) fn svg(&self) -> Result<String> {
        self.render(Some(concat!(include_str!("theme.css"), include_str!("critical_difference.css"))))
    }

    fn render(&self, style: Option<&'static str>) -> Result<String> {
        let mut templates = Environment::new();
        templates.set_auto_escape_callback(|_| AutoEscape::Html);
        templates.set_undefined_behavior(UndefinedBehavior::Strict);
        templates.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().context("the diagram's syntax")?);
        templates.add_template("diagram.svg", include_str!("critical_difference.svg.j2")).context("the diagram's template")?;
        let template = templates.get_template("diagram.svg").context("the diagram's template")?;
        template.render(Serde(self.drawing(style))).context("the diagram")
    }

    fn drawing(&self, style: Option<&'static str>) -> Diagram<'_> {
        let (left, right) = self.ends();
        let labels = TOP + BAR * (self.groups.len() as f64 + 1.0) + ROW;
        let rows = self.methods.len().div_ceil(2) as f64;
        let bar = |(row, &(first, last)): (usize, &(usize, usize))| Bar {
            left: self.across(self.methods[first].rank) - 4.0,
            right: self.across(self.methods[last].rank) + 4.0,
            top: TOP + BAR * (row as f64 + 1.0),
            label: String::new(),
        };
        Diagram {
            style,
            title: &self.title,
            width: right + left,
            height: labels + ROW * rows,
            left,
            right,
            top: TOP,
            ruler: self.ruler(left),
            ticks: self.ticks(),
            methods: (0..self.methods.len()).map(|place| self.method(place, labels)).collect(),
            groups: self.groups.iter().enumerate().map(bar).collect(),
        }
    }

    /// The ends of the axis, with room for the longest label on both sides.
    fn ends(&self) -> (f64, f64) {
        let longest = self.methods.iter().map(|method| method.title.chars().count()).max().unwrap_or(0);
        let left = tenth(MARGIN + LETTER * (longest + 5) as f64 + GAP);
        (left, left + AXIS)
    }

    fn across(&self, rank: f64) -> f64 {
        let (left, _) = self.ends();
        tenth(left + AXIS * (rank - 1.0) / (self.methods.len().max(2) - 1) as f64)
    }

    /// The critical difference beside the axis, cut at the axis' end.
    fn ruler(&self, left: f64) -> Bar {
        let whole = (self.methods.len().max(2) - 1) as f64;
        let length = AXIS * (self.critical_difference / whole).min(1.0);
        let label = format!("critical difference {:.2}", self.critical_difference);
        Bar { left, right: tenth(left + length), top: TOP - 38.0, label }
    }

    /// Whole ranks, about ten of them.
    fn ticks(&self) -> Vec<Tick> {
        let step = self.methods.len().div_ceil(12).max(1);
        (1..=self.methods.len()).step_by(step).map(|rank| Tick { at: self.across(rank as f64), label: rank.to_string() }).collect()
    }

    /// The better half has its labels at the left, the outermost on top, so that no line crosses another.
    fn method(&self, place: usize, labels: f64) -> RankedMethod<'_> {
        let (left, right) = self.ends();
        let (count, LabelledRank { title, rank }) = (self.methods.len(), &self.methods[place]);
        let is_left = place < count.div_ceil(2);
        let row = if is_left { place } else { count - 1 - place };
        let (end, label, anchor) = if is_left { (left, left - GAP, "end") } else { (right, right + GAP, "start") };
        RankedMethod { at: self.across(*rank), top: labels + ROW * row as f64, end, label, anchor, title, rank: format!("{rank:.2}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> CriticalDifference {
        let place = |(title, rank): (&str, f64)| LabelledRank { title: title.into(), rank };
        CriticalDifference {
            title: "AUC & ranks".into(),
            methods: [("C4.5+m+cf", 1.964), ("C4.5+m", 2.0), ("C4.5+cf", 2.893), ("<C4.5>", 3.143)].map(place).into(),
            groups: vec![(0, 2), (1, 3)],
            critical_difference: 1.12,
        }
    }

    #[test]
    fn the_file_needs_nothing_else_and_escapes_names() {
        let svg = example().svg().unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert_eq!(svg.matches("http").count(), 1, "the name of the format is no address");
        for part in ["AUC &amp; ranks", "&lt;C4.5&gt; 3.14", "critical difference 1.12", "prefers-color-scheme: dark"] {
            assert!(svg.contains(part), "{part}\n{svg}");
        }
        let inline = example().inline().unwrap();
        assert!(!inline.contains("http") && !inline.contains("<style>"), "{inline}");
    }

    /// The axis is 420 wide and has ranks 1 to 4, so 140 for one rank.
    #[test]
    fn ranks_stand_where_the_axis_says() {
        let example = example();
        let drawing = example.drawing(None);
        let places: Vec<f64> = drawing.methods.iter().map(|method| method.at - drawing.left).collect();
        for (place, expected) in places.iter().zip([135.0, 140.0, 265.0, 300.0]) {
            assert!((place - expected).abs() < 0.11, "{places:?}");
        }
        assert!((drawing.ruler.right - drawing.ruler.left - 156.8).abs() < 0.11);
        assert_eq!(drawing.groups[0].left, drawing.methods[0].at - 4.0);
        assert_eq!(drawing.groups[0].right, drawing.methods[2].at + 4.0);
        assert_eq!(drawing.ticks.iter().map(|tick| tick.label.as_str()).collect::<Vec<_>>(), ["1", "2", "3", "4"]);
    }

    #[test]
    fn lines_do_not_cross() {
        let example = example();
        let methods = example.drawing(None).methods;
        assert!(methods[0].top < methods[1].top && methods[0].at < methods[1].at && methods[1].anchor == "end");
        assert!(methods[3].top < methods[2].top && methods[3].at > methods[2].at && methods[2].anchor == "start");
    }
}
