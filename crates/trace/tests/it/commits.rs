//! Names of commits, and their pages on the web.

use pathline_trace::commit::{CommitHash, HashPrefix, NotAHash, SourceCommit};
use pathline_trace::commit_url::{self, NotAPage};

const HASH: &str = "8f1c2e7a90b5c1d2e3f405162738495a6b7c8d9e";

#[test]
fn hashes_are_whole_and_of_digits() {
    for (text, expected) in [
        (HASH.to_owned(), None),
        (HASH.to_uppercase(), None),
        ("ab".repeat(32), None),
        (String::new(), Some(NotAHash::Digits)),
        ("main".to_owned(), Some(NotAHash::Digits)),
        (format!("{HASH}\n"), Some(NotAHash::Digits)),
        (HASH[..7].to_owned(), Some(NotAHash::Length(7))),
        (format!("{HASH}a"), Some(NotAHash::Length(41))),
        ("0".repeat(40), Some(NotAHash::Zero)),
    ] {
        assert_eq!(text.parse::<CommitHash>().err(), expected, "{text:?}");
    }
}

#[test]
fn commit_is_asked_for_by_seven_digits_or_more() {
    assert_eq!(
        "8F1C2E7".parse::<HashPrefix>().expect("seven").as_str(),
        "8f1c2e7"
    );
    for text in ["8f1c2e", "8f1c2eg", "", &"a".repeat(65)] {
        assert!(text.parse::<HashPrefix>().is_err(), "{text}");
    }
}

#[test]
fn source_names_its_repository_and_its_algorithm() {
    let long = "ab".repeat(32);
    for text in [
        format!("git.example.org/a@b/c@sha1:{HASH}"),
        format!("git.example.org:3000/a@sha256:{long}"),
        format!("/srv/git/app@sha1:{HASH}"),
    ] {
        let read: SourceCommit = text.parse().expect("it is one");
        assert_eq!(read.to_string(), text);
    }
    let by_address = format!("https://git.example.org/a.git@sha1:{HASH}");
    let read: SourceCommit = by_address.parse().expect("it is one");
    assert_eq!(read.repository.as_str(), "git.example.org/a");
    for text in [
        format!("git.example.org/a@sha256:{HASH}"),
        format!("@sha1:{HASH}"),
        format!("git.example.org/a:{HASH}"),
        "git.example.org/a@sha1:8f1c2e7".to_owned(),
    ] {
        assert!(text.parse::<SourceCommit>().is_err(), "{text}");
    }
}

#[test]
fn pages_of_commits_tell_repository_and_hash() {
    for (page, repository) in [
        (
            "https://github.com/Org/repo/commit/HASH",
            "github.com/org/repo",
        ),
        (
            "https://gitlab.example/a/b/c/-/commit/HASH",
            "gitlab.example/a/b/c",
        ),
        (
            "https://bitbucket.org/org/repo/commits/HASH",
            "bitbucket.org/org/repo",
        ),
        (
            "http://git.example:3000/org/repo/commit/HASH?w=1#diff",
            "git.example:3000/org/repo",
        ),
        (
            "https://git.example/commit/app/commit/HASH",
            "git.example/commit/app",
        ),
    ] {
        let read = commit_url::read(&page.replace("HASH", HASH)).expect(page);
        assert_eq!(
            (read.repository.as_str(), read.hash.as_str()),
            (repository, HASH)
        );
    }
    for (page, error) in [
        ("javascript:alert(1)//commit/HASH", NotAPage::Address),
        ("ftp://git.example/a/commit/HASH", NotAPage::Address),
        ("git.example/a/commit/HASH", NotAPage::Address),
        ("https://git.example/a/tree/HASH", NotAPage::Form),
        ("https://git.example/commit/HASH", NotAPage::Form),
        ("https://git.example/a/commit", NotAPage::Form),
        (
            "https://git.example/a/commit/main",
            NotAPage::Hash(NotAHash::Digits),
        ),
    ] {
        let read = commit_url::read(&page.replace("HASH", HASH));
        assert_eq!(read, Err(error), "{page}");
    }
}

/// 6.8 of the reference.
#[test]
fn pages_are_written_from_addresses_of_repositories() {
    for (repository, page) in [
        (
            "git@github.com:org/repo.git",
            Some("https://github.com/org/repo/commit/abc"),
        ),
        (
            "git@gitlab.com:org/repo.git",
            Some("https://gitlab.com/org/repo/commit/abc"),
        ),
        (
            "git@bitbucket.org:org/repo.git",
            Some("https://bitbucket.org/org/repo/commits/abc"),
        ),
        (
            "https://git.example/org/repo",
            Some("https://git.example/org/repo/commit/abc"),
        ),
        (
            "https://git.example/org/repo/",
            Some("https://git.example/org/repo/commit/abc"),
        ),
        (
            "http://git.example/org/repo.git",
            Some("http://git.example/org/repo/commit/abc"),
        ),
        (
            "ssh://git@git.example:2222/org/repo.git",
            Some("https://git.example/org/repo/commit/abc"),
        ),
        ("1234abcd", None),
        ("/srv/git/app", None),
        ("file:///srv/git/app", None),
    ] {
        assert_eq!(
            commit_url::page(repository, "abc").as_deref(),
            page,
            "{repository}"
        );
    }
}
