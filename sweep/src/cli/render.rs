//! `ranksweep render SWEEP.yaml`

use super::{Ending, Global, Usage, output};
use crate::{
    runner::Session,
    submission::{Target, chosen, submission},
};
use anyhow::Result;
use clap::Args;
use dataset::Location;

/// The objects of a sweep, for `kubectl apply` or a repository that a cluster follows.
#[derive(Debug, Args)]
pub struct Render {
    /// The sweep file
    sweep: String,
    /// The namespace of all objects
    #[arg(long, value_name = "NAME", default_value = "ranksweep")]
    namespace: String,
    /// The container image, in place of the sweep file's `resources.image`
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
    /// Look at neither the storage nor the source files, which need not be reached: the pod that prepares makes the plan of what it finds
    #[arg(long)]
    offline: bool,
    /// The folder for NAME.yaml, where NAME is the sweep's name; `-` prints it
    #[arg(short, long, value_name = "FOLDER", default_value = "-")]
    out: String,
}

impl Render {
    /// Renders; the cluster and the storage are left as they are.
    ///
    /// # Errors
    /// A bad sweep file, one with a table of printed values, sources that cannot be read, what [`submission`] refuses, or a folder that cannot be written.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let open = if self.offline { Session::offline } else { Session::open };
        let session = open(&self.sweep, global.storage.as_deref(), global.machine(), global.progress())?;
        if let Some(printed) = &session.file.printed {
            let reason = "the pod that prepares makes the plan of a sweep that is rendered, and does not see this table: submit the sweep, or leave `printed` out";
            return Err(printed.place().error(reason).into());
        }
        let target = Target { namespace: self.namespace.clone(), image: self.image.clone() };
        let submission = submission(&session, &target, chosen(&session)?.as_ref())?;
        let yaml = cluster::to_yaml(&cluster::objects(&submission)?);
        if self.out == "-" {
            output::print_exact(&yaml)?;
        } else {
            let folder = Location::parse(&self.out).map_err(|error| Usage(format!("--out: {error}")))?;
            let file = folder.join(&format!("{}.yaml", submission.name));
            file.write(yaml)?;
            output::print(&format!("{file}\n"))?;
        }
        Ok(Ending::Done)
    }
}
