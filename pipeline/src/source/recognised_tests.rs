//! Formats by the beginnings of files.

use super::{KnownColumns, Source, row::testing::stored};
use dataset::Location;
use serde_json::{Value, json};

fn of(name: &str, content: &str, known: KnownColumns) -> Result<Value, String> {
    let path = stored(&format!("recognised/{name}"), content);
    let source = Source::recognise(&path, known).map_err(|error| error.to_string())?;
    let mut value = serde_json::to_value(source).unwrap();
    for settings in value.as_object_mut().unwrap().values_mut() {
        settings.as_object_mut().unwrap().retain(|key, value| *key != "path" && !value.is_null() && *key != "on_bad_row");
        if let Some(columns) = settings.get_mut("columns").and_then(Value::as_object_mut) {
            columns.retain(|_, value| !value.is_null());
        }
    }
    Ok(value)
}

fn found(name: &str, content: &str) -> Value {
    of(name, content, KnownColumns::default()).unwrap()
}

fn delimited(separator: &str, header: bool, columns: Value) -> Value {
    json!({"delimited": {"separator": separator, "header": header, "columns": columns}})
}

#[test]
fn text_with_any_separator() {
    let names = json!({"user": "user_id", "item": "item", "rating": "stars"});
    for separator in ["::", "\t", ";", "|", ",", " "] {
        let content = ["user_id,stars,item", "u1,4.5,i1", "u2,3,i2", ""].join("\n").replace(',', separator);
        assert_eq!(found("named.txt", &content), delimited(separator, true, names.clone()), "{separator:?}");
    }
    let indices = json!({"user": 0, "item": 1, "rating": 2, "timestamp": 3});
    assert_eq!(found("plain.csv", "7,12,4.5,978300760\n8,12,1,978300761\n"), delimited(",", false, indices));
    assert_eq!(found("ids.txt", "u1 i1\nu2 i2"), delimited(" ", false, json!({"user": 0, "item": 1})));
}

/// A new split would have their test among its train.
#[test]
fn parts_that_stand_beside_each_other_stay_parts() {
    let folder = "memory:///sources/recognised/parts";
    let put = |name: &str, content: &str| Location::parse(&format!("{folder}/{name}")).unwrap().write(content.to_owned()).unwrap();
    for (name, user) in [("train.csv", "u1"), ("valid.csv", "u2"), ("test.csv", "u3")] {
        put(name, &format!("user_id,item_id\n{user},i1\n{user},i2\n"));
    }
    let whole = |path: &str| serde_json::to_value(Source::recognise(path, KnownColumns::default()).unwrap()).unwrap();
    let parts = json!({"splits": {
        "train": format!("{folder}/train.csv"), "validation": format!("{folder}/valid.csv"), "test": format!("{folder}/test.csv"),
        "separator": ",", "header": true, "columns": {"user": "user_id", "item": "item_id"},
    }});
    assert_eq!((whole(&format!("{folder}/")), whole(&format!("{folder}/train.csv"))), (parts.clone(), parts));
    let all = whole(&format!("{folder}/*.csv"));
    assert_eq!(all["delimited"]["path"], format!("{folder}/*.csv"), "a pattern is of all its files");
    put("alone/train.csv", "user_id,item_id\nu1,i1\n");
    assert!(whole(&format!("{folder}/alone/train.csv")).get("delimited").is_some(), "without a test file there is no split");
}

#[test]
fn separators_within_quotes_separate_nothing() {
    let content = "userId,title,movieId\n1,\"Toy Story, 1995; again\",3\n2,\"Heat, 1995; once\",4\n";
    assert_eq!(found("quoted.csv", content), delimited(",", true, json!({"user": "userId", "item": "movieId"})));
}

