//! Redirects, followed by hand.

use reqwest::header::{HeaderMap, LOCATION};
use reqwest::{StatusCode, Url};

/// The most redirects before an answer.
pub(super) const MAX_REDIRECTS: usize = 5;

/// Tells whether a status sends the client elsewhere.
pub(super) fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 307 | 308)
}

/// Tells whether a redirect is for ever.
pub(super) fn is_permanent(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 308)
}

/// Returns the URL that a redirect leads to, or the reason why nobody goes there.
pub(super) fn target(here: &Url, headers: &HeaderMap) -> Result<Url, &'static str> {
    let target = headers.get(LOCATION).and_then(|it| it.to_str().ok());
    let target = target.and_then(|it| here.join(it).ok());
    let target = target.ok_or("redirects nowhere")?;
    if !target.username().is_empty() || target.password().is_some() {
        return Err("redirects with credentials");
    }
    Ok(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_is_relative_to_where_the_answer_came_from() {
        let here = Url::parse("https://example.org/a/b?c").unwrap();
        for (location, expected) in [
            ("/x", Ok("https://example.org/x")),
            ("x?y", Ok("https://example.org/a/x?y")),
            ("//other.org/", Ok("https://other.org/")),
            (
                "https://bot@example.org/",
                Err("redirects with credentials"),
            ),
            ("https://[", Err("redirects nowhere")),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(LOCATION, location.parse().unwrap());
            let found = target(&here, &headers);
            assert_eq!(found.as_ref().map(Url::as_str).map_err(|it| *it), expected);
        }
        assert_eq!(target(&here, &HeaderMap::new()), Err("redirects nowhere"));
    }
}
