//! `ranksweep submit SWEEP.yaml`

use super::{Ending, Global, namespace::Namespace, output};
use crate::{
    runner::Session,
    submission::{Target, plan_location, submission},
};
use anyhow::{Result, bail};
use clap::Args;
use cluster::{
    client::{Cluster, How, Submitted, rehearse, wait},
    drive::{Outcome, Pause},
};
use dataset::block_on;
use std::fmt::Write;

/// A sweep on its way to a cluster.
#[derive(Debug, Args)]
pub struct Submit {
    /// The sweep file
    sweep: String,
    #[command(flatten)]
    namespace: Namespace,
    /// The container image, in place of the sweep file's `resources.image`
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
    /// Stop the sweep as it was submitted before, if that still runs; what it has trained is kept and used
    #[arg(long)]
    replace: bool,
    /// Wait until the sweep has ended on the cluster, and tell how it goes; the exit code is then the sweep's
    #[arg(long)]
    wait: bool,
}

impl Submit {
    /// Checks everything, stores the plan, and creates the objects.
    ///
    /// # Errors
    /// A bad sweep file, what [`submission`] refuses, what the cluster would refuse, or a store that fails; nothing is created then.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let session = Session::open(&self.sweep, global.storage.as_deref(), global.machine(), global.progress())?;
        let target = Target { namespace: self.namespace.name().to_owned(), image: self.image.clone() };
        let submission = submission(&session, &target)?;
        let cluster = self.namespace.cluster()?;
        let rehearsed = block_on(rehearse(&cluster, &submission, self.replace))?;
        if !rehearsed.is_needless() {
            plan_location(&session).write(session.plan.to_json())?;
        }
        let submitted = block_on(rehearsed.create(&cluster))?;
        output::print(&self.words(&session, &submitted))?;
        if self.wait { ended(&cluster, &session.plan.name, &submitted.hash) } else { Ok(Ending::Done) }
    }

    /// What was done, and what can be done next.
    fn words(&self, session: &Session, submitted: &Submitted) -> String {
        let (sweep, hash, namespace) = (&session.plan.name, &submitted.hash, self.namespace.name());
        let mut text = match submitted.how {
            How::Created => {
                format!("sweep {sweep}: submitted to namespace {namespace} as {hash}, {} trials\n", session.plan.trials().count())
            }
            How::Restarted => format!("sweep {sweep}: submission {hash} had ended with failures, and starts again; what is done is kept\n"),
            How::Completed(count) => format!("sweep {sweep}: {count} objects of submission {hash} were missing, and are there again\n"),
            How::Running => format!("sweep {sweep}: submission {hash} is on the cluster and has not ended; nothing was changed\n"),
            How::Done => format!("sweep {sweep}: submission {hash} is done; nothing was changed. Its tables are in {}\n", session.folder()),
        };
        for other in &submitted.replaced {
            let _ = writeln!(text, "submission {other} was stopped: this one takes its place, and uses what it has trained");
        }
        for other in &submitted.left {
            let _ = writeln!(text, "submission {other} has ended, and its objects are left; `ranksweep cancel` removes them");
        }
        for warning in &submitted.warnings {
            let _ = writeln!(text, "the cluster warns: {warning}");
        }
        if submitted.how != How::Done {
            let _ = writeln!(text, "`ranksweep status {} --namespace {namespace}` shows how it fares", self.sweep);
        }
        text
    }
}

/// Waits for the end of the sweep, and tells on the way how it goes.
fn ended(cluster: &Cluster, sweep: &str, hash: &str) -> Result<Ending> {
    let mut printed = Ok(());
    let mut news = |pause: &Pause| printed = output::print(&format!("{pause}\n"));
    let outcome = block_on(wait(cluster, sweep, hash, &mut news))?;
    printed?;
    match outcome {
        Outcome::Done => output::print(&format!("{outcome}\n")).map(|()| Ending::Done),
        outcome => bail!("{outcome}"),
    }
}
