//! Answers.

use std::fmt;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName};
use reqwest::{StatusCode, Url};

use super::scrub::Scrubber;
use super::signs::shown;
use super::{Failure, FailureKind, Signs};

/// The answer to a request, whatever its status is.
#[derive(Clone)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The content; of a status that is not a good one, its beginning.
    pub body: Vec<u8>,
    /// The URL that answered, after all redirects.
    pub url: Url,
    /// The signs of the host.
    pub signs: Signs,
    pub(super) scrubber: Scrubber,
    /// True if the beginning of a longer content is there.
    pub(super) is_cut: bool,
}

impl Answer {
    /// Returns a header that is text.
    pub fn header(&self, name: &HeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|it| it.to_str().ok())
    }

    /// Returns the media type of the content, without parameters.
    pub fn media_type(&self) -> &str {
        let header = self.header(&CONTENT_TYPE).unwrap_or_default();
        header.split(';').next().unwrap_or_default().trim()
    }

    /// Makes a failure of it: the status, the URL, and the beginning of what the host says.
    pub fn into_failure(self) -> Failure {
        let said = self.scrubber.excerpt(&self.body, self.is_cut);
        let colon = if said.is_empty() { "" } else { ": " };
        let told = format!(
            "{} answers {}{colon}{said}",
            shown(&self.url),
            self.status.as_u16()
        );
        Failure {
            kind: FailureKind::Status,
            status: Some(self.status.as_u16()),
            signs: Box::new(self.signs),
            message: self.scrubber.scrub(&told),
        }
    }

    /// Makes a failure of an answer that makes no sense, in our words.
    pub fn into_nonsense(self, why: &str) -> Failure {
        let told = format!("{} {why}", shown(&self.url));
        Failure {
            kind: FailureKind::Broken,
            status: Some(self.status.as_u16()),
            signs: Box::new(self.signs),
            message: self.scrubber.scrub(&told),
        }
    }
}

/// Queries and contents may have secrets in them.
impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = shown(&self.url);
        f.debug_tuple("Answer")
            .field(&self.status)
            .field(&url)
            .finish()
    }
}
