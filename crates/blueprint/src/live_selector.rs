//! The selector of the objects that run what was stamped.

use std::collections::BTreeMap;

use pathline_kinds::carto::LiveSelector;
use serde_json::Value;

use crate::interpolate::{Error as InterpolateError, interpolate};

/// Says why a selector cannot be filled in.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A `$(...)$` leads nowhere in the stamped object.
    #[error(transparent)]
    Interpolate(#[from] InterpolateError),
    /// The value that a `$(...)$` leads to is no label.
    #[error("the value of the label [{0}] is no text")]
    NoText(String),
}

/// Returns the labels of the objects that run what was stamped.
///
/// ```
/// use pathline_blueprint::live_selector;
/// use pathline_kinds::carto::LiveSelector;
/// use serde_json::json;
///
/// let selector: LiveSelector = serde_json::from_value(json!({
///     "apiVersion": "apps/v1", "kind": "Deployment", "matchLabels": {"app": "$(metadata.name)$"},
/// }))?;
/// let labels = live_selector::labels(&selector, &json!({"metadata": {"name": "shop"}}))?;
/// assert_eq!(labels["app"], "shop");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Fails if a value of the selector cannot be filled in, or is no text then.
pub fn labels(selector: &LiveSelector, stamped: &Value) -> Result<BTreeMap<String, String>, Error> {
    let filled = |(label, value): (&String, &String)| {
        let text = match interpolate(&Value::from(value.as_str()), stamped)? {
            Value::String(text) => text,
            value @ (Value::Number(_) | Value::Bool(_)) => value.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => {
                return Err(Error::NoText(label.clone()));
            }
        };
        Ok((label.clone(), text))
    };
    selector.match_labels.iter().map(filled).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn labels_are_filled_in_from_the_stamped_object_or_refused() {
        let labels = |value: &str| {
            let labels = BTreeMap::from([("app".to_owned(), value.to_owned())]);
            let selector = LiveSelector {
                api_version: "apps/v1".to_owned(),
                kind: "Deployment".to_owned(),
                match_labels: labels,
            };
            let stamped = json!({"metadata": {"name": "shop", "generation": 3}, "spec": {}});
            super::labels(&selector, &stamped).map(|labels| labels["app"].clone())
        };
        assert_eq!(labels("literal"), Ok("literal".to_owned()));
        assert_eq!(labels("a-$(metadata.name)$"), Ok("a-shop".to_owned()));
        assert_eq!(labels("$(metadata.generation)$"), Ok("3".to_owned()));
        assert_eq!(labels("$(spec)$"), Err(Error::NoText("app".to_owned())));
        assert!(labels("$(spec.nothing)$").is_err());
    }
}
