//! Trackers that are asked for as clients do it, and what cycles see of them.

use axum::body::Body;
use axum::http::{Method, Request, header};
use jiff::{SignedDuration, Timestamp};
use pathline_ledger::releases::{ImageDescription, StoredRelease};
use pathline_ledger::trackers::{ApplyOutcome, CycleResult, NewConfiguration, StoredTracker};
use pathline_ledger::{Permissions, Topic};
use pathline_release::application::Application;
use pathline_release::queue::Flow;
use pathline_release::tracker::{
    Cycle, ImageAnswer, ImageQuery, RegistryRead, SourceProblem, SourceRead,
};
use pathline_release::{Image, TrackerName};
use serde_json::{Value, json};

use crate::world::{Answer, World};

/// The token of a repository, which no answer has.
pub(crate) const TOKEN: &str = "tok-SENTINEL";

/// A secret of a configuration, which no answer has (as base64, of which it is a valid text).
pub(crate) const SECRET: &str = "SentinelOfTheSecret0";

/// A server whose ledger keeps secrets, and somebody who may write.
pub(crate) struct Tracked {
    pub(crate) world: World,
    pub(crate) writer: String,
}

impl Tracked {
    pub(crate) async fn new() -> Self {
        let world = World::with_seal_key().await;
        let writer = world.token("ci", Permissions::WRITE).await;
        Self { world, writer }
    }

    /// Sends a request without a body, and checks the answer.
    pub(crate) async fn ask(&self, method: Method, path: &str) -> Answer {
        let request = Request::builder().method(method).uri(path);
        let answer = self.world.send(request, Some(&self.writer), Body::empty());
        checked(answer.await)
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask(Method::GET, path).await
    }

    /// Sends a body that is JSON, and checks the answer.
    pub(crate) async fn send(&self, method: Method, path: &str, body: &Value) -> Answer {
        let request = Request::builder().method(method).uri(path);
        let request = request.header(header::CONTENT_TYPE, "application/json");
        self.send_raw(request, body.to_string()).await
    }

    /// Sends whatever it is, and checks the answer.
    pub(crate) async fn send_raw(
        &self,
        request: axum::http::request::Builder,
        body: impl Into<Body>,
    ) -> Answer {
        let answer = self.world.send(request, Some(&self.writer), body.into());
        checked(answer.await)
    }

    pub(crate) async fn post(&self, body: &Value) -> Answer {
        self.send(Method::POST, "/trackers", body).await
    }

    pub(crate) async fn put(&self, name: &str, body: &Value) -> Answer {
        self.send(Method::PUT, &format!("/trackers/{name}"), body)
            .await
    }

    /// Makes a tracker, which has to work.
    pub(crate) async fn make(&self, changes: Value) -> Answer {
        let made = self.post(&with(changes)).await;
        assert_eq!(made.status, 201, "{made:?}");
        made
    }

    /// Returns a tracker as it is stored.
    pub(crate) async fn stored(&self, name: &str) -> StoredTracker {
        let name: TrackerName = name.parse().expect("it is there");
        let found = self
            .world
            .ledger
            .trackers()
            .get(&name)
            .await
            .expect("it is there");
        found.expect("the tracker is there")
    }

    /// Applies what a cycle sees; returns the release that it forms.
    pub(crate) async fn see(&self, name: &str, seen: &Seen) -> Option<StoredRelease> {
        let result = seen.result(&self.stored(name).await);
        let formed = self.apply(result).await?;
        let Some(revision) = &seen.revision else {
            return Some(formed);
        };
        let description = ImageDescription {
            revision: Some(revision.clone()),
            source: None,
        };
        let releases = self.world.ledger.releases();
        let (uid, number) = (&formed.tracker_uid, formed.release.number);
        let described = releases.describe(uid, number, description).await;
        described.expect("it is there");
        releases.get(&formed.id).await.expect("it is there")
    }

    /// Applies that the application file could not be read.
    pub(crate) async fn fail(&self, name: &str, problem: SourceProblem) {
        let tracker = self.stored(name).await;
        let mut result = Seen::new("", "").result(&tracker);
        let mut state = tracker.state.clone();
        let cycle = Cycle {
            basis: result.basis,
            registry: RegistryRead::default(),
            source: SourceRead::Problem(problem),
        };
        let formed = state.observe(cycle, result.at).release;
        assert!(formed.is_none(), "nothing was read");
        result.state = state;
        result.configuration = None;
        result.release = None;
        self.apply(result).await;
    }

    pub(crate) async fn apply(&self, result: CycleResult) -> Option<StoredRelease> {
        let trackers = self.world.ledger.trackers();
        match trackers.apply(result).await.expect("it is there") {
            ApplyOutcome::Applied { release } => release.map(|it| *it),
            ApplyOutcome::Discarded => panic!("it was discarded"),
        }
    }

