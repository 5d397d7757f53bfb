//! What PageRank's distributions promise: the worked numbers, the distribution as written beside the fast one, draws by it, the same bits anywhere.

use super::*;
use proptest::prelude::*;
use streams::Purpose;
use testing::assert_drawn_from;

/// Users with items (0, 1), (1, 2), (2, 3).
pub(super) fn chain() -> Interactions {
    Interactions::from_pairs(3, [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 3)].into_iter())
}

/// By power iteration: `x = c e_u + (1 - c) T' x`, the users' part and the items'.
pub(super) fn iterated(users: &Interactions, items: &Interactions, user: usize, restart: f64, times: u32) -> [Vec<f64>; 2] {
    let unit = |at: usize| if at == user { 1.0 } else { 0.0 };
    let mut current = [(0..users.users()).map(unit).collect(), vec![0.0; items.users()]];
    for _ in 0..times {
        let walked = |from: &[f64], rows: &Interactions, to: usize| {
            let mut next = vec![0.0; to];
            for (row, mass) in from.iter().enumerate() {
                let neighbours = rows.row(row);
                neighbours.iter().for_each(|&to| next[to as usize] += (1.0 - restart) * mass / neighbours.len() as f64);
            }
            next
        };
        let to_items = walked(&current[0], users, items.users());
        let mut to_users = walked(&current[1], items, users.users());
        to_users[user] += restart;
        current = [to_users, to_items];
    }
    current
}

fn proportional(exponent: f64) -> Form {
    Form::Proportional(Proportional { exponent })
}

fn temperature(temperature: f64) -> Form {
    Form::Temperature(Temperature { temperature })
}

/// As good as exact.
fn pool(form: Form, neighbours: u32) -> PprPool {
    PprPool { restart: 0.15, form, accuracy: 1e-12, neighbours }
}

/// The probability of each item, 0 for the user's own.
fn probabilities(proposal: &PprProposal, train: &Interactions, items: u32, user: u32) -> Vec<f64> {
    let of = UserItems { user, train, items };
    let probability = |item| match of.non_positives().contains(item) {
        true => f64::from(log_probability(proposal, of, item)).exp(),
        false => 0.0,
    };
    (0..items).map(probability).collect()
}

/// The distribution as its formula says, from power iteration; `None` where rounding decides which items are stored.
fn written(settings: &PprPool, train: &Interactions, items: u32, user: usize) -> Option<Vec<f64>> {
    let users_of = train.transpose(items as usize);
    let pagerank = &iterated(train, &users_of, user, settings.restart, 600)[1];
    let degree = |item: u32| users_of.row(item as usize).len() as f64;
    let weight = |item: u32| match settings.form {
        Form::Proportional(Proportional { exponent }) => pagerank[item as usize].powf(exponent),
        Form::Temperature(Temperature { temperature }) => (pagerank[item as usize] / temperature).exp(),
    };
    let base = |item: u32| match settings.form {
        Form::Proportional(_) if degree(item) == 0.0 => 0.0,
        Form::Proportional(Proportional { exponent }) => degree(item).powf(exponent),
        Form::Temperature(_) => 1.0,
    };
    let mut negatives: Vec<u32> = (0..items).filter(|item| !train.contains(user, *item)).collect();
    negatives.sort_by(|&a, &b| pagerank[b as usize].total_cmp(&pagerank[a as usize]));
    let (kept, cut) = negatives.split_at(negatives.len().min(settings.neighbours as usize));
    let bounds = kept.last().zip(cut.first()).map(|(&kept, &cut)| (pagerank[kept as usize], pagerank[cut as usize]));
    if bounds.is_some_and(|(kept, cut)| kept < cut * (1.0 + 1e-6)) {
        return None;
    }
    let mass = cut.iter().map(|&item| weight(item)).sum::<f64>() / cut.iter().map(|&item| base(item)).sum::<f64>();
    let mut distribution = vec![0.0; items as usize];
    cut.iter().for_each(|&item| distribution[item as usize] = mass * base(item));
    kept.iter()
        .for_each(|&item| distribution[item as usize] = if cut.is_empty() { weight(item) } else { weight(item).max(mass * base(item)) });
    if distribution.iter().sum::<f64>() == 0.0 {
        negatives.iter().for_each(|&item| distribution[item as usize] = base(item));
    }
    let total: f64 = distribution.iter().sum();
    Some(distribution.into_iter().map(|weight| weight / total).collect())
}

fn log_probability(proposal: &PprProposal, of: UserItems<'_>, item: u32) -> f32 {
    let mut found = [0.0];
    proposal.log_probabilities(of, &[item], &mut found);
    found[0]
}

