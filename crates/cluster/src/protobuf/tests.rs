//! Bodies as a client in Go writes them.

use serde_json::json;

use super::*;

/// Writes messages as Go does.
#[derive(Default, Clone)]
struct Writer(Vec<u8>);

impl Writer {
    fn varint(mut self, mut value: u64) -> Self {
        while value >= 0x80 {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
        self
    }

    fn number(self, field: u64, value: i64) -> Self {
        self.varint(field << 3).varint(value.cast_unsigned())
    }

    fn bytes(self, field: u64, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        let mut written = self.varint(field << 3 | 2).varint(bytes.len() as u64);
        written.0.extend(bytes);
        written
    }
}

fn writer() -> Writer {
    Writer::default()
}

fn body(kind: &str, message: &Writer) -> Vec<u8> {
    let types = writer().bytes(1, "v1").bytes(2, kind);
    let envelope = writer()
        .bytes(1, &types.0)
        .bytes(2, &message.0)
        .bytes(3, "")
        .bytes(4, "");
    [MAGIC, &envelope.0].concat()
}

#[test]
fn a_namespace_is_read_without_what_go_leaves_empty() {
    let label = writer().bytes(1, "team").bytes(2, "blue");
    let empty = writer().bytes(1, "none");
    let metadata = writer()
        .bytes(1, "kuttl-test-calm-otter")
        .bytes(2, "")
        .bytes(3, "")
        .bytes(6, "")
        .number(7, 0)
        .bytes(8, "")
        .bytes(11, &label.0)
        .bytes(11, &empty.0)
        .bytes(14, "example.org/first")
        .bytes(14, "example.org/second");
    let status = writer().bytes(1, "");
    let message = writer()
        .bytes(1, &metadata.0)
        .bytes(2, writer().bytes(1, "kubernetes").0)
        .bytes(3, &status.0);
    let expected = json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": "kuttl-test-calm-otter",
            "labels": {"team": "blue", "none": ""},
            "finalizers": ["example.org/first", "example.org/second"],
        },
        "spec": {"finalizers": ["kubernetes"]},
    });
    assert_eq!(decode(&body("Namespace", &message)).unwrap(), expected);
}

#[test]
fn everything_of_the_metadata_is_read() {
    let time = writer().number(1, 1_700_000_000);
    let owner = writer()
        .bytes(1, "ConfigMap")
        .bytes(3, "it")
        .bytes(4, "uid-1")
        .bytes(5, "v1")
        .number(6, 0)
        .number(7, 1);
    let fields = writer()
        .bytes(1, "me")
        .bytes(2, "Update")
        .bytes(4, &time.0)
        .bytes(7, writer().bytes(1, r#"{"f:metadata":{}}"#).0);
    let metadata = writer()
        .bytes(5, "uid-2")
        .bytes(6, "12")
        .number(7, -3)
        .bytes(8, &time.0)
        .number(10, 0)
        .bytes(13, &owner.0)
        .bytes(17, &fields.0);
    let message = writer().bytes(1, &metadata.0);
    let expected = json!({
        "uid": "uid-2",
        "resourceVersion": "12",
        "generation": -3,
        "creationTimestamp": "2023-11-14T22:13:20Z",
        "deletionGracePeriodSeconds": 0,
        "ownerReferences": [{
            "kind": "ConfigMap", "name": "it", "uid": "uid-1", "apiVersion": "v1",
            "controller": false, "blockOwnerDeletion": true,
        }],
        "managedFields": [{
            "manager": "me", "operation": "Update", "time": "2023-11-14T22:13:20Z",
            "fieldsV1": {"f:metadata": {}},
        }],
    });
    let read = decode(&body("Namespace", &message)).unwrap();
    assert_eq!(read["metadata"], expected);
}

#[test]
fn zero_seconds_of_grace_are_not_the_same_as_none() {
    let preconditions = writer().bytes(1, "uid-1");
    let options = writer()
        .number(1, 0)
        .bytes(2, &preconditions.0)
        .number(3, 0)
        .bytes(4, "Background")
        .bytes(5, "All");
    let expected = json!({
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "gracePeriodSeconds": 0,
        "preconditions": {"uid": "uid-1"},
        "orphanDependents": false,
        "propagationPolicy": "Background",
        "dryRun": ["All"],
    });
    assert_eq!(decode(&body("DeleteOptions", &options)).unwrap(), expected);
    let nothing = decode(&body("DeleteOptions", &writer())).unwrap();
    assert_eq!(
        nothing,
        json!({"apiVersion": "v1", "kind": "DeleteOptions"})
    );
}

#[test]
fn fields_of_a_newer_kubernetes_are_passed_over() {
    let fixed = writer().varint(99 << 3 | 1).0;
    let mut metadata = writer().bytes(1, "a").bytes(98, "new").0;
    metadata.extend(fixed);
    metadata.extend([0; 8]);
    let message = writer().bytes(1, &metadata).number(97, 7);
    let read = decode(&body("Namespace", &message)).unwrap();
    assert_eq!(read["metadata"], json!({"name": "a"}));
}

#[test]
fn what_is_no_message_is_refused() {
    let namespace = |metadata: Writer| body("Namespace", &writer().bytes(1, &metadata.0));
    let cases = [
        (b"{}".to_vec(), Malformed::Magic),
        (Vec::new(), Malformed::Magic),
        (body("Pod", &writer()), Malformed::Kind("Pod".to_owned())),
        (MAGIC.to_vec(), Malformed::Kind(String::new())),
        ([MAGIC, &[0x0a, 0x05, 1]].concat(), Malformed::End),
        ([MAGIC, &[0xff; 11]].concat(), Malformed::Varint),
        ([MAGIC, &[0x0b]].concat(), Malformed::WireType(3)),
        (
            [MAGIC, &writer().bytes(3, "gzip").0].concat(),
            Malformed::Encoding,
        ),
        (namespace(writer().number(1, 7)), Malformed::Field("name")),
        (
            namespace(writer().bytes(1, [0xff])),
            Malformed::Field("name"),
        ),
        (
            namespace(writer().bytes(8, writer().number(1, i64::MAX).0)),
            Malformed::Field("creationTimestamp"),
        ),
    ];
    for (bytes, expected) in cases {
        assert_eq!(decode(&bytes), Err(expected), "{bytes:?}");
    }
    let longest = writer().varint(1 << 3 | 2).varint(u64::MAX).0;
    assert_eq!(decode(&[MAGIC, &longest].concat()), Err(Malformed::End));
}
