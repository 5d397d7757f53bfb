//! Raw files as they are downloaded: compressed, in archives, and called as it happened. The files are made by `packed/make.py`.

use dataset::Location;
use pipeline::{Engine, Limits, Preparation, Preview, Source, fingerprint, prepare, source::KnownColumns};
use serde_json::{Value, json};
use std::error::Error;

/// A path in memory at which a file of `packed/` stands under another name.
fn stored(file: &str, name: &str) -> String {
    let content = std::fs::read(format!("{}/tests/packed/{file}", env!("CARGO_MANIFEST_DIR"))).expect("the repository has it");
    let url = format!("memory:///packed/{name}");
    Location::parse(&url).and_then(|at| at.write(content)).expect("memory takes it");
    url
}

fn preparation(path: &str) -> Preparation {
    let columns = json!({"user": 0, "item": 1, "rating": 2, "timestamp": 3});
    let source = json!({"delimited": {"path": path, "header": false, "columns": columns}});
    let settings = json!({"name": "d", "source": source, "k_core": 2, "split": {"random": {"test": 0.2, "validation": 0.1, "seed": 1}}});
    serde_json::from_value(settings).expect("settings of a preparation")
}

/// The tables that an engine makes of a file.
fn tables(path: &str, engine: &Engine) -> Vec<(String, Vec<u8>)> {
    let datasets = Location::parse(&format!("{}-{engine:?}", path.replace("packed", "prepared"))).expect("a good URL");
    let limits = Limits { threads: 2, memory: None, engine: Some(engine.clone()), scratch: None };
    let prepared = prepare(&preparation(path), &datasets, &limits, &mut |_| {}).expect("the file is good");
    let files = prepared.folder.list().expect("memory lists").into_iter().filter(|at| at.name().ends_with(".parquet"));
    files.map(|at| (at.name().to_owned(), at.read().expect("memory reads").to_vec())).collect()
}

#[test]
fn both_engines_make_of_packed_rows_what_they_make_of_plain_ones() {
    let plain: String = (0..400).map(|n| format!("u{},i{},{},{n}\n", n % 17, n * 7919 % 101, n % 5 + 1)).collect();
    Location::parse("memory:///packed/plain.csv").and_then(|at| at.write(plain)).expect("memory takes it");
    let expected = tables("memory:///packed/plain.csv", &Engine::Memory);
    assert!(expected.len() >= 5);
    let archived = format!("{}/ratings.csv", stored("ratings.zip", "named.ZIP"));
    // A member below `./` is one as any other, and one below a folder with `_` is read where it is named.
    let hidden = format!("{}/_data/ratings.csv", stored("hidden.zip", "named-hidden.zip"));
    let packed = [("ratings.bz2", "a.csv.bz2"), ("ratings.xz", "a.gz"), ("streamed.zip", "a.csv.zip"), ("dot.zip", "dot.zip")];
    let paths = packed.map(|(file, name)| stored(file, name)).into_iter().chain([archived, hidden]);
    for path in paths {
        for engine in [Engine::Memory, Engine::Datafusion] {
            assert!(tables(&path, &engine) == expected, "{path} {engine:?}");
        }
    }
}

fn recognised(path: &str) -> Result<Value, String> {
    let source = Source::recognise(path, KnownColumns::default()).map_err(|error| error.to_string())?;
    Ok(serde_json::to_value(source).expect("a source is plain data"))
}

#[test]
fn the_file_of_a_release_is_found_by_its_name() {
    let release = stored("release.zip", "ml.zip");
    assert_eq!(recognised(&release), Ok(json!({"movielens": {"path": format!("{release}/ml/ratings.csv")}})));
    let source = Source::recognise(&release, KnownColumns::default()).expect("it is MovieLens");
    let preview = Preview::read(&source).expect("it has rows");
    assert_eq!((preview.rows, preview.first[0].user.as_str(), preview.first[0].item.as_str()), (2, "1", "31"));
    let none = recognised(&stored("empty.zip", "empty.zip")).unwrap_err();
    assert_eq!(none, "memory:///packed/empty.zip: the archive holds no file; download it again");
}

