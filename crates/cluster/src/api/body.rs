//! Request bodies: read up to a limit, and decoded from JSON, YAML or, for some kinds, protobuf.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http_body::Body;
use http_body_util::BodyExt;
use serde_json::{Map, Value};

use crate::protobuf;
use crate::schema::strict::{self, Document};
use crate::status::Status;

/// The largest body that is read; the limit of a real server.
pub(crate) const MAX_BODY_BYTES: usize = 3 * 1024 * 1024;

/// The time that a client may take to send a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);

/// The media types of objects, for messages.
const OBJECT_TYPES: &str = "application/json, application/yaml";

/// A body and what it claims to be.
#[derive(Debug, Clone, Default)]
pub(crate) struct Payload {
    /// The media type without parameters, lower-case; empty if there is none.
    pub(crate) media_type: String,
    /// The bytes.
    pub(crate) bytes: Bytes,
}

/// Reads a body, giving up as soon as it is known to be over the limit. Whoever serves sees to it
/// that a client which still sends gets the answer.
pub(crate) async fn read<B>(headers: &HeaderMap, body: B) -> Result<Payload, Status>
where
    B: Body<Data = Bytes>,
{
    let announced = headers.get(http::header::CONTENT_LENGTH);
    let announced = announced.and_then(|it| it.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > MAX_BODY_BYTES) {
        return Err(Status::too_large(MAX_BODY_BYTES));
    }
    let bytes = tokio::time::timeout(BODY_TIMEOUT, collect(body))
        .await
        .map_err(|_| Status::bad_request("the body of the request did not arrive in time"))??;
    Ok(Payload {
        media_type: media_type(headers),
        bytes,
    })
}

async fn collect<B>(body: B) -> Result<Bytes, Status>
where
    B: Body<Data = Bytes>,
{
    let mut body = std::pin::pin!(body);
    let mut collected = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Status::bad_request("the body of the request broke off"))?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if collected.len() + data.len() > MAX_BODY_BYTES {
            return Err(Status::too_large(MAX_BODY_BYTES));
        }
        collected.extend_from_slice(&data);
    }
    Ok(collected.freeze())
}

fn media_type(headers: &HeaderMap) -> String {
    let value = headers
        .get(http::header::CONTENT_TYPE)
        .and_then(|it| it.to_str().ok());
    value
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
}

impl Payload {
    /// Decodes an object of `kind` that is created or replaced.
    pub(crate) fn object(&self, kind: &str) -> Result<Document, Status> {
        let unrecognized = |why: String| {
            let message =
                format!("the object provided is unrecognized (must be of type {kind}): {why}");
            Status::bad_request(message)
        };
        let decoded = match self.media_type.as_str() {
            "" | "application/json" | "*/*" => {
                json(&self.bytes).map_err(|why| format!("couldn't get version/kind; {why}"))
            }
            "application/yaml" => strict::yaml(&self.bytes).map_err(|why| why.to_string()),
            protobuf::MEDIA_TYPE if protobuf::knows(kind) => protobuf(&self.bytes),
            _ => return Err(Status::unsupported_media_type(OBJECT_TYPES)),
        };
        decoded.map_err(unrecognized)
    }

    /// Decodes the declared state of a server-side apply.
    pub(crate) fn applied(&self) -> Result<Document, Status> {
        let mut decoded = strict::yaml(&self.bytes)
            .map_err(|why| Status::bad_request(format!("error decoding YAML: {why}")))?;
        if decoded.value.is_null() {
            decoded.value = Value::Object(Map::new());
        }
        if decoded.value.is_object() {
            Ok(decoded)
        } else {
            let message = "error decoding YAML: the applied configuration must be one object";
            Err(Status::bad_request(message))
        }
    }

    /// Decodes a JSON or merge patch.
    pub(crate) fn patch(&self) -> Result<Value, Status> {
        let decoded = json(&self.bytes)
            .map_err(|why| Status::bad_request(format!("error decoding patch: {why}")))?;
        Ok(decoded.value)
    }

