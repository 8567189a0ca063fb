use std::time::Duration;

use anyhow::Result;
use pathline_remote::archive::{Limits, unpack};
use pathline_remote::git::{Error, Reference, Remote};

use crate::repository::Repository;

#[tokio::test]
async fn every_kind_of_reference_resolves_to_its_commit() -> Result<()> {
    let repository = Repository::with_a_commit();
    let first = repository.in_clone(&["rev-parse", "HEAD"]);
    repository.in_clone(&["tag", "light"]);
    repository.in_clone(&["tag", "-a", "annotated", "-m", "a tag"]);
    repository.in_clone(&[
        "push",
        "-q",
        "origin",
        "light",
        "annotated",
        "HEAD:refs/pull/7/head",
    ]);
    let second = repository.commit(&[("README", "changed\n")], "second");
    let (git, remote) = (repository.cache("cache"), repository.remote());
    for (reference, shown, commit) in [
        (Reference::branch("main"), "main@", &second),
        (Reference::Tag("light".into()), "light@", &first),
        (Reference::Tag("annotated".into()), "annotated@", &first),
        (
            Reference::Name("refs/pull/7/head".into()),
            "refs/pull/7/head@",
            &first,
        ),
        (
            Reference::Commit {
                id: first.clone(),
                branch: None,
            },
            "",
            &first,
        ),
    ] {
        let resolved = git.resolve(&remote, &reference).await?;
        assert_eq!(resolved.to_string(), format!("{shown}sha1:{commit}"));
        assert_eq!(git.fetch(&remote, &reference).await?, resolved);
    }
    Ok(())
}

#[tokio::test]
async fn what_the_remote_does_not_have_is_named_in_the_error() -> Result<()> {
    for repository in [Repository::with_a_commit(), Repository::empty()] {
        let (git, remote) = (repository.cache("cache"), repository.remote());
        let missing = Reference::branch("nowhere");
        for result in [
            git.resolve(&remote, &missing).await,
            git.fetch(&remote, &missing).await,
        ] {
            let error = result.unwrap_err();
            assert!(matches!(error, Error::UnknownReference { .. }), "{error:?}");
            assert!(
                error.to_string().ends_with("has no branch `nowhere`"),
                "{error}"
            );
        }
        let absent = Reference::Commit {
            id: "12".repeat(20),
            branch: None,
        };
        assert!(git.fetch(&remote, &absent).await.is_err());
    }
    Ok(())
}

#[tokio::test]
async fn a_branch_is_followed_through_many_commits_and_a_forced_push() -> Result<()> {
    let repository = Repository::with_a_commit();
    let (git, remote) = (repository.cache("cache"), repository.remote());
    let main = Reference::branch("main");
    for round in 0..60 {
        let commit = repository.commit(&[("README", &format!("{round}\n"))], "next");
        let fetched = git.fetch(&remote, &main).await?;
        assert_eq!(fetched.commit, commit);
        let into = repository.scratch("a");
        git.archive(&remote, &fetched, &into, Limits::default())
            .await?;
    }
    repository.in_clone(&["reset", "-q", "--hard", "HEAD~30"]);
    repository.in_clone(&["commit", "-q", "--allow-empty", "-m", "another way"]);
    repository.in_clone(&["push", "-q", "-f", "origin", "HEAD:main"]);
    let fetched = git.fetch(&remote, &main).await?;
    assert_eq!(fetched.commit, repository.in_clone(&["rev-parse", "HEAD"]));
    let archive = git
        .archive(
            &remote,
            &fetched,
            &repository.scratch("a"),
            Limits::default(),
        )
        .await?;
    let content = repository.scratch("content");
    unpack(&archive.path, &content, Limits::default())?;
    assert_eq!(std::fs::read_to_string(content.join("README"))?, "29\n");
    Ok(())
}

