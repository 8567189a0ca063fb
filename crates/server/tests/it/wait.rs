use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use axum::http::{Request, StatusCode};
use futures::StreamExt;
use jiff::Timestamp;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use pathline_client::api::{WaitResult, WaitState};
use pathline_kinds::carto::{ClusterTemplate, Workload};
use pathline_ledger::{Change, Permissions};
use pathline_lineage::{Artifact, Unstamped};
use pathline_server::{AppState, app};
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::owners::create;
use crate::story;
use crate::world::{Answer, World};

const LIMIT: Duration = Duration::from_secs(60);

/// A world with the workload `dev/web`, of which nothing is recorded yet.
struct Scene {
    world: World,
    token: String,
    uid: String,
}

impl Scene {
    async fn new() -> Self {
        let world = World::new().await;
        let token = world.token("reader", Permissions::READ).await;
        let uid = create(&world, "dev", "web").await.uid();
        let uid = uid.expect("the cluster gives one");
        Self { world, token, uid }
    }

    async fn record(&self) {
        story::record(&self.world.ledger, &self.uid).await;
    }

    async fn record_source(&self, revision: &str) {
        let source = Artifact::source("https://git.example/web", Some(revision));
        story::record_from(&self.world.ledger, &self.uid, &source, "").await;
    }

    async fn wait(&self, query: &str) -> Answer {
        let path = format!("/workloads/dev/web/wait?{query}");
        timeout(LIMIT, self.world.get(&path, &self.token))
            .await
            .expect("an answer")
    }

    /// Asks again, with what was learned before.
    async fn go_on(&self, query: &str, id: &str) -> WaitResult {
        let request = Request::get(format!("/workloads/dev/web/wait?{query}"));
        let request = request.header("last-event-id", id);
        let answer = self.world.send(request, Some(&self.token), Body::empty());
        read(&timeout(LIMIT, answer).await.expect("an answer"))
    }

    async fn stream(&self, query: &str) -> States {
        let request = Request::get(format!("/workloads/dev/web/wait?{query}"))
            .header("accept", "text/event-stream");
        let answer = self.world.open(request, Some(&self.token), Body::empty());
        let answer = answer.await;
        assert_eq!(answer.status(), StatusCode::OK);
        States {
            body: answer.into_body().into_data_stream(),
            text: String::new(),
        }
    }
}

/// The states that a stream tells.
struct States {
    body: BodyDataStream,
    text: String,
}

impl States {
    async fn next(&mut self) -> Option<WaitResult> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                let waited = data.map(|data| serde_json::from_str(data).expect("a state"));
                self.text = rest.to_owned();
                if waited.is_some() {
                    return waited;
                }
                continue;
            }
            let chunk = timeout(LIMIT, self.body.next())
                .await
                .expect("something comes");
            self.text += std::str::from_utf8(&chunk?.expect("a whole chunk")).expect("text");
        }
    }
}

fn read(answer: &Answer) -> WaitResult {
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    serde_json::from_value(answer.body.clone()).expect("what those who wait are told")
}

#[tokio::test]
async fn answer_comes_when_it_becomes_true() {
    let scene = Scene::new().await;
    let query = "for=param:debug=on&for=source=def567&timeout=600";
    let mut states = scene.stream(query).await;
    let first = states.next().await.unwrap();
    assert_eq!(first.state, WaitState::Waiting, "nobody has looked yet");

    let (answer, ()) = tokio::join!(scene.wait(query), scene.record());

    let waited = read(&answer);
    assert_eq!(waited.state, WaitState::Holds, "{waited:?}");
    assert_eq!(waited.progress.len(), 2);
    let mut last = states.next().await.unwrap();
    while !last.is_decided() {
        last = states.next().await.unwrap();
    }
    assert_eq!(last.state, WaitState::Holds);
    assert!(
        states.next().await.is_none(),
        "the last word ends the stream"
    );
}

#[tokio::test]
async fn what_cannot_happen_is_told_at_once_with_the_reason() {
    let scene = Scene::new().await;
    scene.record().await;
    let waited = read(&scene.wait("for=param:colour=red").await);
    assert_eq!(waited.state, WaitState::Impossible);
    assert_eq!(waited.impossible.unwrap().reason, "unused");
    let to_come = read(&scene.wait("for=param:debug=off&timeout=0").await);
    assert_eq!(to_come.state, WaitState::Waiting, "it was never there");
    let gone = story::owner(&scene.uid);
    let mut states = scene.stream("for=source=0123456").await;
    states.next().await.unwrap();
    scene
        .world
        .ledger
        .lineage()
        .gone(&gone, Timestamp::now())
        .await
        .unwrap();
    let last = states.next().await.unwrap();
    assert_eq!(last.impossible.unwrap().reason, "gone");
}

