//! Remotes that decline, move or break off, and a cache that is damaged.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use pathline_remote::archive::Limits;
use pathline_remote::git::{Change, Error, Git, Reference, Remote};
use pathline_testkit::scripted_server::{Server, packet, version_2};
use tempfile::TempDir;

use crate::measured_fetch::{self, Programs};
use crate::repository::{Repository, change, edits};

fn main() -> Reference {
    Reference::branch("main")
}

/// Resolves `main` of a server that fails.
async fn refusal(server: &Server) -> Result<Error> {
    let directory = TempDir::new()?;
    let git = Git::new(directory.path().join("cache"));
    let remote = Remote::new(&server.url())?;
    let fetched = git.fetch(&remote, &main()).await;
    Ok(fetched.expect_err("the server fails"))
}

/// Makes a hook, or another program, that the shell runs.
fn script(path: &Path, content: &str) -> Result<()> {
    std::fs::write(path, format!("#!/bin/sh\n{content}\n"))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?;
    Ok(())
}

#[tokio::test]
async fn each_way_to_decline_a_push_is_a_rejection_that_says_why() -> Result<()> {
    let repository = Repository::with_a_commit();
    let (git, remote) = (repository.cache("cache"), repository.remote());
    let tip = repository.in_bare(&["rev-parse", "main"]);
    let update = repository.bare().join("hooks/update");
    let lock = repository.bare().join("refs/heads/main.lock");
    let declined = async |told: &str| {
        let refused = git.commit(&remote, change(&[("a", "b")])).await;
        let error = refused.unwrap_err();
        assert!(matches!(error, Error::Rejected { .. }), "{error:?}");
        assert!(error.to_string().contains(told), "{error}");
        assert_eq!(repository.in_bare(&["rev-parse", "main"]), tip);
    };
    script(&update, "echo only on Mondays >&2; exit 1")?;
    declined("hook declined (only on Mondays; ").await;
    std::fs::remove_file(&update)?;

    std::fs::write(&lock, "")?;
    declined("failed to update ref").await;
    std::fs::remove_file(&lock)?;

    repository.in_bare(&["config", "receive.maxInputSize", "10"]);
    declined("unpacker error").await;
    repository.in_bare(&["config", "--unset", "receive.maxInputSize"]);

    let written = git.commit(&remote, change(&[("a", "b")])).await?;
    assert!(written.is_changed(), "nothing of that is remembered");
    Ok(())
}

#[tokio::test]
async fn branch_below_another_branch_is_rejected() -> Result<()> {
    let repository = Repository::with_a_commit();
    let below = Change::fixed("main/below", edits(&[("a", "b")]))?;
    let git = repository.cache("cache");
    let error = git.commit(&repository.remote(), below).await.unwrap_err();
    assert!(matches!(error, Error::Rejected { .. }), "{error:?}");
    let expected = "rejects the push to `main/below`";
    assert!(error.to_string().contains(expected), "{error}");
    Ok(())
}

