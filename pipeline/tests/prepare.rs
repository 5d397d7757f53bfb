//! Whole preparations of small sources: what is stored, what is the same, and what is refused.

use dataset::{Dataset, Location, Split};
use pipeline::{Engine, Limits, Preparation, Prepared, fingerprint, prepare};
use serde_json::{Value, json};

const LIMITS: Limits = Limits { threads: 2, memory: None, engine: None, scratch: None };

fn stored(name: &str, content: impl Into<Vec<u8>>) -> String {
    let url = format!("memory:///raw/{name}");
    Location::parse(&url).expect("a good URL").write(content.into()).expect("memory takes it");
    url
}

fn preparation(settings: Value) -> Preparation {
    serde_json::from_value(settings).expect("settings of a preparation")
}

fn datasets(folder: &str) -> Location {
    Location::parse(&format!("memory:///prepared/{folder}")).expect("a good URL")
}

fn run(settings: Value, folder: &str) -> pipeline::Result<Prepared> {
    prepare(&preparation(settings), &datasets(folder), &LIMITS, &mut |_| {})
}

fn failure(settings: Value) -> String {
    run(settings, "failures").expect_err("these settings must fail").to_string()
}

/// Delimited rows of user, item, rating, timestamp.
fn ratings(name: &str, rows: &str, more: Value) -> Value {
    let columns = json!({"user": 0, "item": 1, "rating": 2, "timestamp": 3});
    let source = json!({"delimited": {"path": stored(name, rows), "header": false, "columns": columns}});
    let mut settings = json!({"name": "small", "source": source, "split": {"leave-last": {}}});
    settings.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    settings
}

/// 300 users with a long tail of 200 items; every tenth row comes again with another time.
fn many_rows(reversed: bool) -> String {
    rows(30_000, 300, 200, reversed)
}

fn rows(count: u64, users: u64, items: u64, reversed: bool) -> String {
    let mut rows = Vec::new();
    for n in 0..count {
        let draw = n.wrapping_mul(6_364_136_223_846_793_005).rotate_left(29).wrapping_mul(1_442_695_040_888_963_407);
        let (user, item) = (draw % users, (draw >> 20) % items * ((draw >> 40) % items) / items);
        rows.push(format!("u{user},i{item},{},{}", 1 + (draw >> 50) % 5, n / 7));
        if n % 10 == 0 {
            rows.push(format!("u{user},i{item},5,{}", n / 3));
        }
    }
    if reversed {
        rows.reverse();
    }
    rows.join("\n")
}

fn files(folder: &Location) -> Vec<(String, Vec<u8>)> {
    let files = folder.list().expect("memory lists");
    files.iter().map(|file| (file.name().to_owned(), file.read().expect("memory reads").to_vec())).collect()
}

#[test]
fn any_limits_give_the_same_bytes() {
    let settings = ratings(
        "many.csv",
        &rows(150_000, 3_000, 2_000, false),
        json!({"min_rating": 2, "k_core": 5, "split": {"random": {"test": 0.2, "validation": 0.1, "seed": 7}}, "noise": 0.1}),
    );
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let mut first: Option<Vec<(String, Vec<u8>)>> = None;
    let of = |threads, engine, memory| Limits { threads, memory, engine, scratch: Some(scratch.path().to_owned()) };
    let limits = [1, 2, 7].into_iter().flat_map(|threads| {
        let spilling = of(threads, Some(Engine::Datafusion), Some(threads * (32 << 20)));
        [of(threads, Some(Engine::Memory), None), of(threads, None, Some(64 << 20)), of(threads, None, Some(6 << 20)), spilling]
    });
    for limits in limits {
        let Limits { threads, ref engine, memory, .. } = limits;
        let at = datasets(&format!("limits-{threads}-{engine:?}-{memory:?}"));
        let prepared = prepare(&preparation(settings.clone()), &at, &limits, &mut |_| {}).expect("a good preparation");
        assert!(!prepared.reused);
        let found = files(&prepared.folder);
        assert_eq!(found.len(), 6);
        assert!(*first.get_or_insert_with(|| found.clone()) == found, "{threads} threads, {engine:?}, {memory:?} bytes");
    }
    assert_eq!(std::fs::read_dir(scratch.path()).expect("the folder stands").count(), 0, "scratch is left clean");
}

