//! Links to the next page.

use reqwest::Url;
use reqwest::header::{HeaderMap, LINK};

/// Returns the target of the link with the relation `next`, as it is written.
pub(super) fn next(headers: &HeaderMap) -> Option<String> {
    let headers = headers.get_all(LINK).iter();
    let mut texts = headers.filter_map(|it| it.to_str().ok());
    texts.find_map(next_of)
}

fn next_of(mut text: &str) -> Option<String> {
    while let Some((_, rest)) = text.split_once('<') {
        let (target, rest) = rest.split_once('>')?;
        // The parameters end where the next target begins; none that is of interest has a `<` in it.
        let parameters = rest.split('<').next().unwrap_or_default();
        if parameters.split([';', ',']).any(is_next) {
            return Some(target.trim().to_owned());
        }
        text = rest;
    }
    None
}

fn is_next(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else {
        return false;
    };
    let value = value.trim().trim_matches('"');
    let mut relations = value.split_ascii_whitespace();
    name.trim().eq_ignore_ascii_case("rel") && relations.any(|it| it.eq_ignore_ascii_case("next"))
}

/// Returns the URL of a link, if it is of the same origin.
pub(super) fn resolve(here: &Url, target: &str) -> Option<Url> {
    let url = here.join(target).ok()?;
    (url.origin() == here.origin()).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_page_is_found_among_links() {
        for (header, expected) in [
            (
                "</v2/a/tags/list?last=x&n=2>; rel=\"next\"",
                Some("/v2/a/tags/list?last=x&n=2"),
            ),
            ("<?last=x>;rel=next", Some("?last=x")),
            ("<a>; rel=prev, <b,c>; rel=\"last next\"", Some("b,c")),
            ("<a>; title=\"n\"; REL=NEXT", Some("a")),
            ("<a>; rel=\"prev\"", None),
            ("<a", None),
            ("a; rel=next", None),
            ("", None),
        ] {
            assert_eq!(next_of(header).as_deref(), expected, "{header}");
        }
    }

    #[test]
    fn link_stays_at_its_origin() {
        let here = Url::parse("https://r.example/v2/a/tags/list?n=2").unwrap();
        let resolved = |target| resolve(&here, target).map(|it| it.to_string());
        assert_eq!(
            resolved("/v2/a/tags/list?last=x").as_deref(),
            Some("https://r.example/v2/a/tags/list?last=x")
        );
        assert_eq!(
            resolved("?last=y").as_deref(),
            Some("https://r.example/v2/a/tags/list?last=y")
        );
        for target in [
            "https://other.example/",
            "http://r.example/",
            "//x/",
            "https://[",
        ] {
            assert_eq!(resolved(target), None, "{target}");
        }
    }
}
