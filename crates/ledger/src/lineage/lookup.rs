//! Finding an artifact by what people know of it.
//!
//! Every artifact has a key, which is indexed: the commit of a source or a deployment, the digest of an
//! image, the value of all else. Whoever asks looks up a range of keys and then checks what was found there.

use pathline_lineage::{Kind, revision};

/// The longest key, in bytes.
const LONGEST: usize = 256;
/// The fewest digits by which a commit or a digest may be named.
const SHORTEST: usize = 7;
/// The length of `sha256:` and 64 digits.
const DIGEST: usize = 71;
const SHA256: &str = "sha256:";

/// The keys to look at for an artifact that is asked for.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Range {
    pub(crate) first: String,
    pub(crate) last: String,
}

/// Returns the key of an artifact.
pub(crate) fn key(kind: Kind, shown: &str) -> String {
    let key = match kind {
        Kind::Source | Kind::Deployment => revision::commit_of(shown),
        Kind::Image => digest(shown).unwrap_or(shown),
        Kind::Config | Kind::Object | Kind::Param | Kind::Field => {
            digest_of_long(shown).unwrap_or(shown)
        }
    };
    let key = &key[..key.floor_char_boundary(LONGEST)];
    let bare = key.strip_prefix(SHA256).unwrap_or(key);
    match is_hexadecimal(bare) {
        true => key.to_ascii_lowercase(),
        false => key.to_owned(),
    }
}

/// Returns where the keys of artifacts lie that `asked` may name.
pub(crate) fn range(kind: Kind, asked: &str) -> Range {
    let first = key(kind, asked);
    let digits = first.strip_prefix(SHA256).unwrap_or(&first);
    let abbreviates = matches!(kind, Kind::Source | Kind::Deployment | Kind::Image)
        && digits.len() >= SHORTEST
        && is_hexadecimal(digits);
    // No digit comes after `f`.
    let last = match abbreviates {
        true => format!("{first}g"),
        false => first.clone(),
    };
    Range { first, last }
}

/// Tells whether `asked` names the artifact that is shown like this.
pub(crate) fn names(kind: Kind, asked: &str, shown: &str) -> bool {
    match kind {
        Kind::Source | Kind::Deployment => revision::matches(asked, shown),
        Kind::Image => asked == shown || names_digest(asked, shown),
        Kind::Config | Kind::Object | Kind::Param | Kind::Field => {
            asked == shown || digest_of_long(shown) == Some(asked)
        }
    }
}

/// A digest names an image wherever it lies; a reference with a digest also names its repository,
/// whatever the tag.
fn names_digest(asked: &str, shown: &str) -> bool {
    let (Some(asked_digest), Some(shown_digest)) = (digest(asked), digest(shown)) else {
        return false;
    };
    let digits = |digest: &str| digest[SHA256.len()..].to_ascii_lowercase();
    let (asked_digits, shown_digits) = (digits(asked_digest), digits(shown_digest));
    let same = asked_digits == shown_digits
        || asked_digits.len() >= SHORTEST && shown_digits.starts_with(&asked_digits);
    let before = asked[..asked.len() - asked_digest.len()].trim_end_matches('@');
    same && (before.is_empty() || repository(asked) == repository(shown))
}

/// Returns `sha256:…` at the end of a reference, or of nothing but a digest.
fn digest(reference: &str) -> Option<&str> {
    let start = match reference.rsplit_once('@') {
        Some((before, _)) => before.len() + 1,
        None => 0,
    };
    let digest = &reference[start..];
    let digits = digest.strip_prefix(SHA256)?;
    (!digits.is_empty() && is_hexadecimal(digits)).then_some(digest)
}

/// Returns a reference without tag and digest.
fn repository(reference: &str) -> &str {
    let tagged = reference
        .split_once('@')
        .map_or(reference, |(tagged, _)| tagged);
    match tagged.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => name,
        _ => tagged,
    }
}

/// Returns the digest by which a value is shown that is too long to be shown.
fn digest_of_long(shown: &str) -> Option<&str> {
    let (digest, _) = shown.split_at_checked(DIGEST)?;
    let is_digest = digest.strip_prefix(SHA256).is_some_and(is_hexadecimal);
    (is_digest && shown[DIGEST..].starts_with(' ')).then_some(digest)
}

fn is_hexadecimal(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(kind: Kind, asked: &str, shown: &str) -> bool {
        let range = range(kind, asked);
        let key = key(kind, shown);
        let in_range = range.first <= key && key <= range.last;
        let named = names(kind, asked, shown);
        assert!(
            !named || in_range,
            "{asked} names {shown}, not in {range:?}"
        );
        named
    }

    #[test]
    fn sources_are_found_by_revision_by_commit_and_by_seven_digits() {
        let revision = "main@sha1:8f1c2e7d00000000000000000000000000000000";
        assert!(finds(Kind::Source, revision, revision));
        assert!(finds(Kind::Source, &revision[10..], revision));
        assert!(finds(Kind::Source, "8F1C2E7", revision));
        assert!(finds(Kind::Source, "def567", "def567"));
        assert!(finds(Kind::Source, "v1.0", "refs/tags:v1.0"));
        assert!(!finds(Kind::Source, "8f1c2e", revision));
        assert!(!finds(Kind::Source, "other@sha1:8f1c2e7d", revision));
        assert!(!finds(Kind::Source, "release", "release-1"));
    }

    #[test]
    fn images_are_found_by_reference_and_by_digest() {
        let digest = format!("sha256:{}", "0123456789abcdef".repeat(4));
        let image = format!("registry:5000/app:1@{digest}");
        assert!(finds(Kind::Image, &image, &image));
        assert!(finds(Kind::Image, &digest, &image));
        assert!(finds(
            Kind::Image,
            &digest.to_uppercase().replace("SHA", "sha"),
            &image
        ));
        assert!(finds(Kind::Image, "sha256:0123456", &image));
        assert!(finds(
            Kind::Image,
            &format!("registry:5000/app@{digest}"),
            &image
        ));
        assert!(!finds(
            Kind::Image,
            &format!("registry:5000/other@{digest}"),
            &image
        ));
        assert!(!finds(Kind::Image, "sha256:012345", &image));
        assert!(!finds(Kind::Image, "registry:5000/app:1", &image));
        assert!(finds(Kind::Image, "app:1", "app:1"));
        assert!(!finds(Kind::Image, "app:1", "app:2"));
    }

    #[test]
    fn everything_else_is_found_by_its_value_or_its_digest() {
        assert!(finds(Kind::Param, "on", "on"));
        assert!(!finds(Kind::Param, "on", "one"));
        let long = "x".repeat(1000);
        assert!(finds(Kind::Config, &long, &long));
        let digest = format!("sha256:{}", "a".repeat(64));
        assert!(finds(
            Kind::Config,
            &digest,
            &format!("{digest} {{\"a\": 1…")
        ));
        assert!(!finds(Kind::Config, &digest, &format!("{digest}x")));
    }

    #[test]
    fn keys_are_short_and_any_text_has_one() {
        for text in ["", ":", "@", "sha256:", "é", "@sha256:", "a@b@c:d"] {
            for kind in [Kind::Source, Kind::Image, Kind::Param] {
                let long = text.repeat(1000);
                assert!(key(kind, &long).len() <= LONGEST);
                finds(kind, text, &long);
                finds(kind, &long, text);
                assert!(finds(kind, text, text), "{text}");
            }
        }
    }
}