fn refused(path: &str) -> String {
    let datasets = Location::parse("memory:///prepared/refused").expect("a good URL");
    let limits = Limits { threads: 1, memory: None, engine: Some(Engine::Memory), scratch: None };
    let error = prepare(&preparation(path), &datasets, &limits, &mut |_| {}).expect_err("the file is bad");
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

#[test]
fn an_archive_that_cannot_be_read_says_why() {
    let several = refused(&stored("release.zip", "several.zip"));
    assert_eq!(
        several,
        "memory:///packed/several.zip: the archive holds `ml/README.txt`, `ml/ratings.csv`: name one, as `several.zip/ml/README.txt`"
    );
    let unnamed = refused(&stored("release.zip", "release.bin"));
    assert!(unnamed.ends_with("`ml/README.txt`, `ml/ratings.csv`: call it `….zip`, so that one can be named"), "{unnamed}");
    let missing = refused(&format!("{}/ml/rating.csv", stored("release.zip", "missing.zip")));
    assert!(missing.contains("the archive has no file `ml/rating.csv`; its files are `ml/README.txt`, `ml/ratings.csv`"), "{missing}");
    let hidden = refused(&stored("hidden.zip", "hidden.zip"));
    assert!(
        hidden.contains(
            "the archive holds files alone whose path has a `_` or a `.` before a name: name one, as `hidden.zip/_data/ratings.csv`"
        ),
        "{hidden}"
    );
    let absent = refused("memory:///packed/absent.zip/ml/ratings.csv");
    assert!(absent.starts_with("memory:///packed/absent.zip/ml/ratings.csv does not exist; correct `source.path`"), "{absent}");
    let encrypted = refused(&stored("encrypted.zip", "encrypted.zip"));
    assert!(encrypted.contains("its file `ratings.csv` is encrypted; decompress the archive first"), "{encrypted}");
    let method = refused(&stored("bzip2.zip", "bzip2.zip"));
    assert!(method.contains("is compressed by Bzip2 (expected DEFLATE)") || method.contains("(expected DEFLATE)"), "{method}");
    let wide = refused(&stored("wide.xz", "wide.xz"));
    assert!(wide.contains("its decompression takes too much memory; compress it with a smaller dictionary"), "{wide}");
    let cut = Location::parse(&stored("ratings.zip", "cut.zip")).expect("a good URL");
    let half = cut.read().expect("memory reads")[..1_000].to_vec();
    cut.write(half).expect("memory takes it");
    assert!(refused("memory:///packed/cut.zip").contains("it is no whole zip archive"), "{}", refused("memory:///packed/cut.zip"));
}

#[test]
fn parquet_is_not_read_out_of_an_archive() {
    for path in [stored("ratings.bz2", "a.parquet.bz2"), format!("{}/ml/ratings.csv", stored("release.zip", "parquet.zip"))] {
        let source: Source =
            serde_json::from_value(json!({"parquet": {"path": path, "columns": {"user": "user", "item": "item"}}})).expect("settings");
        let message = Preview::read(&source).unwrap_err().to_string();
        assert!(message.contains("a Parquet file cannot be read while it is compressed or in an archive"), "{message}");
    }
}

/// The archive is the data's content, and the member's name with it.
#[test]
fn a_fingerprint_tells_members_of_one_archive_apart() {
    let release = stored("release.zip", "fingerprint.zip");
    let of = |path: String| fingerprint(&preparation(&path)).expect("the file is there");
    let ratings = of(format!("{release}/ml/ratings.csv"));
    assert_eq!(ratings, of(format!("{release}/ml/ratings.csv")));
    assert_ne!(ratings, of(format!("{release}/ml/README.txt")));
    stored("ratings.zip", "fingerprint.zip");
    assert_ne!(ratings, of(format!("{release}/ml/ratings.csv")));
}

/// A folder may be called as an archive is.
#[test]
fn a_folder_called_zip_is_a_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("data.zip/ratings.csv");
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    std::fs::write(&file, "user,item\na,b\n").expect("a file");
    let source = recognised(file.to_str().expect("a text")).expect("a table");
    assert_eq!(source["delimited"]["path"], json!(file));
}
