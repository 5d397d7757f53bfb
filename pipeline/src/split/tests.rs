//! Each kind on small interactions whose parts are written down.

use super::*;
use dataset::Split as Part;

/// Users by letter, items by number from 1; each with its time.
fn edges(rows: &[(char, u32, f64)]) -> Edges {
    let mut rows = rows.to_vec();
    rows.sort_by_key(|row| (row.0, row.1));
    Edges {
        user_ids: ('a'..='e').map(String::from).collect(),
        item_ids: (1..=10).map(|item| item.to_string()).collect(),
        offsets: ('a'..='f').map(|user| rows.partition_point(|row| row.0 < user)).collect(),
        items: rows.iter().map(|row| row.1 - 1).collect(),
        times: Some(rows.iter().map(|row| row.2).collect()),
        parts: vec![Part::Train; rows.len()],
    }
}

/// The items of a user in a part.
fn items(edges: &Edges, user: char, part: Part) -> Vec<u32> {
    let user = user as usize - 'a' as usize;
    let row = edges.offsets[user]..edges.offsets[user + 1];
    row.filter(|&place| edges.parts[place] == part).map(|place| edges.items[place] + 1).collect()
}

fn held_out(split: Split, rows: &[(char, u32, f64)]) -> Result<Edges> {
    split.check()?;
    let mut edges = edges(rows);
    hold_out(&split, &mut edges)?;
    Ok(edges)
}

fn hold_out(split: &Split, edges: &mut Edges) -> Result<()> {
    let all = edges.times.clone();
    let mut times = all.as_deref().map(SortedTimes::new);
    let borders = split.borders(times.as_mut().map(|times| times as &mut dyn Times), &mut &edges.user_ids[..])?;
    split.hold_out(edges, &borders)
}

fn row(user: char, count: u32) -> Vec<(char, u32, f64)> {
    (1..=count).map(|item| (user, item, 0.0)).collect()
}

/// User a took 2, 5, 1, 4 and 3 in this order, 1 and 4 at the same time; user b items at one time; user c nothing.
#[test]
fn places_go_by_time_over_all_parts() {
    let rows = [('a', 2, -1.0), ('a', 5, 0.5), ('a', 1, 3.0), ('a', 4, 3.0), ('a', 3, 9.0), ('b', 6, 2.0), ('b', 2, 2.0)];
    let edges = held_out(Split::LeaveLast(LeaveLast { validation: true }), &rows).unwrap();
    let dataset = edges.into_dataset("d".into(), "f00d".into(), serde_json::Value::Null, false);
    let order = dataset.order.as_ref().unwrap();
    assert_eq!((&order.train[..], &order.validation[..], &order.test[..]), (&[2, 0, 1, 0][..], &[3][..], &[4, 1][..]));
    let histories = dataset.histories(&[Part::Train, Part::Validation]).unwrap();
    assert_eq!((histories.row(0), histories.row(1)), (&[1, 4, 0, 3][..], &[1][..]));
}

/// Computed by an implementation of SipHash in Python, itself checked against the vector of the SipHash paper: of items at the same time those of user a are
/// in the order 2 1 4 3, those of user b in the order 2 3 1. Users c and d took two items each, at the same time, which are in the orders 1 2 and 3 2.
#[test]
fn items_at_the_same_time_are_in_the_order_of_hashes() {
    let rows = [('a', 1, 1.0), ('a', 2, 1.0), ('a', 3, 1.0), ('a', 4, 1.0), ('a', 5, 0.0), ('b', 1, -0.5), ('b', 2, -0.5), ('b', 3, -0.5)];
    let rows = [&rows[..], &[('c', 1, 7.0), ('c', 2, 7.0), ('d', 2, 7.0), ('d', 3, 7.0)]].concat();
    let last = held_out(Split::LeaveLast(LeaveLast { validation: true }), &rows).unwrap();
    let parts = |edges: &Edges, user| [Part::Train, Part::Validation, Part::Test].map(|part| items(edges, user, part));
    assert_eq!(parts(&last, 'a'), [vec![1, 2, 5], vec![4], vec![3]]);
    assert_eq!(parts(&last, 'b'), [vec![2], vec![3], vec![1]]);
    assert_eq!(parts(&last, 'c'), [vec![1], vec![], vec![2]]);
    assert_eq!(parts(&last, 'd'), [vec![3], vec![], vec![2]]);
    let two =
        held_out(Split::LeaveN(LeaveN { test: Amount::Count(2), validation: Amount::Count(1), pick: Pick::Last, seed: 0 }), &rows).unwrap();
    assert_eq!(parts(&two, 'a'), [vec![2, 5], vec![1], vec![3, 4]]);
    assert_eq!(parts(&two, 'b'), [vec![2], vec![], vec![1, 3]]);
    let all = edges(&rows).into_dataset("d".into(), "f00d".into(), serde_json::Value::Null, false);
    assert_eq!(all.order.unwrap().train, [2, 1, 4, 3, 0, 2, 0, 1, 0, 1, 1, 0]);
}

