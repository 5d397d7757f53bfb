//! What cannot be rendered for a cluster is refused with one line, and what can is rendered whole.

use crate::support::{SWEEP, Sandbox, changed};

const RESOURCES: &str = "resources: {gpus: 1, cpu: 4, memory: 16Gi, image: 'example.com/ranksweep:1'}\n";

fn complaint(sweep: &str, arguments: &[&str]) -> String {
    let sandbox = Sandbox::new(sweep);
    let ended = sandbox.ended(&mut sandbox.command(&[&["render", "s.yaml"], arguments].concat()));
    assert_eq!(ended.out, "", "nothing is printed");
    ended.complaint(2).to_owned()
}

#[track_caller]
fn refused(sweep: &str, arguments: &[&str], message: &str) {
    let found = complaint(sweep, arguments);
    assert!(found.starts_with(message), "\n   found: {found}\nexpected: {message}");
}

#[test]
fn resources_are_checked_like_all_else_of_a_sweep_file() {
    let cases = [
        ("gpus: 1", "gpu: 1", "s.yaml:16:13: resources.gpu: unknown key `gpu`: did you mean `gpus`? (expected one of "),
        (
            "memory: 16Gi",
            "memory: 16GB",
            "s.yaml:16:38: resources.memory: `16GB` is no quantity: expected a number and, where needed, a unit",
        ),
        ("memory: 16Gi", "memory: 16", "s.yaml:16:38: resources.memory: memory is 16, in bytes: expected at least 256Mi"),
        ("gpus: 1", "nodes: 2", "s.yaml:16:20: resources.nodes: nodes is 2 and gpus is 0: nodes train a trial together by their GPUs"),
        (
            "gpus: 1",
            "trials_per_gpu: 4",
            "s.yaml:16:29: resources.trials_per_gpu: trials_per_gpu is 4, and pods have no GPU to share: give them one, as `gpus: 1`",
        ),
        (
            "gpus: 1",
            "environment: {HF_TOKEN: abc}",
            "s.yaml:16:26: resources.environment: environment has `HF_TOKEN`: a secret would stand readable in every Job",
        ),
        (
            "gpus: 1",
            "tolerations: [{key: a, effect: NoScheduling}]",
            "s.yaml:16:44: resources.tolerations[0].effect: unknown name `NoScheduling`: expected one of `NoSchedule`, ",
        ),
    ];
    for (from, to, message) in cases {
        refused(&format!("{SWEEP}{}", RESOURCES.replace(from, to)), &[], message);
    }
}

#[test]
fn an_image_is_needed() {
    let message = "s.yaml:1:1: resources: no image: name one with `ranksweep` in it";
    refused(&format!("{SWEEP}{}", RESOURCES.replace(", image: 'example.com/ranksweep:1'", "")), &[], "s.yaml:16:12: resources: no image");
    refused(SWEEP, &[], message);
    refused(SWEEP, &["--image", "a b"], "--image: image is `a b`: expected a reference such as ");
}

#[test]
fn what_only_this_machine_sees_is_no_use_to_a_pod() {
    let sweep = format!("{SWEEP}{RESOURCES}");
    refused(
        &sweep,
        &[],
        "the storage FOLDER/runs is a folder of this machine, which no pod sees; \
         give a URL (s3://, gs://, az://), or a path on `resources.volume`",
    );
    refused(&sweep, &["--storage", "memory:///runs"], "the storage memory:///runs is the memory of one process; give a URL");
    let volume = |path: &str| sweep.replace("gpus: 1", &format!("volume: {{claim: runs, path: {path}}}"));
    refused(&volume("/data"), &[], "the storage FOLDER/runs is not on the volume, which pods see as /data; give a URL");
}

#[test]
fn names_are_those_of_kubernetes() {
    let sandbox = Sandbox::new(SWEEP);
    let folder = sandbox.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    let resources = RESOURCES.replace("gpus: 1", &format!("volume: {{claim: runs, path: {folder}}}"));
    let whole = changed("path: ratings.csv", &format!("path: {folder}/ratings.csv")) + &resources;
    let render = |sweep: &str, arguments: &[&str]| {
        sandbox.write("s.yaml", sweep);
        sandbox.ended(&mut sandbox.command(&[&["render", "s.yaml"], arguments].concat()))
    };
    let cases: [(String, &[&str], &str); 4] = [
        (
            whole.replace("name: tiny", "name: Tiny_1"),
            &[],
            "s.yaml:1:7: name: `Tiny_1` cannot name objects of Kubernetes: it has `T`, and a DNS label has lower-case letters, digits and `-` \
             only; write for example `tiny-1`",
        ),
        (whole.clone(), &["--namespace", "My_Team"], "--namespace: `My_Team` is no namespace: it has `M`"),
        (
            whole.replace(&format!("{folder}/ratings.csv"), "ratings.csv"),
            &[],
            "s.yaml:4:39: datasets[0].source.path: `ratings.csv` starts at",
        ),
        (format!("{whole}{}", "#".repeat(1 << 20)), &[], "the sweep file has "),
    ];
    for (sweep, arguments, message) in cases {
        let ended = render(&sweep, arguments);
        let found = ended.complaint(2);
        assert!(found.starts_with(message), "\n   found: {found}\nexpected: {message}");
    }
    let printed = render(&whole, &[]);
    assert_eq!(printed.code, Some(0), "{}", printed.error);
    let kinds: Vec<&str> = printed.out.lines().filter_map(|line| line.strip_prefix("kind: ")).collect();
    assert_eq!(kinds, ["Job", "ConfigMap", "Job", "Job", "Job"]);
    assert!(printed.out.contains("completions: 3\n") && printed.out.contains("namespace: ranksweep\n"), "{}", printed.out);
    let halving = whole.replace("temperature: 0.2", "temperature: [0.1, 0.2, 0.3]") + "search: {kind: successive-halving, epochs: 1}\n";
    let rungs = render(&halving, &[]);
    assert_eq!(rungs.code, Some(0), "{}", rungs.error);
    // One configuration of bpr, three of softmax, and popularity, which has no second rung; one of softmax's goes on.
    let sizes: Vec<&str> = rungs.out.lines().filter_map(|line| line.strip_prefix("  completions: ")).collect();
    assert_eq!(sizes, ["1000", "5", "2"], "the driver's, of which one has to succeed, and those of the rungs");
    let ended = render(&halving.replace("epochs: 1}", "epochs: 1, asynchronous: true}"), &[]);
    assert!(ended.complaint(2).contains("search.asynchronous: a cluster trains one rung after the other"), "{}", ended.error);
    sandbox.write("s.yaml", &whole);
    let written = render(&whole, &["--out", "objects"]);
    assert_eq!(written.code, Some(0), "{}", written.error);
    assert_eq!(std::fs::read_to_string(sandbox.path("objects/tiny.yaml")).unwrap().replace(&folder, "FOLDER"), printed.out);
    assert!(!sandbox.path("runs").exists(), "nothing is stored");
}
