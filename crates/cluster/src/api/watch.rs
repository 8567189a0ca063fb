//! Watching: changes of a collection, as they happen.
//!
//! A watch is pulled by whoever reads the body. It holds a cursor into the store's history and at
//! most one frame, so that a reader who stops costs nothing and learns, should he come back, that
//! he is too late.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use futures::{Stream, StreamExt, stream};
use http::{Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use pathline_clock::{Clock, instant};
use serde_json::{Value, json};
use tokio::time::{Interval, MissedTickBehavior, Sleep};
use tokio_util::sync::CancellationToken;

use super::Api;
use super::accept::Form;
use super::call::Call;
use super::options::{ListOptions, Version};
use super::read::Filter;
use super::resource::Resource;
use super::respond::{self, ResponseBody};
use super::view::{IncludeObject, View};
use crate::status::Status;
use crate::store::{Event, EventKind, Snapshot, Stored, Watch};

/// The interval at which a quiet watch tells how far it has come.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);

/// The length of a watch if the client does not say; up to twice as long, so that the watches of a
/// restarted server do not all end together.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(1800);

/// The time before its end at which a watch tells how far it has come, so that the next one goes on
/// there.
const LAST_BOOKMARK_BEFORE_END: Duration = Duration::from_secs(2);

/// Clients count the time of a watch from their side of the wire, and complain of one that ends
/// before it is up.
const SLACK: Duration = Duration::from_millis(100);

/// Events are gathered into frames of about this size.
const FRAME_BYTES: usize = 64 * 1024;

/// Marks the bookmark after which a watch has shown the state it began with.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// One watch under way.
struct Watcher {
    resource: Arc<Resource>,
    filter: Filter,
    form: Form,
    include: IncludeObject,
    clock: Clock,
    initial: VecDeque<Arc<Stored>>,
    owes_initial_end: bool,
    source: Watch,
    bookmarks: Option<Interval>,
    deadline: Pin<Box<Sleep>>,
    closing: CancellationToken,
    is_first: bool,
    has_ended: bool,
}

impl Api {
    /// Answers a watch.
    pub(super) fn watch(
        &self,
        call: &Call,
        options: &ListOptions,
    ) -> Result<Response<ResponseBody>, Status> {
        let filter = Filter::new(&call.resource, options)?;
        let (collection, namespace) = (&call.resource.collection, call.listed_namespace());
        let Snapshot { revision, items } = match options.version {
            Version::NotOlderThan(after) | Version::Exact(after)
                if options.initial_events != Some(true) =>
            {
                Snapshot {
                    revision: after,
                    items: Vec::new(),
                }
            }
            _ if options.initial_events == Some(false) => Snapshot {
                revision: self.store.revision(),
                items: Vec::new(),
            },
            _ => self.store.list(collection, namespace),
        };
        let Ok(source) = self.store.watch(collection, namespace, revision) else {
            let now = self.store.revision();
            let status = Status::expired(format!("too old resource version: {revision} ({now})"));
            return Ok(streamed(stream::iter([line("ERROR", &status.to_json())])));
        };
        let view = call.view();
        let lasts = timeout(options);
        let watcher = Watcher {
            resource: Arc::clone(&call.resource),
            filter,
            form: view.form,
            include: view.include,
            clock: self.clock.clone(),
            initial: items.into(),
            owes_initial_end: options.initial_events == Some(true) && options.bookmarks,
            source,
            bookmarks: options.bookmarks.then(|| bookmark_interval(lasts)),
            deadline: Box::pin(tokio::time::sleep(lasts + SLACK)),
            closing: self.closing.clone(),
            is_first: true,
            has_ended: false,
        };
        Ok(streamed(stream::unfold(
            watcher,
            |mut watcher| async move { watcher.next_frame().await.map(|frame| (frame, watcher)) },
        )))
    }
}

fn timeout(options: &ListOptions) -> Duration {
    options.timeout_seconds.map_or_else(
        || {
            let spread = uuid::Uuid::new_v4().as_u64_pair().0 % DEFAULT_TIMEOUT.as_secs();
            DEFAULT_TIMEOUT + Duration::from_secs(spread)
        },
        Duration::from_secs,
    )
}

/// Returns when bookmarks are due: regularly, counted back from shortly before the end.
fn bookmark_interval(lasts: Duration) -> Interval {
    let last = lasts
        .checked_sub(LAST_BOOKMARK_BEFORE_END)
        .filter(|last| !last.is_zero());
    let first = last.map_or(BOOKMARK_EVERY, |last| {
        let early = last.as_millis() % BOOKMARK_EVERY.as_millis();
        Duration::from_millis(u64::try_from(early).unwrap_or(0)).max(Duration::from_millis(1))
    });
    let mut interval = tokio::time::interval_at(instant() + first, BOOKMARK_EVERY);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

fn streamed(frames: impl Stream<Item = Bytes> + Send + 'static) -> Response<ResponseBody> {
    let frames = frames.map(|bytes| Ok(Frame::data(bytes)));
    let mut response = respond::bytes(StatusCode::OK, "application/json", Bytes::new());
    *response.body_mut() = StreamBody::new(frames).boxed_unsync();
    response
}

fn line(kind: &str, object: &Value) -> Bytes {
    let mut line = serde_json::to_vec(&json!({"type": kind, "object": object}))
        .expect("JSON values have only string keys");
    line.push(b'\n');
    line.into()
}

impl Watcher {
    /// Returns the next events, or `None` at the end.
    async fn next_frame(&mut self) -> Option<Bytes> {
        if self.has_ended {
            return None;
        }
        let mut frame = BytesMut::new();
        self.gather_initial(&mut frame);
        while frame.is_empty() && !self.has_ended {
            self.wait(&mut frame).await;
        }
        while frame.len() < FRAME_BYTES && !self.has_ended {
            match self.source.try_next() {
                Ok(Some(event)) => self.event(&event, &mut frame),
                Ok(None) => break,
                Err(_) => self.expire(&mut frame),
            }
        }
        (!frame.is_empty()).then(|| frame.freeze())
    }

    fn gather_initial(&mut self, frame: &mut BytesMut) {
        while frame.len() < FRAME_BYTES
            && let Some(stored) = self.initial.pop_front()
        {
            if self.filter.matches(&stored) {
                self.object("ADDED", &stored, frame);
            }
        }
        if self.initial.is_empty() && self.owes_initial_end {
            self.owes_initial_end = false;
            self.bookmark(Some(INITIAL_EVENTS_END), frame);
        }
    }

    async fn wait(&mut self, frame: &mut BytesMut) {
        let tick = async {
            match &mut self.bookmarks {
                Some(interval) => drop(interval.tick().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.closing.cancelled() => self.has_ended = true,
            () = self.deadline.as_mut() => self.has_ended = true,
            event = self.source.next() => match event {
                Ok(event) => self.event(&event, frame),
                Err(_) => self.expire(frame),
            },
            () = tick => self.bookmark(None, frame),
        }
    }

    fn expire(&mut self, frame: &mut BytesMut) {
        self.has_ended = true;
        let position = self.source.position();
        let status = Status::expired(format!("too old resource version: {position}"));
        frame.put(line("ERROR", &status.to_json()));
    }

    /// Shows an event as what it means to those who see the selected objects only.
    fn event(&mut self, event: &Event, frame: &mut BytesMut) {
        let matched = event
            .previous
            .as_ref()
            .is_some_and(|it| self.filter.matches(it));
        let matches = event.kind != EventKind::Deleted && self.filter.matches(&event.current);
        match (matched, matches) {
            (false, false) => {}
            (false, true) => self.object("ADDED", &event.current, frame),
            (true, true) => self.object("MODIFIED", &event.current, frame),
            (true, false) if event.kind == EventKind::Deleted => {
                self.object("DELETED", &event.current, frame);
            }
            (true, false) => self.lost(event, frame),
        }
    }

    /// Shows an object that is no longer selected, as it was when it still was.
    fn lost(&mut self, event: &Event, frame: &mut BytesMut) {
        let Some(previous) = &event.previous else {
            return;
        };
        let mut object = self.resource.present(previous).into_owned();
        object["metadata"]["resourceVersion"] = event.revision().to_string().into();
        self.shown("DELETED", Cow::Owned(object), frame);
    }

    fn object(&mut self, kind: &str, stored: &Stored, frame: &mut BytesMut) {
        let resource = Arc::clone(&self.resource);
        match resource.present(stored) {
            // What is shown as it is stored has been encoded already.
            Cow::Borrowed(_) if self.form == Form::Object => {
                frame.put_slice(br#"{"type":""#);
                frame.put_slice(kind.as_bytes());
                frame.put_slice(br#"","object":"#);
                frame.put_slice(&stored.body);
                frame.put_slice(b"}\n");
            }
            object => self.shown(kind, object, frame),
        }
    }

    fn shown(&mut self, kind: &str, object: Cow<'_, Value>, frame: &mut BytesMut) {
        let view = View {
            resource: &self.resource,
            form: self.form,
            include: self.include,
            now: self.clock.now(),
        };
        let object = view.event(object, self.is_first);
        self.is_first = false;
        frame.put(line(kind, &object));
    }

    fn bookmark(&mut self, annotation: Option<&str>, frame: &mut BytesMut) {
        let version = self.source.position().to_string();
        let mut metadata = json!({"resourceVersion": version, "creationTimestamp": null});
        if let Some(annotation) = annotation {
            metadata["annotations"] = json!({annotation: "true"});
        }
        let object = json!({
            "kind": self.resource.kind,
            "apiVersion": self.resource.api_version(),
            "metadata": metadata,
        });
        self.shown("BOOKMARK", Cow::Owned(object), frame);
    }
}
