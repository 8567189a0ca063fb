use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use anyhow::Result;
use pathline_remote::git::{Author, Carrier, Change, Error, Reference};
use tokio::task::JoinSet;

use crate::repository::{Repository, change, edits};

#[tokio::test]
async fn a_commit_arrives_with_its_files_author_and_trailers() -> Result<()> {
    let repository = Repository::with_a_commit();
    let before = repository.in_bare(&["rev-parse", "main"]);
    let mut wanted = edits(&[
        ("deep/er/site.yaml", "image: x\n"),
        ("bin/run.sh", "#!/bin/sh\n:\n"),
    ]);
    wanted.message = "deploy: site\n\nA body.".into();
    wanted.author = Author {
        name: "Ada".into(),
        email: "ada@example.org".into(),
    };
    let wanted = wanted
        .trailer("Source-Commit", "abc")
        .trailer("Note", "one\ntwo")
        .trailer("Source-Commit", "def");
    let written = repository
        .cache("cache")
        .commit(&repository.remote(), Change::fixed("main", wanted)?)
        .await?;
    assert_eq!(written.carrier, Carrier::Pushed);
    assert_eq!(
        written.tip.commit,
        repository.in_bare(&["rev-parse", "main"])
    );
    assert_eq!(repository.in_bare(&["rev-parse", "main^"]), before);
    assert_eq!(
        repository.in_bare(&["log", "-1", "--format=%an <%ae> %cn%n%s%n%b", "main"]),
        "Ada <ada@example.org> Pathline\ndeploy: site\nA body.\n\nSource-Commit: abc\nNote: one\n two\nSource-Commit: def"
    );
    let message = repository.scratch("message");
    std::fs::write(
        &message,
        repository.in_bare(&["log", "-1", "--format=%B", "main"]),
    )?;
    assert_eq!(
        repository.in_bare(&["interpret-trailers", "--parse", message.to_str().unwrap()]),
        "Source-Commit: abc\nNote: one two\nSource-Commit: def"
    );
    assert_eq!(
        repository.in_bare(&["ls-tree", "-r", "--format=%(objectmode) %(path)", "main"]),
        "100644 README\n100755 bin/run.sh\n100644 deep/er/site.yaml"
    );
    repository.assert_sound();
    Ok(())
}

#[tokio::test]
async fn nothing_is_written_when_the_files_are_there_already() -> Result<()> {
    let repository = Repository::with_a_commit();
    let tip = repository.in_bare(&["rev-parse", "main"]);
    let same = change(&[("README", "hello\n")]);
    let written = repository
        .cache("cache")
        .commit(&repository.remote(), same)
        .await?;
    assert!(!written.is_changed());
    assert_eq!(written.tip.commit, tip);
    assert_eq!(repository.in_bare(&["rev-parse", "main"]), tip);
    Ok(())
}

#[tokio::test]
async fn an_empty_repository_and_a_new_branch_get_a_first_commit() -> Result<()> {
    for repository in [Repository::empty(), Repository::with_a_commit()] {
        let wanted = Change::fixed("fresh", edits(&[("a/b.txt", "x\n")]))?;
        let written = repository
            .cache("cache")
            .commit(&repository.remote(), wanted)
            .await?;
        assert!(written.is_changed());
        assert_eq!(repository.in_bare(&["rev-list", "--count", "fresh"]), "1");
        assert_eq!(repository.in_bare(&["show", "fresh:a/b.txt"]), "x");
        repository.assert_sound();
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_writers_lose_none_of_their_commits() -> Result<()> {
    let repository = Repository::empty();
    let mut writers = JoinSet::new();
    for writer in 0..8 {
        let git = repository.cache(&format!("cache-{writer}"));
        let remote = repository.remote().with_timeout(Duration::from_secs(300));
        writers.spawn(async move {
            for round in 0..10 {
                let path = format!("writer-{writer}/{round}.txt");
                let mut wanted = edits(&[(path.as_str(), "x\n"), ("last", &path)]);
                wanted.message = path.clone();
                let wanted = Change::fixed("main", wanted).unwrap();
                assert!(git.commit(&remote, wanted).await.unwrap().is_changed());
            }
        });
    }
    writers.join_all().await;
    let mut subjects: Vec<String> = repository
        .in_bare(&["log", "--format=%s", "main"])
        .lines()
        .map(Into::into)
        .collect();
    subjects.sort();
    subjects.dedup();
    assert_eq!(subjects.len(), 80, "every commit is in the history once");
    assert_eq!(repository.in_bare(&["rev-list", "--count", "main"]), "80");
    assert_eq!(
        repository.in_bare(&["rev-list", "--count", "--min-parents=2", "main"]),
        "0"
    );
    let files = repository.in_bare(&["ls-tree", "-r", "--name-only", "main"]);
    assert_eq!(files.lines().count(), 81, "no file was lost on the way");
    repository.assert_sound();
    Ok(())
}

#[tokio::test]
async fn a_push_that_the_remote_declines_says_why() -> Result<()> {
    let repository = Repository::with_a_commit();
    let tip = repository.in_bare(&["rev-parse", "main"]);
    let hook = repository.bare().join("hooks/pre-receive");
    std::fs::write(&hook, "#!/bin/sh\necho frozen until Monday >&2\nexit 1\n")?;
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755))?;
    let wanted = change(&[("a", "b")]);
    let error = repository
        .cache("cache")
        .commit(&repository.remote(), wanted)
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Rejected { .. }), "{error:?}");
    assert!(error.to_string().contains("frozen until Monday"), "{error}");
    assert_eq!(repository.in_bare(&["rev-parse", "main"]), tip);
    Ok(())
}

#[tokio::test]
async fn a_change_that_git_would_not_accept_never_reaches_the_remote() -> Result<()> {
    let repository = Repository::with_a_commit();
    let (git, remote) = (repository.cache("cache"), repository.remote());
    for path in ["../x", "/etc/x", ".git/hooks/post-update", "a/.git/x"] {
        let error = Change::fixed("main", edits(&[(path, "x")])).unwrap_err();
        assert!(
            matches!(error, Error::InvalidPath { .. }),
            "{path}: {error:?}"
        );
    }
    assert!(Change::fixed("a..b", edits(&[("a", "b")])).is_err());
    let bad_branch = Change::new("a..b", |_| Ok::<_, Error>(edits(&[("a", "b")])));
    assert!(git.commit(&remote, bad_branch).await.is_err());
    let mut bad_author = edits(&[("a", "b")]);
    bad_author.author.name = "A\nparent 0000".into();
    assert!(Change::fixed("main", bad_author).is_err());
    assert!(
        !repository.scratch("cache").exists(),
        "refused before anybody was asked"
    );
    Ok(())
}

#[tokio::test]
async fn a_file_may_take_the_place_of_a_directory_and_the_other_way_round() -> Result<()> {
    let repository = Repository::with_a_commit();
    let (git, remote) = (repository.cache("cache"), repository.remote());
    git.commit(&remote, change(&[("README/part", "x\n"), ("bin", "y\n")]))
        .await?;
    assert_eq!(
        repository.in_bare(&["ls-tree", "-r", "--name-only", "main"]),
        "README/part\nbin"
    );
    repository.assert_sound();
    let again = git.fetch(&remote, &Reference::branch("main")).await?;
    assert_eq!(again.commit, repository.in_bare(&["rev-parse", "main"]));
    Ok(())
}
