//! The population that methods, users and seeds are drawn from.

use super::{Form, draws::Draws};
use evaluator::significance::{MethodValues, Replication};
use std::borrow::Cow;

/// The users of a set.
const USERS: usize = 400;
/// The users over which a scenario's own variance is measured.
const MANY_USERS: usize = 20_000;
/// Standard deviations of latent scores.
const USER: f64 = 2.0;
const METHOD_BY_USER: f64 = 1.2;
/// How far apart methods are that differ, in standard errors: a z test that knows all variances finds 80%.
const APART: f64 = 2.801_585;
/// Unequal variances over seeds, of methods in turn; their mean is one.
const UNEQUAL: [f64; 2] = [0.25, 1.75];

/// The variance of users by seeds: what a seed changes for single users.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interaction {
    /// No variance of users by seeds.
    None,
    /// A variance as large as that of users by methods.
    Some,
}

/// The methods' variances over seeds.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Variances {
    /// All methods have the same.
    Equal,
    /// The second of two has seven times that of the first.
    Unequal,
}

/// One setting of the simulation.
#[derive(Clone, Copy)]
pub(crate) struct Scenario {
    pub(crate) form: Form,
    pub(crate) methods: usize,
    pub(crate) seeds: usize,
    /// The seeds' part of the variance of a difference.
    pub(crate) share: f64,
    pub(crate) interaction: Interaction,
    pub(crate) variances: Variances,
}

impl Scenario {
    /// Its key among all scenarios.
    pub(crate) fn key(&self) -> String {
        let Self { form, methods, seeds, share, interaction, variances } = self;
        let (interaction, variances) = (*interaction == Interaction::Some, *variances == Variances::Equal);
        format!("{} {methods} {seeds} {share} {interaction} {variances}", form.name())
    }

    fn interaction(&self) -> f64 {
        if self.interaction == Interaction::Some { METHOD_BY_USER } else { 0.0 }
    }
}

/// The distribution of a scenario's values.
pub(crate) struct Population {
    pub(crate) scenario: Scenario,
    /// The mean of methods over all users and seeds.
    pub(crate) mean: f64,
    /// By how much the mean of better methods is higher.
    pub(crate) step: f64,
    methods: Vec<Method>,
}

/// The latent scores of a method.
struct Method {
    offset: f64,
    /// The offset of a method that is better by the step.
    better: f64,
    /// The standard deviation over seeds.
    seeds: f64,
}

impl Population {
    /// The population in which seeds have their share of the variance. In the sparse form the share is met to first order.
    pub(crate) fn new(scenario: Scenario) -> Self {
        let form = scenario.form;
        let deviation = (USER.powi(2) + METHOD_BY_USER.powi(2) + scenario.interaction().powi(2)).sqrt();
        let offset = form.usual_offset(deviation);
        let slope = (form.mean(offset + 1e-3, deviation) - form.mean(offset - 1e-3, deviation)) / 2e-3;
        let users = users_variance(scenario, offset) / USERS as f64;
        let both = users / (1.0 - scenario.share);
        let seeds = (both - users) * scenario.seeds as f64 / 2.0 / slope.powi(2);
        let (mean, step) = (form.mean(offset, deviation), APART * both.sqrt());
        let method = |place: usize| {
            let seeds = if scenario.variances == Variances::Equal { seeds } else { seeds * UNEQUAL[place % 2] };
            let deviation = (deviation.powi(2) + seeds).sqrt();
            Method { offset: form.offset(mean, deviation), better: form.offset(mean + step, deviation), seeds: seeds.sqrt() }
        };
        Self { scenario, mean, step, methods: (0..scenario.methods).map(method).collect() }
    }

    /// Draws users and seeds for all methods. The first `better` methods are better by the step; all others have the same mean.
    pub(crate) fn draw(&self, better: usize, purpose: &str, repeat: usize) -> Vec<MethodValues<'static>> {
        let mut draws = Draws::keyed(&format!("{} {purpose}", self.scenario.key()), repeat);
        let users: Vec<f64> = (0..USERS).map(|_| draws.normal(USER)).collect();
        let method = |(place, method): (usize, &Method)| {
            let offset = if place < better { method.better } else { method.offset };
            let rows = rows(self.scenario, offset, method.seeds, &users, &mut draws).into_iter().map(Cow::Owned).collect();
            MethodValues::from_replicates(&place.to_string(), Replication::Seeds, rows)
        };
        self.methods.iter().enumerate().map(method).collect()
    }
}

/// A method's values of all users: `[seeds, users]`.
fn rows(scenario: Scenario, offset: f64, seeds: f64, users: &[f64], draws: &mut Draws) -> Vec<Vec<f64>> {
    let of_method: Vec<f64> = users.iter().map(|user| offset + user + draws.normal(METHOD_BY_USER)).collect();
    let mut row = |_| {
        let seed = draws.normal(seeds);
        of_method.iter().map(|latent| scenario.form.value(latent + seed + draws.normal(scenario.interaction()))).collect()
    };
    (0..scenario.seeds).map(&mut row).collect()
}

/// The variance over users of the differences of two methods' means over seeds, where all seeds have the same mean.
fn users_variance(scenario: Scenario, offset: f64) -> f64 {
    let mut draws = Draws::keyed(&format!("{} variance", scenario.key()), 0);
    let users: Vec<f64> = (0..MANY_USERS).map(|_| draws.normal(USER)).collect();
    let [first, second] = [(); 2].map(|()| rows(scenario, offset, 0.0, &users, &mut draws));
    let differences: Vec<f64> = (0..MANY_USERS)
        .map(|user| first.iter().zip(&second).map(|(first, second)| first[user] - second[user]).sum::<f64>() / scenario.seeds as f64)
        .collect();
    differences.iter().map(|difference| difference.powi(2)).sum::<f64>() / MANY_USERS as f64
}
