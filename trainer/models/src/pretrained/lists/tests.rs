use super::*;
use bytes::Bytes;
use dataset::{Dataset, Location, table};
use std::sync::Arc;
use testing::dataset_of;

/// Users a, b and c and items p to t, all of whom are in train.
fn dataset() -> Dataset {
    Dataset {
        user_ids: ["a", "b", "c"].map(str::to_owned).to_vec(),
        item_ids: ["p", "q", "r", "s", "t"].map(str::to_owned).to_vec(),
        ..dataset_of([3, 5], &[(0, 0), (1, 1), (2, 2), (0, 3), (0, 4)])
    }
}

/// Each user's items and their scores.
type Rows = Vec<Vec<(u32, f64)>>;

fn read_bytes(name: &str, bytes: Bytes) -> (Option<Rows>, Result<Vec<String>, String>) {
    let dataset = dataset();
    let content = Content { at: Location::parse(&format!("memory:///lists/{name}")).unwrap(), bytes };
    let mut findings = Findings::default();
    let lists = read_lists(&content, &dataset, &mut findings);
    let rows = lists.map(|lists| (0..lists.users()).map(|user| lists.row(user).collect()).collect());
    (rows, findings.remarks().map_err(|error| error.to_string()))
}

fn read_lists(content: &Content, dataset: &Dataset, findings: &mut Findings) -> Option<Lists> {
    read(content, &Side::users(dataset), &Side::items(dataset), findings)
}

fn lists(name: &str, text: &str) -> Rows {
    let (rows, remarks) = read_bytes(name, text.to_owned().into());
    assert_eq!(remarks.unwrap(), Vec::<String>::new());
    rows.unwrap()
}

fn refused(name: &str, text: &str) -> String {
    let (rows, remarks) = read_bytes(name, text.to_owned().into());
    assert!(rows.is_none());
    remarks.unwrap_err()
}

#[test]
fn scores_order_and_ranks_do_where_there_are_no_scores() {
    let by_score = vec![vec![(4, 2.5), (0, 1.0), (1, 1.0)], vec![(2, -0.5)], vec![]];
    assert_eq!(lists("s.csv", "user,item,score\na,q,1\na,t,2.5\nb,r,-.5\na,p,1e0\n"), by_score);
    assert_eq!(lists("s.trec", "a Q0 q 9 1 x\na\tQ0\tt\t9\t2.5\tx\n\nb Q0 r 1 -.5 x\na Q0 p 0 1 x\n"), by_score);
    assert_eq!(lists("run", "a Q0 q 9 1\na Q0 t 9 2.5\nb Q0 r 1 -.5\na Q0 p 0 1\n"), by_score);
    let by_rank = vec![vec![(4, -1.0), (1, -2.0), (0, -30.0)], vec![(2, 0.0)], vec![]];
    assert_eq!(lists("r.tsv", "\u{feff}rank\titem_id\tuser_id\n2\tq\ta\n1\tt\ta\n0\tr\tb\n30\tp\ta\n"), by_rank);
    // As pandas writes ranks.
    assert_eq!(lists("p.tsv", "rank\titem_id\tuser_id\n2.0\tq\ta\n1.0\tt\ta\n0.0\tr\tb\n30.0\tp\ta\n"), by_rank);
    // Equal scores of different ranks stay ties; own ids come before dense ones, as `recommend` writes both.
    assert_eq!(
        lists("both.csv", "user,user_id,rank,item,item_id,score\n9,a,2,9,p,1\n9,a,1,9,q,1\n"),
        [vec![(0, 1.0), (1, 1.0)], vec![], vec![]]
    );
}

