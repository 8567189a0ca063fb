//! Challenges: how a registry wants to be asked.

use http_auth::ChallengeRef;
use http_auth::parser::ChallengeParser;
use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};

/// The way in that a registry offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// With a token of a token service.
    Bearer {
        realm: String,
        service: Option<String>,
        scope: Option<String>,
    },
    /// With a user and a password.
    Basic,
}

impl Challenge {
    /// Reads the challenges of an answer; a token is preferred. There may be several headers, and several challenges in
    /// one; what comes after one that is malformed is not read.
    pub(super) fn read(headers: &HeaderMap) -> Option<Self> {
        let headers = headers.get_all(WWW_AUTHENTICATE).iter();
        let texts = headers.filter_map(|it| it.to_str().ok());
        let found = texts.flat_map(|text| ChallengeParser::new(text).map_while(Result::ok));
        let found: Vec<Self> = found.filter_map(|it| Self::of(&it)).collect();
        let bearer = found.iter().find(|it| matches!(it, Self::Bearer { .. }));
        bearer.or(found.first()).cloned()
    }

    fn of(challenge: &ChallengeRef<'_>) -> Option<Self> {
        let parameter = |name: &str| {
            let mut parameters = challenge.params.iter();
            let found = parameters.find(|(key, _)| key.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.to_unescaped())
        };
        if challenge.scheme.eq_ignore_ascii_case("bearer") {
            return Some(Self::Bearer {
                realm: parameter("realm")?,
                service: parameter("service"),
                scope: parameter("scope"),
            });
        }
        let is_basic = challenge.scheme.eq_ignore_ascii_case("basic");
        is_basic.then_some(Self::Basic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(headers: &[&str]) -> Option<Challenge> {
        let mut map = HeaderMap::new();
        for header in headers {
            map.append(WWW_AUTHENTICATE, header.parse().unwrap());
        }
        Challenge::read(&map)
    }

    fn bearer(service: Option<&str>, scope: Option<&str>) -> Option<Challenge> {
        Some(Challenge::Bearer {
            realm: "https://a.example/token".to_owned(),
            service: service.map(str::to_owned),
            scope: scope.map(str::to_owned),
        })
    }

    #[test]
    fn p15_bearer_is_preferred_to_basic_in_one_header_and_in_several() {
        let token = r#"Bearer realm="https://a.example/token",service="r",scope="repository:a/b:pull,push""#;
        let expected = bearer(Some("r"), Some("repository:a/b:pull,push"));
        let joined = format!(r#"{token}, Basic realm="x""#);
        let turned = format!(r#"Basic realm="x", {token}"#);
        for headers in [
            &[token][..],
            &[&joined],
            &[&turned],
            &[r#"Basic realm="x""#, token],
            &[token, r#"basic realm="x""#],
        ] {
            assert_eq!(read(headers), expected, "{headers:?}");
        }
    }

    #[test]
    fn challenges_that_nobody_can_meet_are_left_out() {
        assert_eq!(read(&[r#"Basic realm="x""#]), Some(Challenge::Basic));
        assert_eq!(
            read(&["bearer REALM=\"https://a.example/token\""]),
            bearer(None, None)
        );
        for header in [
            "Negotiate",
            "Bearer service=\"x\"",
            "Digest realm=\"x\"",
            "=",
            "",
        ] {
            assert_eq!(read(&[header]), None, "{header}");
        }
        let after = read(&["Negotiate", r#"Basic realm="x""#]);
        assert_eq!(after, Some(Challenge::Basic));
    }
}