/// User a took 2, 5, 1, 4 and 3 in this order, 1 and 4 at the same time, user b 6 and then 2, user c 9.
#[test]
fn so_many_of_each_user_are_left() {
    let rows = [('a', 2, -1.0), ('a', 5, 0.5), ('a', 1, 3.0), ('a', 4, 3.0), ('a', 3, 9.0), ('b', 6, 1.0), ('b', 2, 2.0), ('c', 9, 0.0)];
    let of = |test, validation| {
        held_out(
            Split::LeaveN(LeaveN { test: Amount::Count(test), validation: Amount::Count(validation), pick: Pick::Last, seed: 0 }),
            &rows,
        )
        .unwrap()
    };
    let parts = |edges: &Edges, user| [Part::Train, Part::Validation, Part::Test].map(|part| items(edges, user, part));
    let edges = of(2, 1);
    assert_eq!(parts(&edges, 'a'), [vec![2, 5], vec![1], vec![3, 4]]);
    assert_eq!(parts(&edges, 'b'), [vec![2, 6], vec![], vec![]]);
    assert_eq!(parts(&of(2, 3), 'a'), [vec![1, 2, 5], vec![], vec![3, 4]]);
    assert_eq!(parts(&of(5, 0), 'a'), [vec![1, 2, 3, 4, 5], vec![], vec![]]);
    let (one, last) = (of(1, 1), held_out(Split::LeaveLast(LeaveLast { validation: true }), &rows).unwrap());
    assert_eq!(one.parts, last.parts);
}

