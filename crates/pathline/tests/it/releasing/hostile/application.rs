//! One application: its controllers, and the truth about it.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use jiff::Timestamp;
use kube::Client;
use kube::api::{Api, DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::answers::played::STEP;
use crate::story::objects::{await_object, objects};

const SET: (&str, &str) = ("apps/v1", "StatefulSet");
const POD: (&str, &str) = ("v1", "Pod");
/// The image that somebody else wants to run.
const FOREIGN: &str = "registry.example/foreign@sha256:ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";

/// A step of controllers that cannot be trusted, or of somebody who gets in their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The build says what it said of the generation before.
    LateBuild,
    /// The build has seen its generation, and is ready for the one before, as it says.
    FormerlyReadyBuild,
    /// The build has seen its generation, and is not ready; its image is that of the one before.
    UnreadyBuild,
    /// The build is done.
    Build,
    /// Somebody else writes to the build.
    WriteBuild,
    /// Somebody deletes the build.
    DeleteBuild,
    /// The set says what it said of the generation before.
    LateSet,
    /// The set says that all of its pods are new and ready.
    LyingSet,
    /// The set says that its pods are of the newest revision, whichever they are of.
    WrongRevision,
    /// The set starts a pod.
    StartPod,
    /// The newest pod becomes ready, or stops being so.
    Flap,
    /// The set stops all pods but the newest.
    StopPods,
    /// Somebody else writes to the set.
    WriteSet,
    /// Somebody deletes the set.
    DeleteSet,
    /// The set does all that it should, with what it was given.
    RollOut,
}

/// Every step. Those without which nothing comes to run are there more often.
pub(super) const STEPS: [Step; 18] = [
    Step::LateBuild,
    Step::FormerlyReadyBuild,
    Step::UnreadyBuild,
    Step::Build,
    Step::Build,
    Step::WriteBuild,
    Step::DeleteBuild,
    Step::LateSet,
    Step::LyingSet,
    Step::LyingSet,
    Step::WrongRevision,
    Step::StartPod,
    Step::Flap,
    Step::StopPods,
    Step::WriteSet,
    Step::DeleteSet,
    Step::RollOut,
    Step::RollOut,
];

/// A pod, and what it was started with.
#[derive(Clone, Debug)]
struct Pod {
    name: String,
    revision: String,
    number: String,
    image: String,
    is_ready: bool,
}

/// One application.
pub(super) struct Application {
    pub(super) name: String,
    /// The name of its Workload, and of all that is stamped for it.
    pub(super) object: String,
    number: u64,
    /// True if the image of the release was built.
    is_built: bool,
    pods: Vec<Pod>,
    started: u64,
    /// The instant from which on the release runs, or has run.
    pub(super) ran: Option<Timestamp>,
    /// The instant of the last change.
    pub(super) changed: Timestamp,
    /// True if, before some step, the release ran and its controllers said so: what was decided then may be told later.
    pub(super) was_settled: bool,
    /// True if it is known that the release is deployed.
    pub(super) is_deployed: bool,
    /// The steps since the release began.
    pub(super) played: Vec<(Timestamp, String)>,
}

impl Application {
    pub(super) fn new(index: u64) -> Self {
        let name = format!("a{index}");
        Self {
            object: format!("hostile-{name}"),
            name,
            number: 0,
            is_built: false,
            pods: Vec::new(),
            started: 0,
            ran: None,
            changed: Timestamp::UNIX_EPOCH,
            was_settled: false,
            is_deployed: false,
            played: Vec::new(),
        }
    }

    pub(super) fn tracker(&self) -> String {
        format!("hostile.{}", self.name)
    }

    /// Waits until a release is written.
    pub(super) async fn begin(&mut self, client: &Client, number: u64) {
        self.number = number;
        self.is_built = false;
        self.ran = None;
        self.was_settled = false;
        self.is_deployed = false;
        self.played.clear();
        let is_stamped = |it: &Value| it["spec"]["number"] == format!("n{number}");
        await_object(client, STEP, &self.object, is_stamped).await;
    }

    /// Plays a step.
    pub(super) async fn step(&mut self, client: &Client, step: Step) {
        self.was_settled |=
            self.ran.is_some() && self.is_built_now(client).await && self.is_out_now(client).await;
        self.played.push((Timestamp::now(), format!("{step:?}")));
        match step {
            Step::LateBuild
            | Step::FormerlyReadyBuild
            | Step::UnreadyBuild
            | Step::Build
            | Step::WriteBuild
            | Step::DeleteBuild => self.play_build(client, step).await,
            _ => self.play_set(client, step).await,
        }
        self.changed = Timestamp::now();
    }

    /// Does what is left to do until the release runs.
    pub(super) async fn end(&mut self, client: &Client) {
        if !self.is_built_now(client).await {
            self.step(client, Step::Build).await;
        }
        if !self.is_out_now(client).await {
            self.step(client, Step::RollOut).await;
        }
    }