#[test]
fn tables_of_parquet_may_have_whole_numbers_as_scores() {
    let texts = |texts: [&str; 2]| Arc::new(arrow::array::StringArray::from(texts.to_vec())) as arrow::array::ArrayRef;
    let scores = Arc::new(arrow::array::Int32Array::from(vec![1, 2])) as arrow::array::ArrayRef;
    let bytes = |scores, name| {
        table::encode(&table::batch(vec![("user", texts(["b", "b"]), false), ("item", texts(["p", "q"]), false), (name, scores, false)]))
    };
    let (rows, _) = read_bytes("l.parquet", bytes(scores, "score").unwrap().into());
    assert_eq!(rows.unwrap(), [vec![], vec![(1, 2.0), (0, 1.0)], vec![]]);
    let halves = Arc::new(arrow::array::Float32Array::from(vec![1.5, 2.0]));
    let (_, error) = read_bytes("l.parquet", bytes(halves, "rank").unwrap().into());
    assert_eq!(error.unwrap_err(), "memory:///lists/l.parquet: the column `rank` has 1.5 in row 1 (expected whole ranks)");
}

#[test]
fn unknown_ids_are_a_remark() {
    let (rows, remarks) = read_bytes("u.csv", "user,item,rank\na,p,1\nx,p,1\nb,y,1\nb,z,2\nx,q,2\n".into());
    assert_eq!(rows.unwrap(), [vec![(0, -1.0)], vec![], vec![]]);
    let expected = ["entries of 1 user (`x`) that", "entries of 2 items (`y`, `z`) that"];
    for (remark, expected) in remarks.unwrap().iter().zip(expected) {
        assert!(remark.starts_with(expected) && remark.ends_with("the dataset does not have were passed over"), "{remark}");
    }
}

#[test]
fn what_is_no_list_is_named_and_counted() {
    let at = |name: &str| format!("memory:///lists/{name}: ");
    for (name, text, expected) in [
        (
            "d.csv",
            "user,item,rank\na,p,1\na,p,2\nb,q,1\nb,q,1\n",
            "an item stands twice in the lists of 2 users (`a`, `b`); memory:///lists/d.csv: a rank stands twice in the lists of 1 user (`b`)",
        ),
        ("n.csv", "user,item,score\na,p,NaN\nb,q,inf\nb,r,1\n", "2 entries with a score that is NaN or infinite"),
        (
            "c.csv",
            "user,item,score,rank\na,p,1,1\na,q,2,2\n",
            "a higher score has a later rank in the lists of 1 user (`a`): keep the column that is meant, `score` (higher is better) or `rank`",
        ),
        (
            "k.csv",
            "user,item,score\n1,2,0.5\n",
            "none of its 1 entry is of a user and an item of the dataset (expected own ids of users, such as `a`, and of items, such as `p`)",
        ),
        (
            "e.csv",
            "user,item,score\n",
            "none of its 0 entries is of a user and an item of the dataset (expected own ids of users, such as `a`, and of items, such as `p`)",
        ),
        ("m.csv", "usr,item,score\n", "no column `user_id` or `user` (found `usr`, `item`, `score`)"),
        ("o.csv", "user,item\n", "no column `score` or `rank` (found `user`, `item`)"),
        ("x.csv", "user,item,score\na,p,1\na,q,x\n", "line 3: the score is `x` (expected a number)"),
        ("y.csv", "user,item,rank\na,p,1.0\na,q,2.5\n", "line 3: the rank is `2.5` (expected a whole number)"),
        ("f.run", "a Q0 p\n", "line 1 has 3 fields (expected `qid Q0 docid rank score tag`)"),
        ("b.parquet", "PAR1", ""),
        (
            "l.json",
            "{}",
            "`l.json` has an unknown suffix (expected .csv, .tsv or .parquet, or .trec, .run, .txt or none for a TREC run file)",
        ),
    ] {
        let message = refused(name, text);
        assert!(message.starts_with(&(at(name) + expected)), "{message}");
    }
    assert!(refused("r.csv", "user,item,rank\na,p\n").contains("line: 2"));
    let (_, error) = read_bytes("u.run", Bytes::from_static(b"\xff\xfe"));
    assert!(error.unwrap_err().contains("it is no UTF-8 text"));
}
