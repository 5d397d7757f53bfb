//! Where trials are trained: on GPUs of this machine, or on its CPU.

use super::{
    left::{left_to_candle, left_to_one_rank, left_to_the_cpu, needs_one_rank},
    torchrun::{Launched, launched},
};
use crate::{
    file::{AskedDevice, SweepFile},
    plan::Plan,
    usage::Usage,
};
use anyhow::{Result, bail};
use trainer::{Device, Ranks, Rendezvous, Trial, fits_gpu};

/// The devices that this process trains with.
#[derive(Clone, Debug, PartialEq)]
pub struct Devices {
    /// The GPUs of one trial; `None` where everything is trained on the CPU.
    gpus: Option<Gpus>,
    /// The place where the processes meet that train one trial together.
    rendezvous: Option<Rendezvous>,
    /// Trials that this process trains beside each other, with these devices and others.
    at_once: usize,
}

/// The GPUs of one trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gpus {
    /// The first one's number.
    first: usize,
    count: u32,
    /// Trials that the GPUs which this process sees can train at once, `count` GPUs each; one where a launcher has a process for each GPU, or several
    /// processes train one trial.
    slots: usize,
    /// Trials that share them; one where several GPUs, or several processes, train one trial.
    sharing: usize,
}

/// The devices that are asked for, and those that there are.
struct Situation<'a> {
    asked: AskedDevice,
    /// `resources.gpus`.
    gpus: u32,
    /// `resources.trials_per_gpu`.
    sharing: u32,
    /// Whether this is a pod, which was given what it asked for.
    is_submitted: bool,
    built: Built,
    /// How many GPUs there are, or why that cannot be known.
    count: &'a dyn Fn() -> Result<usize, String>,
    launched: Launched,
}

/// The features that this program was built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Built {
    cuda: bool,
    nccl: bool,
}

const BUILT: Built = Built { cuda: cfg!(feature = "cuda"), nccl: cfg!(feature = "nccl") };

/// Why this process cannot train as it is asked to.
#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    /// The key or the build is wrong, on any machine.
    Asked(String),
    /// The machine is.
    Machine(String),
}

impl Devices {
    /// The devices that the sweep file asks for, on this machine.
    ///
    /// # Errors
    /// [`file::Error`](crate::file::Error) for a build that cannot do it; [`Usage`] for a launcher's variables that do not
    /// fit together; others for a machine that cannot.
    pub(super) fn find(file: &SweepFile, is_submitted: bool) -> Result<Self> {
        let launched = launched(&|name| std::env::var(name).ok()).map_err(Usage)?;
        let (asked, gpus, sharing) = (file.device.value, file.resources.value.gpus, file.resources.value.trials_per_gpu);
        let count = || trainer::device::count().map_err(|error| error.to_string());
        let situation = Situation { asked, gpus, sharing, is_submitted, built: BUILT, count: &count, launched };
        let devices = choose(situation).map_err(|refusal| match refusal {
            Refusal::Asked(reason) => file.device.place().error(reason).into(),
            Refusal::Machine(reason) => anyhow::anyhow!("{reason}"),
        })?;
        if sharing > 1 && devices.gpus.is_none() {
            tracing::warn!("trials_per_gpu is {sharing}, and there is no GPU here: trials are trained on the CPU, one after the other");
        }
        Ok(devices)
    }

    /// Where a trial is trained, and by how many ranks; `None` where another of the processes that train together does it alone.
    pub(super) fn of(&self, trial: &Trial) -> Option<(Device, Ranks)> {
        let (device, local) = match self.gpus {
            Some(Gpus { first, count, .. }) if fits_gpu(trial).is_ok() => (Device::Cuda { ordinal: first }, count),
            _ => (Device::Cpu, 1),
        };
        if device != Device::Cpu && needs_one_rank(trial).is_none() {
            return Some((device, Ranks { nodes: self.rendezvous.clone(), ..Ranks::threads(local) }));
        }
        self.is_first().then(|| (device, Ranks::default()))
    }

    /// Whether this is the first of the processes that train one trial together, or the only one.
    pub(super) fn is_first(&self) -> bool {
        self.rendezvous.as_ref().is_none_or(|rendezvous| rendezvous.rank == 0)
    }

    /// The devices of each trial that can be trained at the same time: all of these GPUs, as many for each trial as one takes. Where trials share a
    /// GPU it comes again after all others have, so that few trials are on as many GPUs as there are.
    pub(super) fn slots(&self) -> Vec<Self> {
        let Some(Gpus { first, count, slots, sharing }) = self.gpus else { return vec![self.clone()] };
        let at_once = slots * sharing;
        let of_slot = |slot: usize| Self {
            gpus: Some(Gpus { first: first + slot % slots * count as usize, count, slots: 1, sharing: 1 }),
            at_once,
            ..self.clone()
        };
        (0..at_once).map(of_slot).collect()
    }

