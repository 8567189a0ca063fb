//! Every answer of `wait` and `apply --wait`, on `pathline up`, with the test as the controller of
//! what is stamped.
//!
//! The tests are called after the points of the list of answers that were wrong once.

#![expect(
    clippy::unwrap_used,
    reason = "a story that cannot go on stops where it is"
)]

mod deliveries;
pub(crate) mod played;
mod processes;

use serde_json::{Value, json};

use self::played::Played;
use crate::program::Ended;

/// Builds an image of a param. The object says honestly when it is done.
const BUILD: &str = "
---
apiVersion: carto.run/v1alpha1
kind: ClusterImageTemplate
metadata: {name: build}
spec:
  params: [{name: debug, default: 'off'}]
  imagePath: .status.image
  healthRule: {singleConditionType: Ready}
  artifactTracing: {observedGenerationPath: .status.observedGeneration}
  template:
    apiVersion: played.example.org/v1
    kind: Step
    metadata: {name: build}
    spec: {input: $(params.debug)$}
";

/// Takes the image to its end; the object is what is made.
const DEPLOY: &str = "
---
apiVersion: carto.run/v1alpha1
kind: ClusterTemplate
metadata: {name: deploy}
spec:
  template:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: deployed}
    data: {image: $(image)$}
";

const CHAIN: &str = "
---
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: chain}
spec:
  selector: {played: 'yes'}
  resources:
    - {name: build, templateRef: {kind: ClusterImageTemplate, name: build}}
    - {name: deploy, templateRef: {kind: ClusterTemplate, name: deploy}, images: [{name: image, resource: build}]}
";

/// Returns a workload that sets the debug flag.
fn workload(debug: &Value) -> String {
    let workload = json!({
        "apiVersion": "carto.run/v1alpha1", "kind": "Workload",
        "metadata": {"name": "app", "namespace": "default", "labels": {"played": "yes"}},
        "spec": {"params": [{"name": "debug", "value": debug}]},
    });
    format!("\n---\n{workload}\n")
}

/// The state of an object that has built an image of its generation.
fn built(generation: i64, image: &str) -> Value {
    json!({
        "observedGeneration": generation,
        "image": format!("app@sha256:{}", image.repeat(64)),
        "conditions": [{"type": "Ready", "status": "True"}],
    })
}

/// The state of an object that says what is wrong with its generation.
fn unready(generation: i64, message: &str) -> Value {
    json!({
        "observedGeneration": generation,
        "conditions": [{"type": "Ready", "status": "False", "message": message}],
    })
}

#[tokio::test]
async fn point_1_what_is_not_healthy_is_waited_for_until_it_says_that_it_failed() {
    let world = Played::start().await;
    let chain = [BUILD, DEPLOY, CHAIN].concat() + &workload(&json!("on"));
    world.apply(&chain).await;
    let mut waiting = world.wait(&["--for", "param:debug=on"]);
    world
        .play("build", 1, unready(1, "dial tcp: i/o timeout"))
        .await;
    waiting.wait_for_stderr("`build` says: dial tcp: i/o timeout");
    waiting.assert_running();
    world.play("build", 1, built(1, "a")).await;
    assert_eq!(waiting.wait().code, Some(0));

    world.apply(&workload(&json!("off"))).await;
    let waiting = world.wait(&["--for", "param:debug=off"]);
    let mut stalled = unready(2, "it will never work");
    let conditions = stalled["conditions"].as_array_mut().unwrap();
    conditions.push(json!({"type": "Stalled", "status": "True", "message": "it will never work"}));
    world.play("build", 2, stalled).await;
    let Ended { code, stderr, .. } = waiting.wait();
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("it will never work"), "{stderr}");
    world.stop();
}

#[tokio::test]
async fn point_4_value_that_comes_back_has_arrived_when_it_was_made_again() {
    let world = Played::start().await;
    let chain = [BUILD, DEPLOY, CHAIN].concat() + &workload(&json!("a"));
    world.apply(&chain).await;
    world.play("build", 1, built(1, "a")).await;
    assert_eq!(world.wait(&["--for", "param:debug=a"]).wait().code, Some(0));

    world.apply(&workload(&json!("b"))).await;
    world.stamped("build", 2).await;
    world.apply(&workload(&json!("a"))).await;
    world.stamped("build", 3).await;
    let mut waiting = world.wait(&["--for", "param:debug=a"]);
    waiting.wait_for_stderr("`build` runs");
    // What it made of the value in between comes late.
    let mut late = built(2, "b");
    late["conditions"] = json!([{"type": "Ready", "status": "True", "observedGeneration": 2}]);
    world.play("build", 3, late).await;
    world.deployed("b").await;
    waiting.assert_running();
    world.play("build", 3, built(3, "a")).await;
    let Ended { code, stderr, .. } = waiting.wait();
    assert_eq!(code, Some(0), "{stderr}");
    world.deployed("a").await;
    world.stop();
}

