//! The variables by which torchrun, and who follows it, tells processes how to find each other.

use std::time::Duration;
use trainer::{Rendezvous, Secret};

/// The longest that a process waits for the others to be there. On a cluster their nodes may have to be made first.
const PATIENCE: Duration = Duration::from_secs(30 * 60);

/// The variable that torchrun does not have: what the processes know each other by.
const SECRET: &str = "RANKSWEEP_RENDEZVOUS_SECRET";

/// The variables that a launcher has set for this process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Launched {
    /// The place where processes meet; `None` where this is the only one.
    pub(super) rendezvous: Option<Rendezvous>,
    /// `LOCAL_RANK`: the GPU of this process, where a launcher starts one process for each.
    pub(super) gpu: Option<usize>,
}

/// Reads the variables.
///
/// # Errors
/// In words: one that is missing beside the others, or cannot be.
pub(super) fn launched(variable: &dyn Fn(&str) -> Option<String>) -> Result<Launched, String> {
    let gpu = variable("LOCAL_RANK").map(|text| number("LOCAL_RANK", &text, "the number of a GPU, from 0")).transpose()?;
    let Some(world) = variable("WORLD_SIZE") else { return Ok(Launched { rendezvous: None, gpu }) };
    let world: u32 = number("WORLD_SIZE", &world, "the number of processes")?;
    if world <= 1 {
        return Ok(Launched { rendezvous: None, gpu });
    }
    let needed = |name: &str| variable(name).ok_or_else(|| format!("WORLD_SIZE is {world} and {name} is not set: all processes need it"));
    let (address, port) = (needed("MASTER_ADDR")?, number("MASTER_PORT", &needed("MASTER_PORT")?, "a port")?);
    let rank = number("RANK", &needed("RANK")?, "the number of this process, from 0")?;
    if rank >= world {
        return Err(format!("RANK is {rank} and WORLD_SIZE is {world}: expected a number below it"));
    }
    let secret = variable(SECRET).ok_or_else(|| {
        let advice = "give all processes the same one, such as `openssl rand -hex 32` makes, or `resources.secret` a key of that name";
        format!("WORLD_SIZE is {world} and {SECRET} is not set: {advice}")
    })?;
    let secret = Secret::new(&secret).map_err(|reason| format!("{SECRET}: {reason}"))?;
    Ok(Launched { rendezvous: Some(Rendezvous { address, port, rank, world, limit: PATIENCE, secret }), gpu })
}

fn number<T: std::str::FromStr>(name: &str, text: &str, what: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{name} is `{text}`, expected {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Launched, String> {
        launched(&|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    const ALL: [(&str, &str); 5] = [
        ("MASTER_ADDR", "job-0.job"),
        ("MASTER_PORT", "29500"),
        ("WORLD_SIZE", "4"),
        ("RANK", "3"),
        ("RANKSWEEP_RENDEZVOUS_SECRET", "0123456789abcdef"),
    ];

    #[test]
    fn processes_meet_where_the_variables_say() {
        let launched = read(&ALL).unwrap();
        let secret = Secret::new("0123456789abcdef").unwrap();
        let rendezvous = Rendezvous { address: "job-0.job".to_owned(), port: 29_500, rank: 3, world: 4, limit: PATIENCE, secret };
        assert_eq!(launched, Launched { rendezvous: Some(rendezvous), gpu: None });
        assert_eq!(read(&[&ALL[..], &[("LOCAL_RANK", "1")]].concat()).unwrap().gpu, Some(1));
    }

    #[test]
    fn one_process_meets_nobody() {
        assert_eq!(read(&[]).unwrap(), Launched::default());
        assert_eq!(read(&[("WORLD_SIZE", "1")]).unwrap(), Launched::default());
    }

    #[test]
    fn what_is_missing_or_cannot_be_is_named() {
        let without = |name: &str| read(&ALL.into_iter().filter(|(known, _)| *known != name).collect::<Vec<_>>()).unwrap_err();
        for name in ["MASTER_ADDR", "MASTER_PORT", "RANK"] {
            assert_eq!(without(name), format!("WORLD_SIZE is 4 and {name} is not set: all processes need it"));
        }
        let unknown = without("RANKSWEEP_RENDEZVOUS_SECRET");
        assert!(
            unknown.starts_with("WORLD_SIZE is 4 and RANKSWEEP_RENDEZVOUS_SECRET is not set: give all processes the same one"),
            "{unknown}"
        );
        assert_eq!(read(&[("WORLD_SIZE", "two")]).unwrap_err(), "WORLD_SIZE is `two`, expected the number of processes");
        let with = |name, value| read(&[&[(name, value)], &ALL[..]].concat()).unwrap_err();
        assert_eq!(with("RANK", "4"), "RANK is 4 and WORLD_SIZE is 4: expected a number below it");
        assert_eq!(with("MASTER_PORT", "70000"), "MASTER_PORT is `70000`, expected a port");
        let short = with("RANKSWEEP_RENDEZVOUS_SECRET", "hunter2");
        assert_eq!(short, "RANKSWEEP_RENDEZVOUS_SECRET: a secret of 7 characters can be guessed: expected at least 16");
    }
}