    /// Tells whether the build is of the release, done, and says so.
    async fn is_built_now(&self, client: &Client) -> bool {
        let build = self.get(client, STEP).await;
        build.is_some_and(|it| {
            let is_of_it = it["spec"]["number"] == format!("n{}", self.number);
            is_of_it && it["status"] == built(&it)
        })
    }

    /// Tells whether the set runs one pod of what it should, which is ready, and says so.
    async fn is_out_now(&self, client: &Client) -> bool {
        let set = self.get(client, SET).await;
        set.is_some_and(|it| {
            let newest = revision(&it);
            let is_ready = |pod: &Pod| pod.is_ready && pod.revision == newest;
            self.pods.len() == 1
                && self.pods.iter().all(is_ready)
                && it["status"] == rolled_out(&it, &newest)
        })
    }

    async fn play_build(&mut self, client: &Client, step: Step) {
        let Some(build) = self.get(client, STEP).await else {
            return;
        };
        let generation = build["metadata"]["generation"].as_i64().expect("a number");
        let mut status = built(&build);
        match step {
            // What is new has no generation before.
            Step::LateBuild | Step::FormerlyReadyBuild if generation == 1 => return,
            Step::LateBuild | Step::FormerlyReadyBuild => {
                if step == Step::LateBuild {
                    status["observedGeneration"] = json!(generation - 1);
                }
                status["conditions"][0]["observedGeneration"] = json!(generation - 1);
                status["image"] = json!(image(self.number - 1));
            }
            Step::UnreadyBuild => {
                status["conditions"][0]["status"] = json!("False");
                status["image"] = json!(image(self.number - 1));
            }
            Step::WriteBuild => {
                let patch = json!({"spec": {"number": "foreign"}});
                return self.write(client, STEP, &patch).await;
            }
            Step::DeleteBuild => return self.delete(client, STEP, &self.object).await,
            _ => {
                self.is_built |= build["spec"]["number"] == format!("n{}", self.number);
                self.note_truth();
            }
        }
        self.say(client, STEP, &self.object, &status).await;
    }

    async fn play_set(&mut self, client: &Client, step: Step) {
        let Some(set) = self.get(client, SET).await else {
            return;
        };
        let newest = revision(&set);
        match step {
            Step::LateSet => {
                let mut status = rolled_out(&set, &newest);
                let generation = set["metadata"]["generation"].as_i64().expect("a number");
                status["observedGeneration"] = json!(generation - 1);
                self.say(client, SET, &self.object, &status).await;
            }
            Step::LyingSet => {
                let status = rolled_out(&set, &newest);
                self.say(client, SET, &self.object, &status).await;
            }
            Step::WrongRevision => {
                // Only what is of another image can be told from what it should be.
                let wanted = &container(&set)["image"];
                let pod = self.pods.iter().find(|it| *wanted != it.image);
                if let Some(pod) = pod {
                    let status = rolled_out(&set, &pod.revision);
                    self.say(client, SET, &self.object, &status).await;
                }
            }
            Step::StartPod => self.start_pod(client, &set).await,
            Step::Flap => self.flap(client).await,
            Step::StopPods => self.stop_pods(client, 1).await,
            Step::WriteSet => {
                let name = &container(&set)["name"];
                let containers = json!([{"name": name, "image": FOREIGN}]);
                let patch = json!({"spec": {"template": {"spec": {"containers": containers}}}});
                self.write(client, SET, &patch).await;
            }
            Step::DeleteSet => {
                self.stop_pods(client, 0).await;
                self.delete(client, SET, &self.object).await;
            }
            _ => self.roll_out(client, &set).await,
        }
    }

    /// Runs one pod of the set as it is, and says so.
    async fn roll_out(&mut self, client: &Client, set: &Value) {
        let newest = revision(set);
        if self.pods.last().is_none_or(|it| it.revision != newest) {
            self.start_pod(client, set).await;
        }
        self.stop_pods(client, 1).await;
        if self.pods.last().is_some_and(|it| !it.is_ready) {
            self.flap(client).await;
        }
        let status = rolled_out(set, &newest);
        self.say(client, SET, &self.object, &status).await;
    }