fn drawn(proposal: &PprProposal, train: &Interactions, items: u32, user: u32, row: u32, ids: &mut [u32]) {
    proposal.fill(UserItems { user, train, items }, Row::alone(user), &mut Stream::new(7, Purpose::Negatives, 1, 0, row), ids);
}

/// About 5 items for each of 60 users, low ids more often.
fn skewed() -> Interactions {
    let pairs = (0..300u32).map(|at| (at % 60, at.wrapping_mul(2_654_435_761) >> 17 & 31 & (at * at + 13)));
    Interactions::from_pairs(60, pairs)
}

#[test]
fn weights_are_the_worked_ones() {
    let cases = [
        (proportional(1.0), [0.77955759, 0.22044241]),
        (temperature(1.0), [0.51265784, 0.48734216]),
        (temperature(0.01), [0.99372082, 0.00627918]),
    ];
    for (form, expected) in cases {
        let proposal = PprProposal::new(&pool(form, 1000), &chain(), 4);
        let found = probabilities(&proposal, &chain(), 4, 0);
        assert_eq!(found[..2], [0.0, 0.0]);
        for (found, expected) in found[2..].iter().zip(expected) {
            assert!((found - expected).abs() < 6e-8, "{form:?}: {found} {expected}");
        }
    }
}

#[test]
fn own_items_have_the_probability_of_another_item() {
    let proposal = PprProposal::new(&pool(proportional(1.0), 1000), &chain(), 4);
    let train = chain();
    let of = UserItems { user: 0, train: &train, items: 4 };
    for (item, pagerank) in [(0, 0.15912086), (1, 0.20976303)] {
        let expected = f64::ln(pagerank / (0.07060887 + 0.0199667));
        assert!((f64::from(log_probability(&proposal, of, item)) - expected).abs() < 3e-7);
    }
}

#[test]
fn draws_follow_their_distribution() {
    let train = skewed();
    for (form, neighbours) in [
        (proportional(1.0), 1000),
        (proportional(1.0), 4),
        (proportional(2.5), 6),
        (proportional(0.5), 1),
        (temperature(1.0), 1000),
        (temperature(0.01), 9),
        (temperature(0.001), 3),
    ] {
        let settings = pool(form, neighbours);
        let proposal = PprProposal::new(&settings, &train, 34);
        let user = 17;
        let expected = written(&settings, &train, 34, user as usize).unwrap();
        for negatives in [1, 7, 100] {
            let (mut found, mut ids) = (vec![0.0; 34], vec![0; negatives]);
            for row in 0..100_000 / negatives as u32 {
                drawn(&proposal, &train, 34, user, row, &mut ids);
                ids.iter().for_each(|&id| found[id as usize] += 1.0);
            }
            assert_drawn_from(&found, &expected, 1.0);
        }
    }
}

/// Items 0 and 1 are the two users' own; 2 and 3 belong to others, 4 to nobody.
#[test]
fn users_whose_walk_comes_to_no_negative_draw_from_the_base() {
    let train = Interactions::from_pairs(5, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (3, 2), (4, 2), (4, 3)].into_iter());
    for (form, expected) in [(proportional(1.0), [0.75, 0.25, 0.0]), (temperature(0.01), [1.0 / 3.0; 3])] {
        let proposal = PprProposal::new(&pool(form, 1000), &train, 5);
        let found = probabilities(&proposal, &train, 5, 1);
        assert!(found[2..].iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6), "{form:?}: {found:?}");
        let mut ids = [0; 50];
        drawn(&proposal, &train, 5, 1, 0, &mut ids);
        assert!(ids.iter().all(|&id| (2..5).contains(&id) && expected[id as usize - 2] > 0.0));
        let own = log_probability(&proposal, UserItems { user: 1, train: &train, items: 5 }, 0);
        assert!(own.is_finite() && own > 0.0, "{form:?}: {own}");
    }
    assert_eq!([proportional(1.0), temperature(1.0)].map(|form| pool(form, 9).drawable(&train, 5)), [4, 5]);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let train = skewed();
    let settings = PprPool { accuracy: 1e-4, ..pool(proportional(1.0), 5) };
    let prepared = |threads: usize| {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        threads.install(|| PprProposal::new(&settings, &train, 34)).to_bytes("key")
    };
    assert_eq!(prepared(1), prepared(3));
}

#[test]
fn memory_holds_what_is_kept() {
    let train = skewed();
    for neighbours in [1, 3, 1000] {
        let settings = pool(proportional(1.0), neighbours);
        let kept = PprProposal::new(&settings, &train, 34).bytes();
        let most = settings.most_bytes([60, 34, train.len()], 1);
        assert!(60 * 10 < kept && kept < most && most < 6 * kept, "{kept} of {most}");
    }
}

