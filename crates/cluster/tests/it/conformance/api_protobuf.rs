//! Bodies in protobuf, as typed clients in Go send them, with answers in JSON.

use anyhow::Result;
use http::Method;
use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use serde_json::json;

use super::expect::eventually;
use super::requests::Raw;
use super::target::Target;

conformance!(api:
    namespace_is_made_and_deleted_by_protobuf,
    options_of_a_delete_are_read_from_protobuf,
    broken_protobuf_is_a_bad_request,
);

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// The media types that controller-runtime says it takes.
const ACCEPT: &str = "application/vnd.kubernetes.protobuf, */*";

/// Writes a field that is a text or a message; none here is longer than 127 bytes.
fn field(number: u8, content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    let length = u8::try_from(content.len()).expect("short");
    assert!(length < 128, "the length is one byte");
    [&[number << 3 | 2, length], content].concat()
}

fn body(kind: &str, message: &[u8]) -> Vec<u8> {
    let types = [field(1, "v1"), field(2, kind)].concat();
    [
        b"k8s\0".to_vec(),
        field(1, types),
        field(2, message),
        field(3, ""),
        field(4, ""),
    ]
    .concat()
}

/// Returns the body that makes a namespace, with what Go writes for everything it leaves empty.
fn mk_namespace(name: &str) -> Vec<u8> {
    let label = [field(1, "made-by"), field(2, "protobuf")].concat();
    let metadata = [
        field(1, name),
        field(2, ""),
        field(3, ""),
        field(4, ""),
        field(5, ""),
        field(6, ""),
        vec![7 << 3, 0],
        field(8, ""),
        field(11, label),
    ];
    let message = [
        field(1, metadata.concat()),
        field(2, ""),
        field(3, field(1, "")),
    ];
    body("Namespace", &message.concat())
}

async fn namespace_is_made_and_deleted_by_protobuf(t: &Target) -> Result<()> {
    let name = format!("{}-p", t.namespace);
    let made = Raw::new(&Method::POST, "/api/v1/namespaces")
        .body(PROTOBUF, mk_namespace(&name))
        .header("accept", "application/json")
        .send(t)
        .await?;
    assert_eq!(made.code, 201, "{}", made.text);
    let made = made.json();
    assert_eq!(made["metadata"]["labels"]["made-by"], "protobuf");
    assert_eq!(made["spec"], json!({"finalizers": ["kubernetes"]}));
    assert_eq!(made["status"], json!({"phase": "Active"}));
    assert!(made["metadata"].get("generateName").is_none(), "{made}");

    let deleted = Raw::delete(format!("/api/v1/namespaces/{name}"))
        .body(PROTOBUF, body("DeleteOptions", &[]))
        .header("accept", ACCEPT)
        .send(t)
        .await?;
    assert_eq!(deleted.code, 200, "{}", deleted.text);
    let namespaces: Api<Namespace> = Api::all(t.client.clone());
    eventually("the namespace goes", async || {
        let gone = namespaces.get_opt(&name).await?.is_none();
        Ok(gone.then_some(()))
    })
    .await
}

async fn options_of_a_delete_are_read_from_protobuf(t: &Target) -> Result<()> {
    let path = format!("/api/v1/namespaces/{}", t.namespace);
    let precondition = field(2, field(1, "another-uid"));
    let refused = Raw::delete(&path)
        .body(PROTOBUF, body("DeleteOptions", &precondition))
        .header("accept", "application/json")
        .send(t)
        .await?;
    assert_eq!(refused.code, 409, "{}", refused.text);
    let dry = Raw::delete(&path)
        .body(PROTOBUF, body("DeleteOptions", &field(5, "All")))
        .header("accept", "application/json")
        .send(t)
        .await?;
    assert_eq!(dry.code, 200, "{}", dry.text);
    let still = Raw::get(&path).send(t).await?.json();
    assert_eq!(still["metadata"].get("deletionTimestamp"), None, "{still}");
    Ok(())
}

async fn broken_protobuf_is_a_bad_request(t: &Target) -> Result<()> {
    let whole = mk_namespace("broken");
    let cut = &whole[..whole.len() / 2];
    for bytes in [b"k8s\0\xff\xff".as_slice(), b"{}", cut] {
        let answer = Raw::new(&Method::POST, "/api/v1/namespaces")
            .body(PROTOBUF, bytes)
            .header("accept", "application/json")
            .send(t)
            .await?;
        assert_eq!(answer.code, 400, "{bytes:?}: {}", answer.text);
        assert_eq!(answer.json()["reason"], "BadRequest", "{}", answer.text);
    }
    Ok(())
}
