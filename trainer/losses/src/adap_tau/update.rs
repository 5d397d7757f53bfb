//! The inverse temperature of all users and of each, once an epoch.
//!
//! ```text
//! w = log(|U'| n / (2 |D'|)) / (mu+ - mu),   w_u = w exp(-W(max((l_u - l) / t, -1/e)))
//! ```
//! `U'` are the [active users](active_users), `D'` their train pairs, `mu+` the mean cosine of those pairs and `mu` that of `U'` and all `n`
//! items. `l_u` is the mean of [`adap_tau_plain`](super::adap_tau_plain) over the user's rows with negatives in the last epoch, `l` their baseline over
//! users, and `W` Lambert's function: users with a small loss get an inverse temperature of up to `e w`, those with a large one less.
//!
//! The formula has no value where positives are not above the mean, or where `D'` is more than half of all pairs; the release takes what
//! comes. Here `w` stays between [`BLUNTEST`] and [`SHARPEST`].

use super::{AdapTau, Baseline, ModelStatistics};
use std::f64::consts::E;

/// Temperature 1.
pub const BLUNTEST: f64 = 1.0;
/// Temperature 0.01, the lowest that papers tune.
pub const SHARPEST: f64 = 100.0;
/// What positives are taken to lie above the mean cosine during the warm-up.
pub const WARM_UP_GAP: f64 = 0.7;
/// The share of users, those with the fewest train items, that are not active.
const IDLE: f64 = 0.2;
/// Excess losses are cut here, where a user's inverse temperature is 0.005 that of all.
const LARGEST_EXCESS: f64 = 1000.0;

/// Sets the inverse temperature of each user and of all after so many epochs, and starts the sums of losses anew. Before the first epoch there are no losses.
pub(super) fn set_columns(settings: &AdapTau, numbers: &mut [&mut [f32]], model: &dyn ModelStatistics, epochs: u32) {
    let [of_users, of_all, losses, rows] = numbers else { return };
    let counts = model.train_counts();
    let active = active_users(counts);
    let warms_up = epochs == 0 || epochs < settings.warm_up;
    let gap = if warms_up { WARM_UP_GAP } else { model.mean_cosine_of_train_pairs(&active) - model.mean_cosine_of_all_pairs(&active) };
    let is_active = || active.iter().zip(counts).filter(|(active, _)| **active);
    let pairs = is_active().map(|(_, &count)| count as usize).sum();
    let inverse_temperature = inverse_temperature_of_all(Sizes { users: is_active().count(), items: model.items(), pairs }, gap);
    let mean = |(&sum, &rows): (&f32, &f32)| (epochs > 0 && rows > 0.0).then(|| f64::from(sum) / f64::from(rows));
    let means: Vec<Option<f64>> = losses.iter().zip(&**rows).map(mean).collect();
    of_users.copy_from_slice(&inverse_temperature_of_users(inverse_temperature, &means, settings));
    of_all.fill(inverse_temperature as f32);
    losses.fill(0.0);
    rows.fill(0.0);
}

/// Which users the inverse temperature of all is made from, `[users]`: those with more train items than a fifth of the users have, and where no
/// user has more, all with train items. `counts [users]` are of train items.
pub fn active_users(counts: &[u32]) -> Vec<bool> {
    let mut sorted: Vec<f64> = counts.iter().filter(|&&count| count > 0).map(|&count| f64::from(count)).collect();
    let threshold = quantile(&mut sorted, IDLE).unwrap_or(0.0);
    let above: Vec<bool> = counts.iter().map(|&count| f64::from(count) > threshold).collect();
    if above.contains(&true) { above } else { counts.iter().map(|&count| count > 0).collect() }
}

/// What the inverse temperature of all is made from, beside cosines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Active users, `|U'|`.
    pub users: usize,
    /// Items of the catalogue, n.
    pub items: usize,
    /// Train pairs of active users, `|D'|`.
    pub pairs: usize,
}

/// The inverse temperature of all, from how far the mean cosine of the active users' train pairs lies above that of all their pairs.
pub fn inverse_temperature_of_all(sizes: Sizes, gap: f64) -> f64 {
    let Sizes { users, items, pairs } = sizes;
    let odds = (users as f64 * items as f64 / (2.0 * pairs as f64)).ln();
    if gap > 0.0 { (odds / gap).clamp(BLUNTEST, SHARPEST) } else { SHARPEST }
}