#[test]
fn settings_are_read_with_their_defaults() {
    let read = |text: &str| serde_json::from_str::<Ppr>(text).unwrap();
    let plain = PprPool { restart: 0.15, form: proportional(1.0), accuracy: 1e-6, neighbours: 1000 };
    assert_eq!(read(r#"{"negatives": 5}"#).pool(), plain);
    let given = read(r#"{"negatives": 5, "form": {"temperature": {"temperature": 0.01}}, "neighbours": 7}"#);
    assert_eq!(given.pool(), PprPool { form: temperature(0.01), neighbours: 7, ..plain.clone() });
    assert_eq!(serde_json::from_str::<PprPool>(r#"{"form": {"proportional": {}}}"#).unwrap(), plain);
    assert!(serde_json::from_str::<PprPool>(r#"{"negatives": 5}"#).is_err());
    assert!(serde_json::from_str::<Ppr>(r#"{"negatives": 5, "form": {"proportional": {"temperature": 1}}}"#).is_err());
}

#[test]
fn wrong_values_are_named() {
    let plain = pool(proportional(1.0), 1000);
    assert_eq!(plain.check(), Ok(()));
    let message = |settings: PprPool| settings.check().unwrap_err();
    assert!(message(PprPool { restart: 0.0, ..plain.clone() }).starts_with("restart is 0: expected"));
    assert!(message(PprPool { restart: f64::NAN, ..plain.clone() }).starts_with("restart is NaN"));
    assert!(message(PprPool { accuracy: 0.0, ..plain.clone() }).starts_with("accuracy is 0: expected"));
    assert!(message(PprPool { neighbours: 0, ..plain.clone() }).starts_with("neighbours is 0: expected"));
    assert!(message(PprPool { neighbours: 65_537, ..plain.clone() }).starts_with("neighbours is 65537"));
    assert!(message(PprPool { form: temperature(0.0), ..plain.clone() }).starts_with("temperature is 0: expected"));
    assert!(message(PprPool { form: proportional(-1.0), ..plain }).starts_with("exponent is -1: expected"));
}

fn graphs() -> impl Strategy<Value = Interactions> {
    let pairs = prop::collection::btree_set((0u32..9, 0u32..12), 1..60);
    pairs.prop_map(|pairs| Interactions::from_pairs(9, pairs.iter().copied()))
}

fn forms() -> impl Strategy<Value = Form> {
    prop_oneof![(0.7f64..3.0).prop_map(proportional), (1e-3f64..2.0).prop_map(temperature)]
}

proptest! {
    #[test]
    fn distributions_are_as_written(train in graphs(), form in forms(), neighbours in 1u32..14, user in 0u32..9) {
        prop_assume!(!train.row(user as usize).is_empty());
        let settings = pool(form, neighbours);
        let expected = written(&settings, &train, 13, user as usize);
        prop_assume!(expected.as_ref().is_some_and(|distribution| distribution.iter().sum::<f64>() > 0.5));
        let proposal = PprProposal::new(&settings, &train, 13);
        let found = probabilities(&proposal, &train, 13, user);
        for (found, expected) in found.iter().zip(expected.unwrap()) {
            prop_assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
    }

    #[test]
    fn probabilities_sum_to_one(train in graphs(), form in forms(), neighbours in 1u32..14, accuracy in 1e-6f64..1e-2, user in 0u32..9) {
        let settings = PprPool { accuracy, ..pool(form, neighbours) };
        let found = probabilities(&PprProposal::new(&settings, &train, 13), &train, 13, user);
        let drawable = train.item_counts(13).iter().filter(|&&count| count > 0).count();
        prop_assume!(matches!(form, Form::Temperature(_)) || drawable > train.row(user as usize).len());
        prop_assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn own_items_are_never_drawn(train in graphs(), form in forms(), accuracy in 1e-6f64..1e-2, user in 0u32..9, negatives in 1usize..90) {
        let drawable = train.item_counts(13).iter().filter(|&&count| count > 0).count();
        prop_assume!(drawable > train.row(user as usize).len());
        let proposal = PprProposal::new(&PprPool { accuracy, ..pool(form, 3) }, &train, 13);
        let of = UserItems { user, train: &train, items: 13 };
        let (mut ids, mut log_probabilities) = (vec![0; negatives], vec![0.0f32; negatives]);
        proposal.fill(of, Row::alone(user), &mut Stream::new(3, Purpose::Negatives, 1, 0, 0), &mut ids);
        proposal.log_probabilities(of, &ids, &mut log_probabilities);
        for (id, found) in ids.iter().zip(log_probabilities) {
            prop_assert!(*id < 13 && of.non_positives().contains(*id));
            prop_assert!(found.is_finite());
            prop_assert_eq!(found, log_probability(&proposal, of, *id));
        }
    }
}