#[tokio::test]
async fn what_was_carried_once_is_remembered_by_who_comes_back() {
    let scene = Scene::new().await;
    scene.record_source("aaaaaaaa").await;
    // It is there, and nobody knows yet whether it runs.
    let query = "for=source=aaaaaaaa&live=true&timeout=0";
    let mut states = scene.stream(query).await;
    let before = states.next().await.unwrap();
    let polled = read(&scene.wait(query).await);
    assert_eq!(before.id, polled.id);
    assert!(before.id.starts_with("1-1."), "{}", before.id);
    drop(states);

    // While nobody waits, another one takes its place.
    scene.record_source("bbbbbbbb").await;

    let forgetful = read(&scene.wait(query).await);
    assert_eq!(
        forgetful.state,
        WaitState::Waiting,
        "it may be still to come"
    );
    let waited = scene.go_on(query, &before.id).await;
    assert_eq!(waited.impossible.unwrap().reason, "superseded");
    let waited = scene.go_on("for=source=cccccccc&timeout=0", "1").await;
    assert_eq!(waited.state, WaitState::Waiting, "it was never there");
}

#[tokio::test]
async fn nothing_is_superseded_by_what_an_owner_had_before_its_last_change() {
    let scene = Scene::new().await;
    scene.record_source("aaaaaaaa").await;
    let query = "for=source=aaaaaaaa&live=true&timeout=0";
    let before = read(&scene.wait(query).await);
    scene.record_source("bbbbbbbb").await;

    // Nobody has looked at this generation yet: it may say `aaaaaaaa` again.
    let client = scene.world.cluster.as_ref().unwrap().client();
    let api = Api::<Workload>::namespaced(client, "dev");
    let patch = Patch::Merge(json!({"spec": {"params": [{"name": "debug", "value": "off"}]}}));
    let patched = api.patch("web", &PatchParams::default(), &patch).await;
    assert_eq!(patched.unwrap().metadata.generation, Some(2));

    let waited = scene.go_on(query, &before.id).await;
    assert_eq!(waited.state, WaitState::Waiting, "{waited:?}");
}

#[tokio::test]
async fn labels_that_nobody_has_looked_at_are_waited_for() {
    let scene = Scene::new().await;
    let client = scene.world.cluster.as_ref().unwrap().client();
    let api = Api::<Workload>::namespaced(client, "dev");
    let before = metadata_digest(&api.get("web").await.unwrap());
    let patch = Patch::Merge(json!({"metadata": {"labels": {"tested": "yes"}}}));
    let patched = api.patch("web", &PatchParams::default(), &patch).await;
    let patched = patched.unwrap();
    assert_eq!(patched.metadata.generation, Some(1), "no new generation");
    let (ledger, uid) = (&scene.world.ledger, &scene.uid);
    story::record_from(ledger, uid, &story::source(), &before).await;

    let query = "for=current&timeout=600";
    let mut states = scene.stream(query).await;
    let early = states.next().await.unwrap();
    assert_eq!(early.state, WaitState::Waiting, "{early:?}");

    story::record_from(ledger, uid, &story::source(), &metadata_digest(&patched)).await;
    let last = states.next().await.unwrap();
    assert_eq!(last.state, WaitState::Holds, "{last:?}");
}

fn metadata_digest(workload: &Workload) -> String {
    let metadata = serde_json::to_value(&workload.metadata).expect("metadata is JSON");
    pathline_lineage::owner_lineage::metadata_digest(&metadata)
}

/// Keeps the clock from moving: it only does while nothing else can be done. In case that something
/// waits for it after all, lets it run after a while.
async fn hold_the_clock() {
    let real = std::time::Instant::now();
    while real.elapsed() < LIMIT {
        tokio::task::yield_now().await;
    }
    tokio::time::advance(Duration::from_secs(3600)).await;
}

