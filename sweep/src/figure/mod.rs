//! Pictures: axes for the report's page, and whole charts as SVG files. Both have the colours of `theme.css`, for light and for dark.

mod axis;
mod chart;
#[cfg(test)]
mod contrast;
mod critical_difference;
mod layout;

pub(crate) use axis::{Axis, Size, Tick, apart, line};
pub(crate) use chart::{Chart, LegendEntry, Line, Panel, PlotStyle};
pub(crate) use critical_difference::{CriticalDifference, LabelledRank};