#[tokio::test]
async fn the_archive_of_a_commit_has_its_files_and_the_same_digest_from_every_cache() -> Result<()>
{
    let repository = Repository::with_a_commit();
    repository.in_clone(&["rm", "-q", "README"]);
    std::os::unix::fs::symlink("../bin/run.sh", {
        let link = repository.scratch("clone/docs/link");
        std::fs::create_dir_all(link.parent().unwrap())?;
        link
    })?;
    repository.commit(
        &[("docs.txt", "beside docs/\n"), ("ü/ä", "names\n")],
        "more",
    );
    let remote = repository.remote();
    let mut digests = Vec::new();
    for name in ["one", "two"] {
        let git = repository.cache(name);
        let fetched = git.fetch(&remote, &Reference::branch("main")).await?;
        let kept = repository.scratch(&format!("kept-{name}"));
        digests.push(
            git.archive(&remote, &fetched, &kept, Limits::default())
                .await?,
        );
    }
    assert_eq!(digests[0].digest, digests[1].digest);
    assert_eq!(
        std::fs::read(&digests[0].path)?,
        std::fs::read(&digests[1].path)?
    );

    let ours = repository.scratch("ours");
    unpack(&digests[0].path, &ours, Limits::default())?;
    let clone = repository.scratch("clone");
    std::fs::remove_dir_all(clone.join(".git"))?;
    let same = std::process::Command::new("diff")
        .arg("-r")
        .args([&ours, &clone])
        .status()?;
    assert!(
        same.success(),
        "the archive differs from the checked-out commit"
    );
    assert_eq!(
        std::fs::read_link(ours.join("docs/link"))?.to_str(),
        Some("../bin/run.sh")
    );
    Ok(())
}

#[tokio::test]
async fn a_link_out_of_the_repository_is_refused() -> Result<()> {
    let repository = Repository::with_a_commit();
    std::os::unix::fs::symlink("../../etc/passwd", repository.scratch("clone/evil"))?;
    repository.commit(&[], "evil");
    let (git, remote) = (repository.cache("cache"), repository.remote());
    let fetched = git.fetch(&remote, &Reference::branch("main")).await?;
    let kept = repository.scratch("kept");
    let refused = git
        .archive(&remote, &fetched, &kept, Limits::default())
        .await
        .unwrap_err();
    assert!(matches!(refused, Error::Archive(_)), "{refused:?}");
    assert_eq!(
        std::fs::read_dir(&kept)?.count(),
        0,
        "nothing is left behind"
    );
    Ok(())
}

#[tokio::test]
async fn a_missing_repository_is_an_error_that_names_it() -> Result<()> {
    let repository = Repository::empty();
    let remote = Remote::new("file:///nowhere/at/all.git")?;
    let error = repository
        .cache("cache")
        .resolve(&remote, &Reference::branch("main"))
        .await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.starts_with("cannot list the references of file:///nowhere/at/all.git: "),
        "{error}"
    );
    Ok(())
}

#[tokio::test]
async fn a_damaged_cache_is_replaced() -> Result<()> {
    let repository = Repository::with_a_commit();
    let (git, remote) = (repository.cache("cache"), repository.remote());
    let main = Reference::branch("main");
    let before = git.fetch(&remote, &main).await?;
    let cached = std::fs::read_dir(repository.scratch("cache"))?
        .next()
        .unwrap()?
        .path();
    std::fs::remove_file(cached.join("HEAD"))?;
    assert_eq!(git.fetch(&remote, &main).await?, before);
    Ok(())
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() -> Result<()> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    let repository = Repository::empty();
    let url = format!("http://bot:s3cret@{}/a.git", listener.local_addr()?);
    let remote = Remote::new(&url)?.with_timeout(Duration::from_millis(300));
    let git = repository.cache("cache");
    let error = git
        .resolve(&remote, &Reference::branch("main"))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::TimedOut { .. }), "{error:?}");
    assert!(!error.to_string().contains("s3cret"), "{error}");
    Ok(())
}