    /// The devices of each trial that can be trained at the same time on the first of these GPUs.
    pub(super) fn slots_of_first(&self) -> Vec<Self> {
        Self { gpus: self.gpus.map(|gpus| Gpus { slots: 1, ..gpus }), ..self.clone() }.slots()
    }

    /// The part of so many bytes for buffers that a trial has, beside those that are trained at the same time.
    pub(super) fn memory(&self, all: usize) -> usize {
        all / self.at_once
    }

    /// Refuses several processes for more than one trial: they would come apart where one of them fails.
    pub(super) fn refuse_processes(&self) -> Result<()> {
        match &self.rendezvous {
            Some(Rendezvous { world, .. }) => bail!(
                "WORLD_SIZE is {world}: several processes train one trial together, which `ranksweep train --index` or `--trial` names; \
                 unset it to train all of them"
            ),
            None => Ok(()),
        }
    }

    /// The devices, and what they leave to the CPU or to one rank and why, in one line; `None` where the CPU is all there is.
    pub(super) fn line(&self, plan: &Plan) -> Option<String> {
        let Gpus { first, count, slots, sharing } = self.gpus?;
        let name = trainer::device::look(first).map_or_else(|error| error.to_string(), |gpu| gpu.name);
        let ranks = count.saturating_mul(self.rendezvous.as_ref().map_or(1, |rendezvous| rendezvous.world));
        let mut parts =
            vec![format!("trained on cuda:{first} ({name}{})", if ranks > 1 { format!(", {ranks} ranks") } else { String::new() })];
        let alone = if ranks > 1 { left_to_one_rank(plan) } else { String::new() };
        let left = [("on the CPU", left_to_the_cpu(plan)), ("by candle's operations", left_to_candle(plan)), ("by one rank", alone)];
        let left = left.into_iter().filter(|(_, left)| !left.is_empty());
        parts.extend(left.map(|(how, left)| format!("{how}: {left}")));
        let at_once = slots * sharing;
        match (slots, sharing) {
            (1, 1) => {}
            (1, _) => parts.push(format!("`run` and `train` train {at_once} trials at once, all of them there")),
            (_, 1) => parts.push(format!("`run` and `train` train {at_once} trials at once, each on GPUs of its own from cuda:{first} on")),
            _ => parts.push(format!("`run` and `train` train {at_once} trials at once, {sharing} on each GPU from cuda:{first} on")),
        }
        Some(parts.join("; "))
    }
}

fn choose(situation: Situation<'_>) -> Result<Devices, Refusal> {
    match (situation.asked, situation.built.cuda) {
        (AskedDevice::Cuda, false) => Err(Refusal::Asked(NO_CUDA.to_owned())),
        (AskedDevice::Cpu, _) => on_cpu(situation.launched.rendezvous),
        (AskedDevice::Auto, false) => {
            if situation.is_submitted && situation.gpus > 0 {
                tracing::warn!("this build trains on the CPU: its pod's GPUs are idle (k8s/Containerfile.cuda makes an image for them)");
            }
            on_cpu(situation.launched.rendezvous)
        }
        (_, true) => on_gpus(situation),
    }
}

fn on_cpu(rendezvous: Option<Rendezvous>) -> Result<Devices, Refusal> {
    match rendezvous {
        Some(Rendezvous { world, .. }) => Err(Refusal::Asked(format!(
            "WORLD_SIZE is {world}: several processes train one trial on GPUs alone, and this one would train it on the CPU"
        ))),
        None => Ok(Devices { gpus: None, rendezvous: None, at_once: 1 }),
    }
}