#[tokio::test]
async fn names_are_those_that_git_takes() -> Result<()> {
    let repository = Repository::with_a_commit();
    let (git, remote) = (repository.cache("cache"), repository.remote());
    for name in [
        "ümlaut/käse",
        "a#b",
        "a%20b",
        "a@b",
        "@",
        "a;b",
        "it's",
        "a\"b",
        "$(x)",
        "-a",
        "a&b",
        "HEAD",
        "a|b",
        "refs/heads/a",
        "1",
        "a.b",
        "..",
        "a..b",
        "a b",
        "a~1",
        "a^",
        "a:b",
        "a?b",
        "a*",
        "a[b",
        "a\\b",
        "a.",
        ".a",
        "a/.b",
        "a.lock",
        "a.lock/b",
        "/a",
        "a/",
        "a//b",
        "a@{b",
        "a\tb",
        "a\u{7f}b",
        "",
    ] {
        let full = format!("refs/heads/{name}");
        let check = std::process::Command::new("git")
            .args(["check-ref-format", &full])
            .status()?;
        let found = git
            .resolve(&remote, &Reference::branch(name))
            .await
            .unwrap_err();
        let is_refused = matches!(found, Error::InvalidReference { .. });
        assert_eq!(is_refused, !check.success(), "{name:?}: {found}");
        let full = git
            .resolve(&remote, &Reference::Name(full))
            .await
            .unwrap_err();
        let is_refused = matches!(full, Error::InvalidReference { .. });
        assert_eq!(is_refused, !check.success(), "{name:?}: {full}");
    }
    for name in [
        "ümlaut/käse",
        "a#b",
        "a%20b",
        "it's",
        "$(x)",
        "a;b",
        "refs/heads/a",
    ] {
        let wanted = Change::fixed(name, edits(&[("a", "b\n")]))?;
        let written = git.commit(&remote, wanted).await?;
        let full = format!("refs/heads/{name}");
        assert_eq!(
            written.tip.commit,
            repository.in_bare(&["rev-parse", &full])
        );
        let fetched = git.fetch(&remote, &Reference::branch(name)).await?;
        assert_eq!(fetched, written.tip);
    }
    Ok(())
}

#[tokio::test]
async fn branch_that_moves_during_a_fetch_is_an_error_of_the_remote() -> Result<()> {
    let gone = version_2("fetch", |answer| {
        answer.packet(b"ERR upload-pack: not our ref 1111")?;
        answer.end()
    });
    let error = refusal(&gone).await?;
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
    let told = "the remote says: upload-pack: not our ref 1111";
    assert!(error.to_string().ends_with(told), "{error}");
    Ok(())
}

#[tokio::test]
async fn answer_that_breaks_off_is_no_success() -> Result<()> {
    let in_the_list = version_2("ls-refs", |answer| answer.send(b"003d1111"));
    let in_the_pack = version_2("fetch", |answer| {
        answer.packet(b"packfile\n")?;
        answer.packet(b"\x01PACK\0\0\0\x02\0\0\0\x01")
    });
    let in_a_packet = version_2("fetch", |answer| {
        answer.packet(b"packfile\n")?;
        answer.send(b"00ff\x01PACK")?;
        answer.end()
    });
    let without_a_pack = version_2("fetch", |answer| {
        answer.flush_packet()?;
        answer.end()
    });
    for server in [in_the_list, in_the_pack, in_a_packet, without_a_pack] {
        let error = refusal(&server).await?;
        assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
    }
    Ok(())
}

#[tokio::test]
async fn pack_without_the_wanted_commit_is_no_success() -> Result<()> {
    // A pack of no objects, and its digest.
    let digest =
        b"\x02\x9d\x08\x82\x3b\xd8\xa8\xea\xb5\x10\xad\x6a\xc7\x5c\x82\x3c\xfd\x3e\xd3\x1e";
    let empty = [&b"\x01PACK\0\0\0\x02\0\0\0\0"[..], digest].concat();
    let server = version_2("fetch", move |answer| {
        answer.packet(b"packfile\n")?;
        answer.packet(&empty)?;
        answer.flush_packet()?;
        answer.end()
    });
    let error = refusal(&server).await?;
    assert!(matches!(error, Error::Local { .. }), "{error:?}");
    Ok(())
}

#[tokio::test]
async fn status_of_http_is_told_for_requests_as_for_the_list() -> Result<()> {
    for (status, is_access) in [("401 No", true), ("403 No", false), ("404 No", false)] {
        let server = Server::start(move |request, answer| {
            if request.line.starts_with("GET") {
                answer.begin("upload-pack-advertisement")?;
                for line in ["version 2\n", "ls-refs\n", "fetch=shallow\n"] {
                    answer.packet(line.as_bytes())?;
                }
                answer.flush_packet()?;
                return answer.end();
            }
            answer.head(status)?;
            answer.end()
        });
        let error = refusal(&server).await?;
        let is_unauthenticated = matches!(error, Error::Unauthenticated { .. });
        assert_eq!(is_unauthenticated, is_access, "{error:?}");
        let told = format!("HTTP status {}", &status[..3]);
        assert!(error.to_string().contains(&told), "{error}");
    }
    Ok(())
}

