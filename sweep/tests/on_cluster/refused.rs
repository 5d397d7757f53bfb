//! Refusals: one line each, and nothing is created or stored.

use crate::setting::Setting;

fn refused(setting: &Setting, line: &str, code: i32) -> String {
    let ended = setting.ranksweep(line);
    let complaint = ended.complaint(code).to_owned();
    assert!(setting.sandbox.stored("").is_empty(), "{complaint}");
    assert!(setting.fake.with(|world| world.list("jobs")).is_empty(), "{complaint}");
    complaint
}

#[test]
fn no_kubeconfig() {
    let setting = Setting::new();
    std::fs::remove_file(setting.sandbox.path("kubeconfig")).unwrap();
    let complaint = refused(&setting, "submit s.yaml --namespace team", 1);
    let words = "no cluster is configured: failed to read kubeconfig from `FOLDER/kubeconfig`: No such file or directory (os error 2); ";
    assert!(complaint.starts_with(words), "{complaint}");
    let complaint = refused(&setting, "list", 1);
    assert!(complaint.starts_with(words) && complaint.ends_with("; or name a storage: `--storage ./runs`"), "{complaint}");
}

#[test]
fn a_table_of_printed_values_that_no_pod_sees() {
    let setting = Setting::new();
    let sweep = std::fs::read_to_string(setting.sandbox.path("s.yaml")).unwrap();
    setting.sandbox.write("s.yaml", format!("{sweep}printed: printed.csv\n"));
    setting.sandbox.write("printed.csv", "place,dataset,method,metric,cutoff,value\nTable 1,small,popularity,ndcg,5,0.1\n");
    let complaint = refused(&setting, "render s.yaml --namespace team", 2);
    assert!(
        complaint.contains("printed: the pod that prepares makes the plan of a sweep that is rendered, and does not see this table"),
        "{complaint}"
    );
}

#[test]
fn an_api_server_that_is_not_there() {
    let setting = Setting::new();
    // Nothing listens on a port that was just given back.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    setting.configure(&format!("http://{free}"));
    let complaint = refused(&setting, "submit s.yaml --namespace team", 1);
    let words = format!("cannot reach the Kubernetes API at http://{free}/: Connection refused (os error 111); check the network");
    assert!(complaint.starts_with(&words), "{complaint}");
}

#[test]
fn a_namespace_that_does_not_exist() {
    let setting = Setting::new();
    let complaint = refused(&setting, "submit s.yaml --namespace elsewhere", 1);
    assert!(complaint.starts_with("namespace `elsewhere` does not exist at http://127.0.0.1:"), "{complaint}");
}

#[test]
fn a_namespace_that_forbids_the_pods() {
    let setting = Setting::new();
    let violation = "would violate PodSecurity \"restricted:latest\": seccompProfile (pod must set it)";
    setting.fake.with(|world| world.forbids_pods = Some(violation.to_owned()));
    let complaint = refused(&setting, "submit s.yaml --namespace team", 1);
    assert!(complaint.starts_with(&format!("namespace `team` forbids the sweep's pods: {violation}; ")), "{complaint}");
}

#[test]
fn another_submission_that_runs() {
    let setting = Setting::new();
    setting.well("submit s.yaml --namespace team");
    let first = setting.hash();
    let text = std::fs::read_to_string(setting.sandbox.path("s.yaml")).unwrap();
    setting.sandbox.write("s.yaml", text.replace("temperature: 0.2", "temperature: 0.3"));
    let ended = setting.ranksweep("submit s.yaml --namespace team");
    assert!(
        ended.complaint(1).starts_with(&format!("sweep `tiny` is still running as it was submitted before ({first}); ")),
        "{}",
        ended.error
    );
    assert!(ended.error.contains("--replace"), "{}", ended.error);
}