/// On GPUs if they are there, in a build that has CUDA.
fn on_gpus(situation: Situation<'_>) -> Result<Devices, Refusal> {
    let Situation { asked, gpus, sharing, is_submitted, built, count, launched: Launched { rendezvous, gpu } } = situation;
    let there = match count() {
        Ok(there) if there > 0 => there,
        // A laptop reads the same sweep file as a pod, which was promised its GPUs.
        counted if asked == AskedDevice::Cuda || (is_submitted && gpus > 0) => {
            let reason = counted.err().unwrap_or_else(|| "the driver shows none to this process".to_owned());
            return Err(Refusal::Machine(format!("no GPU can be used: {reason}; `nvidia-smi` tells what the driver sees")));
        }
        Err(reason) => {
            tracing::warn!("the driver of the GPUs cannot be asked ({reason}): trials are trained on the CPU");
            return on_cpu(rendezvous);
        }
        Ok(_) => return on_cpu(rendezvous),
    };
    let (first, count) = gpu.map_or((0, gpus.max(1)), |gpu| (gpu, 1));
    if first.saturating_add(count as usize) > there {
        let asked = gpu.map_or_else(|| format!("resources.gpus is {count}"), |gpu| format!("LOCAL_RANK is {gpu}"));
        return Err(Refusal::Machine(format!("{asked}, and this process sees {there} GPUs; take as many as there are, or `device: cpu`")));
    }
    if (count > 1 || rendezvous.is_some()) && !built.nccl {
        let reason = "several GPUs train one trial by NCCL, which this build is without: build it with `--features nccl`";
        return Err(Refusal::Asked(reason.to_owned()));
    }
    let slots = if gpu.is_some() || rendezvous.is_some() { 1 } else { there / count as usize };
    let sharing = if count > 1 || rendezvous.is_some() { 1 } else { sharing as usize };
    Ok(Devices { gpus: Some(Gpus { first, count, slots, sharing }), rendezvous, at_once: 1 })
}

