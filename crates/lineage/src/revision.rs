//! Whether the revision somebody asks for is the one that is there.

/// The fewest digits by which a commit may be named.
pub const MIN_DIGITS: usize = 7;

/// The algorithms that a revision may name before its digest.
const ALGORITHMS: [&str; 2] = ["sha1", "sha256"];

/// Tells whether `asked` names `revision`: the whole of it, its commit, or at least seven leading
/// hexadecimal digits of that.
///
/// A revision may be written with or without what leads to its commit: `main@sha1:8f1c…`,
/// `sha1:8f1c…` and `8f1c…` are one commit, whoever of the two writes it which way. Two that name
/// different branches are not one revision.
pub fn matches(asked: &str, revision: &str) -> bool {
    let commit = commit_of(revision);
    let wanted = if is_qualified(asked) {
        commit_of(asked)
    } else {
        asked
    };
    let branches = branch_of(asked).zip(branch_of(revision));
    let elsewhere = branches.is_some_and(|(asked, there)| asked != there);
    asked == revision || (!elsewhere && (wanted == commit || abbreviates(wanted, commit)))
}

/// Returns the branch or tag that a revision names beside its commit.
fn branch_of(revision: &str) -> Option<&str> {
    let (branch, _) = revision.split_once('@')?;
    is_qualified(revision).then_some(branch)
}

/// Tells whether two revisions are of one commit, whichever branch or tag led to it.
pub fn is_same_commit(one: &str, other: &str) -> bool {
    matches(commit_of(one), other)
}

/// Returns the commit that a revision names, which is its part after the last `:`.
pub fn commit_of(revision: &str) -> &str {
    let parts = revision.rsplit_once(':');
    parts.map_or(revision, |(_, commit)| commit)
}

/// Tells whether no commit of this length can be abbreviated so: the text is too short, or no
/// hexadecimal number at all.
///
/// Nothing is said of revisions that are no commits: a controller may call them as it likes.
pub(crate) fn can_never_name(asked: &str, revision: &str) -> bool {
    let commit = commit_of(revision);
    let is_commit = is_hexadecimal(commit) && matches!(commit.len(), 40 | 64);
    let wanted = commit_of(asked);
    is_commit && (wanted.len() < MIN_DIGITS || !is_hexadecimal(wanted))
}

/// Tells whether a text says by which algorithm its last part names content.
fn is_qualified(asked: &str) -> bool {
    let Some((before, _)) = asked.rsplit_once(':') else {
        return false;
    };
    let algorithm = before.rsplit_once('@').map_or(before, |(_, it)| it);
    ALGORITHMS.contains(&algorithm)
}

fn abbreviates(asked: &str, commit: &str) -> bool {
    asked.len() >= MIN_DIGITS
        && is_hexadecimal(asked)
        && is_hexadecimal(commit)
        && commit
            .to_ascii_lowercase()
            .starts_with(&asked.to_ascii_lowercase())
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "8f1c2e7d00000000000000000000000000000000";

    #[test]
    fn revision_is_named_whole_by_its_commit_or_by_seven_digits() {
        let revision = &format!("main@sha1:{COMMIT}");
        assert!(matches(revision, revision));
        assert!(matches(COMMIT, revision));
        assert!(matches("8f1c2e7", revision));
        assert!(matches("8F1C2E7", revision));
        assert!(!matches("8f1c2e", revision));
        assert!(!matches("main", revision));
        assert!(!matches("f1c2e7d", revision));
        assert!(!matches("release", "release-1"));
    }

    #[test]
    fn point_8_revision_is_named_as_it_is_printed_elsewhere() {
        for printed in ["main@sha1:", "sha1:", "refs/tags/v1@sha1:"] {
            assert!(matches(&format!("{printed}{COMMIT}"), COMMIT), "{printed}");
            assert!(matches(&format!("{printed}8f1c2e7"), COMMIT), "{printed}");
        }
        assert!(!matches(
            &format!("main@sha1:{COMMIT}"),
            &format!("dev@sha1:{COMMIT}")
        ));
        assert!(!matches("main@sha1:8f1c2e", COMMIT));
        assert!(!matches("main@sha1:9f1c2e7", COMMIT));
        assert!(!matches("host:8f1c2e7", COMMIT));
    }

    #[test]
    fn point_15_what_can_name_no_commit_is_known_from_the_commit_that_is_there() {
        let revision = format!("main@sha1:{COMMIT}");
        for asked in ["main", "8f1c2e", "v1.0.0", "main@sha1:8f1"] {
            assert!(can_never_name(asked, &revision), "{asked}");
        }
        assert!(!can_never_name("9999999", &revision));
        assert!(!can_never_name("def567", "def567"));
        assert!(!can_never_name("main", "release-1"));
    }
}
