//! The subject of the parameter `contains`.

use pathline_lineage::Kind;

use crate::error::ApiError;

/// The longest text that is looked for.
const MAX_CHARACTERS: usize = 512;

/// A kind of artifact, and what is known of the one that is meant.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Subject<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
}

impl<'a> Subject<'a> {
    /// Reads `source:REVISION` or `image:REFERENCE`.
    pub(super) fn read(asked: &'a str) -> Result<Self, ApiError> {
        let kind = |word: &str| match word {
            "source" => Some(Kind::Source),
            "image" => Some(Kind::Image),
            _ => None,
        };
        let named = asked.split_once(':');
        let named = named.and_then(|(word, text)| Some((kind(word)?, text)));
        let (kind, text) = named.ok_or_else(|| {
            ApiError::bad_request("contains: source:REVISION or image:REFERENCE is expected")
        })?;
        let printable = text.bytes().all(|byte| byte.is_ascii_graphic());
        if text.is_empty() || text.len() > MAX_CHARACTERS || !printable {
            return Err(ApiError::bad_request(format!(
                "contains: after the colon 1 to {MAX_CHARACTERS} printable characters are expected"
            )));
        }
        Ok(Self { kind, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subject_is_a_kind_and_a_text_that_may_have_colons() {
        let read = |text| Subject::read(text).ok().map(|it| (it.kind, it.text));
        assert_eq!(
            read("source:main@sha1:8f1c2e7d"),
            Some((Kind::Source, "main@sha1:8f1c2e7d"))
        );
        assert_eq!(read("image:app:1"), Some((Kind::Image, "app:1")));
        for bad in [
            "",
            "source",
            "source:",
            "param:x",
            "source:a b",
            "image:\0",
            "image:é",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert_eq!(read(&format!("image:{}", "x".repeat(513))), None);
    }
}