#[test]
fn names_of_users_and_items_make_a_table_of_lines_of_other_lengths() {
    let lines = "1,3,Heat,4\n1,4,Matrix, The,5\n2,3,Heat,3\n";
    let expected = delimited(",", true, json!({"user": "user_id", "item": "item_id", "rating": "rating"}));
    assert_eq!(found("titles.csv", &format!("user_id,item_id,title,rating\n{lines}")), expected);
    let unnamed = of("titles/bare.csv", lines, KnownColumns::default()).unwrap_err();
    assert!(unnamed.contains("no lines of users and items"), "{unnamed}");
}

#[test]
fn unknown_names_above_numbers_are_a_header() {
    let content = "who,what,when\n1,7,978300760\n2,8,978300761\n";
    let message = of("unknown.csv", content, KnownColumns::default()).unwrap_err();
    assert!(message.contains("unknown.csv has the columns `who`, `what`, `when`") && message.contains("--user"), "{message}");
    let known = KnownColumns { user: Some("who".into()), item: Some("what".into()), ..KnownColumns::default() };
    let expected = delimited(",", true, json!({"user": "who", "item": "what", "timestamp": "when"}));
    assert_eq!(of("unknown.csv", content, known).unwrap(), expected);
}

#[test]
fn unknown_names_above_dates_are_a_header() {
    let content = "konto,artikel,datum\nanna,brot,2024-05-01\nbob,milch,2024-05-02 10:00:00\n";
    let message = of("dates.csv", content, KnownColumns::default()).unwrap_err();
    assert!(message.contains("dates.csv has the columns `konto`, `artikel`, `datum`") && message.contains("--user"), "{message}");
    let without = delimited(",", false, json!({"user": 0, "item": 1, "timestamp": 2}));
    assert_eq!(found("dates/bare.csv", content.split_once('\n').unwrap().1), without);
}

#[test]
fn a_column_that_is_asked_for_has_no_other_role() {
    let known = KnownColumns { rating: Some("date".into()), ..KnownColumns::default() };
    let expected = delimited(",", true, json!({"user": "user", "item": "item", "rating": "date"}));
    assert_eq!(of("asked.csv", "user,item,date\nu,i,5\nv,j,4\n", known).unwrap(), expected);
}

#[test]
fn an_index_that_is_asked_for_has_no_other_role() {
    let asked = |timestamp: Option<&str>, rating: Option<&str>| {
        let known = KnownColumns { timestamp: timestamp.map(str::to_owned), rating: rating.map(str::to_owned), ..KnownColumns::default() };
        of("log.csv", "1700000000,u1,i1,5\n1700000009,u2,i2,4\n", known)
    };
    let expected = |rating: u32| delimited(",", false, json!({"user": 1, "item": 2, "rating": rating, "timestamp": 0}));
    assert_eq!(asked(Some("0"), None).unwrap(), expected(3));
    assert_eq!(asked(Some("0"), Some("3")).unwrap(), expected(3));
    assert_eq!(asked(None, Some("0")).unwrap(), delimited(",", false, json!({"user": 1, "item": 2, "rating": 0})));
    let known = KnownColumns { timestamp: Some("0".into()), ..KnownColumns::default() };
    let none_left = of("two.csv", "7,u1\n8,u2\n", known).unwrap_err();
    assert!(none_left.contains("has 2 columns, and what is asked for leaves none"), "{none_left}");
}

