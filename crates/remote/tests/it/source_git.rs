//! Files over git's own protocol, against the real git.

use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pathline_remote::Secret;
use pathline_remote::source::{
    Known, SourceAnswer, SourceClient, SourceErrorKind, SourceReference, SourceRequest,
};
use pathline_testkit::git_server::{GitServer, Options};
use pathline_testkit::sshd::Sshd;
use reqwest::Url;
use tempfile::TempDir;

use crate::polling::{self, TOKEN, http, http_among, sources};
use crate::repository::Repository;

const FILE: &str = "deploy/app/fathomable.yaml";

/// A repository with the file, that sends single objects if it is asked to.
fn repository(can_filter: bool) -> Repository {
    let repository = Repository::with_a_commit();
    repository.commit(&[(FILE, "hello\n"), ("deploy/other", "x\n")], "add it");
    repository.in_bare(&["config", "uploadpack.allowFilter", &can_filter.to_string()]);
    repository
}

fn serve(repository: &Repository, options: Options) -> GitServer {
    let bare = repository.bare();
    GitServer::start(bare.parent().expect("it is in a directory"), options)
}

fn request(url: &str) -> SourceRequest {
    SourceRequest {
        path: FILE.to_owned(),
        ..polling::request(url)
    }
}

fn known(repository: &Repository) -> Known {
    Known {
        commit: repository.in_bare(&["rev-parse", "main"]),
        blob: Some(repository.in_bare(&["rev-parse", &format!("main:{FILE}")])),
    }
}

/// Asserts that what is read is what git says.
async fn assert_read(sources: &SourceClient, request: &SourceRequest, repository: &Repository) {
    let (answer, _) = sources.read(request, None).await.expect("it is read");
    let expected = known(repository);
    let content = repository.in_bare(&["show", &format!("main:{FILE}")]);
    let expected = SourceAnswer::Read {
        commit: expected.commit,
        blob: expected.blob.expect("it is there"),
        content: format!("{content}\n").into_bytes(),
    };
    assert_eq!(answer, expected);
}

const LIST: &str = "GET /origin.git/info/refs";
const ASK: &str = "POST /origin.git/git-upload-pack";

#[tokio::test]
async fn host_is_asked_once_what_it_can_and_then_for_one_reference() -> Result<()> {
    let repository = repository(true);
    let server = serve(&repository, Options::default());
    let (sources, cache) = sources(http());
    let request = request(&server.url("origin.git"));
    assert_read(&sources, &request, &repository).await;
    // The references, the commit, three trees and the file.
    let asked = server.take_requests();
    assert_eq!(asked, [LIST, ASK, ASK, ASK, ASK, ASK, ASK]);
    let before = known(&repository);
    let (answer, _) = sources.read(&request, Some(&before)).await?;
    assert_eq!(answer, SourceAnswer::Unchanged);
    assert_eq!(server.take_requests(), [ASK], "one request, and no more");

    let commit = repository.commit(&[("deploy/other", "y\n")], "change another");
    let (answer, _) = sources.read(&request, Some(&before)).await?;
    let blob = before.blob.clone().unwrap();
    assert_eq!(answer, SourceAnswer::Moved { commit, blob });
    let asked = server.take_requests();
    assert_eq!(asked, [ASK; 5], "the file is not asked for again");

    repository.commit(&[(FILE, "hello again\n")], "change it");
    assert_read(&sources, &request, &repository).await;
    assert!(!cache.path().join("git").exists(), "nothing is on disk");
    Ok(())
}

#[tokio::test]
async fn servers_that_can_do_less_are_read_too() -> Result<()> {
    for (can_filter, is_version_0) in [(false, false), (true, true), (false, true)] {
        let repository = repository(can_filter);
        let options = Options {
            is_version_0,
            ..Options::default()
        };
        let server = serve(&repository, options);
        let (sources, _cache) = sources(http());
        let request = request(&server.url("origin.git"));
        assert_read(&sources, &request, &repository).await;
        server.take_requests();
        let before = known(&repository);
        let (answer, _) = sources.read(&request, Some(&before)).await?;
        assert_eq!(answer, SourceAnswer::Unchanged);
        let asked = server.take_requests();
        let expected = if is_version_0 { LIST } else { ASK };
        assert_eq!(asked, [expected]);
        let commit = repository.commit(&[("deploy/other", "y\n")], "change another");
        let (answer, _) = sources.read(&request, Some(&before)).await?;
        let blob = before.blob.clone().unwrap();
        assert_eq!(answer, SourceAnswer::Moved { commit, blob });
    }
    Ok(())
}