    /// Decodes the options in the body of a delete, which may be empty.
    pub(crate) fn delete_options(&self) -> Result<Value, Status> {
        if self.bytes.is_empty() {
            return Ok(Value::Object(Map::new()));
        }
        let decoded = self.object("DeleteOptions")?;
        let kind = decoded.value["kind"].as_str().unwrap_or("DeleteOptions");
        if kind == "DeleteOptions" && decoded.value.is_object() {
            Ok(decoded.value)
        } else {
            let message =
                format!("the body of a delete must be DeleteOptions, and this one is {kind:?}");
            Err(Status::bad_request(message))
        }
    }
}

/// Reads JSON; the message for an empty body is the one that clients know.
fn json(bytes: &[u8]) -> Result<Document, String> {
    if bytes.is_empty() {
        return Err("json parse error: unexpected end of JSON input (<empty>)".to_owned());
    }
    strict::json(bytes).map_err(|error| error.to_string())
}

fn protobuf(bytes: &[u8]) -> Result<Document, String> {
    let value = protobuf::decode(bytes).map_err(|error| error.to_string())?;
    strict::check_depth(&value).map_err(|error| error.to_string())?;
    Ok(Document {
        value,
        duplicates: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use http_body_util::{Full, StreamBody};
    use serde_json::json;

    use super::*;

    fn payload(media_type: &str, text: &str) -> Payload {
        Payload {
            media_type: media_type.to_owned(),
            bytes: Bytes::copy_from_slice(text.as_bytes()),
        }
    }

    #[tokio::test]
    async fn a_body_at_the_limit_is_read_and_one_byte_more_is_not() {
        let at = Full::new(Bytes::from(vec![b' '; MAX_BODY_BYTES]));
        assert!(read(&HeaderMap::new(), at).await.is_ok());
        let over = Full::new(Bytes::from(vec![b' '; MAX_BODY_BYTES + 1]));
        assert_eq!(read(&HeaderMap::new(), over).await.unwrap_err().code(), 413);
    }

    #[tokio::test]
    async fn an_announced_length_over_the_limit_is_refused_without_reading() {
        let mut headers = HeaderMap::new();
        headers.insert("content-length", "104857600".parse().unwrap());
        let body = StreamBody::new(futures::stream::poll_fn(
            |_| -> std::task::Poll<Option<Result<_, std::convert::Infallible>>> {
                panic!("the body was read")
            },
        ));
        let body = BodyExt::map_frame(body, |frame: http_body::Frame<Bytes>| frame);
        assert_eq!(read(&headers, body).await.unwrap_err().code(), 413);
    }

    #[test]
    fn json_and_yaml_objects_are_decoded() {
        let yaml = payload("application/yaml", "kind: X\nmetadata: {name: a}\n");
        assert_eq!(
            yaml.object("X").unwrap().value,
            json!({"kind": "X", "metadata": {"name": "a"}})
        );
        let json = payload("application/json", r#"{"a":1,"a":2}"#);
        assert_eq!(json.object("X").unwrap().duplicates, ["a"]);
    }

    #[test]
    fn protobuf_is_read_for_the_kinds_that_need_it() {
        let body = payload(
            protobuf::MEDIA_TYPE,
            "k8s\0\n\x12\n\x02v1\x12\x0cNamespaceXX",
        );
        assert_eq!(body.object("Namespace").unwrap_err().code(), 400);
        assert_eq!(body.object("Widget").unwrap_err().code(), 415);
        let options = payload(
            protobuf::MEDIA_TYPE,
            "k8s\0\n\x13\n\x02v1\x12\rDeleteOptions\x12\x02\x08\0",
        );
        assert_eq!(
            options.delete_options().unwrap(),
            json!({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0})
        );
    }

    #[test]
    fn malformed_bodies_are_bad_requests() {
        let deep = "[".repeat(100_000);
        for text in ["", "{\"a\":", "\0", "{\"a\":\"\u{0}\"}", deep.as_str()] {
            let status = payload("application/json", text).object("X").unwrap_err();
            assert_eq!(status.code(), 400);
        }
        for text in ["a: [b", "a: b: c", deep.as_str(), "--- a\n--- b\n"] {
            let status = payload("application/yaml", text).object("X").unwrap_err();
            assert_eq!(status.code(), 400);
        }
        assert_eq!(
            payload("text/plain", "{}").object("X").unwrap_err().code(),
            415
        );
    }
}
