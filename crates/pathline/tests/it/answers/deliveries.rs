//! Deliveries whose objects say which revision they run.

use serde_json::{Value, json};

use super::played::Played;
use crate::program::Ended;

/// The test decides which revision is found, and which one the object says it runs.
const DELIVERY: &str = "
---
apiVersion: carto.run/v1alpha1
kind: ClusterSourceTemplate
metadata: {name: found}
spec:
  urlPath: .spec.url
  revisionPath: .spec.revision
  template:
    apiVersion: played.example.org/v1
    kind: Step
    metadata: {name: found}
    spec: {url: 'https://git.example/app', revision: $(params.revision)$}
  params: [{name: revision, default: ''}]
---
apiVersion: carto.run/v1alpha1
kind: ClusterDeploymentTemplate
metadata: {name: run}
spec:
  observedMatches: [{input: spec.revision, output: status.revision}]
  healthRule: {singleConditionType: Ready}
  template:
    apiVersion: played.example.org/v1
    kind: Step
    metadata: {name: run}
    spec: {revision: $(deployment.revision)$}
---
apiVersion: carto.run/v1alpha1
kind: ClusterDelivery
metadata: {name: delivery}
spec:
  selector: {played: 'yes'}
  resources:
    - {name: found, templateRef: {kind: ClusterSourceTemplate, name: found}}
    - {name: run, templateRef: {kind: ClusterDeploymentTemplate, name: run}, deployment: {resource: found}}
";

fn deliverable(revision: &str) -> String {
    let deliverable = json!({
        "apiVersion": "carto.run/v1alpha1", "kind": "Deliverable",
        "metadata": {"name": "app", "namespace": "default", "labels": {"played": "yes"}},
        "spec": {"params": [{"name": "revision", "value": revision}]},
    });
    format!("\n---\n{deliverable}\n")
}

/// The state of an object that has seen a generation, and says what it runs.
fn runs(observed: i64, revision: &str) -> Value {
    json!({
        "observedGeneration": observed, "revision": revision,
        "conditions": [{"type": "Ready", "status": "True"}],
    })
}

const A: &str = "aaaaaaa1";
const B: &str = "bbbbbbb2";

async fn running(world: &Played, revision: &str, generation: i64) {
    world.apply(&deliverable(revision)).await;
    world
        .play("run", generation, runs(generation, revision))
        .await;
    let arrived = world.wait_for("deliverable/app", &["--for", &format!("source={revision}")]);
    assert_eq!(arrived.wait().code, Some(0), "{revision}");
}

#[tokio::test]
async fn point_5_what_an_object_no_longer_says_is_no_evidence() {
    let mut world = Played::start().await;
    world.apply(DELIVERY).await;
    running(&world, A, 1).await;
    running(&world, B, 2).await;
    // It goes back by itself, as Helm does, and Pathline is started again.
    world.play("run", 2, runs(2, A)).await;
    let asked = ["--for", "source=bbbbbbb2", "--timeout", "3s"];
    for _ in 0..2 {
        world.not_arrived("Deliverable", "param:revision").await;
        let Ended { code, stderr, .. } = world.wait_for("deliverable/app", &asked).wait();
        assert_eq!(code, Some(124), "{stderr}");
        world = world.restart().await;
    }
    world.play("run", 2, runs(2, B)).await;
    let again = world.wait_for("deliverable/app", &asked[..2]).wait();
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    world.stop();
}

#[tokio::test]
async fn point_6_controller_that_skips_what_was_in_between_arrives() {
    let world = Played::start().await;
    world.apply(DELIVERY).await;
    running(&world, A, 1).await;
    world.apply(&deliverable(B)).await;
    world.stamped("run", 2).await;
    world.apply(&deliverable(A)).await;
    world.stamped("run", 3).await;
    let mut waiting = world.wait_for("deliverable/app", &["--for", "source=aaaaaaa1"]);
    waiting.wait_for_stderr("`run` runs");
    waiting.assert_running();
    world.play("run", 3, runs(3, A)).await;
    let Ended { code, stderr, .. } = waiting.wait();
    assert_eq!(code, Some(0), "{stderr}");
    world.stop();
}
