//! Lists the kernels, and compiles them for the emulator.
//!
//! A kernel stands in a `.cu` file of one of the [`FOLDERS`]. Before the text of each file stand the `.cuh` files of the first folder, and those of its
//! own. Written to `OUT_DIR`: `kernels.rs`, the kernels by name with the types of their arguments, and the text of each file; with the feature
//! `emulator` a C++ file for each file of kernels, which is compiled and linked.

use std::{
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

/// This crate's kernels, which know arrays, and those that belong to losses.
const FOLDERS: [&str; 2] = ["kernels", "../trainer/losses/kernels"];

/// A file of kernels.
struct File {
    name: String,
    /// The files whose texts make what is compiled, its own last.
    parts: Vec<PathBuf>,
}

fn main() {
    FOLDERS.into_iter().chain(["emulator"]).for_each(|folder| println!("cargo::rerun-if-changed={folder}"));
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let files = files();
    let [cuda, emulated] = ["CARGO_FEATURE_CUDA", "CARGO_FEATURE_EMULATOR"].map(|feature| env::var_os(feature).is_some());
    let (mut kernels, mut sources, mut externs) = (String::new(), String::new(), String::new());
    for File { name: file, parts } in &files {
        let found = signatures(&fs::read_to_string(&parts[parts.len() - 1]).expect("a file of kernels"));
        for (name, types) in &found {
            let only = |yes: bool, field: String| if yes { field } else { String::new() };
            let (module, call) = (only(cuda, format!("module: {file:?}, ")), only(emulated, format!("call: emulated_{name} ")));
            writeln!(kernels, "    Kernel {{ {module}name: {name:?}, arguments: &{types:?}, {call}}},").expect("a string");
            writeln!(externs, "    fn emulated_{name}(blocks: u32, threads: u32, shared: usize, arguments: *mut *mut c_void);")
                .expect("a string");
        }
        let texts: Vec<String> = parts.iter().map(|part| format!("include_str!({part:?}), \"\\n\"")).collect();
        writeln!(sources, "    ({file:?}, concat!({})),", texts.join(", ")).expect("a string");
        fs::write(Path::new(&out).join(format!("{file}.cpp")), emulation(parts, &found)).expect("OUT_DIR can be written");
    }
    let externs = if emulated { format!("unsafe extern \"C\" {{\n{externs}}}\n") } else { String::new() };
    let listed = format!(
        "{externs}pub(crate) static KERNELS: &[Kernel] = &[\n{kernels}];\n\
         /// Each file of kernels by its name: the text that NVRTC compiles.\npub static SOURCES: &[(&str, &str)] = &[\n{sources}];\n"
    );
    fs::write(Path::new(&out).join("kernels.rs"), listed).expect("OUT_DIR can be written");
    #[cfg(feature = "emulator")]
    compile(&out, &files);
}

/// The files of all folders, by name.
fn files() -> Vec<File> {
    let shared = with_ending(FOLDERS[0], "cuh");
    let files = FOLDERS.into_iter().flat_map(|folder| {
        let own = if folder == FOLDERS[0] { Vec::new() } else { with_ending(folder, "cuh") };
        let before = [&shared[..], &own].concat();
        with_ending(folder, "cu").into_iter().map(move |path| {
            let name = path.file_stem().and_then(|name| name.to_str()).expect("names are ASCII").to_owned();
            File { name, parts: before.iter().cloned().chain([path]).collect() }
        })
    });
    let mut files: Vec<File> = files.collect();
    files.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(files.windows(2).all(|two| two[0].name != two[1].name), "two files of kernels have one name");
    files
}

/// The files of a folder whose names end so, by name.
fn with_ending(folder: &str, ending: &str) -> Vec<PathBuf> {
    let folder = fs::canonicalize(folder).expect("a folder of kernels");
    let entries = fs::read_dir(folder).expect("a folder of kernels").map(|entry| entry.expect("an entry of a folder").path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|found| found == ending)).collect();
    paths.sort();
    paths
}

/// Names and types of the arguments of all kernels of a file.
fn signatures(text: &str) -> Vec<(String, Vec<String>)> {
    let mark = "extern \"C\" __global__ void ";
    let kernels = text.split(mark).skip(1).map(|rest| {
        let bounded = rest.strip_prefix("__launch_bounds__(").and_then(|rest| rest.split_once(')'));
        let rest = bounded.map_or(rest, |(_, rest)| rest);
        let (name, rest) = rest.split_once('(').expect("a kernel has arguments");
        let (arguments, _) = rest.split_once(')').expect("arguments end");
        let types = arguments.split(',').map(|argument| {
            let (of, _) = argument.trim().rsplit_once([' ', '*']).expect("an argument has a name");
            let pointer = argument.contains('*');
            let of = of.replace("__restrict__", "");
            let of = of.trim().trim_end_matches(['*', ' ']).trim();
            if pointer { format!("{of}*") } else { of.to_owned() }
        });
        (name.trim().to_owned(), types.collect())
    });
    kernels.collect()
}

/// A C++ file with the kernels of a file, and a function for each that runs it.
fn emulation(parts: &[PathBuf], kernels: &[(String, Vec<String>)]) -> String {
    let mut text = "#include \"emulator.h\"\n".to_owned();
    parts.iter().for_each(|part| writeln!(text, "#include {part:?}").expect("a string"));
    for (name, _) in kernels {
        writeln!(
            text,
            "extern \"C\" void emulated_{name}(unsigned blocks, unsigned threads, size_t shared, void** arguments) {{\n    \
             emulator::run(\"{name}\", [](void** given) {{ emulator::call({name}, given); }}, blocks, threads, shared, arguments);\n}}"
        )
        .expect("a string");
    }
    text
}

#[cfg(feature = "emulator")]
fn compile(out: &str, files: &[File]) {
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++17")
        .opt_level(2)
        .include("emulator")
        .flag("-ffp-contract=off")
        .flag("-Wno-unused-function")
        .flag("-Wno-unknown-pragmas");
    files.iter().for_each(|file| {
        build.file(Path::new(out).join(format!("{}.cpp", file.name)));
    });
    build.compile("emulated");
}
