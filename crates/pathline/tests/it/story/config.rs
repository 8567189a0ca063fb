//! A ConfigMap and a Deployment that reads it, both at the end of a path, on a real API server.

#![expect(
    clippy::unwrap_used,
    reason = "a story that cannot go on stops where it is"
)]

use std::fs;

use pathline_testkit::kube::Binaries;
use pathline_testkit::skip;

use super::real::Real;

const SUITE: &str = "the story of a ConfigMap on a real API server";

const CHAIN: &str = "
---
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: configured}
spec:
  selector: {story: configured}
  resources:
    - {name: config, templateRef: {kind: ClusterTemplate, name: configured-config}}
    - {name: run, templateRef: {kind: ClusterTemplate, name: configured-run}}
---
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: configured-config}
spec:
  params: [{name: debug, default: 'off'}]
  template:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: configured}
    data: {debug: $(params.debug)$}
---
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: configured-run}
spec:
  template:
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: configured}
    spec:
      replicas: 2
      selector: {matchLabels: {app: configured}}
      template:
        metadata: {labels: {app: configured}}
        spec:
          containers:
            - {name: app, image: 'configured:1', envFrom: [{configMapRef: {name: configured}}]}
";

const WORKLOAD: &str = "
apiVersion: carto.run/v1alpha1
kind: Workload
metadata: {name: configured, namespace: default, labels: {story: configured}}
spec: {params: [{name: debug, value: 'DEBUG'}]}
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn point_17_wait_does_not_end_before_pods_have_read_their_config() {
    let binaries = match Binaries::find() {
        Ok(binaries) => binaries,
        Err(missing) => return skip(SUITE, &missing.to_string()),
    };
    let mut world = Box::pin(Real::start(&binaries)).await;
    world.apply_text("configured.yaml", CHAIN);
    world.apply_text("workload.yaml", &WORKLOAD.replace("DEBUG", "off"));
    let wait = |world: &Real, debug: &str| {
        let wait_for = format!("param:debug={debug}");
        let arguments = [
            "workload/configured",
            "--for",
            &wait_for,
            "--live",
            "--timeout",
            "5m",
        ];
        world.ask("wait", &arguments.map(str::to_owned))
    };
    let ended = wait(&world, "off").wait();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);

    world.apply_text("workload.yaml", &WORKLOAD.replace("DEBUG", "on"));
    let mut waiting = wait(&world, "on");
    waiting.wait_for_stderr("kubectl rollout restart -n default deployment/configured");
    waiting.assert_running();
    let again = world.kubectl(&["rollout", "restart", "deployment/configured"]);
    assert_eq!(again.wait().code, Some(0));
    let ended = waiting.wait();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    world.stop();
}

impl Real {
    fn apply_text(&self, name: &str, text: &str) {
        let file = self.home.join(name);
        fs::write(&file, text).unwrap();
        let applied = self.ask("apply", &self.applying(&file)).wait();
        assert_eq!(applied.code, Some(0), "{}", applied.stderr);
    }
}