#[tokio::test]
async fn answers_follow_the_event_and_no_time_passes() {
    let scene = Scene::new().await;
    let query = "for=param:debug=on&for=source=def567&timeout=600";
    let mut states = scene.stream(query).await;
    states.next().await.unwrap();
    tokio::time::pause();
    let clock = tokio::spawn(hold_the_clock());
    let before = tokio::time::Instant::now();

    let (polled, ()) = tokio::join!(scene.wait(query), scene.record());
    let told = states.next().await.unwrap();

    assert_eq!(before.elapsed(), Duration::ZERO, "nobody looked at a clock");
    assert_eq!(read(&polled).state, WaitState::Holds);
    assert_eq!(told.state, WaitState::Holds);
    clock.abort();
}

#[tokio::test]
async fn time_out_answers_with_what_is_known() {
    let scene = Scene::new().await;
    scene.record().await;
    let waited = read(&scene.wait("for=source=0123456&timeout=0").await);
    assert_eq!(waited.state, WaitState::Waiting);
    assert_eq!(waited.progress[0].wait_for, "source=0123456");
    assert!(!waited.progress[0].missing.is_empty());
}

#[tokio::test]
async fn questions_that_cannot_be_understood_are_refused() {
    let scene = Scene::new().await;
    for query in [
        "for=debug=on",
        "colour=red",
        "live=perhaps",
        "timeout=soon",
        "timeout=601",
        &"for=current&".repeat(513),
        "applied=debug=on",
        "applied=param:debug",
        "removed=debug",
        "generation=-1",
    ] {
        let answer = scene.wait(query).await;
        let told = (answer.status, answer.code());
        assert_eq!(told, (StatusCode::BAD_REQUEST, "bad-request"), "{query}");
    }
    let answer = scene.world.get("/workloads/dev/No_Name/wait", &scene.token);
    assert_eq!(answer.await.status, StatusCode::BAD_REQUEST);
    let answer = scene.world.get("/workloads/dev/web/wait", "wrong").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn those_who_wait_are_let_go_when_the_doors_close_or_their_token_ends() {
    let scene = Scene::new().await;
    let closing = CancellationToken::new();
    let state: AppState = scene.world.state.clone().closing_with(closing.clone());
    let world = World {
        router: app(state),
        ..scene.world
    };
    let path = "/workloads/dev/web/wait?timeout=600";
    let brief = world.token("brief", Permissions::READ).await;
    let revoke = async {
        let revoked = world
            .ledger
            .access()
            .revoke_token("brief", Timestamp::now())
            .await;
        revoked.unwrap();
    };

    let (refused, ()) = tokio::join!(world.get(path, &brief), revoke);
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{refused:?}");

    let (refused, ()) = tokio::join!(world.get(path, &scene.token), async { closing.cancel() });
    assert_eq!(
        refused.status,
        StatusCode::SERVICE_UNAVAILABLE,
        "{refused:?}"
    );
    assert_eq!(refused.body["error"]["code"], Value::from("unavailable"));
}

async fn delete(scene: &Scene) {
    let client = scene.world.cluster.as_ref().expect("a cluster").client();
    let api = Api::<Workload>::namespaced(client, "dev");
    let deleted = api.delete("web", &DeleteParams::default()).await;
    deleted.expect("it is deleted");
}

/// Records that an owner is gone, as the engine does.
async fn record_gone(scene: &Scene, uid: &str) {
    let owner = story::owner(uid);
    let gone = scene.world.ledger.lineage().gone(&owner, Timestamp::now());
    gone.await.expect("it is recorded");
}

async fn recreate(scene: &Scene) -> String {
    let created = create(&scene.world, "dev", "web").await;
    created.uid().expect("the cluster gives one")
}

#[tokio::test]
async fn an_owner_that_is_not_there_yet_is_waited_for_and_said_at_once() {
    let world = World::new().await;
    let token = world.token("reader", Permissions::READ).await;
    let scene = Scene {
        world,
        token,
        uid: String::new(),
    };
    let query = "for=param:debug=on&timeout=600";
    let mut states = scene.stream(query).await;
    let first = states.next().await.unwrap();
    assert_eq!(first.state, WaitState::Waiting);
    assert_eq!((first.generation, first.id.as_str()), (0, "0"));
    let missing = &first.progress[0].missing[0];
    assert!(missing.contains("no workload `web`"), "{missing}");
    let poll = read(&scene.wait("timeout=0").await);
    assert_eq!(poll.state, WaitState::Waiting, "a poll says so, too");

    let coming = async {
        let uid = recreate(&scene).await;
        story::record(&scene.world.ledger, &uid).await;
    };
    let (answer, ()) = tokio::join!(scene.wait(query), coming);
    assert_eq!(read(&answer).state, WaitState::Holds);
    let mut last = states.next().await.unwrap();
    while !last.is_decided() {
        last = states.next().await.unwrap();
    }
    assert_eq!((last.state, last.generation), (WaitState::Holds, 1));
    let again = scene.go_on("for=param:debug=on", "0").await;
    assert_eq!(again.state, WaitState::Holds, "it goes on, too");
}

#[tokio::test]
async fn an_owner_that_was_deleted_before_is_waited_for_and_one_that_is_deleted_meanwhile_is_gone()
{
    let scene = Scene::new().await;
    scene.record().await;
    let query = "for=source=0123456&timeout=600";
    let mut before = scene.stream(query).await;
    let seen = before.next().await.unwrap();
    delete(&scene).await;
    // The engine has not noticed yet.
    let mut after = scene.stream(query).await;
    let waited = after.next().await.unwrap();
    let missing = &waited.progress[0].missing[0];
    assert!(missing.contains("was deleted"), "{missing}");
    record_gone(&scene, &scene.uid).await;
    let last = before.next().await.unwrap();
    assert_eq!(last.impossible.unwrap().reason, "gone");
    let again = scene.go_on(query, &seen.id).await;
    assert_eq!(again.impossible.unwrap().reason, "gone", "it was there");

    let uid = recreate(&scene).await;
    story::record(&scene.world.ledger, &uid).await;
    let found = after.next().await.unwrap();
    assert_eq!((found.state, found.generation), (WaitState::Waiting, 1));
    let again = scene.go_on(query, &seen.id).await;
    assert_eq!(
        again.impossible.unwrap().reason,
        "gone",
        "it is another one"
    );
    record_gone(&scene, &uid).await;
    let mut last = after.next().await.unwrap();
    while !last.is_decided() {
        last = after.next().await.unwrap();
    }
    assert_eq!(last.impossible.unwrap().reason, "gone");
}

#[tokio::test]
async fn an_owner_that_is_deleted_before_anything_is_recorded_is_gone_also_if_another_one_comes() {
    let scene = Scene::new().await;
    let query = "for=source=0123456&timeout=600";
    let mut states = scene.stream(query).await;
    let waited = states.next().await.unwrap();
    assert_eq!(waited.generation, 1, "it is there");
    delete(&scene).await;
    let uid = recreate(&scene).await;
    let last = states.next().await.unwrap();
    assert_eq!(last.impossible.unwrap().reason, "gone");

    let mut states = scene.stream(query).await;
    assert_eq!(states.next().await.unwrap().generation, 1);
    story::record(&scene.world.ledger, &uid).await;
    let waited = states.next().await.unwrap();
    assert_eq!(waited.state, WaitState::Waiting, "it follows the new one");
}

#[tokio::test]
async fn what_was_applied_is_waited_for_as_it_was_applied() {
    let scene = Scene::new().await;
    scene.record().await;
    let (uid, wait) = (&scene.uid, async |query: &str| {
        read(&scene.wait(query).await)
    });
    let holds = wait("applied=param:debug=%22on%22&generation=1").await;
    assert_eq!(holds.state, WaitState::Holds, "{holds:?}");
    let unread = format!("applied=param:debug=%22on%22&applied=param:colour=1&uid={uid}");
    let holds = wait(&unread).await;
    assert_eq!(holds.state, WaitState::Holds, "{holds:?}");
    let mut notes = holds.notes.iter();
    assert!(
        notes.any(|it| it.contains("reads param:colour")),
        "{holds:?}"
    );
    let impossible = wait("applied=param:debug=%22off%22&generation=1").await;
    let impossible = impossible.impossible.expect("it has another value");
    assert_eq!(impossible.reason, "superseded");
    assert_eq!(impossible.input.as_deref(), Some("param:debug"));
    let early = wait("applied=param:debug=%22on%22&generation=2&timeout=0").await;
    assert_eq!(early.state, WaitState::Waiting, "nobody has looked at that");
    let other = wait("applied=param:debug=%22on%22&uid=another").await;
    assert_eq!(
        other.impossible.map(|it| it.reason).as_deref(),
        Some("gone")
    );
}

/// Records that the last look used these, and could not stamp some.
async fn record_used(scene: &Scene, used: &[(&str, i64)], unstamped: &[(&str, bool)]) {
    let mut lineage = story::record(&scene.world.ledger, &scene.uid).await;
    let used = used.iter().map(|(key, it)| ((*key).to_owned(), *it));
    lineage.used = used.collect();
    let unstamped = unstamped.iter().map(|(name, retried)| {
        let why = "it is broken".to_owned();
        let retried = *retried;
        ((*name).to_owned(), Unstamped { why, retried })
    });
    lineage.unstamped = unstamped.collect();
    let owner = story::owner(&scene.uid);
    let change = Change {
        owner: &owner,
        lineage: &lineage,
        derivations: &[],
        arrivals: &[],
        time: Timestamp::now(),
    };
    let recorded = scene.world.ledger.lineage().record(&change).await;
    recorded.expect("it is recorded");
}

#[tokio::test]
async fn whom_a_template_concerns_is_waited_for_until_it_was_looked_at_with_it() {
    let scene = Scene::new().await;
    let concerned = async |query: &str| {
        let path = format!("/concerned?{query}");
        scene.world.get(&path, &scene.token).await
    };
    for query in [
        "",
        "seen=run@1",
        "seen=Pod/run@1",
        "colour=red",
        "seen=ClusterTemplate/run@1&timeout=x",
    ] {
        assert_eq!(
            concerned(query).await.status,
            StatusCode::BAD_REQUEST,
            "{query}"
        );
    }
    // Neither there, nor used by anybody.
    let nothing = concerned("seen=ClusterTemplate/run@2").await;
    assert_eq!(nothing.status, StatusCode::NOT_FOUND, "{nothing:?}");
    let error = &nothing.body["error"];
    assert_eq!(error["code"], "not-found", "{nothing:?}");
    assert_eq!(error["message"], "there is no ClusterTemplate `run`");
    let client = scene.world.cluster.as_ref().expect("a cluster").client();
    let template = json!({
        "apiVersion": "carto.run/v1alpha1", "kind": "ClusterTemplate",
        "metadata": {"name": "run"},
        "spec": {"template": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}},
    });
    let template: ClusterTemplate = serde_json::from_value(template).expect("a template");
    let templates = Api::<ClusterTemplate>::all(client);
    let created = templates.create(&PostParams::default(), &template).await;
    created.expect("it is created");
    let nobody = concerned("seen=ClusterTemplate/run@2").await;
    assert_eq!(nobody.body, json!({"state": "holds", "owners": []}));

    // It has used the template, and no blueprint lets it do so any more.
    let run = [("ClusterTemplate/run", 1), ("ClusterTemplate/gone", 1)];
    record_used(&scene, &run, &[]).await;
    // Also if it is gone.
    for name in ["run", "gone"] {
        let waiting = concerned(&format!("seen=ClusterTemplate/{name}@2&timeout=0")).await;
        assert_eq!(waiting.body["state"], "waiting", "{waiting:?}");
        assert_eq!(waiting.body["owners"][0]["name"], "web");
    }
    let query = "seen=ClusterTemplate/run@2&timeout=600";
    let (answer, ()) = tokio::join!(concerned(query), record_used(&scene, &[], &[]));
    assert_eq!(answer.body["state"], "holds", "{answer:?}");
}

#[tokio::test]
async fn resource_that_cannot_be_stamped_has_failed_for_who_names_a_template() {
    let scene = Scene::new().await;
    let query = "for=param:debug=on&seen=ClusterTemplate/run@2&timeout=0";
    record_used(&scene, &[], &[("image-builder", true)]).await;
    let waited = read(&scene.wait(query).await);
    assert_eq!(waited.state, WaitState::Waiting, "it is tried again");
    record_used(&scene, &[], &[("image-builder", false)]).await;
    let impossible = read(&scene.wait(query).await)
        .impossible
        .expect("it failed");
    assert_eq!(impossible.reason, "failed");
    assert!(
        impossible.message.contains("it is broken"),
        "{}",
        impossible.message
    );
    let plain = read(&scene.wait("for=param:debug=on&timeout=0").await);
    assert_eq!(
        plain.state,
        WaitState::Holds,
        "others ask for the value alone"
    );
}