/// User a's ten items one after the other: floor(0.25 * 10) are test, floor(0.3 * 8) of the others validation; of user b's three nothing is a quarter.
#[test]
fn a_share_of_each_user_is_left() {
    let rows: Vec<(char, u32, f64)> =
        [row('a', 10), row('b', 3)].concat().into_iter().map(|(user, item, _)| (user, item, f64::from(item))).collect();
    let of = |test: &str, validation: &str| -> Split {
        serde_json::from_str(&format!(r#"{{"leave-n": {{"test": {test}, "validation": {validation}}}}}"#)).unwrap()
    };
    let parts = |edges: &Edges, user| [Part::Train, Part::Validation, Part::Test].map(|part| items(edges, user, part));
    let shares = held_out(of("0.25", "0.3"), &rows).unwrap();
    assert_eq!(parts(&shares, 'a'), [(1..=6).collect(), vec![7, 8], vec![9, 10]]);
    assert_eq!(parts(&shares, 'b'), [vec![1, 2, 3], vec![], vec![]]);
    let both = held_out(of("1", "0.5"), &rows).unwrap();
    assert_eq!(parts(&both, 'b'), [vec![1], vec![2], vec![3]]);
    assert_eq!(serde_json::to_value(of("2", "1")).unwrap()["leave-n"]["test"], 2, "what was prepared before there were shares stays good");
    let refused = |test: &str, validation: &str| of(test, validation).check().unwrap_err().to_string();
    assert!(
        refused("1.5", "0")
            .contains("`split.test`: 1.5 is neither a whole number of a user's interactions, as 2, nor a share of them, as 0.2")
    );
    assert!(refused("2.0", "0").contains("`split.test`: 2.0 is neither a whole number"));
    assert!(refused("0.2", "-0.1").contains("`split.validation`: -0.1 is neither"));
    assert!(refused("0.0", "0").contains("0 leaves nothing to test on"));
    let text = serde_json::from_str::<Split>(r#"{"leave-n": {"test": "some"}}"#).unwrap_err().to_string();
    assert!(text.contains("expected a whole number of a user's interactions, such as 2, or a share of them, such as 0.2"), "{text}");
}

/// By the order of hashes above: user a's ten items are in the order 10 6 8 4 5 7 3 9 2 1, user b's first four 3 1 4 2.
#[test]
fn so_many_are_the_first_in_the_order_of_hashes() {
    let rows = [row('a', 10), row('b', 4), row('c', 1)].concat();
    let mut edges = edges(&rows);
    edges.times = None;
    hold_out(&Split::LeaveN(LeaveN { test: Amount::Count(3), validation: Amount::Count(1), pick: Pick::Random, seed: 2024 }), &mut edges)
        .unwrap();
    assert_eq!((items(&edges, 'a', Part::Test), items(&edges, 'a', Part::Validation)), (vec![6, 8, 10], vec![4]));
    assert_eq!((items(&edges, 'b', Part::Test), items(&edges, 'b', Part::Validation)), (vec![1, 3, 4], vec![]));
    assert_eq!(items(&edges, 'c', Part::Train), [1]);
}

#[test]
fn nothing_of_each_user_is_no_test() {
    let split = |pick| Split::LeaveN(LeaveN { test: Amount::Count(0), validation: Amount::Count(1), pick, seed: 0 });
    assert!(split(Pick::Last).check().unwrap_err().to_string().contains("0 leaves nothing to test on"));
    let mut edges = edges(&row('a', 3));
    edges.times = None;
    let last = Split::LeaveN(LeaveN { test: Amount::Count(1), validation: Amount::Count(0), pick: Pick::Last, seed: 0 });
    assert!(hold_out(&last, &mut edges).unwrap_err().to_string().contains("no timestamps"));
    let seeds = [Pick::Last, Pick::Random].map(|pick| split(pick).repetition());
    assert_eq!(seeds, [None, Some(0)]);
}

#[test]
fn without_times_there_is_no_order() {
    let mut edges = edges(&row('a', 3));
    edges.times = None;
    assert_eq!(edges.into_dataset("d".into(), "f00d".into(), serde_json::Value::Null, false).order, None);
}

/// Computed by an implementation of SipHash in Python, itself checked against the vector of the SipHash paper.
#[test]
fn the_hash_is_frozen() {
    assert_eq!(crate::order::Order::new([0, 0], "1").hash("1193"), 0x6e56_78f5_5059_f05f);
    assert_eq!(crate::order::Order::new([2024, 0], "1").hash("1193"), 0xd135_e80a_0316_bbd5);
    assert_eq!(crate::order::Order::new([2024, 0], "ü,\"").hash("i"), 0x6161_f8ab_97eb_6d8e);
}

/// By the same Python: with seed 2024 user a's ten items are in the order 10 6 8 4 5 7 3 9 2 1, user b's first four 3 1 4 2.
#[test]
fn random_takes_the_first_in_the_order_of_hashes() {
    let rows = [row('a', 10), row('b', 4), row('c', 1)].concat();
    let edges = held_out(Split::Random(Random { test: 0.2, validation: 0.25, seed: 2024 }), &rows).unwrap();
    assert_eq!(items(&edges, 'a', Part::Test), [6, 10]);
    assert_eq!(items(&edges, 'a', Part::Validation), [4, 8]);
    assert_eq!(items(&edges, 'a', Part::Train), [1, 2, 3, 5, 7, 9]);
    assert_eq!(items(&edges, 'b', Part::Validation), [3]);
    assert_eq!(items(&edges, 'b', Part::Train), [1, 2, 4]);
    assert_eq!(items(&edges, 'c', Part::Train), [1]);
}

#[test]
fn given_takes_validation_by_the_same_rule() {
    let rows = [row('a', 10), row('b', 4), row('c', 1)].concat();
    let edges = held_out(Split::Given(Given { validation: 0.25, seed: 2024 }), &rows).unwrap();
    assert_eq!(items(&edges, 'a', Part::Validation), [6, 10]);
    assert_eq!(items(&edges, 'b', Part::Validation), [3]);
    assert_eq!(items(&edges, 'c', Part::Train), [1]);
    let edges = held_out(Split::default(), &rows).unwrap();
    assert!(edges.parts.iter().all(|&part| part == Part::Train));
}

#[test]
fn temporal_parts_at_one_moment_and_keeps_ties_in_train() {
    let rows = [('a', 1, 1.0), ('a', 2, 2.0), ('a', 3, 3.0), ('b', 1, 4.0), ('b', 2, 5.0), ('b', 3, 5.0), ('c', 1, 6.0), ('a', 4, 7.0)];
    let split =
        |test, validation| held_out(Split::Temporal(Temporal { test: Last::Share(test), validation: Last::Share(validation) }), &rows);
    // Two of eight are test, the ones at 6 and 7; one of the other six would be validation, and two share the last time.
    let edges = split(0.25, 0.0).unwrap();
    assert_eq!(
        (items(&edges, 'a', Part::Test), items(&edges, 'b', Part::Test), items(&edges, 'c', Part::Test)),
        (vec![4], vec![], vec![1])
    );
    let message = split(0.25, 0.2).err().unwrap().to_string();
    assert!(message.contains("the last 1 of 6 interactions have the time of those before them"), "{message}");
    // Three of eight would be test; the border falls between the two at 5.
    let edges = split(0.375, 0.5).unwrap();
    assert_eq!((items(&edges, 'b', Part::Train), items(&edges, 'b', Part::Validation)), (vec![], vec![1, 2, 3]));
    assert_eq!((items(&edges, 'a', Part::Train), items(&edges, 'a', Part::Validation)), (vec![1, 2, 3], vec![]));
    assert_eq!((items(&edges, 'a', Part::Test), items(&edges, 'c', Part::Test)), (vec![4], vec![1]));
}

/// Noon of the second of January 1970 is 129,600 seconds after the beginning; what happens then is test.
#[test]
fn temporal_parts_at_a_date() {
    let rows = [('a', 1, 0.0), ('a', 2, 86_399.0), ('b', 1, 86_400.0), ('b', 2, 129_599.5), ('b', 3, 129_600.0), ('c', 1, 1e9)];
    let split = |settings: serde_json::Value| held_out(Split::Temporal(serde_json::from_value(settings).unwrap()), &rows);
    let parts =
        |edges: Edges| [Part::Train, Part::Validation, Part::Test].map(|part| edges.parts.iter().filter(|own| **own == part).count());
    let of = |settings| parts(split(settings).unwrap());
    assert_eq!(of(serde_json::json!({"test": "1970-01-02T12:00:00Z"})), [4, 0, 2]);
    assert_eq!(of(serde_json::json!({"test": "129600"})), [4, 0, 2]);
    assert_eq!(of(serde_json::json!({"test": 129_600})), [4, 0, 2]);
    assert_eq!(of(serde_json::json!({"test": 129_599.75})), [4, 0, 2]);
    assert_eq!(of(serde_json::json!({"test": "1970-01-02 12:00:00", "validation": "1970-01-02"})), [2, 2, 2]);
    assert_eq!(of(serde_json::json!({"test": "1970-01-02 12:00:00", "validation": 0.25})), [3, 1, 2]);
    assert_eq!(of(serde_json::json!({"test": 0.34, "validation": "1970-01-02"})), [2, 2, 2]);
    let message = |settings| split(settings).err().unwrap().to_string();
    assert!(message(serde_json::json!({"test": "1970-01-02", "validation": "1970-01-03"})).contains("it begins after test does"));
    assert!(message(serde_json::json!({"test": "last May"})).starts_with("`split.test`: `last May` is no moment"));
    assert!(message(serde_json::json!({"test": 1.5})).starts_with("`split.test`: 1.5 is no share"));
    assert!(message(serde_json::json!({"test": -0.2})).starts_with("`split.test`: -0.2 is no share"));
    for moment in [serde_json::json!(-86_400), serde_json::json!(-86_400.0)] {
        assert!(message(serde_json::json!({"test": moment})).starts_with("`split.test`: no interaction is before `-86400`"));
    }
    assert_eq!(
        message(serde_json::json!({"test": "2030-01-01"})),
        "`split.test`: no interaction is from `2030-01-01` on, the last is at 2001-09-09T01:46:40Z (expected an earlier moment, or a share)"
    );
    let days = [('a', 1, 20_240_501.0), ('b', 1, 20_240_930.0)];
    let split = Split::Temporal(serde_json::from_value(serde_json::json!({"test": "2024-10-01"})).unwrap());
    let message_of_days = held_out(split, &days).err().unwrap().to_string();
    assert!(message_of_days.contains("do not look like seconds since 1970"), "{message_of_days}");
    let in_milliseconds = [('a', 1, 1.6e12), ('b', 1, 1.7e12)];
    let split = Split::Temporal(serde_json::from_value(serde_json::json!({"test": "2022-01-01"})).unwrap());
    let message_of = held_out(split, &in_milliseconds).err().unwrap().to_string();
    assert!(message_of.contains("the source's times look like milliseconds"), "{message_of}");
    assert_eq!(
        message(serde_json::json!({"test": 0.34, "validation": "0"})),
        "`split.validation`: no interaction is before `0`, the first is at 0 (expected a later moment, or a share)"
    );
    let typed: Temporal = serde_json::from_str(r#"{"test": 0.2, "validation": "1970-01-02"}"#).unwrap();
    assert_eq!(serde_json::to_string(&typed).unwrap(), r#"{"test":0.2,"validation":"1970-01-02"}"#);
}

/// The order of user a's items is that of the test above.
#[test]
fn validation_is_a_share_of_what_test_leaves() {
    let edges = held_out(Split::Random(Random { test: 0.5, validation: 0.6, seed: 2024 }), &row('a', 10)).unwrap();
    assert_eq!(items(&edges, 'a', Part::Test), [4, 5, 6, 8, 10]);
    assert_eq!(items(&edges, 'a', Part::Validation), [3, 7, 9]);
    assert_eq!(items(&edges, 'a', Part::Train), [1, 2]);
    let rows: Vec<(char, u32, f64)> = (1..=8).map(|item| ('a', item, f64::from(item))).collect();
    let edges = held_out(Split::Temporal(Temporal { test: Last::Share(0.5), validation: Last::Share(0.75) }), &rows).unwrap();
    assert_eq!(items(&edges, 'a', Part::Test), [5, 6, 7, 8]);
    assert_eq!(items(&edges, 'a', Part::Validation), [2, 3, 4]);
    assert_eq!(items(&edges, 'a', Part::Train), [1]);
}

#[test]
fn leave_last_takes_each_users_last() {
    let rows = [('a', 1, 3.0), ('a', 2, 1.0), ('a', 3, 2.0), ('b', 1, 1.0), ('b', 2, 1.0), ('c', 5, 9.0)];
    let edges = held_out(Split::LeaveLast(LeaveLast { validation: true }), &rows).unwrap();
    assert_eq!((items(&edges, 'a', Part::Test), items(&edges, 'a', Part::Validation)), (vec![1], vec![3]));
    assert_eq!((items(&edges, 'b', Part::Test), items(&edges, 'b', Part::Train)), (vec![1], vec![2]));
    assert_eq!(items(&edges, 'c', Part::Train), [5]);
    let edges = held_out(Split::LeaveLast(LeaveLast { validation: false }), &rows).unwrap();
    assert_eq!(items(&edges, 'a', Part::Train), [2, 3]);
}

#[test]
fn kinds_that_need_times_say_so() {
    let mut edges = edges(&row('a', 3));
    edges.times = None;
    for split in [
        Split::Temporal(Temporal { test: Last::Share(0.5), validation: Last::default() }),
        Split::LeaveLast(LeaveLast { validation: false }),
    ] {
        let message = hold_out(&split, &mut edges).unwrap_err().to_string();
        assert!(message.contains("no timestamps"), "{message}");
    }
}

/// How many items a user gives follows from how many there are, so that splits of one dataset pair by user.
#[test]
fn another_seed_takes_other_items_of_the_same_users() {
    let rows: Vec<(char, u32, f64)> = ('a'..='e').zip([10, 4, 1, 2, 7]).flat_map(|(user, count)| row(user, count)).collect();
    let random = |seed| Split::Random(Random { test: 0.3, validation: 0.2, seed });
    let given = |seed| Split::Given(Given { validation: 0.2, seed });
    let of = |split: Split, part: Part| {
        let edges = held_out(split, &rows).unwrap();
        ('a'..='e').map(|user| items(&edges, user, part)).collect::<Vec<_>>()
    };
    let counts = |split: Split, part: Part| of(split, part).iter().map(Vec::len).collect::<Vec<_>>();
    for seed in 1..=20 {
        assert_eq!(counts(random(seed), Part::Test), [3, 1, 0, 0, 2]);
        assert_eq!(counts(random(seed), Part::Validation), [1, 1, 0, 1, 1]);
        assert_eq!(counts(given(seed), Part::Validation), [2, 1, 0, 1, 1]);
    }
    assert!(of(random(1), Part::Test) != of(random(2), Part::Test) && of(given(1), Part::Validation) != of(given(2), Part::Validation));
}

#[test]
fn only_what_is_drawn_has_a_seed() {
    assert_eq!(Split::Random(Random { test: 0.2, validation: 0.0, seed: 7 }).repetition(), Some(7));
    assert_eq!(Split::Given(Given { validation: 0.1, seed: 7 }).repetition(), Some(7));
    assert_eq!(Split::Given(Given { validation: 0.0, seed: 7 }).repetition(), None);
    assert_eq!(Split::Temporal(Temporal { test: Last::Share(0.2), validation: Last::default() }).repetition(), None);
    assert_eq!(Split::LeaveLast(LeaveLast { validation: true }).repetition(), None);
}

#[test]
fn impossible_shares() {
    let failure = |test, validation| Split::Random(Random { test, validation, seed: 0 }).check().unwrap_err().to_string();
    assert!(failure(1.5, 0.0).starts_with("`split.test`: 1.5 is no share"));
    assert!(failure(0.0, 0.1).starts_with("`split.test`: 0 leaves nothing"));
    assert!(failure(0.2, 1.0).starts_with("`split.validation`: 1 is no share"));
    assert!(failure(0.2, f64::NAN).starts_with("`split.validation`: NaN is no share"));
}

/// By an implementation of SipHash in Python: c is the test user, a and b are the validation users; in the frozen order a has 8, 3 first, b 4, c 1 and 7.
#[test]
fn held_out_users_have_a_fold_in_and_a_fold_out() {
    let rows = [row('a', 10), row('b', 4), row('c', 10), row('d', 3), row('e', 1)].concat();
    let edges = held_out(Split::Users(Users { test: 0.2, validation: 0.4, ..Users::default() }), &rows).unwrap();
    let of = |user: char| [Part::Train, Part::FoldIn, Part::Validation, Part::Test].map(|part| items(&edges, user, part));
    assert_eq!(of('a'), [vec![], vec![1, 2, 4, 5, 6, 7, 9, 10], vec![3, 8], vec![]]);
    assert_eq!(of('b'), [vec![], vec![1, 2, 3], vec![4], vec![]]);
    assert_eq!(of('c'), [vec![], vec![2, 3, 4, 5, 6, 8, 9, 10], vec![], vec![1, 7]]);
    assert_eq!([of('d'), of('e')], [[vec![1, 2, 3], vec![], vec![], vec![]], [vec![1], vec![], vec![], vec![]]]);
    let dataset = edges.into_dataset("d".into(), "f00d".into(), serde_json::Value::Null, true);
    assert_eq!(dataset.fold_in.as_ref().unwrap().len(), 8 + 3 + 8);
    assert_eq!(dataset.order.unwrap().fold_in.len(), 8 + 3 + 8);
}

/// With the seed 7 the user e, who has one interaction, is a validation user.
#[test]
fn a_held_out_user_with_one_interaction_has_it_in_the_fold_in() {
    let rows = [row('a', 2), row('b', 2), row('c', 2), row('d', 2), row('e', 1)].concat();
    let users = Users { test: 0.2, validation: 0.4, seed: 7, ..Users::default() };
    let edges = held_out(Split::Users(users), &rows).unwrap();
    assert_eq!((items(&edges, 'e', Part::FoldIn), items(&edges, 'e', Part::Validation)), (vec![1], vec![]));
    assert_eq!((items(&edges, 'c', Part::FoldIn), items(&edges, 'c', Part::Test)), (vec![1], vec![2]));
}

#[test]
fn shares_that_are_of_no_user_are_refused() {
    let message = |users: Users| held_out(Split::Users(users), &row('a', 4)).err().unwrap().to_string();
    let with = |test: f64, validation: f64| Users { test, validation, ..Users::default() };
    assert_eq!(message(with(0.1, 0.0)), "`split.test`: its share of 5 users is less than one user (expected a greater share)");
    assert!(message(with(0.2, 0.1)).starts_with("`split.validation`: its share of 5 users is less than one user"));
    assert!(message(with(0.9, 0.1)).starts_with("`split.validation`: 0.1 and `test` 0.9 leave no users to train on"));
    assert!(message(with(0.0, 0.1)).starts_with("`split.test`: 0 leaves nothing to test on"));
    assert!(message(Users { fold_out: 0.0, ..Users::default() }).starts_with("`split.fold_out`: 0 leaves nothing"));
    assert!(message(Users { fold_out: 1.0, ..Users::default() }).starts_with("`split.fold_out`: 1 is no share"));
}

#[test]
fn what_is_left_of_histories_is_asked_for_once() {
    let message = |split: ColdStart| Split::ColdStart(split).check().unwrap_err().to_string();
    let cold = ColdStart::default;
    assert!(message(cold()).starts_with("`split`: what is left of histories is missing (expected `share`, such as 0.1, or `items`)"));
    assert!(message(ColdStart { share: Some(0.1), items: Some(1), ..cold() }).starts_with("`split.items`: `share` is given too"));
    assert!(message(ColdStart { share: Some(0.0), ..cold() }).starts_with("`split.share`: 0 leaves nothing to know a user by"));
    assert!(message(ColdStart { items: Some(0), ..cold() }).starts_with("`split.items`: 0 leaves nothing to know a user by"));
    assert!(message(ColdStart { share: Some(1.5), ..cold() }).starts_with("`split.share`: 1.5 is no share"));
    assert!(message(ColdStart { items: Some(3), test: 0.0, ..cold() }).starts_with("`split.test`: 0 leaves nothing to test on"));
}

/// By an implementation of SipHash in Python: the shifts of a to e are 1, 0, 2, 1 and 2; in the frozen order a has 8, 3, 6, 2, 7, 4, 5, 9, 10, 1, b has 4, 1, 2, 3,
/// c has 1, 7, 2, 5, 6, 3, 4 and d has 2, 3, 1.
#[test]
fn each_interaction_is_in_the_test_of_one_fold() {
    let rows = [row('a', 10), row('b', 4), row('c', 7), row('d', 3), row('e', 1)].concat();
    let folds = Split::CrossValidation(CrossValidation { folds: 3, fold: None, validation: 0.0, seed: 0 }).folds();
    assert_eq!(folds.iter().map(Split::repetition).collect::<Vec<_>>(), [Some(1), Some(2), Some(3)]);
    let folds: Vec<Edges> = folds.into_iter().map(|split| held_out(split, &rows).unwrap()).collect();
    let of = |user: char| [0, 1, 2].map(|fold| items(&folds[fold], user, Part::Test));
    assert_eq!(of('a'), [vec![4, 6, 10], vec![1, 2, 5, 8], vec![3, 7, 9]]);
    assert_eq!(of('b'), [vec![3, 4], vec![1], vec![2]]);
    assert_eq!(of('c'), [vec![6, 7], vec![2, 3], vec![1, 4, 5]]);
    assert_eq!([of('d'), of('e')], [[vec![1], vec![2], vec![3]], [vec![], vec![], vec![]]]);
    assert_eq!(items(&folds[2], 'e', Part::Train), [1]);
    assert_eq!(items(&folds[0], 'c', Part::Train), [1, 2, 3, 4, 5]);
    // Of the five that are left of c in the first fold, the first one in the order: 1.
    let first = CrossValidation { folds: 3, fold: Some(1), validation: 0.2, seed: 0 };
    let edges = held_out(Split::CrossValidation(first), &rows).unwrap();
    assert_eq!((items(&edges, 'c', Part::Validation), items(&edges, 'c', Part::Train)), (vec![1], vec![2, 3, 4, 5]));
}

#[test]
fn folds_that_part_nothing_are_refused() {
    let message = |folds: u64, fold: Option<u64>| {
        Split::CrossValidation(CrossValidation { folds, fold, validation: 0.1, seed: 0 }).check().unwrap_err().to_string()
    };
    assert!(message(1, None).starts_with("`split.folds`: 1 folds part nothing (expected a number from 2 to 1000)"));
    assert!(message(u64::MAX, None).contains("expected a number from 2 to 1000"));
    assert!(message(5, Some(6)).starts_with("`split.fold`: there is no fold 6 of 5"));
    assert!(message(5, Some(0)).starts_with("`split.fold`: there is no fold 0 of 5"));
}