#[test]
fn the_order_of_rows_makes_no_difference() {
    let parts = |name: &str, reversed| {
        let split = json!({"temporal": {"test": 0.2, "validation": 0.1}});
        let prepared =
            run(ratings(name, &many_rows(reversed), json!({"k_core": {"users": 5, "items": 3}, "split": split})), "order").expect("good");
        let read = Dataset::read(&prepared.folder).expect("what was written");
        assert!(read.order.is_some());
        (read.user_ids, read.item_ids, read.train, read.validation, read.test, read.order, read.steps)
    };
    assert_eq!(parts("forwards.csv", false), parts("backwards.csv", true));
}

#[test]
fn every_step_is_counted() {
    let rows = "1,x,5,1\n1,y,4,2\n1,x,3,9\n2,x,5,3\n2,y,1,4\n2,z,5,5\n10,x,5,6\n10,y,4,7\n";
    let mut reported = Vec::new();
    let settings = preparation(ratings("steps.csv", rows, json!({"min_rating": 3, "k_core": 2})));
    let prepared = prepare(&settings, &datasets("steps"), &LIMITS, &mut |counts| reported.push(counts.clone())).expect("good");
    let steps: Vec<(&str, usize, usize, usize)> =
        reported.iter().map(|counts| (&counts.step[..], counts.users, counts.items, counts.interactions)).collect();
    let expected = [
        ("read", 3, 3, 8),
        ("rating at least 3", 3, 3, 7),
        ("one per user and item", 3, 3, 6),
        ("2-core (2 rounds)", 2, 2, 4),
        ("train", 2, 2, 2),
        ("validation", 0, 0, 0),
        ("test", 2, 2, 2),
        ("test, before the latest train interaction of all users", 0, 0, 0),
    ];
    assert_eq!(steps, expected);
    assert_eq!(prepared.manifest.steps, reported);
    let read = Dataset::read(&prepared.folder).expect("what was written");
    assert_eq!((&read.user_ids[..], &read.item_ids[..]), (&["1".to_owned(), "10".to_owned()][..], &["x".to_owned(), "y".to_owned()][..]));
    // User 1 took x last, at 9; user 10 took y last, at 7.
    assert_eq!((read.test.row(0), read.test.row(1)), (&[0][..], &[1][..]));
}

/// User 1 took y and z at the same time, user 2 all three, user 3 each at its own: of three test items two could be others. By the hash of Python in
/// `split/tests.rs` user 1 ends with z, user 2 with y.
#[test]
fn last_interactions_that_others_share_their_time_with_are_counted() {
    let rows = "1,x,5,1\n1,y,5,4\n1,z,5,4\n2,x,5,3\n2,y,5,3\n2,z,5,3\n3,x,5,1\n3,y,5,2\n3,z,5,3\n";
    let manifest = run(ratings("ties.csv", rows, json!({"split": {"leave-last": {"validation": true}}})), "ties").expect("good").manifest;
    let tied = manifest.steps.last().expect("steps");
    let step = "test, at the time of others of its user, where a hash decides";
    assert_eq!((&tied.step[..], tied.users, tied.items, tied.interactions), (step, 2, 2, 2));
}

/// User 1 keeps u, v and w in train of items u to z; y is validation and z is test, so one of x, a and b is added.
#[test]
fn noise_is_added_to_train_and_counted() {
    let rows = "1,u,5,1\n1,v,5,2\n1,w,5,3\n1,y,5,4\n1,z,5,5\n2,a,5,1\n2,b,5,2\n2,x,5,3\n";
    let settings = |more: Value| ratings("noise.csv", rows, json!({"split": {"leave-last": {"validation": true}}, "noise": more}));
    let prepared = run(settings(json!({"ratio": 0.1, "seed": 5})), "noise").expect("good");
    let (manifest, read) = (&prepared.manifest, Dataset::read(&prepared.folder).expect("what was written"));
    let clean = run(ratings("noise.csv", rows, json!({"split": {"leave-last": {"validation": true}}})), "noise").expect("good");
    let without = Dataset::read(&clean.folder).expect("what was written");
    assert_eq!((clean.manifest.train, manifest.train, read.train.row(0).len(), read.train.row(1).len()), (4, 6, 4, 2));
    assert_eq!((&read.validation, &read.test, &read.item_ids), (&without.validation, &without.test, &without.item_ids));
    let [steps @ .., noise] = &manifest.steps[..] else { panic!("there are steps") };
    assert_eq!(steps, clean.manifest.steps);
    assert_eq!((&noise.step[..], noise.users, noise.interactions), ("false positives in train (noise 0.1, seed 5)", 2, 2));
    assert!(noise.items == 2 || noise.items == 1);
    let off = run(settings(json!(0)), "noise").expect("good");
    assert!(off.reused && off.manifest == clean.manifest);
}