#[tokio::test]
async fn point_7_nothing_has_arrived_in_an_object_that_is_not_there() {
    let world = Played::start().await;
    let run = DEPLOY.replace(
        "v1\n    kind: ConfigMap",
        "played.example.org/v1\n    kind: Step",
    );
    let run = run.replace("    data:", "    spec:");
    world
        .apply(&([BUILD, &run, CHAIN].concat() + &workload(&json!("on"))))
        .await;
    world.play("build", 1, built(1, "a")).await;
    let arrived = ["--for", "param:debug=on"];
    assert_eq!(world.wait(&arrived).wait().code, Some(0));
    world.refuse_steps().await;
    world.delete("deployed").await;
    world
        .owner(|it| it.to_string().contains("TemplateRejectedByAPIServer"))
        .await;
    let waited = world
        .wait(&[&arrived[..], &["--timeout", "2s"]].concat())
        .wait();
    assert_ne!(waited.code, Some(0), "{}", waited.stderr);
    world.stop();
}

#[tokio::test]
async fn point_8_revision_is_waited_for_as_it_is_printed() {
    let world = Played::start().await;
    let commit = "8f1c2e7d00000000000000000000000000000000";
    let fetch = BUILD.replace("$(params.debug)$", "$(workload.spec.source.git.ref)$");
    let owner = json!({
        "apiVersion": "carto.run/v1alpha1", "kind": "Workload",
        "metadata": {"name": "app", "namespace": "default", "labels": {"played": "yes"}},
        "spec": {"source": {"git": {"url": "https://git.example/app", "ref": {"commit": commit}}}},
    });
    world
        .apply(&([&fetch, DEPLOY, CHAIN].concat() + &format!("\n---\n{owner}\n")))
        .await;
    world.play("build", 1, built(1, "a")).await;
    for asked in [
        commit,
        &format!("main@sha1:{commit}"),
        "main@sha1:8f1c2e7",
        "8f1c2e7",
    ] {
        let waited = world.wait(&["--for", &format!("source={asked}")]).wait();
        assert_eq!(waited.code, Some(0), "{asked}: {}", waited.stderr);
    }
    world.stop();
}

#[tokio::test]
async fn point_11_text_and_boolean_are_two_values() {
    let world = Played::start().await;
    world
        .apply(&([BUILD, DEPLOY, CHAIN].concat() + &workload(&json!("true"))))
        .await;
    world.play("build", 1, built(1, "a")).await;
    let asked = ["--for", "param:debug=true"];
    assert_eq!(
        world.wait(&asked).wait().code,
        Some(0),
        "the text is all there is"
    );
    world.apply(&workload(&json!(true))).await;
    world.stamped("build", 2).await;
    let mut waiting = world.wait(&asked);
    waiting.wait_for_stderr("`build` runs");
    waiting.assert_running();
    world.play("build", 2, built(2, "b")).await;
    assert_eq!(waiting.wait().code, Some(0));
    world.stop();
}

#[tokio::test]
async fn point_12_generation_that_proves_nothing_does_not_say_that_all_has_settled() {
    let world = Played::start().await;
    let declared = "artifactTracing: {observedGenerationPath: .status.observedGeneration}";
    let undeclared = BUILD.replace(declared, "");
    world
        .apply(&([&undeclared, DEPLOY, CHAIN].concat() + &workload(&json!("on"))))
        .await;
    world.play("build", 1, built(1, "a")).await;
    let accepting = ["--for", "param:debug=off", "--accept-assumed"];
    world.apply(&workload(&json!("off"))).await;
    let mut waiting = world.wait(&accepting);
    // It notes the generation, and builds later.
    world.play("build", 2, built(2, "a")).await;
    waiting.wait_for_stderr("`build` runs");
    waiting.assert_running();
    world.play("build", 2, built(2, "b")).await;
    let Ended { code, stderr, .. } = waiting.wait();
    assert_eq!(code, Some(0), "{stderr}");
    world.stop();
}

#[tokio::test]
async fn point_15_what_can_not_be_is_refused_at_once() {
    let world = Played::start().await;
    world
        .apply(&([BUILD, DEPLOY, CHAIN].concat() + &workload(&json!("on"))))
        .await;
    let both = ["--for", "param:debug=a", "--for", "param:debug=b"];
    let Ended { code, stderr, .. } = world.wait(&both).wait();
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("can't both be true"), "{stderr}");
    world.stop();
}

#[tokio::test]
async fn value_that_the_owner_has_never_had_is_waited_for() {
    let world = Played::start().await;
    world
        .apply(&([BUILD, DEPLOY, CHAIN].concat() + &workload(&json!("off"))))
        .await;
    world.play("build", 1, built(1, "a")).await;
    let mut waiting = world.wait(&["--for", "param:debug=on"]);
    waiting.wait_for_stderr("the owner does not say `on`; it says `off`");
    world.apply(&workload(&json!("on"))).await;
    world.play("build", 2, built(2, "b")).await;
    let Ended { code, stderr, .. } = waiting.wait();
    assert_eq!(code, Some(0), "{stderr}");
    let gone = world.wait(&["--for", "param:debug=off"]).wait();
    assert_eq!(gone.code, Some(1), "{}", gone.stderr);
    assert!(gone.stderr.contains("was superseded"), "{}", gone.stderr);
    world.stop();
}
