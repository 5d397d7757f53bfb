//! `--plan`: a stage does what was submitted, or nothing.

use crate::setting::Setting;
use std::path::PathBuf;

/// A submitted sweep and the file of its plan.
fn submitted() -> (Setting, PathBuf) {
    let setting = Setting::new();
    setting.well("submit s.yaml --namespace team");
    let plan = setting.sandbox.stored(".json").into_iter().find(|path| path.to_str().unwrap().contains("/plans/")).unwrap();
    (setting, plan)
}

#[test]
fn a_plan_is_stored_by_its_content_and_used() {
    let (setting, plan) = submitted();
    assert_eq!(
        std::fs::read_to_string(&plan).unwrap(),
        setting.well("plan s.yaml --json").replace("FOLDER", setting.sandbox.path("").to_str().unwrap().trim_end_matches('/'))
    );
    let plan = plan.to_str().unwrap();
    setting.well(&format!("prepare s.yaml --plan {plan}"));
    // Prepared data needs its source no longer.
    std::fs::remove_file(setting.sandbox.path("ratings.csv")).unwrap();
    for stage in ["prepare s.yaml", "train s.yaml --index 0", "train s.yaml", "evaluate s.yaml", "report s.yaml"] {
        setting.well(&format!("{stage} --plan {plan}"));
    }
}

#[test]
fn a_plan_of_another_file_is_refused() {
    let (setting, plan) = submitted();
    let text = std::fs::read_to_string(setting.sandbox.path("s.yaml")).unwrap();
    setting.sandbox.write("s.yaml", text.replace("temperature: 0.2", "temperature: 0.3"));
    let ended = setting.ranksweep(&format!("train s.yaml --index 0 --plan {}", plan.display()));
    assert!(ended.complaint(2).ends_with(".json is the plan of another sweep file; submit the sweep again"), "{}", ended.error);
    let ended = setting.ranksweep("train s.yaml --index 0 --plan nowhere.json");
    assert_eq!(ended.complaint(2), "--plan: nowhere.json is not there; submit the sweep again");
    std::fs::write(&plan, "{}").unwrap();
    let ended = setting.ranksweep(&format!("train s.yaml --index 0 --plan {}", plan.display()));
    assert!(ended.complaint(2).contains("is no plan of this version (missing field `name`"), "{}", ended.error);
}

#[test]
fn sources_that_changed_since_are_no_reason_to_try_again() {
    let (setting, plan) = submitted();
    let ratings = std::fs::read_to_string(setting.sandbox.path("ratings.csv")).unwrap();
    setting.sandbox.write("ratings.csv", ratings.replace("u1,", "u99,"));
    let ended = setting.ranksweep(&format!("prepare s.yaml --plan {}", plan.display()));
    assert!(
        ended.complaint(42).starts_with("dataset `small`: the source files have changed since the sweep was submitted ("),
        "{}",
        ended.error
    );
}

#[test]
fn the_first_stage_stores_the_plan_of_a_sweep_that_was_only_rendered() {
    let (setting, plan) = submitted();
    let content = std::fs::read(&plan).unwrap();
    std::fs::remove_file(&plan).unwrap();
    let url = plan.display();
    let ended = setting.ranksweep(&format!("train s.yaml --index 0 --plan {url}"));
    assert!(ended.complaint(2).ends_with(".json is not there; submit the sweep again"), "{}", ended.error);
    setting.well(&format!("prepare s.yaml --plan {url}"));
    assert!(std::fs::read(&plan).unwrap() == content);
    std::fs::remove_file(&plan).unwrap();
    let ratings = std::fs::read_to_string(setting.sandbox.path("ratings.csv")).unwrap();
    setting.sandbox.write("ratings.csv", ratings.replace("u1,", "u99,"));
    let ended = setting.ranksweep(&format!("prepare s.yaml --plan {url}"));
    assert!(ended.complaint(42).contains(".json is not there, and is not what the plan would be now: "), "{}", ended.error);
    assert!(!plan.exists());
}
