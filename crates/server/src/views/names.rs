//! Names in questions: checked here, so that neither the cluster nor the ledger is asked
//! about what can't be one.

use crate::error::ApiError;

/// The name of an owner, whose kind is said elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct OwnerName {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl OwnerName {
    /// Refuses what can be no owner's name.
    pub(crate) fn check(&self) -> Result<(), ApiError> {
        check_label("namespace", &self.namespace)?;
        check_subdomain("name", &self.name)
    }
}

/// Refuses what can't be the name of `what`, of the kind that namespaces have.
pub(crate) fn check_label(what: &str, text: &str) -> Result<(), ApiError> {
    check(what, text, 63, "-")
}

/// Refuses what can't be the name of `what`, of the kind that most objects have.
pub(crate) fn check_subdomain(what: &str, text: &str) -> Result<(), ApiError> {
    check(what, text, 253, "-.")
}

fn check(what: &str, text: &str, longest: usize, marks: &str) -> Result<(), ApiError> {
    let letter = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit();
    let ends = text.starts_with(letter) && text.ends_with(letter);
    let inside = text.chars().all(|it| letter(it) || marks.contains(it));
    if ends && inside && text.len() <= longest {
        return Ok(());
    }
    Err(ApiError::bad_request(format!(
        "{what}: at most {longest} small letters, digits and any of `{marks}` are expected, with a \
         letter or a digit at both ends"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_are_labels_of_dns() {
        for good in ["a", "web", "a-b", "0", &"x".repeat(63)] {
            assert!(check_label("namespace", good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "-a",
            "a-",
            "A",
            "a.b",
            "a/b",
            "é",
            "a\0",
            &"x".repeat(64),
        ] {
            assert!(check_label("namespace", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn owners_may_have_dots_in_their_names() {
        let owner = |name: &str| OwnerName {
            namespace: "dev".to_owned(),
            name: name.to_owned(),
        };
        assert!(owner("web.v1").check().is_ok());
        assert!(owner(".web").check().is_err());
    }
}