#[test]
fn a_header_is_seen_above_gaps_and_the_numbers_and_dates_of_other_countries() {
    let known = KnownColumns { user: Some("who".into()), item: Some("what".into()), ..KnownColumns::default() };
    let gaps = "who,what,rating,timestamp\nanna,brot,5,\nbob,milch,,2024-05-01\n";
    let expected = delimited(",", true, json!({"user": "who", "item": "what", "rating": "rating", "timestamp": "timestamp"}));
    assert_eq!(of("gaps.csv", gaps, known).unwrap(), expected);
    for (name, content) in [
        ("comma.csv", "kunde;produkt;bewertung\nanna;brot;4,5\nbob;milch;3,0\n"),
        ("points.csv", "kunde;produkt;zeitpunkt\nanna;brot;25.06.2024 16:44\nbob;milch;26.06.2024 08:00\n"),
        ("gap.csv", "konto,artikel,sterne\nanna,brot,4\nbob,milch,\n"),
    ] {
        let message = of(name, content, KnownColumns::default()).unwrap_err();
        assert!(message.contains("none of them is known to hold user"), "{name}: {message}");
    }
    let bare = delimited(",", false, json!({"user": 0, "item": 1}));
    let by_index = KnownColumns { user: Some("0".into()), item: Some("1".into()), ..KnownColumns::default() };
    assert_eq!(of("index.csv", "a1f,9k\n3bc,7z\n4de,8y\n", by_index).unwrap(), bare);
    assert_eq!(found("gap/bare.csv", "anna,brot,gut\nbob,milch,\ncarl,ei,2x gekauft\n"), bare);
    assert_eq!(found("words.csv", "anna,brot\nbob,milch\nbob,brot\n"), bare);
}

#[test]
fn of_a_folder_the_file_of_interactions_is_taken() {
    for (name, content) in [("README.txt", "About this data\n"), ("movies.dat", "1193::One Flew::Drama\n")] {
        stored(&format!("recognised/ml-1m/{name}"), content);
    }
    let file = stored("recognised/ml-1m/ratings.dat", "1::1193::5::978300760\n");
    let folder = file.strip_suffix("ratings.dat").unwrap();
    let source = serde_json::to_value(Source::recognise(folder, KnownColumns::default()).unwrap()).unwrap();
    assert_eq!(source, json!({"movielens": {"path": file}}));
}

#[test]
fn formats_of_others() {
    assert_eq!(found("ratings.dat", "1::1193::5::978300760\n"), json!({"movielens": {}}));
    assert_eq!(found("u.data", "196\t242\t3\t881250949\n"), json!({"movielens": {}}));
    assert_eq!(found("ratings.csv", "userId,movieId,rating,timestamp\n1,1,4.0,964982703\n"), json!({"movielens": {}}));
    let other = delimited(",", true, json!({"user": "user", "item": "movie"}));
    assert_eq!(found("other/ratings.csv", "user,movie\n1,2\n"), other);
    assert_eq!(found("x.inter", "user_id:token\titem_id:token\trating:float\na\tb\t3\n"), json!({"recbole": {}}));
    let json_lines = "{\"user_id\": \"A\", \"asin\": \"b\", \"parent_asin\": \"B\", \"text\": \"x, y\", \"timestamp\": 1}\n";
    let columns = json!({"user": "user_id", "item": "parent_asin", "timestamp": "timestamp"});
    assert_eq!(found("reviews.jsonl", json_lines), json!({"json-lines": {"columns": columns}}));
}

#[test]
fn lists_of_items_beside_a_test_file() {
    let test = stored("recognised/lists/test.txt", "0 7\n");
    let value = found("lists/train.txt", "0 1 2 3\n1 5\n2\n");
    assert_eq!(value["adjacency"]["test"], json!(test));
    let alone = of("alone/train.txt", "0 1 2 3\n1 5\n2\n", KnownColumns::default()).unwrap_err();
    assert!(alone.contains("it has no lines of users and items"), "{alone}");
}

#[test]
fn what_is_no_table_is_refused() {
    for (name, content, reason) in [
        ("words.txt", "once\nupon\na time\n", "it has no lines of users and items (expected lines of fields"),
        ("zeros.bin", "\0\0\0,\0\n", "it is no text, and no binary format that is known (expected lines of fields"),
        ("no.json", "[1, 2]\n", "it is a list of JSON; write each object on a line of its own"),
        ("comment.csv", "# of a day\nuser;item\n", "its first line is a comment; take it away"),
    ] {
        let message = of(name, content, KnownColumns::default()).unwrap_err();
        assert!(message.contains(reason), "{name}: {message}");
    }
    assert!(of("empty.csv", "", KnownColumns::default()).unwrap_err().contains("the file is empty"));
}
