//! The resource, and the option of it, that a path is about.

use serde_json::Value;

use pathline_jsonpath::{FieldPath, Segment};

/// Returns the name of the resource and the index of the option that a path leads into.
pub(super) fn of(object: &Value, path: &FieldPath) -> (Option<String>, Option<usize>) {
    let [
        Segment::Field(spec),
        Segment::Field(resources),
        Segment::Index(resource),
        below @ ..,
    ] = path.segments()
    else {
        return (None, None);
    };
    if spec != "spec" || resources != "resources" {
        return (None, None);
    }
    let name = object.pointer(&format!("/spec/resources/{resource}/name"));
    let option = match below {
        [
            Segment::Field(template),
            Segment::Field(options),
            Segment::Index(option),
            ..,
        ] if template == "templateRef" && options == "options" => Some(*option),
        _ => None,
    };
    (name.and_then(Value::as_str).map(str::to_owned), option)
}

#[cfg(test)]
mod tests {
    use pathline_kinds::field_path;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_tells_resource_and_option() {
        let object = json!({"spec": {"resources": [{"name": "a"}, {"name": "b"}]}});
        let resource = field_path::resource(1);
        let name = Some("b".to_owned());
        assert_eq!(of(&object, &resource.field("name")), (name.clone(), None));
        assert_eq!(
            of(&object, &field_path::option(&resource, 2).field("selector")),
            (name, Some(2))
        );
        assert_eq!(of(&object, &field_path::resource(7)), (None, None));
        assert_eq!(
            of(&object, &FieldPath::default().field("metadata")),
            (None, None)
        );
    }
}
