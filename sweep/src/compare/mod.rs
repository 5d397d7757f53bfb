//! `ranksweep compare`: the methods of one sweep or several over all of their datasets, from stored tables.

mod average_ranks;
pub(crate) mod conventions;
mod dataset_pairs;
mod friedman;
mod unite;

use crate::{
    number::counted,
    report::{
        Style,
        across::{self, AcrossDatasets, Control, Data},
    },
    runner::{COMPARISON, Results, Session},
    tables::Status,
};
use anyhow::Result;
use dataset::{Location, quote};
use evaluator::MetricAt;
use unite::United;

/// A sweep that has run.
pub(crate) struct Ran {
    /// The sweep file as it was named, for messages.
    pub(crate) path: String,
    /// The sweep, opened.
    pub(crate) session: Session,
    /// Its stored tables.
    pub(crate) results: Results,
}

/// The methods over all datasets of the sweeps.
pub(crate) struct Compared {
    names: Vec<String>,
    across: AcrossDatasets,
    control: Option<Control>,
    remarks: Vec<String>,
}

/// What a dataset of the sweeps was prepared from.
fn source(sweeps: &[Ran], dataset: &str) -> String {
    let mut manifests = sweeps.iter().flat_map(|sweep| &sweep.results.manifests);
    manifests.find(|manifest| manifest.name == dataset).map_or_else(|| dataset.to_owned(), across::source_of)
}

impl Compared {
    /// Joins the sweeps and compares the methods that they have on all datasets, by the first sweep's primary metric where none is named;
    /// also each with the control, where there is one.
    ///
    /// # Errors
    /// [`Usage`](crate::usage::Usage) for sweeps that do not go together, fewer than two datasets or methods, a metric that a sweep has not,
    /// and a control that is no method of all datasets.
    pub(crate) fn new(sweeps: &[Ran], metric: Option<MetricAt>, control: Option<&str>) -> Result<Self> {
        let united = United::new(sweeps, metric)?;
        let across = AcrossDatasets::new(&Data {
            at: united.at,
            significance: &sweeps[0].session.plan.evaluation.significance,
            datasets: united.datasets.iter().map(String::as_str).collect(),
            sources: united.datasets.iter().map(|name| source(sweeps, name)).collect(),
            trials: &united.trials,
            values: &united.values,
            deciding: united.deciding.iter().collect(),
        });
        let across = across.map_err(unite::refusal)?;
        let control = control.map(|name| across.against(name).ok_or_else(|| no_control(&across, name))).transpose()?;
        let mut names: Vec<String> = sweeps.iter().map(|sweep| sweep.session.plan.name.clone()).collect();
        names.dedup();
        Ok(Self { names, across, control, remarks: sweeps.iter().filter_map(untrained).collect() })
    }

    /// Writes the tables, the diagram and the page into a folder, and gives the files' names.
    ///
    /// # Errors
    /// When something cannot be stored.
    pub(crate) fn write(&self, folder: &Location) -> Result<Vec<&'static str>> {
        let [ranks, friedman, pairs, diagram, page] = COMPARISON.map(|file| folder.join(file));
        average_ranks::write(&ranks, &self.across)?;
        friedman::write(&friedman, &self.across)?;
        dataset_pairs::write(&pairs, &self.across, self.control.as_ref())?;
        diagram.write(across::diagram(&self.across).svg()?)?;
        page.write(across::render(&self.names, &self.across, self.control.as_ref())?)?;
        Ok(COMPARISON.to_vec())
    }

    /// The findings for whoever reads standard output.
    pub(crate) fn terminal(&self, style: Style) -> String {
        let against = self.control.as_ref().map(|control| style.wrap(&across::against(&self.across, control)));
        let remarks = self.remarks.iter().map(|remark| style.wrap(&format!("Note. {remark}")));
        [Some(self.across.terminal(style)), against].into_iter().flatten().chain(remarks).collect::<Vec<_>>().join("\n")
    }
}

/// How many trials of a sweep have no part in the comparison, as its tables were made before they were trained.
fn untrained(sweep: &Ran) -> Option<String> {
    let missing = sweep.results.trials.iter().filter(|trial| trial.status == Status::Missing).count();
    let name = quote::value(&sweep.session.plan.name);
    (missing > 0).then(|| format!("When the tables of {name} were made, {} of its plan had not been trained.", counted(missing, "trial")))
}

fn no_control(across: &AcrossDatasets, name: &str) -> anyhow::Error {
    let titles: Vec<&str> = across.methods.iter().map(|method| method.title.as_str()).collect();
    unite::refusal(format!("--against: no method with a result on all datasets is called `{name}`; there are {}", titles.join(", ")))
}
