//! The products that resources hand to each other, each with its artifact.

use pathline_blueprint::output::Output;
use pathline_blueprint::template::TemplateKind;
use pathline_lineage::{Artifact, Kind};
use serde_json::Value;

/// The output of a resource, as others use it.
#[derive(Debug, Clone, PartialEq)]
pub struct Product {
    /// Its values.
    pub output: Output,
    /// The artifact that it is, known by its content.
    pub artifact: Artifact,
}

impl Product {
    /// Takes what a template of this kind gives.
    pub fn new(kind: TemplateKind, output: Output) -> Self {
        let artifact = match &output {
            Output::Source { url, revision } => {
                let (url, revision) = (text(url), revision_of(revision));
                if kind == TemplateKind::Deployment {
                    Artifact::deployment(&url, revision.as_deref())
                } else {
                    Artifact::source(&url, revision.as_deref())
                }
            }
            Output::Image(image) => Artifact::image(&text(image)),
            Output::Config(config) => Artifact::value(Kind::Config, config),
        };
        Self { output, artifact }
    }
}

/// Returns a value as text. Nothing keeps a controller from reporting a number as its revision.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn revision_of(value: &Value) -> Option<String> {
    let revision = Some(value).filter(|value| !value.is_null());
    revision.map(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_that_are_no_texts_are_artifacts_too() {
        let source = |revision| {
            let url = json!({"host": "h"});
            let output = Output::Source { url, revision };
            Product::new(TemplateKind::Source, output).artifact
        };
        assert_eq!(source(json!(7)).shown(), "7");
        assert_eq!(source(json!(7)).url(), Some(r#"{"host":"h"}"#));
        assert!(!source(json!(7)).is_mutable());
        assert!(source(Value::Null).is_mutable());
        assert!(source(json!("")).is_mutable());
        let image = Product::new(TemplateKind::Image, Output::Image(json!(["a"])));
        assert_eq!(image.artifact.shown(), r#"["a"]"#);
        assert!(image.artifact.is_mutable());
    }

    #[test]
    fn huge_output_is_known_by_its_digest() {
        let config = json!({"text": "x".repeat(10_000_000)});
        let huge = Product::new(TemplateKind::Config, Output::Config(config));
        assert!(huge.artifact.shown().starts_with("sha256:"));
        assert!(huge.artifact.shown().len() < 1_024);
    }

    #[test]
    fn what_is_deployed_is_another_thing_than_its_source() {
        let output = || Output::Source {
            url: json!("u"),
            revision: json!("r"),
        };
        let source = Product::new(TemplateKind::Source, output()).artifact;
        let deployment = Product::new(TemplateKind::Deployment, output()).artifact;
        assert_eq!(deployment.kind(), Kind::Deployment);
        assert_eq!(deployment.shown(), source.shown());
        assert_ne!(deployment, source);
    }
}
