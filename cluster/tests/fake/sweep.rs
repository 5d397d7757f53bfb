//! A sweep of three trials, as it is submitted.

use super::{Fake, NAMESPACE};
use cluster::{Resources, Stage, Submission};
use std::collections::BTreeMap;

pub(crate) fn submission() -> Submission {
    Submission {
        name: "s".to_owned(),
        namespace: NAMESPACE.to_owned(),
        image: "ranksweep".to_owned(),
        text: "name: s\n".to_owned(),
        meaning: "name: s".to_owned(),
        variables: BTreeMap::new(),
        storage: "s3://bucket".to_owned(),
        plan: "s3://bucket/plan.json".to_owned(),
        stages: vec![Stage::Prepare, Stage::Train { trials: 3, rung: None }, Stage::Evaluate],
        executors: 0,
        resources: Resources { parallelism: 2, ..Resources::default() },
    }
}

/// Its objects on the server, the driver's first, as `submit` or, where they are not owned by it, as `kubectl apply` creates them.
pub(crate) fn submitted(submission: &Submission, owned: bool) -> Fake {
    let fake = Fake::new();
    let mut objects = cluster::objects(submission).unwrap();
    fake.with(|world| {
        let driver = world.store("jobs", serde_json::to_value(&objects[0]).unwrap());
        for object in &mut objects[1..] {
            if owned {
                object.owned_by(&serde_json::from_value(driver.clone()).unwrap());
            }
            let resource = format!("{}s", object.kind().to_lowercase()).replace("policys", "policies");
            world.store(&resource, serde_json::to_value(&*object).unwrap());
        }
    });
    fake
}