/// Of six interactions of user 1, four are train; half of them are kept, and of the one of user 2 itself.
#[test]
fn a_share_of_train_is_kept_and_counted() {
    let rows = "1,u,5,1\n1,v,5,2\n1,w,5,3\n1,x,5,4\n1,y,5,5\n1,z,5,6\n2,a,5,1\n2,b,5,2\n2,u,5,3\n";
    let settings = |more: Value| ratings("share.csv", rows, json!({"split": {"leave-last": {"validation": true}}, "train_share": more}));
    let prepared = run(settings(json!({"share": 0.5, "seed": 5})), "share").expect("good");
    let (manifest, read) = (&prepared.manifest, Dataset::read(&prepared.folder).expect("what was written"));
    let clean = run(ratings("share.csv", rows, json!({"split": {"leave-last": {"validation": true}}})), "share").expect("good");
    let without = Dataset::read(&clean.folder).expect("what was written");
    assert_eq!((clean.manifest.train, manifest.train, read.train.row(0).len(), read.train.row(1).len()), (5, 3, 2, 1));
    assert_eq!((&read.validation, &read.test, &read.item_ids), (&without.validation, &without.test, &without.item_ids));
    assert_eq!(read.order.expect("there are times").train.len(), 3);
    let [steps @ .., kept] = &manifest.steps[..] else { panic!("there are steps") };
    assert_eq!(steps, clean.manifest.steps);
    assert_eq!((&kept.step[..], kept.users, kept.interactions), ("train that is kept (share 0.5, seed 5)", 2, 3));
    let off = run(settings(json!({"share": 1})), "share").expect("good");
    assert!(off.reused && off.manifest == clean.manifest);
}

#[test]
fn a_finished_dataset_is_reused_and_an_unfinished_one_redone() {
    let settings = ratings("again.csv", "1,x,5,1\n1,y,4,2\n", json!({}));
    let first = run(settings.clone(), "again").expect("good");
    let second = run(settings.clone(), "again").expect("good");
    assert!(!first.reused && second.reused);
    assert_eq!(first.manifest, second.manifest);
    first.folder.join("manifest.json").delete().expect("memory deletes");
    let third = run(settings, "again").expect("good");
    assert!(!third.reused);
    assert_eq!(third.manifest, first.manifest);
}

#[test]
fn the_fingerprint_is_of_content_not_of_place() {
    let of = |path: &str, more: Value| {
        let mut settings = ratings("unused.csv", "", more);
        settings["source"]["delimited"]["path"] = path.into();
        fingerprint(&preparation(settings)).expect("a readable source")
    };
    let (here, there) = (stored("here/a.csv", "1,x,5,1\n1,y,4,2\n"), stored("there/a.csv", "1,x,5,1\n1,y,4,2\n"));
    let base = of(&here, json!({}));
    assert!(base.len() == 16 && base.bytes().all(|byte| byte.is_ascii_hexdigit()), "{base}");
    assert_eq!(base, of(&there, json!({"name": "other"})));
    assert_eq!(of(&here, json!({"k_core": 5})), of(&here, json!({"k_core": {"users": 5, "items": 5}})));
    assert_eq!(base, of(&here, json!({"noise": 0})));
    assert_eq!(of(&here, json!({"noise": 0.1})), of(&here, json!({"noise": {"ratio": 0.1, "seed": 0}})));
    assert_ne!(of(&here, json!({"noise": 0.1})), of(&here, json!({"noise": {"ratio": 0.1, "seed": 1}})));
    let other = stored("other/a.csv", "1,x,5,1\n1,y,4,3\n");
    for different in [
        of(&other, json!({})),
        of(&here, json!({"noise": 0.1})),
        of(&here, json!({"min_rating": 2})),
        of(&here, json!({"split": {"random": {"test": 0.5}}})),
    ] {
        assert_ne!(base, different);
    }
}