#[tokio::test]
async fn tags_are_peeled_and_the_default_branch_and_commits_are_found() -> Result<()> {
    let repository = repository(true);
    repository.in_clone(&["tag", "-a", "v1", "-m", "a tag"]);
    repository.in_clone(&["tag", "v1.0"]);
    repository.in_clone(&["push", "-q", "origin", "v1", "v1.0"]);
    let commit = repository.in_bare(&["rev-parse", "main"]);
    assert_ne!(
        repository.in_bare(&["rev-parse", "v1"]),
        commit,
        "it is annotated"
    );
    for is_version_0 in [false, true] {
        let options = Options {
            is_version_0,
            ..Options::default()
        };
        let server = serve(&repository, options);
        let (sources, _cache) = sources(http());
        for reference in [
            SourceReference::Tag("v1".into()),
            SourceReference::Tag("v1.0".into()),
            SourceReference::Head,
            SourceReference::Commit(commit.clone()),
        ] {
            let request = SourceRequest {
                reference: reference.clone(),
                ..request(&server.url("origin.git"))
            };
            assert_read(&sources, &request, &repository).await;
            let before = known(&repository);
            let (answer, _) = sources.read(&request, Some(&before)).await?;
            assert_eq!(answer, SourceAnswer::Unchanged, "{reference:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn missing_and_large_things_are_told_apart() -> Result<()> {
    for can_filter in [true, false] {
        let repository = repository(can_filter);
        let large = "x".repeat((1 << 20) + 1);
        repository.commit(&[("large.yaml", &large)], "add a large file");
        let commit = repository.in_bare(&["rev-parse", "main"]);
        let server = serve(&repository, Options::default());
        let (sources, _cache) = sources(http());
        let file_missing = SourceErrorKind::FileMissing {
            commit: commit.clone(),
        };
        for (path, expected) in [
            ("nothing.yaml", file_missing.clone()),
            ("deploy", file_missing.clone()),
            ("deploy/other/x.yaml", file_missing.clone()),
            ("large.yaml", SourceErrorKind::TooLarge { commit }),
        ] {
            let request = SourceRequest {
                path: path.into(),
                ..request(&server.url("origin.git"))
            };
            let error = sources.read(&request, None).await.unwrap_err();
            assert_eq!(error.kind, expected, "{path}: {error}");
        }
        for reference in [
            SourceReference::Branch("mai".into()),
            SourceReference::Tag("main".into()),
        ] {
            let request = SourceRequest {
                reference,
                ..request(&server.url("origin.git"))
            };
            let error = sources.read(&request, None).await.unwrap_err();
            assert_eq!(error.kind, SourceErrorKind::RefMissing, "{error}");
        }
        let nowhere = request(&server.url("nowhere"));
        let error = sources.read(&nowhere, None).await.unwrap_err();
        assert_eq!(error.kind, SourceErrorKind::RefMissing, "{error}");
    }
    Ok(())
}

#[tokio::test]
async fn token_is_sent_as_a_password_and_only_where_it_may_be() -> Result<()> {
    for can_filter in [true, false] {
        let repository = repository(can_filter);
        let pair = STANDARD.encode(format!("x-access-token:{TOKEN}"));
        let options = Options {
            authorization: Some(format!("Basic {pair}")),
            ..Options::default()
        };
        let server = serve(&repository, options);
        let (sources, cache) = sources(http());
        let anonymous = request(&server.url("origin.git"));
        let with = |token: &str| SourceRequest {
            secret: Some(Secret::new(token)),
            ..anonymous.clone()
        };
        for refused in [anonymous.clone(), with("ghp_wrong")] {
            let error = sources.read(&refused, None).await.unwrap_err();
            assert_eq!(error.kind, SourceErrorKind::AuthFailed, "{error}");
        }
        assert_read(&sources, &with(TOKEN), &repository).await;
        // A commit that is in the cache by now is still not for everybody.
        let pinned = SourceRequest {
            reference: SourceReference::Commit(repository.in_bare(&["rev-parse", "main"])),
            ..with("ghp_wrong")
        };
        let error = sources.read(&pinned, None).await.unwrap_err();
        assert_eq!(error.kind, SourceErrorKind::AuthFailed, "{error}");
        server.take_requests();
        let plain = SourceRequest {
            allow_http: false,
            ..with(TOKEN)
        };
        sources.read(&plain, None).await.unwrap_err();
        assert!(server.take_requests().is_empty(), "nothing was sent");
        assert_no_trace_of_the_token(&cache);
    }
    Ok(())
}

/// Asserts that no file or directory of a cache has the token in it.
fn assert_no_trace_of_the_token(cache: &TempDir) {
    let mut pending = vec![cache.path().to_owned()];
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("it can be listed");
            pending.extend(entries.map(|it| it.expect("it can be read").path()));
        } else {
            let content = std::fs::read(&path).expect("it can be read");
            let content = String::from_utf8_lossy(&content);
            assert!(!content.contains("sentinel"), "{}", path.display());
        }
    }
}

#[tokio::test]
async fn repository_that_has_moved_is_followed_told_and_asked_there() -> Result<()> {
    let repository = repository(true);
    let there = serve(&repository, Options::default());
    let options = Options {
        moved: Some(("/old".into(), there.url("origin.git"))),
        ..Options::default()
    };
    let here = serve(&repository, options);
    let request = SourceRequest {
        secret: Some(Secret::new(TOKEN)),
        ..request(&here.url("old"))
    };
    let url = Url::parse(&there.url(""))?;
    let host = format!("127.0.0.1:{}", url.port().expect("it has one"));
    let (strict, _cache) = sources(http());
    let error = strict.read(&request, None).await.unwrap_err();
    let told = format!("if `{host}` has none, name it in");
    assert!(error.message.contains(&told), "{error}");
    assert!(there.take_requests().is_empty(), "it is not configured");
    let (sources, _cache) = sources(http_among(&[&host]));
    assert_read(&sources, &request, &repository).await;
    here.take_requests();
    there.take_requests();
    let known = known(&repository);
    let (answer, signs) = sources.read(&request, Some(&known)).await?;
    assert_eq!(answer, SourceAnswer::Unchanged);
    let moved = signs.moved.expect("it is still told");
    assert_eq!(moved.from, here.url("old"));
    assert_eq!(moved.to, there.url("origin.git"));
    assert!(here.take_requests().is_empty());
    assert_eq!(there.take_requests(), [ASK]);
    Ok(())
}

#[tokio::test]
async fn name_without_its_ending_is_found() -> Result<()> {
    let repository = repository(true);
    let server = serve(&repository, Options::default());
    let (sources, _cache) = sources(http());
    let request = request(&server.url("origin"));
    assert_read(&sources, &request, &repository).await;
    let known = known(&repository);
    let (answer, signs) = sources.read(&request, Some(&known)).await?;
    assert_eq!(answer, SourceAnswer::Unchanged);
    assert_eq!(signs.moved, None);
    Ok(())
}

#[tokio::test]
async fn repository_on_this_machine_is_followed() -> Result<()> {
    let repository = repository(false);
    let (sources, _cache) = sources(http());
    let url = format!("file://{}", repository.bare().display());
    follow(&sources, &request(&url), &repository).await
}

/// Follows a file through a change of another file, and of itself.
async fn follow(
    sources: &SourceClient,
    request: &SourceRequest,
    repository: &Repository,
) -> Result<()> {
    assert_read(sources, request, repository).await;
    let before = known(repository);
    let (answer, _) = sources.read(request, Some(&before)).await?;
    assert_eq!(answer, SourceAnswer::Unchanged);
    let commit = repository.commit(&[("deploy/other", "y\n")], "change another");
    let (answer, _) = sources.read(request, Some(&before)).await?;
    let blob = before.blob.clone().expect("it is there");
    assert_eq!(answer, SourceAnswer::Moved { commit, blob });
    repository.commit(&[(FILE, "hello again\n")], "change it");
    assert_read(sources, request, repository).await;
    let missing = SourceRequest {
        reference: SourceReference::Branch("nowhere".into()),
        ..request.clone()
    };
    let error = sources.read(&missing, None).await;
    let error = error.expect_err("there is no such branch");
    assert_eq!(error.kind, SourceErrorKind::RefMissing, "{error}");
    Ok(())
}

/// In a process of its own, whose `ssh` is configured for the server of the test.
#[test]
fn repository_behind_a_real_ssh_server_is_followed() -> Result<()> {
    const NAME: &str = "source_git::repository_behind_a_real_ssh_server_is_followed";
    let Some(mut child) = pathline_testkit::child_of(NAME) else {
        let runtime = tokio::runtime::Runtime::new()?;
        return runtime.block_on(async {
            let (repository, url) = (
                Repository::at(std::env::var("TEST_REPOSITORY")?),
                std::env::var("TEST_URL")?,
            );
            let (sources, _cache) = sources(http());
            follow(&sources, &request(&url), &repository).await
        });
    };
    let Some(sshd) = Sshd::start("files over ssh") else {
        return Ok(());
    };
    let repository = repository(false);
    let user = std::process::Command::new("id").arg("-un").output()?.stdout;
    let url = sshd.url(String::from_utf8(user)?.trim(), &repository.bare());
    let path = format!("{}:{}", sshd.client().display(), std::env::var("PATH")?);
    let ran = child
        .env("PATH", path)
        .env("TEST_URL", url)
        .env("TEST_REPOSITORY", repository.directory())
        .output()?;
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
    Ok(())
}