#[tokio::test]
async fn redirect_is_followed_only_to_a_repository() -> Result<()> {
    let repository = Repository::with_a_commit();
    let root = repository.bare();
    let address = pathline_testkit::git_server::serve(root.parent().context("it has one")?, None);
    let to = |target: String| {
        Server::start(move |request, answer| {
            let tail = "/info/refs?service=git-upload-pack";
            let target = if request.line.contains("git-receive-pack") {
                target.replace("upload", "receive")
            } else {
                target.clone()
            };
            let target = target.replace("TAIL", tail);
            answer.head(&format!("302 Found\r\nLocation: {target}"))?;
            answer.end()
        })
    };
    let moved = to(format!("http://{address}/origin.gitTAIL"));
    let git = repository.cache("cache");
    let remote = Remote::new(&moved.url())?;
    let fetched = git.fetch(&remote, &main()).await?;
    assert_eq!(fetched.commit, repository.in_bare(&["rev-parse", "main"]));
    for (target, told) in [
        (
            format!("http://{address}/login"),
            "to what is not a repository",
        ),
        (
            format!("http://bot:x@{address}/origin.gitTAIL"),
            "with credentials",
        ),
        ("file:///etc/passwdTAIL".into(), "to what is not safe"),
        ("http://[TAIL".into(), "nowhere"),
    ] {
        let error = refusal(&to(target)).await?.to_string();
        assert!(error.ends_with(&format!("it redirects {told}")), "{error}");
    }
    Ok(())
}

#[tokio::test]
async fn server_that_cannot_push_says_so_in_its_answer() -> Result<()> {
    let repository = Repository::with_a_commit();
    let tip = repository.in_bare(&["rev-parse", "main"]);
    let pack = crate::forge::pack_of_branch(&repository)?;
    let old = tip.clone();
    // Knows neither side bands nor how to unpack.
    let server = Server::start(move |request, answer| {
        if request.line.contains("git-receive-pack") && request.line.starts_with("GET") {
            answer.begin("receive-pack-advertisement")?;
            answer.packet(b"# service=git-receive-pack\n")?;
            answer.flush_packet()?;
            answer.packet(format!("{old} refs/heads/main\0report-status\n").as_bytes())?;
            answer.flush_packet()?;
        } else if request.line.contains("git-receive-pack") {
            answer.begin("receive-pack-result")?;
            answer.packet(b"unpack disk full\n")?;
            answer.packet(b"ng refs/heads/main unpacker error\n")?;
            answer.flush_packet()?;
        } else if request.line.starts_with("GET") {
            answer.begin("upload-pack-advertisement")?;
            answer.send(&packet(
                format!("{old} refs/heads/main\0shallow side-band-64k\n").as_bytes(),
            ))?;
            answer.flush_packet()?;
        } else {
            answer.begin("upload-pack-result")?;
            answer.packet(format!("shallow {old}\n").as_bytes())?;
            answer.flush_packet()?;
            answer.packet(b"NAK\n")?;
            answer.packet(&[b"\x01", pack.as_slice()].concat())?;
            answer.flush_packet()?;
        }
        answer.end()
    });
    let remote = Remote::new(&server.url())?;
    let git = repository.cache("cache");
    let error = git
        .commit(&remote, change(&[("a", "b")]))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Rejected { .. }), "{error:?}");
    assert!(error.to_string().ends_with(": unpacker error"), "{error}");
    Ok(())
}

/// Returns the files of the cached repository that have this extension.
fn cached(cache: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let cached = std::fs::read_dir(cache)?.next().context("there is one")??;
    let packs = std::fs::read_dir(cached.path().join("objects/pack"))?;
    let paths = packs.flatten().map(|it| it.path());
    Ok(paths
        .filter(|it| it.extension().is_some_and(|found| found == extension))
        .collect())
}