#[test]
fn splits_by_other_seeds_have_the_same_ids_and_the_same_test_users() {
    let rows = many_rows(false);
    let of_seed = |seed: u64| {
        let split = json!({"random": {"test": 0.2, "validation": 0.1, "seed": seed}});
        let prepared = run(ratings("splits.csv", &rows, json!({"k_core": 3, "split": split})), "splits").unwrap();
        Dataset::read(&prepared.folder).unwrap()
    };
    let (one, other) = (of_seed(1), of_seed(2));
    assert!(one.fingerprint != other.fingerprint && one.test != other.test && one.train != other.train);
    assert!(one.user_ids == other.user_ids && one.item_ids == other.item_ids);
    let held_out = |dataset: &Dataset| (0..dataset.users()).filter(|&user| !dataset.test.row(user).is_empty()).collect::<Vec<_>>();
    assert!(!held_out(&one).is_empty());
    assert_eq!(held_out(&one), held_out(&other));
}

/// What earlier builds gave for sources without timestamps: datasets that they stored are found. With timestamps histories are in another order since.
#[test]
fn the_fingerprint_without_timestamps_is_as_it_was() {
    let path = stored("plain.csv", "1,x\n1,y\n2,x\n2,y\n3,x\n3,y\n");
    let source = json!({"delimited": {"path": path, "header": false, "columns": {"user": 0, "item": 1}}});
    let settings = json!({"name": "d", "source": source, "split": {"random": {"test": 0.5}}});
    assert_eq!(fingerprint(&preparation(settings)).expect("good"), "11fadf73dfdbc0a6");
}

/// All rows of a folder, as those of one file; a file more is another dataset.
#[test]
fn files_of_a_folder_are_read_as_one() {
    let rows: Vec<String> = many_rows(false).lines().map(|row| format!("{row}\n")).collect();
    let (first, rest) = rows.split_at(20_000);
    for (name, rows) in [("folder/day=1/part-0.csv", first), ("folder/day=2/part-0.csv", rest), ("folder/_SUCCESS", &[])] {
        stored(name, rows.concat());
    }
    let settings = |path: &str| {
        let columns = json!({"user": 0, "item": 1, "rating": 2, "timestamp": 3});
        let source = json!({"delimited": {"path": path, "header": false, "columns": columns, "on_bad_row": "skip"}});
        json!({"name": "small", "source": source, "k_core": 3, "split": {"temporal": {"test": 0.2}}})
    };
    stored("whole.csv", rows.concat());
    let whole = Dataset::read(&run(settings("memory:///raw/whole.csv"), "folder").expect("good").folder).expect("written");
    let of = |path: &str| Dataset::read(&run(settings(path), "folder").expect("good").folder).expect("written");
    for path in ["memory:///raw/folder/", "memory:///raw/folder/day=*/*.csv"] {
        let found = of(path);
        assert_eq!((&found.train, &found.test, &found.user_ids), (&whole.train, &whole.test, &whole.user_ids));
        assert_eq!((found.order, found.steps), (whole.order.clone(), whole.steps.clone()));
    }
    let print = |path: &str| fingerprint(&preparation(settings(path))).expect("files are there");
    let before = print("memory:///raw/folder/");
    stored("folder/day=3/part-0.csv", "u1,i1,5,7\nu1,i2\n");
    assert_ne!(print("memory:///raw/folder/"), before);
    let more = run(settings("memory:///raw/folder/"), "folder").expect("good");
    let rejected = String::from_utf8(more.folder.join("rejected.tsv").read().expect("a row is left out").to_vec()).expect("text");
    assert!(rejected.contains("2\tmemory:///raw/folder/day=3/part-0.csv: 2 fields where line 1 has 4\tu1,i2"), "{rejected}");
    assert!(failure(settings("memory:///raw/nothing/*.csv")).contains("nothing/*.csv matches no file; correct `source.path`"));
}

#[test]
fn skipped_rows_are_kept_in_a_file_and_counted() {
    let columns = json!({"user": "user", "item": "item", "rating": "stars"});
    let rows = "user,item,stars\n1,x,5\n1,y,good\n1,z,4\n1,\"w\\\nv\",nan\n2,x,3\n2,y,3\n";
    let source = json!({"delimited": {"path": stored("skip.csv", rows), "columns": columns, "on_bad_row": "skip"}});
    let storage = tempfile::tempdir().expect("a temporary folder");
    let at = Location::parse(storage.path().to_str().expect("text")).expect("a good path");
    let settings = preparation(json!({"name": "skip", "source": source, "split": {"random": {"test": 0.5}}}));
    let prepared = prepare(&settings, &at, &LIMITS, &mut |_| {}).expect("good");
    assert_eq!((&prepared.manifest.steps[0].step[..], prepared.manifest.steps[0].interactions), ("rejected (rejected.tsv)", 3));
    let rejected = prepared.folder.join("rejected.tsv").read().expect("the file stands");
    let expected = "line\treason\traw\n3\tcolumn `stars`: `good` is not a number\t1,y,good\n\
                    5\tcolumn `item`: its quotes hold 2 lines (expected an id on one line; a quote that is text is doubled)\t1,\"w\\\\\n\
                    6\t2 fields where the header has 3\tv\",nan\n";
    assert_eq!(std::str::from_utf8(&rejected).expect("text"), expected);
}

