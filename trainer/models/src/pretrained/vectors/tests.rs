use super::testing::{floats, npy, npz};
use super::*;
use ::testing::dataset_of;
use arrow::array::{ArrayRef, FixedSizeListArray, Float64Array, Int64Array, ListArray, StringArray};
use arrow::datatypes::{Float32Type, Float64Type};
use bytes::Bytes;
use dataset::{Dataset, Interactions, Location, table};
use half::f16;
use std::sync::Arc;

fn content(name: &str, bytes: impl Into<Bytes>) -> Content {
    Content { at: Location::parse(&format!("memory:///vectors/{name}")).unwrap(), bytes: bytes.into() }
}

fn read(name: &str, bytes: impl Into<Bytes>, key: Option<&str>) -> Result<(usize, Vec<f32>), String> {
    Vectors::read(&content(name, bytes), key, None).map(|vectors| (vectors.dim, vectors.values))
}

const ROWS: [f32; 6] = [0.5, -1.5, 2.0, 3.0, 0.0, 1.0];

#[test]
fn arrays_of_numpy_are_read_in_any_order_and_width() {
    let expected = Ok((2, ROWS.to_vec()));
    assert_eq!(read("a.npy", npy("<f4", "False", "(3, 2)", &floats(&ROWS)), None), expected);
    assert_eq!(read("a.npy", npy("<f4", "True", "(3, 2)", &floats(&[0.5, 2.0, 0.0, -1.5, 3.0, 1.0])), None), expected);
    let big: Vec<u8> = ROWS.iter().flat_map(|&value| f64::from(value).to_be_bytes()).collect();
    assert_eq!(read("a.npy", npy(">f8", "False", "(3, 2)", &big), None), expected);
    let small: Vec<u8> = ROWS.iter().flat_map(|&value| f16::from_f32(value).to_le_bytes()).collect();
    assert_eq!(read("a.npy", npy("<f2", "False", "(3, 2)", &small), None), expected);
    let mut second = npy("<f4", "False", "(3,2,)", &floats(&ROWS));
    second.splice(6..10, [vec![2, 0], (u32::from(u16::from_le_bytes([second[8], second[9]]))).to_le_bytes().to_vec()].concat());
    assert_eq!(read("a.npy", second, None), expected);
}

#[test]
fn archives_and_tensors_have_names() {
    let array = npy("<f4", "False", "(3, 2)", &floats(&ROWS));
    let other = npy("<f4", "False", "(1, 1)", &floats(&[7.0]));
    let both = npz(&[("users", array.clone()), ("items", other)]);
    assert_eq!(read("a.npz", both.clone(), Some("users")), Ok((2, ROWS.to_vec())));
    assert_eq!(read("a.npz", npz(&[("U", array)]), None), Ok((2, ROWS.to_vec())));
    let message = read("a.npz", both.clone(), None).unwrap_err();
    assert_eq!(
        message,
        "memory:///vectors/a.npz: which array is meant is not clear: it has `users`, `items`; name one by `user_key` or `item_key`"
    );
    assert_eq!(read("a.npz", both, Some("x")).unwrap_err(), "memory:///vectors/a.npz: no array `x`; it has `users`, `items`");
    let bytes = floats(&ROWS);
    let view = |dtype, shape: &[usize], bytes| ::safetensors::tensor::TensorView::new(dtype, shape.to_vec(), bytes).unwrap();
    let whole = [1u8; 8];
    let tensors = [("u", view(::safetensors::Dtype::F32, &[3, 2], &bytes)), ("n", view(::safetensors::Dtype::I64, &[1, 1], &whole))];
    let file = ::safetensors::serialize(tensors, None).unwrap();
    assert_eq!(read("a.safetensors", file.clone(), Some("u")), Ok((2, ROWS.to_vec())));
    assert!(
        read("a.safetensors", file.clone(), Some("n"))
            .unwrap_err()
            .ends_with("tensor `n` has numbers of type I64 (expected F16, BF16, F32 or F64)")
    );
    assert!(read("a.safetensors", file, None).unwrap_err().contains("which tensor is meant is not clear: it has `n`, `u`"));
}

fn columns(ids: ArrayRef, vectors: ArrayRef) -> Vec<u8> {
    table::encode(&table::batch(vec![("user_id", ids, true), ("vector", vectors, true)])).unwrap()
}

fn names(names: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(names.to_vec()))
}

