//! Lists the kernels, and compiles them for the emulator.
//!
//! Written to `OUT_DIR`: `kernels.rs`, the kernels by name with the types of their arguments, and the text of each file; with the feature
//! `emulator` a C++ file for each file of kernels, which is compiled and linked.

use std::{env, fmt::Write, fs, path::Path};

fn main() {
    println!("cargo::rerun-if-changed=kernels");
    println!("cargo::rerun-if-changed=emulator");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let mut files: Vec<String> = fs::read_dir("kernels")
        .expect("the folder of the kernels")
        .map(|entry| entry.expect("an entry of a folder").file_name().into_string().expect("names are ASCII"))
        .filter_map(|name| name.strip_suffix(".cu").map(str::to_owned))
        .collect();
    files.sort();
    let [cuda, emulated] = ["CARGO_FEATURE_CUDA", "CARGO_FEATURE_EMULATOR"].map(|feature| env::var_os(feature).is_some());
    let (mut kernels, mut sources, mut externs) = (String::new(), String::new(), String::new());
    for file in &files {
        let text = fs::read_to_string(format!("kernels/{file}.cu")).expect("a file of kernels");
        let found = signatures(&text);
        for (name, types) in &found {
            let only = |yes: bool, field: String| if yes { field } else { String::new() };
            let (module, call) = (only(cuda, format!("module: {file:?}, ")), only(emulated, format!("call: emulated_{name} ")));
            writeln!(kernels, "    Kernel {{ {module}name: {name:?}, arguments: &{types:?}, {call}}},").expect("a string");
            writeln!(externs, "    fn emulated_{name}(blocks: u32, threads: u32, shared: usize, arguments: *mut *mut c_void);")
                .expect("a string");
        }
        writeln!(sources, "    ({file:?}, concat!(include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/kernels/common.cuh\")), \"\\n\", include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/kernels/{file}.cu\")))),")
            .expect("a string");
        fs::write(Path::new(&out).join(format!("{file}.cpp")), emulation(file, &found)).expect("OUT_DIR can be written");
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
fn emulation(file: &str, kernels: &[(String, Vec<String>)]) -> String {
    let mut text = format!("#include \"emulator.h\"\n#include \"common.cuh\"\n#include \"{file}.cu\"\n");
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
fn compile(out: &str, files: &[String]) {
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++17")
        .opt_level(2)
        .include("emulator")
        .include("kernels")
        .flag("-ffp-contract=off")
        .flag("-Wno-unused-function")
        .flag("-Wno-unknown-pragmas");
    files.iter().for_each(|file| {
        build.file(Path::new(out).join(format!("{file}.cpp")));
    });
    build.compile("emulated");
}
