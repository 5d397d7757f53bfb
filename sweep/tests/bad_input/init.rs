//! `ranksweep init`: data in, a sweep file that runs out; or one complaint, and no file.

use crate::support::{SWEEP, Sandbox};

fn init(sandbox: &Sandbox, arguments: &str) -> crate::support::Ended {
    sandbox.ended(&mut sandbox.command(&[&["init"], &arguments.split(' ').collect::<Vec<_>>()[..]].concat()))
}

#[test]
fn the_file_it_writes_is_planned() {
    let sandbox = Sandbox::new(SWEEP);
    let ended = init(&sandbox, "ratings.csv");
    assert_eq!(ended.code, Some(0), "{}", ended.error);
    for expected in [
        "It is read as text separated by `,` with names in its first line, and has 120 rows.\n",
        "In all 120 rows: 12 users, 20 items, ratings from 1 to 5, times from 1000 to ",
        "    user u0, item i0, rating 1, time 1000\n",
        "Wrote FOLDER/ratings.yaml. Next: ranksweep plan ratings.yaml, then ranksweep run ratings.yaml\n",
    ] {
        assert!(ended.out.contains(expected), "{expected}\n{}", ended.out);
    }
    let planned = sandbox.ended(&mut sandbox.command(&["plan", "ratings.yaml"]));
    assert_eq!(planned.code, Some(0), "{}", planned.error);
    let elsewhere = init(&sandbox, "ratings.csv --out elsewhere.yaml --storage s3://bucket/my-runs/");
    assert_eq!(elsewhere.code, Some(0), "{}", elsewhere.error);
    let text = std::fs::read_to_string(sandbox.path("elsewhere.yaml")).unwrap();
    assert!(
        text.contains("\nstorage: s3://bucket/my-runs/\n") && text.contains("in s3://bucket/my-runs/sweeps/ratings/report.html"),
        "{text}"
    );
    let again = init(&sandbox, "ratings.csv");
    assert_eq!(again.complaint(2), "FOLDER/ratings.yaml is there already; name another file by --out, or remove it");
}

#[test]
fn what_it_cannot_tell_is_asked_for_and_nothing_is_written() {
    let sandbox = Sandbox::new(SWEEP);
    sandbox.write("odd.csv", "who,what,stars\n1,2,3\n");
    sandbox.write("bad.csv", "user,item,rating\n1,2,3\n1,3,good\n");
    sandbox.write("own.inter", "user_id:token\titem_id:token\nu\ti\n");
    sandbox.write("words.txt", "once\nupon\n");
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    let cases = [
        ("odd.csv", 2, "odd.csv has the columns `who`, `what`, `stars`: none of them is known to hold user; name it by --user"),
        ("odd.csv --user whom", 2, "odd.csv has no column `whom` for user; it has `who`, `what`, `stars`"),
        (
            "bad.csv",
            1,
            "bad.csv, taken for text separated by `,` with names in its first line (--skip-bad-rows leaves such rows out, --rating none or --timestamp none a column): FOLDER/bad.csv line 3: column `rating`: `good`",
        ),
        ("own.inter --skip-bad-rows", 2, "--skip-bad-rows: own.inter is taken for `recbole`, which has no `on_bad_row`"),
        ("words.txt", 1, "FOLDER/words.txt: it has no lines of users and items (expected lines of fields"),
        ("none.csv", 1, "FOLDER/none.csv does not exist"),
        ("folder", 1, "folder/ has no files; correct `path`"),
    ];
    for (arguments, code, message) in cases {
        let ended = init(&sandbox, arguments);
        assert!(ended.complaint(code).starts_with(message), "{}", ended.error);
    }
    let yaml = |name: &str| sandbox.path(name).exists();
    assert_eq!(["odd.yaml", "bad.yaml", "words.yaml", "none.yaml"].map(yaml), [false; 4]);
    let ended = init(&sandbox, "odd.csv --user who --item what");
    assert_eq!(ended.code, Some(0), "{}", ended.error);
    sandbox.write("latin.csv", b"user,item\nJos\xe9,1\n");
    sandbox.write("list.json", "[{\"user\": 1, \"item\": 2}]\n");
    for (arguments, message) in [
        ("latin.csv", "FOLDER/latin.csv: its text is not UTF-8; convert the file"),
        ("list.json", "FOLDER/list.json: it is a list of JSON; write each object on a line of its own"),
    ] {
        let ended = init(&sandbox, arguments);
        assert!(ended.complaint(1).starts_with(message), "{}", ended.error);
    }
    sandbox.write("kunden.csv", "kunde,artikel,sterne\nA,B,2.5\nC,D,gut\n");
    let ended = init(&sandbox, "kunden.csv --user kunde --item artikel --rating none");
    assert_eq!(ended.code, Some(0), "{}", ended.error);
    assert!(ended.out.contains("with names in its first line, and has 2 rows.\n") && !ended.out.contains("ratings from"), "{}", ended.out);
    let texts: String = (0..9).map(|n| format!("u{n},i{n},\"so\n{n} good\"\n")).collect();
    sandbox.write("reviews.csv", format!("user,item,review\n{texts}"));
    let ended = init(&sandbox, "reviews.csv");
    assert!(ended.code == Some(0) && ended.out.contains("and has 9 rows.\n"), "{}{}", ended.out, ended.error);
    let ended = init(&sandbox, "bad.csv --skip-bad-rows");
    assert_eq!(ended.code, Some(0), "{}", ended.error);
    assert!(ended.out.contains("and has 1 row.\n"), "{}", ended.out);
    assert!(std::fs::read_to_string(sandbox.path("bad.yaml")).unwrap().contains("on_bad_row: \"skip\""));
}
