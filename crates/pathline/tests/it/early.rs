//! `pathline wait`, begun before the owner is there.

use anyhow::Result;
use kube::Api;
use kube::api::DeleteParams;
use pathline_kinds::carto::Workload;

use crate::instance::{Instance, end};

const CHAIN: &str = "
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: settings}
spec:
  params: [{name: debug, default: 'off'}]
  healthRule: {alwaysHealthy: {}}
  template:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: $(workload.metadata.name)$}
    data: {debug: $(params.debug)$}
---
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: settings}
spec:
  selector: {path: settings}
  resources: [{name: make, templateRef: {kind: ClusterTemplate, name: settings}}]
";

fn workload(namespace: &str) -> String {
    format!(
        "
apiVersion: v1
kind: Namespace
metadata: {{name: {namespace}}}
---
apiVersion: carto.run/v1alpha1
kind: Workload
metadata: {{name: app, namespace: {namespace}, labels: {{path: settings}}}}
spec: {{params: [{{name: debug, value: 'on'}}]}}
"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wait_that_begins_before_the_apply_ends_when_it_has_arrived() -> Result<()> {
    let instance = Instance::start()?;
    instance.apply(CHAIN)?;
    let wait = ["wait", "workload/app", "-n", "dev"];
    let mut waiting = instance.ask(&[&wait[..], &["--for", "param:debug=on"]].concat());
    waiting.wait_for_stderr("there is no workload `app` in namespace `dev` yet");
    waiting.assert_running();
    instance.apply(&workload("dev"))?;
    let (code, _, stderr) = end(waiting);
    assert_eq!(code, Some(0), "{stderr}");

    // One that was deleted before is waited for, too.
    let api = Api::<Workload>::namespaced(instance.client().await, "dev");
    api.delete("app", &DeleteParams::default()).await?;
    let mut waiting = instance.ask(&wait);
    waiting.wait_for_stderr("was deleted; waiting until it is there again");
    instance.apply(&workload("dev"))?;
    let (code, _, stderr) = end(waiting);
    assert_eq!(code, Some(0), "{stderr}");
    Ok(())
}