/// The inverse temperature of each user, `[users]`, from that of all and the users' mean losses; of users without one it is that of all.
pub fn inverse_temperature_of_users(of_all: f64, losses: &[Option<f64>], settings: &AdapTau) -> Vec<f32> {
    let mut known: Vec<f64> = losses.iter().flatten().copied().collect();
    let baseline = match settings.baseline {
        Baseline::Global(_) => None,
        _ if known.is_empty() => None,
        Baseline::Mean(_) => Some(known.iter().sum::<f64>() / known.len() as f64),
        Baseline::Quantile(at) => quantile(&mut known, at.share),
    };
    let of_user = |loss: &Option<f64>| match loss.zip(baseline) {
        Some((loss, baseline)) => of_all * (-lambert((loss - baseline) / settings.loss_temperature)).exp(),
        None => of_all,
    };
    losses.iter().map(|loss| of_user(loss) as f32).collect()
}

/// Lambert's W of an excess loss, cut to where it is real.
fn lambert(excess: f64) -> f64 {
    match excess {
        excess if excess <= -1.0 / E => -1.0,
        excess => lambert_w::lambert_w0(excess.min(LARGEST_EXCESS)),
    }
}

/// The value below which this share of the values lies, between two of them in proportion; `None` of nothing. Sorts the values.
fn quantile(values: &mut [f64], share: f64) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let at = share * (values.len().checked_sub(1)? as f64);
    let (low, high) = (values[at.floor() as usize], values[at.ceil() as usize]);
    Some(low + (high - low) * at.fract())
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::assert_close;
    use super::super::{Global, Mean, Quantile};
    use super::*;

    fn settings(baseline: Baseline) -> AdapTau {
        AdapTau { baseline, loss_temperature: 1.0, warm_up: 0 }
    }

    fn of_users(losses: &[Option<f64>], baseline: Baseline) -> Vec<f64> {
        inverse_temperature_of_users(6.52003834, losses, &settings(baseline)).into_iter().map(f64::from).collect()
    }

    const LOSSES: [Option<f64>; 3] = [Some(5.0), Some(6.0), Some(9.0)];

    #[test]
    fn worked_inverse_temperature_of_all() {
        let sizes = Sizes { users: 1000, items: 2000, pairs: 20_000 };
        assert_close(&[inverse_temperature_of_all(sizes, 0.7 - 0.1)], &[6.52003834], 5e-9);
        assert_close(&[inverse_temperature_of_all(sizes, WARM_UP_GAP)], &[5.58860429], 5e-9); // numpy: log(50) / 0.7
    }

    /// The reference prints 17.72326042 for the first two: it cuts at -1/e + 1e-12, where W is -1 + 2.3e-6. At -1/e itself it is e times
    /// that of all.
    #[test]
    fn worked_inverse_temperature_of_users() {
        let found = of_users(&LOSSES, Baseline::Mean(Mean {}));
        assert_close(&found[..2], &[17.72326042; 2], 5e-5);
        assert_close(&found, &[17.72330176, 17.72330176, 2.5850778], 1e-6);
    }

    /// Python: 6.52003834 * exp(-W(x)) of x = (5, 6, 9 less their mean, 6.667) / 0.5, of which two are cut, and / 10.
    #[test]
    fn losses_are_divided_by_their_temperature() {
        let of = |loss_temperature| {
            let settings = AdapTau { loss_temperature, ..settings(Baseline::Mean(Mean {})) };
            inverse_temperature_of_users(6.52003834, &LOSSES, &settings).into_iter().map(f64::from).collect::<Vec<_>>()
        };
        assert_close(&of(0.5), &[17.72330174, 17.72330174, 1.79902285], 1e-6);
        assert_close(&of(10.0), &[7.99936134, 7.00410534, 5.3784538], 1e-6);
    }

    /// scipy: 6.52003834 * exp(-lambertw(x)) of x = 0 - 2.4 (cut), 6 - 7.8 (cut), 9 - 7.8.
    #[test]
    fn a_quantile_lies_between_two_losses() {
        assert_close(&of_users(&LOSSES, Baseline::Quantile(Quantile { share: 0.8 }))[1..], &[17.72330176, 3.45325146], 1e-6);
        assert_close(&of_users(&LOSSES, Baseline::Quantile(Quantile { share: 0.5 }))[1..2], &[6.52003834], 1e-6);
    }

    #[test]
    fn users_without_a_loss_have_the_inverse_temperature_of_all() {
        assert_close(&of_users(&[Some(5.0), None], Baseline::Mean(Mean {})), &[6.52003834; 2], 1e-6);
        assert_close(&of_users(&[None, None], Baseline::Mean(Mean {})), &[6.52003834; 2], 1e-6);
        assert_close(&of_users(&LOSSES, Baseline::Global(Global {})), &[6.52003834; 3], 1e-6);
    }

    /// The literals are scipy.special.lambertw's.
    #[test]
    fn lambert_is_scipys() {
        let found = [-2.0, -0.36, -0.1, 0.0, 0.5, 1.0, 10.0, 999.0].map(lambert);
        let below = [-1.0, -0.8060843159708174, -0.11183255915896297, 0.0];
        let above = [0.35173371124919584, 0.5671432904097838, 1.7455280027406994, 5.248762453058971];
        assert_close(&found, &[below, above].concat(), 1e-13);
        assert_eq!(lambert(1e9), lambert(1000.0));
    }

    #[test]
    fn inverse_temperature_stays_in_bounds_where_the_formula_has_no_value() {
        let sizes = Sizes { users: 10, items: 10, pairs: 20 };
        assert_eq!([0.0, -0.3, 1e-9].map(|gap| inverse_temperature_of_all(sizes, gap)), [SHARPEST; 3]);
        assert_eq!(inverse_temperature_of_all(Sizes { pairs: 90, ..sizes }, 0.5), BLUNTEST);
    }

    /// A model of 50 items, of whose scores nothing is asked in the warm-up.
    struct Counts(Vec<u32>);

    impl ModelStatistics for Counts {
        fn train_counts(&self) -> &[u32] {
            &self.0
        }

        fn items(&self) -> usize {
            50
        }

        fn mean_cosine_of_train_pairs(&self, _: &[bool]) -> f64 {
            unreachable!("it warms up")
        }

        fn mean_cosine_of_all_pairs(&self, _: &[bool]) -> f64 {
            unreachable!("it warms up")
        }
    }

    /// The mean losses are 5, 6, 9 and none, as in [`LOSSES`], whatever number of train items the users have; `w` is log(4 * 50 / (2 * 16)) / 0.7 =
    /// 2.61797350 (numpy), and 6.52003834 is what the literals of [`LOSSES`] are made with.
    #[test]
    fn losses_are_means_over_the_rows_of_an_epoch() {
        let (mut users, mut all, mut sums, mut rows) = ([0.0; 4], [0.0], [10.0, 6.0, 27.0, 0.0], [2.0, 1.0, 3.0, 0.0]);
        let mut numbers: Vec<&mut [f32]> = vec![&mut users, &mut all, &mut sums, &mut rows];
        let warm = AdapTau { warm_up: 9, ..settings(Baseline::Mean(Mean {})) };
        set_columns(&warm, &mut numbers, &Counts(vec![4, 4, 4, 4]), 1);
        let ratio = f64::from(users[3]) / 6.52003834;
        assert_close(&[f64::from(all[0])], &[2.61797350], 1e-6);
        assert_close(&users.map(|of_user| f64::from(of_user) / ratio), &[17.72330176, 17.72330176, 2.5850778, 6.52003834], 1e-5);
        assert_eq!((sums, rows), ([0.0; 4], [0.0; 4]));
    }

    /// numpy.quantile([1, 2, 3, 4, 10], 0.2) is 1.8.
    #[test]
    fn active_users_have_more_items_than_a_fifth_of_the_users() {
        assert_eq!(active_users(&[3, 1, 10, 2, 4, 0]), [true, false, true, true, true, false]);
        assert_eq!(active_users(&[5, 5, 0, 5]), [true, true, false, true]);
    }
}
