//! The owner as templates see it.
//!
//! Cartographer's templates read owners as Go structs, in which a field that nobody set still has a
//! value. Templates rely on it: `$(workload.spec.image)$` is null, not missing.

use serde_json::{Value, json};

use super::{Owner, OwnerKind};

impl Owner {
    /// Returns the object with the values that unset fields of its spec have for templates.
    ///
    /// Selectors never see these: there, what is not set does not exist.
    pub fn typed(&self) -> Value {
        let mut object = self.object.clone();
        if object.is_object() && object.get("spec").is_none_or(Value::is_null) {
            object["spec"] = json!({});
        }
        fill(&mut object, "/spec", &self.unset());
        let source = json!({"git": null, "image": null, "subPath": null});
        fill(&mut object, "/spec/source", &source);
        let git = json!({"url": null, "ref": null});
        fill(&mut object, "/spec/source/git", &git);
        let reference = json!({"branch": null, "tag": null, "commit": null});
        fill(&mut object, "/spec/source/git/ref", &reference);
        object
    }

    /// Returns the fields of the spec as they are when nobody sets them.
    fn unset(&self) -> Value {
        match self.kind {
            OwnerKind::Workload => json!({
                "build": {"env": null},
                "env": null,
                "image": null,
                "params": null,
                "resources": null,
                "serviceAccountName": "",
                "serviceClaims": null,
                "source": null,
            }),
            OwnerKind::Deliverable => {
                json!({"params": null, "serviceAccountName": "", "source": null})
            }
        }
    }
}

/// Adds what is missing below a place, if there is something at that place.
fn fill(object: &mut Value, place: &str, unset: &Value) {
    let Some(fields) = object.pointer_mut(place).and_then(Value::as_object_mut) else {
        return;
    };
    for (name, value) in unset.as_object().into_iter().flatten() {
        fields.entry(name.clone()).or_insert_with(|| value.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpolate::interpolate;
    use crate::testing::owner;

    fn filled(spec: &Value, expression: &str) -> Result<Value, String> {
        let object = json!({"metadata": {"name": "app"}, "spec": spec});
        let owner = owner(OwnerKind::Workload, object);
        let context = json!({"workload": owner.typed()});
        let tag = json!(format!("$(workload.spec.{expression})$"));
        interpolate(&tag, &context).map_err(|error| error.to_string())
    }

    #[test]
    fn what_nobody_set_has_the_value_it_had_in_go() {
        assert_eq!(filled(&json!({}), "image"), Ok(Value::Null));
        assert_eq!(filled(&json!({}), "serviceAccountName"), Ok(json!("")));
        assert_eq!(filled(&json!({}), "build"), Ok(json!({"env": null})));
        let source = json!({"source": {"git": {}}});
        assert_eq!(filled(&source, "source.subPath"), Ok(Value::Null));
        assert_eq!(filled(&source, "source.git.url"), Ok(Value::Null));
        let missing = filled(&json!({}), "source.git").unwrap_err();
        assert!(
            missing.contains("jsonpath returned empty list"),
            "{missing}"
        );
    }

    #[test]
    fn what_is_set_stays() {
        assert_eq!(filled(&json!({"image": "i"}), "image"), Ok(json!("i")));
    }
}