#[test]
fn rejected_rows_are_told_and_kept_where_nothing_is_left() {
    let source = json!({"delimited": {"path": stored("few.csv", "u,i\n1,x\n1,y,\n2,x,\n"), "columns": {"user": "u", "item": "i"}, "on_bad_row": "skip"}});
    let storage = tempfile::tempdir().expect("a temporary folder");
    let at = Location::parse(storage.path().to_str().expect("text")).expect("a good path");
    let settings = preparation(json!({"name": "few", "source": source, "k_core": 2, "split": {"random": {"test": 0.5}}}));
    for engine in [Engine::Memory, Engine::Datafusion] {
        let limits = Limits { engine: Some(engine), ..LIMITS };
        let message = prepare(&settings, &at, &limits, &mut |_| {}).expect_err("one row of one user").to_string();
        let folder = std::fs::read_dir(storage.path()).expect("a folder").next().expect("one dataset").expect("readable").path();
        let file = folder.join("rejected.tsv");
        let expected = format!(
            "no interaction is left after `2-core (1 round)`; before it there were 1 user, 1 item and 1 interaction: lower `k_core`; 2 rows were \
             rejected before it ({}), the first at line 3: 3 fields where the header has 2: where these are too many, correct the separator, the \
             columns or the rows",
            file.display()
        );
        assert_eq!(message, expected);
        assert_eq!(std::fs::read_to_string(&file).expect("it stands").lines().count(), 3);
        std::fs::remove_dir_all(folder).expect("it stands");
    }
}

#[test]
fn a_source_of_bad_rows_only_says_so() {
    let columns = json!({"user": 0, "item": 1, "rating": 2});
    let source =
        json!({"delimited": {"path": stored("all-bad.csv", "1;x;5\n2;y;4\n"), "header": false, "columns": columns, "on_bad_row": "skip"}});
    let message = failure(json!({"name": "bad", "source": source, "split": {"random": {"test": 0.5}}}));
    assert!(
        message
            .contains("all-bad.csv: all 2 rows were rejected, the first at line 1: 1 field where the indices of `columns` need at least 3"),
        "{message}"
    );
}

#[test]
fn a_test_item_in_train_is_named() {
    let (train, test) = (stored("leak/train.tsv", "u1\ti 1\nu1\ti2\n"), stored("leak/test.tsv", "u1\ti 1\n"));
    let message = failure(json!({"name": "leak", "source": {"splits": {"train": train, "test": test}}}));
    assert!(message.contains("user `u1` has item `i 1` in ") && message.contains("train") && message.contains("test"), "{message}");
}

#[test]
fn given_files_are_used_exactly() {
    let (train, test) = (stored("given/train.tsv", "2\t10\n2\t9\n2\t9\n1\t9\n"), stored("given/test.tsv", "3\t9\n2\t11\n"));
    let source = json!({"splits": {"train": train, "test": test}});
    let prepared = run(json!({"name": "given", "source": source, "split": {"given": {"validation": 0.1}}}), "given").expect("good");
    let read = Dataset::read(&prepared.folder).expect("what was written");
    assert_eq!((read.user_ids.join(" "), read.item_ids.join(" ")), ("1 2 3".to_owned(), "9 10 11".to_owned()));
    assert_eq!((read.train.len(), read.validation.len(), read.test.len()), (2, 1, 2));
    assert_eq!((read.train.row(0), read.test.row(1), read.test.row(2)), (&[0][..], &[2][..], &[0][..]));
    let unknown = prepared.manifest.steps.last().expect("steps");
    assert_eq!((&unknown.step[..], unknown.users, unknown.interactions), ("test, of users without train", 1, 1));
}

