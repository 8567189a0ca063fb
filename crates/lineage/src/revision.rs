//! Whether the revision somebody asks for is the one that is there.

/// The fewest digits by which a commit may be named.
const SHORTEST: usize = 7;

/// Tells whether `asked` names `revision`: the whole of it, the part after the last `:`
/// (`main@sha1:8f1c…`), or at least seven leading hexadecimal digits of that part.
pub fn matches(asked: &str, revision: &str) -> bool {
    let commit = revision
        .rsplit_once(':')
        .map_or(revision, |(_, commit)| commit);
    asked == revision || asked == commit || abbreviates(asked, commit)
}

fn abbreviates(asked: &str, commit: &str) -> bool {
    let hexadecimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    asked.len() >= SHORTEST
        && hexadecimal(asked)
        && hexadecimal(commit)
        && commit
            .to_ascii_lowercase()
            .starts_with(&asked.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revision_is_named_whole_by_its_commit_or_by_seven_digits() {
        let revision = "main@sha1:8f1c2e7d00000000000000000000000000000000";
        assert!(matches(revision, revision));
        assert!(matches(
            "8f1c2e7d00000000000000000000000000000000",
            revision
        ));
        assert!(matches("8f1c2e7", revision));
        assert!(matches("8F1C2E7", revision));
        assert!(!matches("8f1c2e", revision));
        assert!(!matches("main", revision));
        assert!(!matches("f1c2e7d", revision));
        assert!(!matches("release", "release-1"));
    }
}
