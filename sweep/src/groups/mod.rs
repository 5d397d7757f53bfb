//! `ranksweep groups`: how the methods of a sweep that has run serve groups of users that somebody else knows of, such as countries or kinds of
//! subscription, by the values that are stored of each user.

mod table;
mod terminal;

use crate::{on_users::on_users, plan::Titles, report::words, runner::StoredSweep, tested::Tested, usage::Usage};
use anyhow::{Result, bail};
use evaluator::{
    MetricAt, TrialValues,
    findings::{counted, methods_at},
    settings::Significance,
    significance::{Contrast, Estimate, Replication, judge},
};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

/// Groups with fewer users tell nothing of a method.
const LEAST: usize = 2;
/// Groups of a column; more are ids of something, and no groups.
const MOST: usize = 1_000;

/// The methods of a sweep on each group of users.
pub(crate) struct UserGroups {
    column: String,
    at: MetricAt,
    alpha: f64,
    has_margin: bool,
    datasets: Vec<OnDataset>,
}

/// The groups of a dataset.
struct OnDataset {
    name: String,
    /// The method that ranks best over all users, by its title: what others are compared with.
    control: String,
    groups: Vec<Group>,
    /// The test and what it counts, in words: users alone where nothing is known of seeds.
    test: String,
    /// Ranked users for whom the file has no group, and those of groups that are too small.
    left_out: [usize; 2],
}

/// A group of users of a dataset.
struct Group {
    value: String,
    users: usize,
    /// Its methods, best first.
    methods: Vec<OnGroup>,
}

/// A method on a group.
struct OnGroup {
    key: String,
    title: String,
    mean: f64,
    /// Its mean less the control's; none of the control itself.
    against: Option<Tested>,
}

impl UserGroups {
    /// Finds the groups by a column's value for each user's own id. On each group all methods are compared with the one that ranks best over all users,
    /// over what the sweep's `significance.over` names; p-values are adjusted after Holm for all groups and methods of a dataset.
    ///
    /// # Errors
    /// [`Usage`] for a metric that the sweep has not or that has no value of each user; users whom nobody ranked, too many groups.
    pub(crate) fn new(sweep: &StoredSweep, column: &str, rows: Vec<(String, Option<String>)>, metric: Option<MetricAt>) -> Result<Self> {
        let at = metric.unwrap_or_else(|| sweep.plan.evaluation.primary());
        let has = sweep.plan.evaluation.metric_ats();
        if !has.contains(&at) || !at.metric.decides() {
            let names: Vec<String> = has.iter().filter(|at| at.metric.decides()).map(ToString::to_string).collect();
            return Err(
                Usage(format!("--metric: the sweep has no {at} that says who ranks better; expected one of {}", names.join(", "))).into()
            );
        }
        let of_user = by_user(rows)?;
        let titles = Titles::new(&sweep.plan);
        let mut datasets = Vec::new();
        for name in sweep.plan.dataset_names() {
            let ranked = methods_at(&sweep.values, name, at)?;
            let methods = ranked.iter().flat_map(|ranked| &ranked.methods);
            let best = methods.min_by(|a, b| b.mean().total_cmp(&a.mean()).then_with(|| a.method.cmp(&b.method)));
            if let Some(best) = best {
                datasets.push(OnDataset::new(sweep, name, &best.method, &of_user, at, &titles)?);
            }
        }
        if datasets.iter().all(|dataset| dataset.groups.is_empty()) {
            bail!("no group of the column `{column}` has {LEAST} users who were ranked (expected the users' own ids)");
        }
        let Significance { alpha, margin, .. } = sweep.plan.evaluation.significance;
        Ok(Self { column: column.to_owned(), at, alpha, has_margin: margin.is_some(), datasets })
    }
}

/// Each user's group, of those who are in one.
fn by_user(rows: Vec<(String, Option<String>)>) -> Result<HashMap<String, String>> {
    let mut of_user: HashMap<String, String> = HashMap::new();
    for (user, value) in rows.into_iter().filter_map(|(user, value)| Some((user, value?))) {
        match of_user.get(&user) {
            Some(known) if *known != value => {
                bail!("user `{user}` is in two groups, `{known}` and `{value}`; expected one row for each user")
            }
            _ => drop(of_user.insert(user, value)),
        }
    }
    Ok(of_user)
}

impl OnDataset {
    fn new(
        sweep: &StoredSweep,
        name: &str,
        control: &str,
        of_user: &HashMap<String, String>,
        at: MetricAt,
        titles: &Titles,
    ) -> Result<Self> {
        // Splits that do not count have users who are in no mean.
        let trials = counted(&sweep.values.iter().filter(|values| values.dataset == name).collect::<Vec<_>>());
        let mut members: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut left_out = [0; 2];
        let mut seen = HashSet::new(); // splits hold out users of their own
        for id in trials.iter().flat_map(|trial| trial.user_ids.iter()).filter(|id| seen.insert(id.as_str())) {
            match of_user.get(id) {
                Some(value) => members.entry(value).or_default().push(id),
                None => left_out[0] += 1,
            }
        }
        if members.len() > MOST {
            bail!("the column has {} values among the users of dataset `{name}`, expected at most {MOST} groups", members.len());
        }
        let (mut groups, mut estimates, mut has_splits) = (Vec::new(), Vec::new(), false);
        let significance = &sweep.plan.evaluation.significance;
        for (value, ids) in members {
            if ids.len() < LEAST {
                left_out[1] += ids.len();
                continue;
            }
            let shared: Arc<[String]> = ids.iter().map(|id| (*id).to_owned()).collect();
            let of_group: Vec<TrialValues> = trials.iter().filter_map(|trial| on_users(trial, &shared, at)).collect();
            let Some(measured) = methods_at(&of_group, name, at)? else { continue };
            has_splits |= measured.methods.iter().any(|method| method.replication == Replication::Splits);
            let against = measured.place(control);
            let mut methods = Vec::new();
            for (place, method) in measured.methods.iter().enumerate() {
                let compared = against.filter(|&control| control != place).map(|control| {
                    let contrast = Contrast::difference(place, control);
                    let estimate = Estimate::new(&contrast, &measured.methods, &measured.spreads, significance.over);
                    estimates.push(estimate);
                    estimates.len() - 1
                });
                methods.push((method.method.clone(), method.mean(), compared));
            }
            groups.push((value.to_owned(), ids.len(), methods));
        }
        let counted = estimates.iter().map(|estimate| estimate.over).find(|&over| over != significance.over).unwrap_or(significance.over);
        let test = format!("t-test over {}", words::over(counted, has_splits));
        let judged = judge(&estimates, significance.margin, significance.alpha);
        let on_group = |(key, mean, compared): (String, f64, Option<usize>)| OnGroup {
            title: titles.by_key(name, &key).to_owned(),
            against: compared.map(|place| Tested { difference: estimates[place].value, judged: judged[place] }),
            key,
            mean,
        };
        let group = |(value, users, methods): (String, usize, Vec<_>)| {
            let mut methods: Vec<OnGroup> = methods.into_iter().map(on_group).collect();
            // Of equals the best over all users comes first, which is compared with nothing.
            methods.sort_by(|a, b| b.mean.total_cmp(&a.mean).then_with(|| a.against.is_some().cmp(&b.against.is_some())));
            Group { value, users, methods }
        };
        let groups = groups.into_iter().map(group).collect();
        Ok(Self { name: name.to_owned(), control: titles.by_key(name, control).to_owned(), groups, test, left_out })
    }
}
