//! The objects of a submission, as they are created.
//!
//! One file for each idea: the stages' Jobs (`stage`), a trial over several nodes (`gang`), a preparation with executors (`executors`) and who may reach them
//! (`network_policy`), the driver (`driver`), and of what they are made: the pod (`pod`), its volumes, its environment, the command line, and what becomes of a pod that ends (`policy`).

mod command;
mod config_map;
mod driver;
mod environment;
mod executors;
mod gang;
mod metadata;
mod network_policy;
mod object;
mod pod;
mod policy;
mod stage;
mod volumes;

pub use driver::ACCOUNT;
pub use object::Object;

use crate::{Resources, Result, Stage, Submission};
use sha2::{Digest, Sha256};

/// All objects of a submission in the order of their creation: the driver first, so that it can own the others, then the ConfigMap, and
/// what the stages are made of.
///
/// # Errors
/// Those of [`Submission::check`].
pub fn objects(submission: &Submission) -> Result<Vec<Object>> {
    submission.check()?;
    Ok(render(submission, &submission.hash()))
}

/// The same objects under names that no submission has, as no hash has such letters: for a dry run while those of an earlier try stand.
pub(crate) fn renamed(submission: &Submission) -> Vec<Object> {
    render(submission, "rehearse")
}

impl Submission {
    /// The first digits of a hash of all that is submitted: what differs in anything has objects of its own. What may change while it runs
    /// is no part of it: `parallelism` and `ttl_seconds_after_finished`.
    pub fn hash(&self) -> String {
        let Resources { parallelism, ttl_seconds_after_finished, .. } = Resources::default();
        let resources = Resources { parallelism, ttl_seconds_after_finished, ..self.resources.clone() };
        let unnamed = render(&Self { resources, text: self.meaning.clone(), ..self.clone() }, "");
        let text = serde_json::to_string(&unnamed).expect("objects are plain data");
        hex::encode(&Sha256::digest(text)[..4])
    }
}

/// The objects under names with a hash.
fn render(submission: &Submission, hash: &str) -> Vec<Object> {
    let context = RenderContext { submission, hash };
    let first = [Object::from(driver::job(&context)), Object::from(config_map::config_map(&context))];
    let policies = network_policy::network_policies(&context).map(Object::from);
    let stages = submission.stages.iter().flat_map(|&stage| of_stage(&context, stage));
    first.into_iter().chain(policies).chain(stages).collect()
}

/// A submission under a hash: what every object is made from.
struct RenderContext<'a> {
    submission: &'a Submission,
    hash: &'a str,
}

impl RenderContext<'_> {
    fn name(&self, suffix: &str) -> String {
        self.submission.object_name(self.hash, suffix)
    }
}

/// The names of a stage's Jobs.
fn names(context: &RenderContext<'_>, stage: Stage) -> Vec<String> {
    let name = context.name(&stage.suffix());
    match stage {
        Stage::Train { trials, .. } if context.submission.resources.nodes > 1 => {
            (0..trials).map(|trial| format!("{name}-{trial}")).collect()
        }
        _ => vec![name],
    }
}

fn of_stage(context: &RenderContext<'_>, stage: Stage) -> Vec<Object> {
    match stage {
        Stage::Prepare if context.submission.executors > 0 => executors::prepare(context).into(),
        Stage::Prepare => vec![stage::prepare(context).into()],
        Stage::Train { trials, .. } if context.submission.resources.nodes > 1 => {
            (0..trials).flat_map(|index| gang::gang(context, stage, index)).collect()
        }
        Stage::Train { trials, rung } => vec![stage::train(context, trials, rung).into()],
        Stage::Evaluate => vec![stage::evaluate(context).into()],
    }
}