#[test]
fn nothing_left_names_the_step() {
    let rows = "1,x,5,1\n1,y,2,2\n2,x,4,3\n";
    let message = failure(ratings("core.csv", rows, json!({"k_core": 5})));
    assert!(message.contains("`5-core (1 round)`; before it there were 2 users, 2 items and 3 interactions"), "{message}");
    let message = failure(ratings("rated.csv", rows, json!({"min_rating": 6})));
    assert!(message.contains("after `rating at least 6`; before it there were 2 users, 2 items and 3 interactions"), "{message}");
    assert!(failure(ratings("nothing.csv", "\n\n", json!({}))).contains("nothing.csv: the file holds no interactions"));
    let message = failure(ratings("no-test.csv", rows, json!({"split": {"random": {"test": 0.1}}})));
    assert!(message.starts_with("`split`: test is empty"), "{message}");
}

#[test]
fn ratings_and_times_that_are_not_there() {
    let path = stored("bare.inter", "user_id:token\titem_id:token\n1\tx\n1\ty\n");
    let bare = |more: Value| {
        let mut settings = json!({"name": "bare", "source": {"recbole": {"path": path}}, "split": {"random": {"test": 0.5}}});
        settings.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        settings
    };
    assert!(failure(bare(json!({"min_rating": 3}))).starts_with("`min_rating`: the source has no ratings"));
    assert!(failure(bare(json!({"split": {"leave-last": {}}}))).starts_with("`split.kind`: the source has no timestamps"));
    run(bare(json!({})), "bare").expect("a random split needs neither");
}

#[test]
fn a_bad_row_stops_everything() {
    let message = failure(ratings("three.csv", "1,x,5,1\n1,y,4\n", json!({})));
    assert!(message.contains("three.csv line 2: 3 fields where line 1 has 4"), "{message}");
    let folders = datasets("failures").folders().expect("memory lists");
    assert!(folders.is_empty(), "nothing is stored of a failed preparation");
}

#[test]
fn a_storage_that_cannot_be_written_is_named() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let at = Location::parse(file.path().join("datasets").to_str().expect("text")).expect("a good path");
    let settings = preparation(ratings("unwritten.csv", "1,x,5,1\n1,y,4,2\n", json!({})));
    let error = prepare(&settings, &at, &LIMITS, &mut |_| {}).expect_err("a file is no folder");
    assert!(error.to_string().contains(file.path().to_str().expect("text")), "{error}");
}

#[test]
fn a_tiny_memory_limit_is_enough() {
    let settings = ratings("tiny.csv", &many_rows(false), json!({}));
    let limits = Limits { threads: 2, memory: Some(10_000), engine: None, scratch: None };
    let found = prepare(&preparation(settings.clone()), &datasets("tiny"), &limits, &mut |_| {}).expect("64 MiB are taken");
    let expected = run(settings, "enough").expect("a good preparation");
    assert_eq!(files(&found.folder), files(&expected.folder));
}

#[test]
fn the_generator_prepares_with_its_defaults() {
    let prepared = run(
        json!({"name": "synthetic", "source": {"synthetic": {}}, "k_core": 5, "split": {"random": {"test": 0.2, "validation": 0.1}}}),
        "synthetic",
    );
    let manifest = prepared.expect("good").manifest;
    assert!(manifest.users == 2_000 && manifest.items > 900, "{} {}", manifest.users, manifest.items);
    assert!(manifest.test > 10_000 && manifest.validation > 3_000);
}

/// Nothing of another file is stored under the fingerprint of the first; one that was only written again is the same.
#[test]
fn a_source_that_changes_while_it_is_read_is_refused() {
    let (rows, others) = (many_rows(false), many_rows(false).replace("u7,", "u8,"));
    let folder = tempfile::tempdir().expect("a folder");
    let local = folder.path().join("changing.csv");
    for (at, name) in [("memory:///raw/changing.csv", "changing"), (local.to_str().expect("UTF-8"), "changing-local")] {
        let file = Location::parse(at).expect("a good URL");
        let mut settings = ratings("changing.csv", &rows, json!({}));
        settings["source"]["delimited"]["path"] = at.into();
        let prepare_while = |content: &str| {
            file.write(rows.clone()).expect("it is written");
            let mut change = |_: &dataset::Counts| file.write(content.to_owned()).expect("it is written");
            prepare(&preparation(settings.clone()), &datasets(name), &LIMITS, &mut change)
        };
        let error = prepare_while(&others).expect_err("another file").to_string();
        assert!(error.contains("changing.csv changed while it was read"), "{error}");
        assert_eq!(datasets(name).list().expect("a folder").len(), 0, "nothing is stored");
        assert!(!prepare_while(&rows).expect("the same file").reused);
    }
}

