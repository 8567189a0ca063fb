//! Cells of events, in either group's form.

use jiff::Timestamp;
use serde_json::Value;

use super::super::since::since;
use super::{number, text};

/// The object an event is about.
fn involved(event: &Value) -> Option<&Value> {
    event
        .get("involvedObject")
        .or_else(|| event.get("regarding"))
}

/// A field of either form, by its core name and by its new one.
fn either<'a>(event: &'a Value, core: &str, new: &str) -> Option<&'a Value> {
    event
        .get(core)
        .or_else(|| event.get(new))
        .filter(|value| !value.is_null())
}

pub(in super::super) fn event_field(event: &Value, field: &str) -> Value {
    involved(event)
        .and_then(|object| object.get(field))
        .cloned()
        .unwrap_or_else(|| Value::from(""))
}

pub(in super::super) fn event_first_seen(event: &Value, now: Timestamp) -> Value {
    let first = either(event, "firstTimestamp", "deprecatedFirstTimestamp");
    Value::from(since(first.or_else(|| event.get("eventTime")), now))
}

pub(in super::super) fn event_last_seen(event: &Value, now: Timestamp) -> Value {
    let last = event
        .pointer("/series/lastObservedTime")
        .or_else(|| either(event, "lastTimestamp", "deprecatedLastTimestamp"));
    match last {
        Some(last) => Value::from(since(Some(last), now)),
        None => event_first_seen(event, now),
    }
}

pub(in super::super) fn event_count(event: &Value, _now: Timestamp) -> Value {
    let counted = match number(event, "/series/count") {
        0 => either(event, "count", "deprecatedCount")
            .and_then(Value::as_i64)
            .unwrap_or_default(),
        series => series,
    };
    Value::from(counted.max(1))
}

pub(in super::super) fn event_object(event: &Value, _now: Timestamp) -> Value {
    let object = involved(event).unwrap_or(&Value::Null);
    let (kind, name) = (text(object, "/kind").to_lowercase(), text(object, "/name"));
    Value::from(if name.is_empty() {
        kind
    } else {
        format!("{kind}/{name}")
    })
}

pub(in super::super) fn event_message(event: &Value, _now: Timestamp) -> Value {
    let message = either(event, "message", "note")
        .and_then(Value::as_str)
        .unwrap_or_default();
    Value::from(message.trim())
}

pub(in super::super) fn event_source(event: &Value, _now: Timestamp) -> Value {
    let source = either(event, "source", "deprecatedSource").unwrap_or(&Value::Null);
    let reporter = either(event, "reportingComponent", "reportingController");
    let reporter = reporter.and_then(Value::as_str).unwrap_or_default();
    let component = first(text(source, "/component"), reporter);
    let instance = first(text(source, "/host"), text(event, "/reportingInstance"));
    Value::from(if instance.is_empty() {
        component.to_owned()
    } else {
        format!("{component}, {instance}")
    })
}

fn first<'a>(preferred: &'a str, other: &'a str) -> &'a str {
    if preferred.is_empty() {
        other
    } else {
        preferred
    }
}
