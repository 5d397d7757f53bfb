//! Student's t test of the mean difference, paired by user, with the variance of users, seeds or both ([`Crossed`]).

use super::{
    Interval,
    compare::Compared,
    crossed::Crossed,
    joint::JointT,
    kind::{Found, OfMean, TestKind},
    power::{Measured, Needed, Variances, scale},
    resample::Resampled,
    simultaneous::{Alone, simultaneous},
    spread::Spread,
    students_t::UpperQuantiles,
};
use crate::significance::{Over, Significance};
use rayon::prelude::*;

/// `paired-t`
pub(super) struct PairedT;

impl TestKind for PairedT {
    fn name(&self) -> &'static str {
        "paired-t"
    }

    fn words(&self, counted: Over) -> &'static str {
        match counted {
            Over::UsersAndSeeds => "t-test",
            Over::Users => "paired t-test",
            Over::Seeds => "moderated t-test",
        }
    }

    fn counts_seeds(&self) -> bool {
        true
    }

    fn resamples(&self, is_joint: bool) -> bool {
        is_joint
    }

    fn found(&self, compared: &Compared, resampled: Option<&Resampled>) -> Found {
        let Significance { alpha, bootstrap_resamples, seed, .. } = *compared.settings;
        let over = compared.over;
        let crossed: Vec<Crossed> = compared
            .pairs
            .all
            .iter()
            .zip(&compared.differences)
            .map(|(&(a, b), differences)| compared.spreads.crossed(a, b, differences.variance, compared.methods[a].users.len(), over))
            .collect();
        let p_values: Vec<f64> = crossed.par_iter().zip(&compared.differences).map(|(crossed, d)| crossed.p_value(d.mean)).collect();
        let half_widths: Vec<f64> = crossed.par_iter().map(|crossed| crossed.half_width(alpha)).collect();
        let scales: Vec<f64> = crossed.par_iter().map(|crossed| crossed.scale(crossed.quantiles(alpha))).collect();
        let users = resampled.map(|resampled| resampled.averaged(compared.methods.iter().map(|method| method.replicates.len())));
        let tabulated = UpperQuantiles::new(alpha / 2.0);
        let joint = users.as_ref().map(|users| JointT {
            users,
            spreads: compared.spreads,
            pairs: &compared.pairs.all,
            kinds: &compared.kinds,
            crossed: &crossed,
            quantiles: &tabulated,
            over,
            seed,
        });
        let draw = |resample: u32, out: &mut [f64]| joint.iter().for_each(|joint| joint.draw(resample, out));
        let alone = Alone { p_values, half_widths, scales, half_width: &|pair, alpha| crossed[pair].half_width(alpha) };
        let adjusted = simultaneous(&alone, &compared.family(), bootstrap_resamples, &draw);
        let of_mean = |pair: usize| of_mean(compared, pair, &crossed[pair], adjusted.half_widths[pair], &tabulated);
        let tested = |pair: usize| compared.tested_by_mean(pair, alone.p_values[pair], crossed[pair].standard_error());
        Found {
            tested: (0..crossed.len()).map(tested).collect(),
            mean: Some((0..crossed.len()).map(of_mean).collect()),
            p_adjusted: adjusted.p_values,
            correction: compared.settings.correction,
        }
    }
}

fn of_mean(compared: &Compared, pair: usize, crossed: &Crossed, half: f64, quantiles: &UpperQuantiles) -> OfMean {
    let (a, b) = compared.pairs.all[pair];
    let (difference, margin) = (compared.differences[pair].mean, compared.margin(pair));
    OfMean {
        interval: Interval { low: difference - half, high: difference + half },
        standard_error: crossed.standard_error(),
        counted: compared.spreads.counted(a, b, compared.over),
        p_equivalence: margin.map(|margin| crossed.p_equivalence(difference, margin)),
        needed: needed(compared, pair, crossed, half, quantiles),
    }
}

/// What would decide a pair whose interval has that half width.
fn needed(compared: &Compared, pair: usize, crossed: &Crossed, half: f64, quantiles: &UpperQuantiles) -> Needed {
    let (a, b) = compared.pairs.all[pair];
    let size = compared.differences[pair].mean.abs();
    let alone = scale(crossed, quantiles);
    if !(alone > 0.0 && half.is_finite()) {
        return Needed::default();
    }
    let spreads = [a, b].map(|method| &compared.spreads.methods[method]);
    let replicates = spreads.map(|spread| (spread.source != Spread::None).then_some(spread.replicates as u32));
    let measured = Measured {
        variances: Variances::of(crossed, spreads),
        replicates,
        degrees: crossed.replicates_degrees,
        users: compared.methods[a].users.len() as u64,
        quantiles,
        widened: half / alone,
    };
    measured.needed(size, compared.margin(pair))
}