    /// Waits until everybody has been told of all changes of trackers so far.
    pub(crate) async fn told(&self) {
        let changes = self
            .world
            .ledger
            .trackers()
            .changes(0, 1000)
            .await
            .expect("it is there");
        let last = changes.last().map_or(0, |it| it.sequence);
        let mut told = self.world.ledger.subscribe(Topic::Trackers);
        told.wait_for(|it| *it >= last).await.expect("it is there");
    }
}

/// Returns the usual body, with fields added or replaced; those that are null are removed.
pub(crate) fn with(changes: Value) -> Value {
    let mut body =
        json!({"id": "a.b", "token": TOKEN, "repo": "https://github.com/o/r", "sourcePath": ""});
    let fields = body.as_object_mut().expect("it is there");
    let Value::Object(changes) = changes else {
        panic!("fields are expected");
    };
    for (name, value) in changes {
        match value {
            Value::Null => drop(fields.remove(&name)),
            value => drop(fields.insert(name, value)),
        }
    }
    body
}

/// Checks what holds of every answer: no secret is in it, and an error has the one shape.
pub(crate) fn checked(answer: Answer) -> Answer {
    let all = format!("{answer:?}");
    for secret in ["SENTINEL", SECRET, "U0VOVElORUw"] {
        assert!(!all.contains(secret), "{all}");
    }
    if !answer.status.is_success() {
        assert!(!answer.code().is_empty(), "{all}");
        assert!(!answer.message().is_empty(), "{all}");
        let has_details = answer.body["error"].get("details").is_some();
        assert_eq!(has_details, answer.status == 422, "{all}");
    }
    answer
}

/// Returns the field and the code of each detail of an error.
pub(crate) fn details(answer: &Answer) -> Vec<(&str, &str)> {
    assert_eq!((answer.status.as_u16(), answer.code()), (422, "invalid"));
    let details = answer.body["error"]["details"]
        .as_array()
        .expect("it is there")
        .iter();
    let text = |detail: &'_ Value, field: &str| -> String {
        detail[field].as_str().unwrap_or_default().to_owned()
    };
    for detail in details.clone() {
        assert!(!text(detail, "message").is_empty(), "{answer:?}");
    }
    details
        .map(|it| {
            (
                it["field"].as_str().expect("it is there"),
                it["code"].as_str().expect("it is there"),
            )
        })
        .collect()
}

/// The answers of one cycle.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// A variable of the application.
    pub(crate) setting: &'static str,
    /// A secret of the application.
    pub(crate) secret: Option<&'static str>,
    /// Another key of the application.
    pub(crate) more: &'static str,
    /// The tag that the registry has, of those that `1.x` selects.
    pub(crate) tag: Option<&'static str>,
    pub(crate) commit: String,
    pub(crate) digest: String,
    /// The commit that the image says it was built from.
    pub(crate) revision: Option<String>,
}

impl Seen {
    pub(crate) fn new(setting: &'static str, digest: &str) -> Self {
        Self {
            setting,
            secret: None,
            more: "",
            tag: Some("1.0.0"),
            commit: "c0ffee0c0ffee0c0ffee0c0ffee0c0ffee0c0ffe".to_owned(),
            digest: digest.to_owned(),
            revision: None,
        }
    }

    fn application(&self, name: &TrackerName) -> Application {
        let secret = self.secret.map_or_else(
            || "{}".to_owned(),
            |secret| format!("{{key: {{data: [{{name: a, value: {secret}}}]}}}}"),
        );
        let text = format!(
            "{}: {{{}: {{version: '1.x', repository: {{image: {{domain: ghcr.io}}}}, \
             environment: {{variable: {{SETTING: {}}}, file: {{secret: {secret}}}}}{}}}}}",
            name.group(),
            name.name(),
            self.setting,
            self.more
        );
        Application::read(&text, name).expect("it is there")
    }

    /// Observes the answers in the state that is stored.
    pub(crate) fn result(&self, tracker: &StoredTracker) -> CycleResult {
        let at = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(24);
        let application = self.application(&tracker.name);
        let configuration = application.configuration(&self.commit, "b10b");
        let mut state = tracker.state.clone();
        let basis = state.basis();
        let answer = |query: ImageQuery| ImageAnswer {
            selected: self.tag.map(|tag| Image {
                repository: query.repository.clone(),
                tag: tag.to_owned(),
                digest: self.digest.clone(),
            }),
            query,
        };
        let queries = state.queries(Some(&configuration)).into_iter();
        let cycle = Cycle {
            basis,
            registry: RegistryRead {
                answers: queries.map(answer).collect(),
                problem: None,
            },
            source: SourceRead::Read(configuration),
        };
        let formed = state.observe(cycle, at).release;
        CycleResult {
            uid: tracker.uid.clone(),
            basis,
            state,
            known_source: None,
            configuration: Some(NewConfiguration::from(&application)),
            release: formed,
            flow: Flow::usual(),
            at,
        }
    }
}
