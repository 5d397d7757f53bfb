//! docs/cluster.md, followed to the letter.

use crate::setting::Setting;
use cluster::stages::Outcome;
use std::path::PathBuf;

/// The lines of the page's shell blocks that begin so, without what stands after them.
fn lines(begin: &str) -> Vec<String> {
    let page = std::fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/cluster.md")).unwrap();
    let blocks = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let commands = blocks.flat_map(str::lines).filter(|line| line.starts_with(begin));
    commands.map(|line| line.split("  #").next().unwrap().trim().to_owned()).collect()
}

#[test]
fn the_commands_of_the_page_lead_to_tables() {
    let setting = Setting::new();
    let storage = setting.sandbox.path("runs");
    let here = |line: &String| {
        let line = line.replace("configs/quickstart.yaml", "s.yaml").replace("$STORAGE", storage.to_str().unwrap());
        let line = line.replace("$IMAGE", "registry.example.com/ranksweep:0.1.0").replace(" --watch", "");
        // Their namespace is the default one; the one that is played has another name.
        let on_cluster =
            ["submit", "status", "list", "logs", "cancel"].iter().any(|command| line.starts_with(&format!("ranksweep {command}")));
        let namespace = if on_cluster { " --namespace team" } else { "" };
        format!("{}{namespace}", line.strip_prefix("ranksweep ").unwrap())
    };
    let commands: Vec<String> = lines("ranksweep ").iter().map(here).collect();
    let names: Vec<&str> = commands.iter().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(names[..4], ["plan", "submit", "status", "report"], "{commands:#?}");
    for line in &commands {
        setting.well(line);
        if line.starts_with("submit") {
            assert_eq!(setting.drive(), Outcome::Done);
        }
    }
    assert!(storage.join("sweeps/tiny/leaderboard.parquet").exists());
}