/// A file system whose attributes lag behind, as NFS's do, shows other bytes under the old size and time: what was read is not what was hashed.
#[test]
fn bytes_other_than_the_fingerprinted_ones_are_noticed_where_they_are_read() {
    let (rows, others) = (many_rows(false), many_rows(false).replace("u7,", "u8,"));
    let folder = tempfile::tempdir().expect("a folder");
    for (name, engine) in [("memory", Engine::Memory), ("relations", Engine::Datafusion)] {
        let file = folder.path().join(format!("{name}.csv"));
        std::fs::write(&file, &rows).expect("it is written");
        let mut settings = ratings("changing.csv", &rows, json!({}));
        settings["source"]["delimited"]["path"] = file.to_str().expect("UTF-8").into();
        let preparation = preparation(settings);
        fingerprint(&preparation).expect("a good file");
        let time = file.metadata().expect("a file").modified().expect("a time");
        std::fs::write(&file, &others).expect("it is written");
        std::fs::File::options().write(true).open(&file).and_then(|file| file.set_modified(time)).expect("its owner may");
        let limits = Limits { engine: Some(engine), scratch: Some(folder.path().to_owned()), ..LIMITS };
        let error = prepare(&preparation, &datasets(name), &limits, &mut |_| {}).expect_err("other bytes").to_string();
        assert!(error.ends_with(&format!("{name}.csv changed while it was read: run this again when nothing writes to it")), "{error}");
        assert_eq!(datasets(name).list().expect("a folder").len(), 0, "nothing is stored");
    }
}

/// By an implementation of SipHash in Python: of the users a to e the user c is for test, a and b are for validation; in the frozen order a has
/// 8, 3, 6, 2, 7, 4, 5, 9, 10, 1, b has 4, 1, 2, 3 and c has 1, 7, 2, 5, 10, 6, 3, 8, 9, 4.
#[test]
fn histories_of_held_out_users_are_stored_apart_and_cut() {
    let counts = [("a", 10), ("b", 4), ("c", 10), ("d", 3), ("e", 1)];
    let rows: String = counts.iter().flat_map(|(user, count)| (1..=*count).map(move |item| format!("{user},{item},5,{item}\n"))).collect();
    let of = |split: Value| {
        let prepared = run(ratings("held-out.csv", &rows, json!({"split": split})), "held-out").expect("good");
        let read = Dataset::read(&prepared.folder).expect("what was written");
        (prepared.manifest, read)
    };
    let own = |read: &Dataset, part: Split, user: usize| -> Vec<u32> {
        read.split(part).row(user).iter().map(|&item| read.item_ids[item as usize].parse().expect("a number")).collect()
    };
    let (manifest, whole) = of(json!({"users": {"test": 0.2, "validation": 0.4}}));
    assert_eq!((manifest.train, manifest.fold_in, manifest.validation, manifest.test), (4, Some(19), 3, 2));
    let counted: Vec<(&str, usize, usize)> = manifest.steps.iter().map(|step| (&step.step[..], step.users, step.interactions)).collect();
    let expected = [("train", 2, 4), ("fold-in, of users whom no training sees", 3, 19), ("validation", 2, 3), ("test", 1, 2)];
    assert_eq!(counted[2..6], expected);
    assert_eq!(own(&whole, Split::FoldIn, 0), [1, 2, 4, 5, 6, 7, 9, 10]);
    assert_eq!((own(&whole, Split::Validation, 0), own(&whole, Split::Test, 2)), (vec![3, 8], vec![1, 7]));
    assert_eq!(whole.order.as_ref().expect("there are times").fold_in.len(), 19);

    let cold = |left: Value| {
        let mut split = json!({"test": 0.2, "validation": 0.4});
        split.as_object_mut().expect("an object").extend(left.as_object().expect("an object").clone());
        of(json!({"cold-start": split}))
    };
    let (manifest, half) = cold(json!({"share": 0.5}));
    assert_eq!([0, 1, 2].map(|user| own(&half, Split::FoldIn, user)), [vec![2, 4, 6, 7], vec![1, 2], vec![2, 5, 6, 10]]);
    let last = manifest.steps.last().expect("there are steps");
    assert_eq!((&last.step[..], last.users, last.interactions, manifest.fold_in), ("fold-in that is kept", 3, 10, Some(10)));
    let (_, three) = cold(json!({"items": 3}));
    assert_eq!([0, 1, 2].map(|user| own(&three, Split::FoldIn, user)), [vec![2, 6, 7], vec![1, 2, 3], vec![2, 5, 10]]);
    let (_, tenth) = cold(json!({"share": 0.1}));
    assert_eq!([0, 1, 2].map(|user| own(&tenth, Split::FoldIn, user)), [vec![6], vec![1], vec![2]]);
    for cut in [&half, &three, &tenth] {
        assert_eq!(
            (&cut.train, &cut.validation, &cut.test, &cut.item_ids),
            (&whole.train, &whole.validation, &whole.test, &whole.item_ids)
        );
        let order = cut.order.as_ref().expect("there are times");
        assert_eq!(order.fold_in.len(), cut.fold_in.as_ref().expect("users are held out").len());
    }
    // User a took its items in the order of their ids.
    assert_eq!(half.order.as_ref().expect("there are times").fold_in[..4], [1, 3, 5, 6]);
}

