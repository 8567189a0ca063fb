//! Replacements: the value of an event, written into a file where a field or a pattern says.

mod field_path;
mod pattern;
mod spelling;

use pathline_document::{Format, Path, ReadError, Refused};

pub use self::field_path::{FieldPath, NotAFieldPath};
pub use self::pattern::{NotAPattern, Pattern};

/// The largest file that is changed.
pub const MAX_FILE: usize = 10 << 20;

/// The place of a file in which a value is replaced.
#[derive(Clone, Debug)]
pub enum Place {
    /// A field of YAML, in every document that has it (`yamlField`).
    Yaml(FieldPath),
    /// A field of JSON (`jsonField`).
    Json(FieldPath),
    /// A field of TOML (`tomlField`).
    Toml(FieldPath),
    /// The first group of a regular expression, wherever it matches (`regex`).
    Regex(Pattern),
}

impl Place {
    /// Returns the text with the value in place, or nothing if it is there already. Every other byte stays.
    ///
    /// ```
    /// use pathline_trace::replacement::Place;
    ///
    /// let place = Place::Yaml("$.image.tag".parse()?);
    /// let text = "image:\n  tag: '1.9' # pinned\n";
    /// let replaced = place.replace(text, "1.10")?;
    /// assert_eq!(replaced.as_deref(), Some("image:\n  tag: '1.10' # pinned\n"));
    /// assert_eq!(place.replace("image: {tag: v1}", "v1")?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such place, if it holds no scalar, or if nothing but the value could not be changed.
    pub fn replace(&self, text: &str, value: &str) -> Result<Option<String>, NotReplaced> {
        if text.len() > MAX_FILE {
            return Err(NotReplaced::TooLarge(text.len()));
        }
        match self {
            Self::Yaml(path) => replace_field(Format::Yaml, path, text, value),
            Self::Json(path) => replace_field(Format::Json, path, text, value),
            Self::Toml(path) => replace_field(Format::Toml, path, text, value),
            Self::Regex(pattern) => pattern.replace(text, value).ok_or(NotReplaced::NoMatch),
        }
    }
}

fn replace_field(
    format: Format,
    field: &FieldPath,
    text: &str,
    value: &str,
) -> Result<Option<String>, NotReplaced> {
    let documents = format.read(text)?;
    let (mut found, mut changed) = (0, None::<String>);
    for (index, document) in documents.iter().enumerate() {
        let mut edits = Vec::new();
        for path in field.find(document) {
            found += 1;
            let node = document.find(&path).expect("it was just found");
            match spelling::replacing(node, value) {
                Ok(Some(new)) => edits.push((path, Some(new))),
                Ok(None) => {}
                Err(spelling::NotAScalar) => return Err(NotReplaced::NotAScalar(path)),
            }
        }
        if !edits.is_empty() {
            let text = changed.as_deref().unwrap_or(text);
            changed = Some(format.edit_document(text, index, &edits)?.text);
        }
    }
    match found {
        0 => Err(NotReplaced::NoField),
        _ => Ok(changed),
    }
}

/// Says why a value is not written into a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReplaced {
    /// The file is not of the format.
    #[error("it cannot be read")]
    Unreadable(#[from] ReadError),
    /// No document has the field.
    #[error("there is no such field")]
    NoField,
    /// The expression matches nowhere.
    #[error("the regular expression matches nowhere")]
    NoMatch,
    /// The field holds a list or a map.
    #[error("{0} is a list or a map, not a value")]
    NotAScalar(Path),
    /// Something else would be changed, too.
    #[error("it cannot be changed alone")]
    Refused(#[from] Refused),
    /// The file is too large.
    #[error("the file has {0} bytes, {MAX_FILE} at most are changed")]
    TooLarge(usize),
}
