//! `ranksweep init FILE`

use super::{Ending, Global, Usage, output};
use crate::{
    init::{self, Recognised},
    shell::quoted,
};
use anyhow::Result;
use clap::Args;
use dataset::Location;
use pipeline::{Preview, Source, source::KnownColumns};

/// A first sweep file for data that is there.
#[derive(Debug, Args)]
pub struct Init {
    /// The interactions: a file, a folder, or a pattern; text with any separator, JSON lines, Parquet, MovieLens, RecBole; also compressed, or a zip
    data: String,
    /// The sweep file to write; when left out the name of the data with .yaml
    #[arg(short, long, value_name = "FILE")]
    out: Option<String>,
    /// The column with the user's id: its name, or its index from 0 where columns have no names; found by itself when left out
    #[arg(long, value_name = "COLUMN")]
    user: Option<String>,
    /// The column with the item's id
    #[arg(long, value_name = "COLUMN")]
    item: Option<String>,
    /// The column with the rating; `none` leaves it out
    #[arg(long, value_name = "COLUMN")]
    rating: Option<String>,
    /// The column with the time; `none` leaves it out
    #[arg(long, value_name = "COLUMN")]
    timestamp: Option<String>,
    /// Leave out rows that cannot be read, by `on_bad_row: skip`; they are counted and listed where the data is prepared
    #[arg(long)]
    skip_bad_rows: bool,
}

impl Init {
    /// Looks at the data and writes the sweep file.
    ///
    /// # Errors
    /// Data that cannot be read or recognised, or a file that is there already.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let data = if is_folder(&self.data) { format!("{}/", self.data) } else { self.data.clone() };
        let out = self.out.clone().unwrap_or_else(|| format!("{}.yaml", init::name(&data)));
        let at = Location::parse(&out).map_err(|error| Usage(format!("--out: {error}")))?;
        if at.exists()? {
            return Err(Usage(format!("{at} is there already; name another file by --out, or remove it")).into());
        }
        let Self { user, item, rating, timestamp, .. } = self;
        let known = KnownColumns { user: user.clone(), item: item.clone(), rating: rating.clone(), timestamp: timestamp.clone() };
        let mut source = Source::recognise(&data, known).map_err(of_flags)?;
        let words = source.words();
        if self.skip_bad_rows && !source.skip_bad_rows() {
            return Err(Usage(format!("--skip-bad-rows: {data} is taken for {words}, which has no `on_bad_row`")).into());
        }
        let preview = Preview::read(&source).map_err(|error| {
            let is_of_row = matches!(error, pipeline::Error::Row { .. });
            let advice = match is_of_row && source.clone().skip_bad_rows() {
                true => " (--skip-bad-rows leaves such rows out, --rating none or --timestamp none a column)",
                false => " (--rating none or --timestamp none leaves a column out)",
            };
            anyhow::Error::new(error).context(format!("{data}, taken for {words}{advice}"))
        })?;
        let data = Recognised { path: data, source, preview };
        let text = init::sweep_file(&data, &out, global.storage.as_deref().unwrap_or("./runs"))?;
        at.write(text)?;
        output::print(&format!(
            "{}\n\nWrote {at}. Next: ranksweep plan {out}, then ranksweep run {out}\n",
            init::found(&data).join("\n"),
            out = quoted(&out)
        ))?;
        Ok(Ending::Done)
    }
}

/// Whether the data is a folder that is named without the `/` which sweep files ask for.
fn is_folder(data: &str) -> bool {
    !data.ends_with('/') && Location::parse(data).is_ok_and(|at| at.local_path().is_some_and(|path| path.is_dir()))
}

/// What the flags lack or name wrongly is of the command line.
fn of_flags(error: pipeline::Error) -> anyhow::Error {
    match error {
        pipeline::Error::Setting { reason, .. } => Usage(reason).into(),
        other => other.into(),
    }
}
