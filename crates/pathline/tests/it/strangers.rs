//! Objects that somebody else has just changed or deleted, and who waits for them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams};
use pathline_kinds::workers::Process;
use serde_json::{Value, json};

use crate::instance::{Instance, end};
use crate::restarts::PROCESS;

const ROUNDS: usize = 12;

/// Asks over REST, which is far quicker than to start a command.
async fn holds(instance: &Instance) -> Result<bool> {
    let url = instance.ready["url"].as_str().context("an address")?;
    let url = format!("{url}/workloads/default/app/wait?for=param:debug=on&timeout=0");
    let secret = fs::read_to_string(Path::new(&instance.data_dir).join("rest.token"))?;
    let request = reqwest::Client::new().get(url).bearer_auth(secret.trim());
    let answer: Value = serde_json::from_str(&request.send().await?.text().await?)?;
    Ok(answer["state"] == "holds")
}

async fn settle(instance: &Instance) -> Result<()> {
    let wait = instance.ask(&["wait", "workload/app", "--for", "param:debug=on"]);
    let (code, _, stderr) = end(wait);
    ensure!(code == Some(0), "{stderr}");
    Ok(())
}

#[tokio::test]
async fn point_7_object_that_somebody_changed_or_deleted_is_looked_at_before_it_holds() -> Result<()>
{
    let instance = Instance::start()?;
    instance.apply(PROCESS)?;
    let processes = Api::<Process>::default_namespaced(instance.client().await);
    for round in 0..ROUNDS {
        settle(&instance).await?;
        if round % 2 == 1 {
            processes.delete("app", &DeleteParams::default()).await?;
        } else {
            let spec = json!({"spec": {"env": [{"name": "DEBUG", "value": "evil"}]}});
            let patch = Patch::Merge(spec);
            processes
                .patch("app", &PatchParams::default(), &patch)
                .await?;
        }
        let holds = holds(&instance).await?;
        // What was so before the answer and after it was so all the time.
        let now = processes.get_opt("app").await?;
        let is_evil = |it: Process| it.spec.env.iter().any(|it| it.value == "evil");
        let is_touched = now.is_none_or(is_evil);
        assert!(!(holds && is_touched), "round {round}: it holds");
    }
    Ok(())
}