fn lists(rows: &[&[f64]]) -> ArrayRef {
    Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(rows.iter().map(|row| Some(row.iter().map(|&value| Some(value))))))
}

#[test]
fn a_column_of_lists_has_ids_beside_it() {
    let fixed = FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(
        ROWS.chunks(2).map(|row| Some(row.iter().map(|&value| Some(value)))),
        2,
    );
    let read = |bytes: Vec<u8>| Vectors::read(&content("v.parquet", bytes), None, None);
    let expected = Vectors { dim: 2, values: ROWS.to_vec(), ids: Some(["a", "b", "c"].map(str::to_owned).to_vec()) };
    assert_eq!(read(columns(names(&["a", "b", "c"]), Arc::new(fixed))), Ok(expected));
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![12, 7]));
    let found = read(columns(numbers, lists(&[&[1.0, 2.0], &[3.0, 4.0]]))).unwrap();
    assert_eq!(found, Vectors { dim: 2, values: vec![1.0, 2.0, 3.0, 4.0], ids: Some(["12", "7"].map(str::to_owned).to_vec()) });
}

#[test]
fn what_is_no_table_of_vectors_says_why() {
    let four = npy("<f4", "False", "(3, 2)", &floats(&ROWS[..4]));
    let cut = npy("<f4", "False", "(3, 2)", &floats(&ROWS))[..9].to_vec();
    let three: Vec<u8> = npy("<f4", "False", "(1, 3, 2)", &floats(&ROWS));
    let nested: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>([Some(vec![Some(1.0), None])]));
    let plain = |ids: ArrayRef| table::encode(&table::batch(vec![("id", ids, true)])).unwrap();
    for (name, bytes, expected) in [
        ("v.npy", b"PK".to_vec(), "it is no .npy file"),
        ("v.npy", cut, "it is cut off"),
        ("v.npy", npy("<i4", "False", "(3, 2)", &floats(&ROWS)), "its numbers are `<i4` (expected floats of 16, 32 or 64 bits)"),
        ("v.npy", four, "it has 4 numbers where its shape [3, 2] has 6"),
        ("v.npy", npy("<f4", "False", "(18446744073709551615, 2)", &[]), "its shape is too large"),
        ("v.npy", three, "its shape is [1, 3, 2] (expected two dimensions: a row of numbers for each user or item)"),
        ("v.npy", npy("<f4", "False", "(3, 0)", &[]), "its shape is [3, 0] (expected two dimensions"),
        ("v.npz", b"PK".to_vec(), "it is no .npz file: "),
        ("v.safetensors", b"PK".to_vec(), "it is no .safetensors file: "),
        ("v.parquet", b"PK".to_vec(), ""),
        (
            "v.parquet",
            columns(names(&["a", "b"]), lists(&[&[1.0], &[1.0, 2.0]])),
            "vectors have other lengths than the first, which has 1 number, in 1 row (`b`)",
        ),
        ("v.parquet", columns(names(&["a"]), nested), "the column `vector` has 1 nulls within vectors"),
        ("v.parquet", columns(Arc::new(StringArray::from(vec![None::<&str>])), lists(&[&[1.0]])), "the column `user_id` has 1 nulls"),
        (
            "v.parquet",
            columns(Arc::new(Float64Array::from(vec![1.5])), lists(&[&[1.0]])),
            "the column `user_id`: 1.5 in row 1 is not a whole number",
        ),
        ("v.parquet", plain(names(&["a"])), "which column of vectors is meant is not clear: it has none"),
        ("v.csv", vec![], "`v.csv` has an unknown suffix (expected .npy, .npz, .safetensors or .parquet)"),
    ] {
        let message = read(name, bytes, None).unwrap_err();
        assert!(message.starts_with(&format!("memory:///vectors/{name}: {expected}")), "{message}");
    }
    let ids = content("ids.txt", "a\nb\n");
    let message = Vectors::read(&content("v.npy", npy("<f4", "False", "(3, 2)", &floats(&ROWS))), None, Some(&ids)).unwrap_err();
    assert_eq!(message, "memory:///vectors/ids.txt has 2 ids and memory:///vectors/v.npy has 3 rows");
}