    /// Starts a pod of the set as it is, which is not ready.
    async fn start_pod(&mut self, client: &Client, set: &Value) {
        self.started += 1;
        let container = container(set);
        let text = |key: &str| container[key].as_str().expect("a text").to_owned();
        let pod = Pod {
            name: format!("{}-{}", self.object, self.started),
            revision: revision(set),
            number: text("name"),
            image: text("image"),
            is_ready: false,
        };
        let template = &set["spec"]["template"];
        let mut labels = template["metadata"]["labels"].clone();
        labels["controller-revision-hash"] = json!(pod.revision);
        let object = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": pod.name, "namespace": "default", "labels": labels,
                "ownerReferences": [{
                    "apiVersion": SET.0, "kind": SET.1, "name": self.object,
                    "uid": set["metadata"]["uid"], "controller": true,
                }],
            },
            "spec": template["spec"],
        });
        let object = serde_json::from_value(object).expect("a pod");
        let name = pod.name.clone();
        self.pods.push(pod);
        self.note_truth();
        let made = objects(client, POD)
            .create(&PostParams::default(), &object)
            .await;
        // Whoever deletes the set deletes its pods.
        assert!(made.is_ok(), "{name}: {made:?}");
    }

    /// Lets the newest pod become ready, or stop being so.
    async fn flap(&mut self, client: &Client) {
        let Some(pod) = self.pods.last_mut() else {
            return;
        };
        pod.is_ready = !pod.is_ready;
        let pod = pod.clone();
        self.note_truth();
        let ready = if pod.is_ready { "True" } else { "False" };
        let container = json!({"name": pod.number, "image": pod.image, "imageID": pod.image, "ready": pod.is_ready, "restartCount": 0});
        let status = json!({
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": ready}],
            "containerStatuses": [container],
        });
        self.say(client, POD, &pod.name, &status).await;
    }

    /// Stops the oldest pods until so many are left.
    async fn stop_pods(&mut self, client: &Client, left: usize) {
        while self.pods.len() > left {
            let pod = self.pods.remove(0);
            self.note_truth();
            self.delete(client, POD, &pod.name).await;
        }
    }

    /// Takes note of it if the release runs, and nothing else.
    fn note_truth(&mut self) {
        let [pod] = &self.pods[..] else {
            return;
        };
        let is_of_it = pod.number == format!("n{}", self.number) && pod.image == image(self.number);
        if pod.is_ready && is_of_it && self.is_built {
            self.ran.get_or_insert_with(Timestamp::now);
        }
    }

    async fn get(&self, client: &Client, kind: (&str, &str)) -> Option<Value> {
        let found = objects(client, kind).get_opt(&self.object).await;
        let found = found.expect("it answers");
        found.map(|it| serde_json::to_value(it).expect("an object is JSON"))
    }

    /// Writes a status, if the object is still there.
    async fn say(&self, client: &Client, kind: (&str, &str), name: &str, status: &Value) {
        let patch = Patch::Merge(json!({ "status": status }));
        let api: Api<DynamicObject> = objects(client, kind);
        let said = api
            .patch_status(name, &PatchParams::default(), &patch)
            .await;
        assert_there(said.map(drop));
    }

    /// Writes to what was stamped, if it is still there, as somebody else.
    async fn write(&self, client: &Client, kind: (&str, &str), patch: &Value) {
        let api: Api<DynamicObject> = objects(client, kind);
        let params = PatchParams::default();
        let written = api.patch(&self.object, &params, &Patch::Merge(patch)).await;
        assert_there(written.map(drop));
    }

    async fn delete(&self, client: &Client, kind: (&str, &str), name: &str) {
        let api: Api<DynamicObject> = objects(client, kind);
        let params = DeleteParams::default().grace_period(0);
        assert_there(api.delete(name, &params).await.map(drop));
    }
}

/// Fails if something was refused, but for its not being there any more.
#[track_caller]
fn assert_there(answer: kube::Result<()>) {
    match answer {
        Err(kube::Error::Api(error)) if error.code == 404 => {}
        other => other.expect("it is taken"),
    }
}

/// Returns the image that is built of a release: A, A, B, A, A, B.
fn image(number: u64) -> String {
    let letter = if number.is_multiple_of(3) { "b" } else { "a" };
    format!("registry.example/app@sha256:{}", letter.repeat(64))
}

/// Returns the status of a build that is done with what it was given.
fn built(build: &Value) -> Value {
    let number = build["spec"]["number"]
        .as_str()
        .and_then(|it| it[1..].parse().ok());
    json!({
        "observedGeneration": build["metadata"]["generation"],
        "image": number.map_or_else(|| FOREIGN.to_owned(), image),
        "conditions": [{"type": "Ready", "status": "True", "observedGeneration": build["metadata"]["generation"]}],
    })
}

/// Returns the status of a set whose one pod is of a revision, and ready.
fn rolled_out(set: &Value, revision: &str) -> Value {
    json!({
        "observedGeneration": set["metadata"]["generation"],
        "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
        "currentRevision": revision, "updateRevision": revision,
    })
}

/// Returns the name of the revision that a set should run.
fn revision(set: &Value) -> String {
    let mut hasher = DefaultHasher::new();
    set["spec"]["template"].to_string().hash(&mut hasher);
    format!("r{:x}", hasher.finish())
}

fn container(set: &Value) -> &Value {
    &set["spec"]["template"]["spec"]["containers"][0]
}