#[tokio::test]
async fn cache_whose_objects_are_damaged_is_made_anew() -> Result<()> {
    let repository = Repository::with_a_commit();
    let remote = repository.remote();
    for (number, extension) in ["pack", "idx"].into_iter().enumerate() {
        for content in [&b""[..], &[0x55; 5000]] {
            let name = format!("cache-{number}-{}", content.len());
            let git = repository.cache(&name);
            let revision = git.fetch(&remote, &main()).await?;
            let files = cached(&repository.scratch(&name), extension)?;
            assert_eq!(files.len(), 1);
            std::fs::write(&files[0], content)?;
            let into = repository.scratch("archives");
            let limits = Limits::default();
            let broken = git.archive(&remote, &revision, &into, limits).await;
            assert!(matches!(broken, Err(Error::Local { .. })), "{broken:?}");
            assert_eq!(git.fetch(&remote, &main()).await?, revision);
            git.archive(&remote, &revision, &into, limits).await?;
            let written = git.commit(&remote, change(&[("a", &name)])).await?;
            assert!(written.is_changed());
            repository.assert_sound();
        }
    }
    Ok(())
}

#[tokio::test]
async fn cache_that_cannot_be_made_is_an_error_of_this_machine() -> Result<()> {
    let repository = Repository::with_a_commit();
    std::fs::write(repository.scratch("file"), "")?;
    let git = repository.cache("file");
    let error = git.fetch(&repository.remote(), &main()).await.unwrap_err();
    assert!(matches!(error, Error::Local { .. }), "{error:?}");
    let told = "cannot make room for a cached repository: ";
    assert!(error.to_string().starts_with(told), "{error}");
    Ok(())
}

#[tokio::test]
async fn commit_that_was_not_fetched_cannot_be_packed() -> Result<()> {
    let repository = Repository::with_a_commit();
    let (git, remote) = (repository.cache("cache"), repository.remote());
    let fetched = git.fetch(&remote, &main()).await?;
    let mut revision = fetched.clone();
    for (commit, is_malformed) in [("12".repeat(20), false), ("main".into(), true)] {
        revision.commit = commit;
        let into = repository.scratch("archives");
        let packed = git
            .archive(&remote, &revision, &into, Limits::default())
            .await;
        let error = packed.unwrap_err();
        let is_invalid = matches!(error, Error::InvalidReference { .. });
        assert_eq!(is_invalid, is_malformed, "{error:?}");
    }
    assert_eq!(git.fetch(&remote, &main()).await?, fetched);
    let into = repository.scratch("archives");
    git.archive(&remote, &fetched, &into, Limits::default())
        .await?;
    Ok(())
}

#[test]
fn program_that_is_missing_is_named() -> Result<()> {
    for (program, url) in [("ssh", "ssh://example.org/a"), ("git", "file:///srv/a.git")] {
        let directory = TempDir::new()?;
        let none = directory.path().join("programs");
        std::fs::create_dir(&none)?;
        let programs = Programs::Only(&none);
        let report = measured_fetch::fetch_with(url, directory.path(), 60, programs)?;
        let told = report.refusal();
        let expected = format!("cannot start `{program}`: ");
        assert!(told.contains(&expected), "{told}");
    }
    Ok(())
}

#[test]
fn repository_is_fetched_over_ssh() -> Result<()> {
    let repository = Repository::with_a_commit();
    let directory = TempDir::new()?;
    let programs = directory.path().join("programs");
    std::fs::create_dir(&programs)?;
    // What the server's shell would make of it.
    let remote_shell =
        "while [ \"$1\" != bot@example.org ]; do shift; done\nshift\nexec sh -c \"$*\"";
    script(&programs.join("ssh"), remote_shell)?;
    let odd = repository.scratch("it's odd.git");
    std::os::unix::fs::symlink(repository.bare(), &odd)?;
    for path in [repository.bare(), odd] {
        let url = format!("bot@example.org:{}", path.display());
        let into = TempDir::new()?;
        let programs = Programs::Before(&programs);
        let report = measured_fetch::fetch_with(&url, into.path(), 60, programs)?;
        assert!(Path::new(&report.archive()).is_file(), "{url}");
    }
    Ok(())
}
