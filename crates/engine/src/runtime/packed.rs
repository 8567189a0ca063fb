//! Values that lie idle between two reconciles, kept small.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A value that is kept as its JSON text.
///
/// Parsed it takes about ten times the memory, for every object in it has room for eleven members
/// however few there are.
pub(crate) struct Packed<T>(Form<T>);

enum Form<T> {
    Text(Box<str>),
    /// A value that would be another one if it was read again: a number may lose its last digit.
    Whole(Box<T>),
}

impl<T: Clone + DeserializeOwned + PartialEq + Serialize> Packed<T> {
    /// Packs a value, as text if that can be read back.
    pub(crate) fn new(value: &T) -> Self {
        let text = serde_json::to_string(value).ok().filter(|text| {
            let again = serde_json::from_str::<T>(text);
            again.is_ok_and(|again| again == *value)
        });
        Self(match text {
            Some(text) => Form::Text(text.into_boxed_str()),
            None => Form::Whole(Box::new(value.clone())),
        })
    }

    /// Returns the value that was packed.
    pub(crate) fn unpack(&self) -> T {
        match &self.0 {
            Form::Text(text) => serde_json::from_str(text).expect("it was read when it was packed"),
            Form::Whole(value) => T::clone(value),
        }
    }
}

#[cfg(test)]
impl<T> Packed<T> {
    /// Returns how many bytes of text are kept; none if the value is kept whole.
    pub(crate) fn text_bytes(&self) -> Option<usize> {
        match &self.0 {
            Form::Text(text) => Some(text.len()),
            Form::Whole(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use kube::api::DynamicObject;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_is_unpacked_is_what_was_packed() {
        let object = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"namespace": "dev", "name": "a", "labels": {"x/y": "é\n\u{1}"}},
            "data": {"null": null, "large": u64::MAX, "small": i64::MIN, "list": [[], {}]},
        });
        let object: DynamicObject = serde_json::from_value(object).expect("the test wrote it");
        let packed = Packed::new(&object);
        assert!(packed.text_bytes().is_some());
        assert_eq!(packed.unpack(), object);
    }

    #[test]
    fn numbers_keep_their_last_digit() {
        for digits in 0..10_000_u32 {
            let number = 0.3 + f64::from(digits) * f64::EPSILON;
            let value = Value::from(number);
            assert_eq!(Packed::new(&value).unpack(), value);
        }
    }
}