/// By an implementation of SipHash in Python: of the links ab, ac, ae, bc, bd, cd, cf and de, ab and cd are test with the seed 2, and bc is validation. Of those that are directed, ca,
/// de and ea are test with the seed 1, and ab and fc validation. The node e has a link to itself.
#[test]
fn links_of_one_set_of_nodes_are_held_out_as_a_whole() {
    let text = ["ab", "ba", "ca", "aa", "db", "cd", "ea", "ee", "de", "fc", "bc"]
        .map(|link| format!("{},{},5,1\n", &link[..1], &link[1..]))
        .concat();
    let of = |split: Value| {
        let prepared = run(ratings("links.csv", &text, json!({"split": {"link-prediction": split}})), "links").expect("good");
        Dataset::read(&prepared.folder).expect("what was written")
    };
    let links = |read: &Dataset, part: Split| -> Vec<String> {
        read.split(part).pairs().map(|(user, item)| format!("{}{}", read.user_ids[user as usize], read.item_ids[item as usize])).collect()
    };
    let both = of(json!({"test": 0.3, "validation": 0.25, "seed": 2}));
    assert!(both.one_node_set && both.user_ids == ["a", "b", "c", "d", "e", "f"] && both.user_ids == both.item_ids);
    assert_eq!(links(&both, Split::Train), ["ac", "ae", "bd", "ca", "cf", "db", "de", "ea", "ed", "fc"]);
    assert_eq!((links(&both, Split::Validation), links(&both, Split::Test)), (strings(&["bc", "cb"]), strings(&["ab", "ba", "cd", "dc"])));
    assert_eq!(both.own_nodes().expect("one set of nodes").pairs().collect::<Vec<_>>(), [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]);
    let directed = of(json!({"test": 0.3, "validation": 0.25, "seed": 1, "directed": true}));
    assert_eq!(links(&directed, Split::Train), ["ba", "bc", "cd", "db"]);
    assert_eq!(
        (links(&directed, Split::Validation), links(&directed, Split::Test)),
        (strings(&["ab", "fc"]), strings(&["ca", "de", "ea"]))
    );
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn what_would_take_one_direction_of_a_link_is_refused() {
    let with = |split: Value, more: Value| {
        let mut settings = more;
        settings["split"] = json!({"link-prediction": split});
        failure(ratings("one-link.csv", "a,b,5,1\n", settings))
    };
    let half = || json!({"test": 0.5});
    let bounds = json!({"k_core": {"users": 2, "items": 1}});
    assert!(
        with(half(), bounds)
            .starts_with("`k_core`: 2 and 1 would leave links in one direction, and each holds in both (expected one bound")
    );
    assert!(
        with(half(), json!({"noise": {"ratio": 0.1}}))
            .starts_with("`noise`: it adds interactions of users, and the split holds links between nodes out")
    );
    assert!(with(half(), json!({"train_share": {"share": 0.1}})).starts_with("`train_share`: it takes interactions of users"));
    assert!(with(json!({"test": 0.0}), json!({})).starts_with("`split.test`: 0 leaves nothing to test on"));
    assert!(with(json!({"test": 0.1, "validation": 1.0}), json!({})).starts_with("`split.validation`: 1 is no share"));
    let alone = ratings("self.csv", "a,a,5,1\n", json!({"split": {"link-prediction": half()}}));
    assert!(failure(alone).contains("self.csv: no row links two nodes (expected rows of two ids that differ; check `columns`)"));
}