const NO_CUDA: &str = "device is cuda, and this build trains on the CPU alone: build it with `cargo install --path sweep --locked --features nccl` where \
                       CUDA is, or use the image of k8s/Containerfile.cuda (docs/gpu.md says how); `device: auto` trains on the CPU where it must";

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const CPU: Built = Built { cuda: false, nccl: false };
    const FULL: Built = Built { cuda: true, nccl: true };

    fn on(asked: AskedDevice, built: Built, gpus: u32, there: usize, launched: Launched, is_submitted: bool) -> Result<Devices, Refusal> {
        choose(Situation { asked, gpus, sharing: 1, is_submitted, built, count: &|| Ok(there), launched })
    }

    /// GPUs of which each has so many trials.
    fn shared(sharing: u32, gpus: u32, there: usize, launched: Launched) -> Devices {
        choose(Situation { asked: AskedDevice::Auto, gpus, sharing, is_submitted: false, built: FULL, count: &|| Ok(there), launched })
            .unwrap()
    }

    fn alone(asked: AskedDevice, built: Built, gpus: u32, there: usize) -> Result<Devices, Refusal> {
        on(asked, built, gpus, there, Launched::default(), false)
    }

    fn of_two(rank: u32) -> Launched {
        let secret = trainer::Secret::new("0123456789abcdef").unwrap();
        let rendezvous = Rendezvous { address: "a".to_owned(), port: 1, rank, world: 2, limit: Duration::ZERO, secret };
        Launched { rendezvous: Some(rendezvous), gpu: None }
    }

    fn used(devices: Result<Devices, Refusal>) -> Option<(usize, u32)> {
        devices.unwrap().gpus.map(|gpus| (gpus.first, gpus.count))
    }

    #[test]
    fn auto_takes_a_gpu_where_build_and_machine_have_one() {
        assert_eq!(used(alone(AskedDevice::Auto, FULL, 0, 1)), Some((0, 1)));
        assert_eq!(used(alone(AskedDevice::Auto, FULL, 0, 0)), None);
        assert_eq!(used(alone(AskedDevice::Auto, CPU, 0, 1)), None);
        assert_eq!(used(alone(AskedDevice::Cpu, FULL, 0, 1)), None);
    }

    #[test]
    fn a_build_or_a_machine_without_a_gpu_refuses_cuda() {
        assert_eq!(alone(AskedDevice::Cuda, CPU, 0, 1), Err(Refusal::Asked(NO_CUDA.to_owned())));
        let Err(Refusal::Machine(reason)) = alone(AskedDevice::Cuda, FULL, 0, 0) else { panic!() };
        assert!(reason.starts_with("no GPU can be used: the driver shows none"), "{reason}");
    }

    #[test]
    fn a_pod_that_was_promised_gpus_does_not_do_without() {
        let there = |gpus| on(AskedDevice::Auto, FULL, gpus, 0, Launched::default(), true);
        assert!(matches!(there(1), Err(Refusal::Machine(_))));
        assert_eq!(used(there(0)), None);
        assert_eq!(used(alone(AskedDevice::Auto, FULL, 1, 0)), None, "a laptop does");
    }

    #[test]
    fn a_trial_has_as_many_gpus_as_resources_say_and_are_there() {
        assert_eq!(used(alone(AskedDevice::Auto, FULL, 4, 8)), Some((0, 4)));
        let Err(Refusal::Machine(reason)) = alone(AskedDevice::Auto, FULL, 4, 2) else { panic!() };
        assert!(reason.starts_with("resources.gpus is 4, and this process sees 2 GPUs"), "{reason}");
        let without_nccl = Built { nccl: false, ..FULL };
        assert!(matches!(alone(AskedDevice::Auto, without_nccl, 2, 2), Err(Refusal::Asked(reason)) if reason.contains("NCCL")));
        assert_eq!(used(alone(AskedDevice::Auto, without_nccl, 1, 2)), Some((0, 1)));
        let slots = |gpus, there| {
            let slots = alone(AskedDevice::Auto, FULL, gpus, there).unwrap().slots();
            slots.iter().map(|slot| slot.gpus.map(|gpus| (gpus.first, gpus.count, gpus.slots)).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(slots(0, 1), [(0, 1, 1)]);
        assert_eq!(slots(0, 3), [(0, 1, 1), (1, 1, 1), (2, 1, 1)]);
        assert_eq!((slots(2, 5), slots(3, 4)), (vec![(0, 2, 1), (2, 2, 1)], vec![(0, 3, 1)]));
        let launched = on(AskedDevice::Auto, FULL, 2, 4, Launched { gpu: Some(3), ..Launched::default() }, false).unwrap();
        assert_eq!(launched.slots().len(), 1, "another process has the others");
        assert_eq!(alone(AskedDevice::Cpu, FULL, 0, 4).unwrap().slots().len(), 1, "a training takes all threads of the CPU");
    }

    #[test]
    fn trials_share_a_gpu_where_it_is_whole() {
        let firsts = |slots: Vec<Devices>| slots.iter().map(|slot| slot.gpus.unwrap().first).collect::<Vec<_>>();
        let two = shared(3, 1, 2, Launched::default());
        assert_eq!(firsts(two.slots()), [0, 1, 0, 1, 0, 1]);
        assert_eq!(firsts(two.slots_of_first()), [0, 0, 0]);
        assert_eq!([two.memory(600), two.slots()[0].memory(600), two.slots_of_first()[2].memory(600)], [600, 100, 200]);
        assert!(two.slots().iter().all(|slot| slot.slots().len() == 1), "a slot has one trial");
        let (of_two, of_processes) = (shared(3, 2, 4, Launched::default()), shared(3, 1, 1, of_two(0)));
        assert_eq!((firsts(of_two.slots()), firsts(of_processes.slots())), (vec![0, 2], vec![0]), "a trial has several");
        let launched = shared(3, 1, 4, Launched { gpu: Some(2), ..Launched::default() });
        assert_eq!(firsts(launched.slots()), [2, 2, 2]);
        assert_eq!(shared(3, 0, 0, Launched::default()).slots().len(), 1, "a training takes all threads of the CPU");
    }

    #[test]
    fn a_launcher_of_one_process_for_each_gpu_names_it() {
        let launched = |gpu| Launched { gpu: Some(gpu), ..of_two(1) };
        assert_eq!(used(on(AskedDevice::Auto, FULL, 2, 2, launched(1), false)), Some((1, 1)));
        assert!(matches!(on(AskedDevice::Auto, FULL, 2, 2, launched(2), false), Err(Refusal::Machine(_))));
    }

    #[test]
    fn processes_never_train_one_trial_on_their_cpus() {
        for (asked, built) in [(AskedDevice::Cpu, FULL), (AskedDevice::Auto, CPU)] {
            assert!(matches!(on(asked, built, 1, 1, of_two(0), true), Err(Refusal::Asked(_))));
        }
        let together = on(AskedDevice::Auto, FULL, 1, 1, of_two(0), true).unwrap();
        assert!(together.refuse_processes().unwrap_err().to_string().starts_with("WORLD_SIZE is 2"));
    }

    #[test]
    fn each_trial_is_trained_once_and_on_a_gpu_where_one_can() {
        let plan = super::super::left::tests::plan();
        let trials: Vec<&Trial> = plan.trials().map(|(.., planned)| &planned.trial).collect();
        let [closed_form, learned, of_one] = trials[..] else { panic!() };
        let cpu = Some((Device::Cpu, Ranks::default()));
        let alone = on(AskedDevice::Auto, CPU, 0, 0, Launched::default(), false).unwrap();
        assert_eq!([alone.of(closed_form), alone.of(learned)], [cpu.clone(), cpu.clone()]);
        for (rank, of_closed_form) in [(0, cpu), (1, None)] {
            let devices = on(AskedDevice::Auto, FULL, 4, 4, of_two(rank), true).unwrap();
            assert_eq!(devices.of(closed_form), of_closed_form, "process {rank}");
            let (device, ranks) = devices.of(learned).unwrap();
            assert_eq!((device, ranks.count()), (Device::Cuda { ordinal: 0 }, 8), "process {rank}");
            let alone = (rank == 0).then(|| (Device::Cuda { ordinal: 0 }, Ranks::default()));
            assert_eq!(devices.of(of_one), alone, "process {rank}");
        }
    }
}