#[test]
fn a_file_that_lies_is_an_error_and_no_panic() {
    let files = [
        ("l.npy", npy("<f4", "True", "(3, 2)", &floats(&ROWS))),
        ("l.npz", npz(&[("U", npy("<f4", "False", "(3, 2)", &floats(&ROWS)))]).to_vec()),
        ("l.parquet", columns(names(&["a", "b"]), lists(&[&[1.0], &[2.0]]))),
    ];
    for (name, whole) in files {
        for place in 0..whole.len() {
            let mut lying = whole.clone();
            lying[place] ^= 0x55;
            drop(read(name, lying, None));
            drop(read(name, whole[..place].to_vec(), None));
        }
    }
}

/// Users a, b and c, of whom c has no train interaction.
fn dataset() -> Dataset {
    Dataset { user_ids: ["a", "b", "c"].map(str::to_owned).to_vec(), ..dataset_of([3, 2], &[(0, 0), (1, 1)]) }
}

fn ordered(ids: Option<&[&str]>, values: &[f32], items: bool) -> (Option<Vec<f32>>, Result<Vec<String>, String>) {
    let dataset = dataset();
    let side = if items { Side { noun: "item", is_known: vec![true; 3], ..Side::users(&dataset) } } else { Side::users(&dataset) };
    let ids = ids.map(|ids| ids.iter().map(|id| (*id).to_owned()).collect());
    let mut findings = Findings::default();
    let matrix = Vectors { dim: 1, values: values.to_vec(), ids }.in_order(&content("v.npy", ""), &side, &mut findings);
    (matrix.map(|matrix| matrix.values), findings.remarks().map_err(|error| error.to_string()))
}

#[test]
fn rows_are_put_in_the_order_of_the_dataset() {
    assert_eq!(ordered(None, &[1.0, 2.0, 3.0], false), (Some(vec![1.0, 2.0, 3.0]), Ok(vec![])));
    assert_eq!(ordered(Some(&["c", "a", "b"]), &[1.0, 2.0, 3.0], false), (Some(vec![2.0, 3.0, 1.0]), Ok(vec![])));
    let (rows, remarks) = ordered(Some(&["x", "b", "y", "a"]), &[f32::NAN, 2.0, 3.0, 4.0], false);
    assert_eq!(rows, Some(vec![4.0, 2.0, 0.0]));
    let expected = [
        "rows of 2 users (`x`, `y`) that the dataset does not have were passed over",
        "zeros stand for 1 user (`c`) without train interactions, who had no row",
    ];
    assert_eq!(remarks.unwrap(), expected);
}

#[test]
fn who_is_held_out_with_a_history_needs_a_row() {
    let dataset = Dataset { fold_in: Some(Interactions::from_pairs(3, [(2, 0)].into_iter())), ..dataset() };
    let (mut findings, ids) = (Findings::default(), Some(["a", "b"].map(str::to_owned).to_vec()));
    let vectors = Vectors { dim: 1, values: vec![1.0, 2.0], ids };
    assert!(vectors.in_order(&content("v.npy", ""), &Side::users(&dataset), &mut findings).is_none());
    let error = findings.remarks().unwrap_err().to_string();
    assert!(error.contains("no row for 1 user (`c`) of 3 users; give one to each"), "{error}");
}

#[test]
fn rows_that_are_missing_doubled_or_not_finite_are_named_and_counted() {
    let refused = |ids: Option<&[&str]>, values: &[f32], items: bool| {
        let (rows, error) = ordered(ids, values, items);
        assert_eq!(rows, None);
        error.unwrap_err().replace("memory:///vectors/", "")
    };
    assert_eq!(
        refused(Some(&["c", "c"]), &[1.0, 2.0], false),
        "v.npy: more than one row for 1 user (`c`); v.npy: no row for 2 users (`a`, `b`) of 3 users; give one to each with train \
         interactions or a history to fold in"
    );
    assert_eq!(
        refused(Some(&["a", "b"]), &[1.0, 2.0], true),
        "v.npy: no row for 1 item (`c`) of 3 items; give items that its training did not see a row too"
    );
    assert_eq!(
        refused(None, &[1.0, f32::INFINITY, f32::NAN], false),
        "v.npy: vectors with NaN or infinite numbers, as 32-bit floats, of 2 users (`b`, `c`)"
    );
    assert_eq!(
        refused(Some(&["1", "2"]), &[1.0, 2.0], false),
        "v.npy: none of its 2 ids (`1`, `2`) is a user of the dataset (expected the users' own ids such as `a`)"
    );
    assert_eq!(
        refused(None, &[1.0], false),
        "v.npy: 1 row for 3 users: rows without ids are in the order of user_ids.txt, which `ranksweep export` writes; or name the file of their ids by `user_ids`"
    );
}
