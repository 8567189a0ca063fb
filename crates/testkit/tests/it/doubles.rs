//! Doubles answer the real clients as the real hosts do.

use pathline_testkit::doubles::git::GitHost;
use pathline_testkit::doubles::registry::{Behaviour, Registry};
use pathline_testkit::git;
use pathline_testkit::registry::Crane;

const NAME: &str = "shop/web";
const FILE: &str = "fathomable.yaml";

/// A content whose size takes more than one byte in a pack, and more than two.
const SIZES: [usize; 3] = [1, 100, 10_000];

#[test]
fn git_reads_from_the_double_of_a_host() {
    let host = GitHost::start();
    let directory = tempfile::tempdir().unwrap();
    for size in SIZES {
        let content = "x".repeat(size);
        let commit = host.add(NAME, FILE, content.as_bytes());
        let listed = git(directory.path(), &["ls-remote", &host.url(NAME), "HEAD"]);
        assert_eq!(listed.trim(), format!("{commit}\tHEAD"));
        let clone = directory.path().join(size.to_string());
        let place = clone.to_str().unwrap();
        let url = format!("{}.git", host.url(NAME));
        git(directory.path(), &["clone", "-q", "--depth=1", &url, place]);
        git(&clone, &["fsck", "--strict"]);
        assert_eq!(std::fs::read_to_string(clone.join(FILE)).unwrap(), content);
    }
}

#[test]
fn crane_finds_the_digest_in_the_double_of_a_registry() {
    let Some(crane) = Crane::find("crane on the double of a registry") else {
        return;
    };
    let registry = Registry::start(Behaviour::default());
    let digest = registry.push(NAME, "main", &[]);
    let image = format!("{}/{NAME}", registry.host());
    assert_eq!(crane.digest(&format!("{image}:main")), digest);
    registry.push("shop/web-2", "other", &[]);
    registry.push(NAME, "next", &[]);
    assert_eq!(crane.tags(&image), ["main", "next"]);
}
