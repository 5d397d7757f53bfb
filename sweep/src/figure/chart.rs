//! A chart of several panels with one legend, as a file that needs nothing else.

use super::{Axis, layout};
use anyhow::{Context, Result};
use minijinja::{AutoEscape, Environment, UndefinedBehavior, syntax::SyntaxConfig, value::Serde};

/// A chart of panels, which share the legend.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    /// The title, above all panels.
    pub(crate) title: String,
    /// How to read it: a few short lines.
    pub(crate) notes: Vec<String>,
    /// The legend. A line without a point is left out.
    pub(crate) keys: Vec<LegendEntry>,
    /// Panels beside each other.
    pub(crate) columns: usize,
    /// The panels, from the top left, row by row.
    pub(crate) panels: Vec<Panel>,
}

/// An entry of the legend.
#[derive(Clone, Debug)]
pub(crate) struct LegendEntry {
    /// Its name in the legend.
    pub(crate) name: String,
    /// 1 to 8 of the theme, or 0 for grey.
    pub(crate) color: usize,
    /// Whether it is dashed.
    pub(crate) dashed: bool,
}

/// One pair of axes.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    /// The title, which sets it apart from the others.
    pub(crate) title: String,
    /// The horizontal axis: what, and in which unit.
    pub(crate) across: String,
    /// The vertical axis.
    pub(crate) up: String,
    /// The horizontal range.
    pub(crate) x: Axis,
    /// The vertical range. Lines are cut off beyond it.
    pub(crate) y: Axis,
    /// Its lines, the first one on top.
    pub(crate) lines: Vec<Line>,
    /// Heights that mean something, and what.
    pub(crate) levels: Vec<(f64, String)>,
}

/// Points of one key.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Place of the line's key in the legend.
    pub(crate) key: usize,
    /// Places of the points, across and up.
    pub(crate) points: Vec<(f64, f64)>,
    /// How the points are drawn.
    pub(crate) mark: PlotStyle,
}

/// How points are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlotStyle {
    /// A line without points.
    Line,
    /// Points alone.
    Dots,
    /// Points, joined.
    Both,
}

impl Chart {
    /// The chart as an SVG file.
    ///
    /// # Errors
    /// When the template and the chart disagree.
    pub(crate) fn svg(&self) -> Result<String> {
        let mut templates = Environment::new();
        templates.set_auto_escape_callback(|_| AutoEscape::Html);
        templates.set_undefined_behavior(UndefinedBehavior::Strict);
        templates.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().context("the chart's syntax")?);
        templates.add_template("chart.svg", include_str!("chart.svg.j2")).context("the chart's template")?;
        let template = templates.get_template("chart.svg").context("the chart's template")?;
        template.render(Serde(layout::drawing(self))).context("the chart")
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn example() -> Chart {
        let axis = |high: f64| Axis::around([0.0, high].into_iter(), 0.0, 4).unwrap();
        let line = |key, mark| Line { key, points: vec![(0.0, 0.0), (5.0, 1.0), (10.0, f64::NAN)], mark };
        let panel = |title: &str| Panel {
            title: title.into(),
            across: "rank".into(),
            up: "probability".into(),
            x: axis(10.0),
            y: axis(1.0),
            lines: vec![line(0, PlotStyle::Both), line(1, PlotStyle::Line), line(1, PlotStyle::Dots)],
            levels: vec![(0.5, "half".into())],
        };
        Chart {
            title: "a <chart>".into(),
            notes: vec!["how & why".into()],
            keys: ["one", "other", "absent"].map(|name| LegendEntry { name: name.into(), color: 1, dashed: name == "other" }).to_vec(),
            columns: 2,
            panels: vec![panel("K = 1"), panel("K = 10"), panel("K = 100")],
        }
    }

    #[test]
    fn the_file_needs_nothing_else() {
        let svg = example().svg().unwrap();
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"") && svg.trim_end().ends_with("</svg>"));
        assert_eq!(svg.matches("http").count(), 1, "the name of the format is no address");
        for outside in ["<script", "@import", "url(", "href"] {
            assert!(!svg.contains(outside), "{outside}");
        }
        assert!(svg.contains("prefers-color-scheme: dark"));
    }

    #[test]
    fn axes_legend_and_levels_are_named_and_escaped() {
        let svg = example().svg().unwrap();
        for text in ["a &lt;chart&gt;", "how &amp; why", ">one<", ">other<", ">K = 100<", ">rank<", ">probability<", ">half<"] {
            assert!(svg.contains(text), "{text}\n{svg}");
        }
        assert!(!svg.contains("absent"), "no line has this key");
        assert_eq!(svg.matches("<polyline").count(), 3 * 2);
        assert_eq!(svg.matches("<circle").count(), 3 * 2 * 2, "a point that is no number has no dot");
    }
}
