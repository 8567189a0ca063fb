//! Paths to the parts of a blueprint.

use pathline_jsonpath::FieldPath;

/// Returns the path to `spec.resources[index]`.
pub fn resource(index: usize) -> FieldPath {
    FieldPath::default()
        .field("spec")
        .field("resources")
        .index(index)
}

/// Returns the path to the option of this index, below the path to a resource.
pub fn option(resource: &FieldPath, index: usize) -> FieldPath {
    resource.field("templateRef").field("options").index(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_below_the_template_of_their_resource() {
        assert_eq!(
            option(&resource(0), 1).field("selector").to_string(),
            "spec.resources[0].templateRef.options[1].selector"
        );
    }
}
