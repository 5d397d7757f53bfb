//! `ranksweep submit SWEEP.yaml`

use super::{
    Ending, Global,
    hint::Hint,
    namespace::{Namespace, way},
    output,
};
use crate::{
    file::Named,
    runner::{self, Session, Standing},
    status::{find, without_model},
    submission::{Target, chosen, plan_location, submission},
};
use anyhow::{Result, bail};
use clap::Args;
use cluster::{
    client::{Conditions, How, Submitted, rehearse, standing_batch, wait},
    stages::Outcome,
};
use dataset::{Location, block_on};
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
    /// Also try trials again that failed in a way that is remembered, as after another image; not those of a submission that has not ended
    #[arg(long)]
    retry_failed: bool,
}

impl Submit {
    /// Checks everything, stores the plan, and creates the objects.
    ///
    /// # Errors
    /// A bad sweep file, what [`submission`] refuses, what the cluster would refuse, or a store that fails; nothing is created then.
    pub fn run(&self, global: &Global) -> Result<Ending> {
        let session = Session::open(&self.sweep, global.storage.as_deref(), global.machine(), global.progress())?;
        let target = Target { namespace: self.namespace.name().to_owned(), image: self.image.clone() };
        let chosen = chosen(&session)?;
        let mut submission = submission(&session, &target, chosen.as_ref())?;
        let cluster = self.namespace.cluster()?;
        let is_open = session.file.resources.value.trials_per_pod.is_none();
        if let (true, Some(standing)) = (is_open, block_on(standing_batch(&cluster, &submission))?) {
            submission.resources.trials_per_pod = Some(standing);
        }
        let tables = runner::find_tables_of_plan(&session)?;
        let conditions = Conditions { replace: self.replace, has_tables: tables.is_some() };
        let mut rehearsed = block_on(rehearse(&cluster, &submission, conditions))?;
        if rehearsed.is_of_failed_trials() && tables.is_some() && !self.retry_failed && would_fail_again(&session)? {
            rehearsed = rehearsed.leave();
        }
        if !rehearsed.is_needless() {
            plan_location(&session).write(session.plan.to_json())?;
        }
        if self.retry_failed && rehearsed.starts() {
            runner::forget_failures(&session)?;
        }
        let submitted = block_on(rehearsed.create(&cluster))?;
        let batches = chosen.filter(|_| matches!(submitted.how, How::Created)).map_or_else(String::new, |chosen| chosen.words());
        output::print(&(self.words(&session, &submitted, tables.as_ref(), global) + &batches))?;
        if self.wait { self.ended(&session, &submitted.hash, global) } else { Ok(Ending::Done) }
    }

    fn hint<'a>(&'a self, global: &'a Global) -> Hint<'a> {
        Hint { sweep: &self.sweep, namespace: self.namespace.name(), storage: global.storage.as_deref() }
    }

    /// The outcome, and the commands that can follow.
    fn words(&self, session: &Session, submitted: &Submitted, tables: Option<&Location>, global: &Global) -> String {
        let (sweep, hash, namespace, hint) = (&session.plan.name, &submitted.hash, self.namespace.name(), self.hint(global));
        let mut text = match submitted.how {
            How::Created => {
                format!("sweep {sweep}: submitted to namespace {namespace} as {hash}, {} trials\n", session.plan.trials().count())
            }
            How::Restarted => format!("sweep {sweep}: submission {hash} had ended with failures, and starts again; what is done is kept\n"),
            How::Completed(count) => format!("sweep {sweep}: {count} objects of submission {hash} were missing, and are there again\n"),
            How::Running => format!("sweep {sweep}: submission {hash} is on the cluster and has not ended; nothing was changed\n"),
            How::Adjusted => {
                let resources = &session.file.resources.value;
                let (parallelism, ttl) = (resources.parallelism, resources.ttl_seconds_after_finished);
                format!("sweep {sweep}: submission {hash} runs on, with parallelism {parallelism} and ttl_seconds_after_finished {ttl}\n")
            }
            How::Renewed => format!(
                "sweep {sweep}: submission {hash} was done, and its tables are no more in {}; it starts again, and takes what is stored of its trials\n",
                session.folder()
            ),
            How::Done => {
                let tables = tables.map_or_else(|| session.folder(), Location::clone);
                format!("sweep {sweep}: submission {hash} is done; nothing was changed. Its tables are in {tables}\n")
            }
            How::Settled => format!(
                "sweep {sweep}: submission {hash} is done, but for trials that would fail again ({} says why); nothing was changed. With \
                 --retry-failed they are trained anew\n",
                hint.stored("status")
            ),
        };
        for other in &submitted.replaced {
            let _ = writeln!(text, "submission {other} was stopped: this one takes its place, and uses what it has trained");
        }
        for other in &submitted.left {
            let cancel = hint.command("cancel", &["--submission", other]);
            let _ = writeln!(text, "submission {other} has ended, and its objects are left; {cancel} removes them");
        }
        for warning in &submitted.warnings {
            let _ = writeln!(text, "the cluster warns: {warning}");
        }
        if !matches!(submitted.how, How::Done | How::Settled) {
            let _ = writeln!(text, "{} shows how it fares", hint.stored("status"));
        }
        text
    }

    /// Waits for the end of the sweep, and tells on the way how it goes.
    fn ended(&self, session: &Session, hash: &str, global: &Global) -> Result<Ending> {
        let (cluster, sweep) = (self.namespace.cluster()?, &session.plan.name);
        let mut printed = Ok(());
        let mut news = |line: &str| printed = output::print(&format!("{line}\n"));
        let outcome = block_on(wait(&cluster, sweep, hash, &mut news))?;
        printed?;
        match outcome {
            Outcome::Done => output::print(&format!("{outcome}\n")).map(|()| Ending::Done),
            outcome if outcome.is_of_trials() => bail!("{}", self.failed_trials(global).unwrap_or_else(|| outcome.to_string())),
            outcome => bail!("{}", self.hint(global).ending(&outcome, hash)),
        }
    }

    /// Which trials failed, and why, as far as storage and pods tell.
    fn failed_trials(&self, global: &Global) -> Option<String> {
        let named = Named::of(&self.sweep).ok()?;
        without_model(&find(&named, &way(global), &self.namespace.cluster()).ok()?.trials)
    }
}

/// Whether every trial has ended, so that to start again would give nothing new.
fn would_fail_again(session: &Session) -> Result<bool> {
    let has_ended =
        |standing: &Standing| matches!(standing, Standing::Done(_) | Standing::Stopped(_) | Standing::Skipped | Standing::Failed(_));
    Ok(runner::standings(session)?.iter().all(has_ended))
}
