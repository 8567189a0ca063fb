//! Suspects: what may be a secret by its name.

use serde_json::Value;

/// The words by which keys of secrets are known, wherever in a name and in whatever case.
const WORDS: [&str; 9] = [
    "apikey",
    "api_key",
    "auth",
    "credential",
    "passwd",
    "password",
    "private",
    "secret",
    "token",
];

/// Tells whether a key has the name of a secret.
pub(super) fn is_named_so(key: &str) -> bool {
    // An author is nobody's secret.
    let key = key
        .to_ascii_lowercase()
        .replace("authoriz", "auth")
        .replace("author", "");
    WORDS.iter().any(|word| key.contains(word))
}

/// Tells whether there are files, or what has the name of a secret, anywhere below a value.
// Recursion ends: readers refuse documents that nest too deep.
pub(super) fn has_secrets(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields
            .iter()
            .any(|(key, value)| key == "file" || is_named_so(key) || has_secrets(value)),
        Value::Array(items) => items.iter().any(has_secrets),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_in_any_case_and_authors_are_none() {
        for secret in ["DB_PASSWORD", "apiKey", "Authorization", "OAUTH", "auths"] {
            assert!(is_named_so(secret), "{secret}");
        }
        for other in ["AUTHOR", "co-author", "LOG", "KEYS"] {
            assert!(!is_named_so(other), "{other}");
        }
    }
}
