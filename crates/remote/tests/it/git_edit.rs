//! Edits of what a branch has, while others write to it, too.

use std::sync::Arc;

use anyhow::Result;
use parking_lot::Mutex;
use pathline_remote::git::{Carrier, Change, DirEntry, Edits, Error, FileKind, Git, Reference};

use crate::repository::{Repository, change, edits};

/// Replaces a word in a file of `main`; `meanwhile` happens between each fetch and the push.
fn replace(
    path: &'static str,
    old: &'static str,
    new: &'static str,
    mut meanwhile: impl FnMut(usize) + Send + 'static,
) -> Change {
    let mut run = 0;
    Change::new("main", move |base| {
        let text = base.read(path, 1000)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&text).replace(old, new);
        meanwhile(run);
        run += 1;
        Ok(Edits::new(format!("{old} becomes {new}")).write(path, text))
    })
}

#[tokio::test]
async fn lost_race_keeps_the_edit_of_the_other_writer() -> Result<()> {
    let repository = Arc::new(Repository::with_a_commit());
    repository.commit(&[("app.yaml", "image: old\nreplicas: 1\n")], "app");
    let other = repository.clone();
    let theirs = Arc::new(Mutex::new(Vec::new()));
    let noted = theirs.clone();
    let wanted = replace("app.yaml", "old", "new", move |run| {
        let replicas = format!("image: old\nreplicas: {}\n", run + 2);
        if run < 2 {
            noted
                .lock()
                .push(other.commit(&[("app.yaml", &replicas)], "scale"));
        }
    });
    let written = repository
        .cache("cache")
        .commit(&repository.remote(), wanted)
        .await?;
    assert_eq!(written.carrier, Carrier::Pushed);
    assert_eq!(
        repository.in_bare(&["show", "main:app.yaml"]),
        "image: new\nreplicas: 3"
    );
    let theirs = theirs.lock().clone();
    assert_eq!(repository.in_bare(&["rev-parse", "main^"]), theirs[1]);
    assert_eq!(repository.in_bare(&["rev-parse", "main^^"]), theirs[0]);
    repository.assert_sound();
    Ok(())
}

#[tokio::test]
async fn fixed_content_wins_over_the_edit_of_the_other_writer() -> Result<()> {
    let repository = Repository::with_a_commit();
    let (git, remote) = (repository.cache("cache"), repository.remote());
    git.fetch(&remote, &Reference::branch("main")).await?;
    let theirs = repository.commit(&[("README", "theirs\n"), ("other", "x\n")], "theirs");
    git.commit(&remote, change(&[("README", "ours\n")])).await?;
    assert_eq!(repository.in_bare(&["show", "main:README"]), "ours");
    assert_eq!(repository.in_bare(&["show", "main:other"]), "x");
    assert_eq!(repository.in_bare(&["rev-parse", "main^"]), theirs);
    Ok(())
}

#[tokio::test]
async fn race_lost_to_the_same_change_names_the_commit_of_the_other_writer() -> Result<()> {
    let repository = Arc::new(Repository::with_a_commit());
    let other = repository.clone();
    let theirs = Arc::new(Mutex::new(String::new()));
    let noted = theirs.clone();
    let wanted = replace("README", "hello", "goodbye", move |run| {
        if run == 0 {
            *noted.lock() = other.commit(&[("README", "goodbye\n")], "the same");
        }
    });
    let written = repository
        .cache("cache")
        .commit(&repository.remote(), wanted)
        .await?;
    let theirs = theirs.lock().clone();
    assert_eq!(written.revision().commit, theirs);
    let Carrier::Existing(carrier) = &written.carrier else {
        panic!("both the commit and its parent were fetched: {written:?}");
    };
    assert_eq!(carrier.to_string(), format!("main@sha1:{theirs}"));
    assert_eq!(repository.in_bare(&["rev-parse", "main"]), theirs);
    Ok(())
}

#[tokio::test]
async fn forced_push_and_removed_branch_are_bases_as_others_are() -> Result<()> {
    let repository = Arc::new(Repository::with_a_commit());
    let first = repository.in_bare(&["rev-parse", "main"]);
    repository.commit(&[("README", "hello again\n")], "second");
    let other = repository.clone();
    let back = first.clone();
    let wanted = replace("README", "hello", "goodbye", move |run| match run {
        0 => drop(other.in_bare(&["update-ref", "refs/heads/main", &back])),
        1 => drop(other.in_bare(&["update-ref", "-d", "refs/heads/main"])),
        2 => drop(other.in_bare(&["update-ref", "refs/heads/main", &back])),
        _ => {}
    });
    repository
        .cache("cache")
        .commit(&repository.remote(), wanted)
        .await?;
    assert_eq!(repository.in_bare(&["show", "main:README"]), "goodbye");
    assert_eq!(repository.in_bare(&["rev-parse", "main^"]), first);
    repository.assert_sound();
    Ok(())
}

#[tokio::test]
async fn edit_reads_files_and_directories_within_its_limits() -> Result<()> {
    let repository = Repository::with_a_commit();
    repository.commit(&[("conf/a.yaml", "a: 1\n"), ("conf/sub/b", "")], "more");
    std::os::unix::fs::symlink("README", repository.scratch("clone/link"))?;
    let tip = repository.commit(&[], "a link");
    let seen = Change::new("main", move |base| {
        assert_eq!(base.commit().as_deref(), Some(tip.as_str()));
        assert_eq!(
            base.read("conf/a.yaml", 5)?.as_deref(),
            Some(&b"a: 1\n"[..])
        );
        assert_eq!(base.read("conf/sub/b", 0)?.as_deref(), Some(&b""[..]));
        for absent in ["none", "none/at/all", "README/below"] {
            assert_eq!(base.read(absent, 10)?, None, "{absent}");
            assert_eq!(base.list(absent, 10)?, [], "{absent}");
        }
        let large = base.read("conf/a.yaml", 4).unwrap_err();
        assert!(matches!(large, Error::TooLarge { .. }), "{large:?}");
        let told = large.to_string();
        assert!(
            told.ends_with("`conf/a.yaml` has 5 bytes, and at most 4 are read"),
            "{told}"
        );
        for other in ["conf", "link", "../x", "", "/README", ".git/config"] {
            let refused = base.read(other, 10).unwrap_err();
            assert!(matches!(refused, Error::InvalidPath { .. }), "{refused:?}");
        }
        let entry = |name: &str, kind| DirEntry {
            name: name.into(),
            kind,
        };
        let conf = [
            entry("a.yaml", FileKind::File),
            entry("sub", FileKind::Directory),
        ];
        assert_eq!(base.list("conf", 2)?, conf);
        let top: Vec<_> = base.list("", 10)?.into_iter().map(|it| it.name).collect();
        assert_eq!(top, ["README", "bin", "conf", "link"]);
        assert!(base.list("", 10)?.contains(&entry("link", FileKind::Link)));
        let many = base.list("conf", 1).unwrap_err();
        assert!(matches!(many, Error::TooLarge { .. }), "{many:?}");
        assert!(base.list("README", 10).is_err(), "it is a file");
        assert!(base.list("conf/..", 10).is_err());
        Ok::<_, Error>(Edits::default())
    });
    let written = repository
        .cache("cache")
        .commit(&repository.remote(), seen)
        .await?;
    assert!(!written.is_changed());
    Ok(())
}

#[tokio::test]
async fn branch_that_is_not_there_is_empty_and_an_edit_that_writes_nothing_does_not_make_it()
-> Result<()> {
    let repository = Repository::with_a_commit();
    let (git, remote) = (repository.cache("cache"), repository.remote());
    let look = Change::new("fresh", |base| {
        assert_eq!(base.commit(), None);
        assert_eq!(base.read("README", 100)?, None);
        assert_eq!(base.list("", 100)?, []);
        Ok::<_, Error>(Edits::new("remove").remove("README"))
    });
    let error = git.commit(&remote, look).await.unwrap_err();
    assert!(
        error.to_string().ends_with("has no branch `fresh`"),
        "{error}"
    );
    assert_eq!(repository.in_bare(&["branch", "--list", "fresh"]), "");
    Ok(())
}

#[tokio::test]
async fn removed_files_are_gone_as_git_would_remove_them() -> Result<()> {
    let repository = Repository::with_a_commit();
    repository.commit(&[("deep/er/file", "x\n"), ("deep/beside", "y\n")], "more");
    let (git, remote) = (repository.cache("cache"), repository.remote());
    let remove = |paths: &[&str]| {
        let edits = paths
            .iter()
            .fold(Edits::new("remove"), |it, path| it.remove(*path));
        Change::fixed("main", edits)
    };
    git.commit(&remote, remove(&["deep/er/file", "not/there"])?)
        .await?;
    repository.in_clone(&["rm", "-q", "deep/er/file"]);
    let expected = repository.in_clone(&["write-tree"]);
    assert_eq!(repository.in_bare(&["rev-parse", "main^{tree}"]), expected);

    let absent = git.commit(&remote, remove(&["deep/er/file"])?).await?;
    assert!(!absent.is_changed());
    let error = git.commit(&remote, remove(&["deep"])?).await.unwrap_err();
    assert!(matches!(error, Error::InvalidPath { .. }), "{error:?}");

    let moved = Edits::new("move")
        .remove("deep/beside")
        .write("deep/beside/it", "y\n");
    git.commit(&remote, Change::fixed("main", moved)?).await?;
    assert_eq!(
        repository.in_bare(&["ls-tree", "-r", "--name-only", "main"]),
        "README\nbin/run.sh\ndeep/beside/it"
    );
    let all = remove(&["README", "bin/run.sh", "deep/beside/it"])?;
    git.commit(&remote, all).await?;
    assert_eq!(repository.in_bare(&["ls-tree", "-r", "main"]), "");
    repository.assert_sound();
    git.commit(&remote, change(&[("README", "again\n")]))
        .await?;
    assert_eq!(repository.in_bare(&["show", "main:README"]), "again");
    Ok(())
}

#[tokio::test]
async fn edit_that_fails_writes_nothing_and_its_error_comes_back() -> Result<()> {
    /// The error of a caller.
    #[derive(Debug, PartialEq)]
    enum Failure {
        NoImage,
        Git,
    }
    impl From<Error> for Failure {
        fn from(_: Error) -> Self {
            Self::Git
        }
    }
    let repository = Repository::with_a_commit();
    let (git, remote) = (repository.cache("cache"), repository.remote());
    let tip = repository.in_bare(&["rev-parse", "main"]);
    let own = Change::new("main", |_| Err(Failure::NoImage));
    assert_eq!(
        git.commit(&remote, own).await.unwrap_err(),
        Failure::NoImage
    );
    let reading = Change::new("main", |base| {
        base.read("../x", 1)?;
        Ok::<_, Failure>(Edits::default())
    });
    assert_eq!(
        git.commit(&remote, reading).await.unwrap_err(),
        Failure::Git
    );
    for edits in [
        edits(&[("../x", "y")]),
        edits(&[("a", "x"), ("a/b", "y")]),
        Edits::new("").write("a", "b"),
        Edits::new("m").write("a", "b").trailer("no key", "x"),
    ] {
        let wrong = Change::new("main", move |_| Ok::<_, Failure>(edits.clone()));
        assert_eq!(git.commit(&remote, wrong).await.unwrap_err(), Failure::Git);
    }
    let panics = Change::new("main", |_| -> Result<Edits, Error> { panic!("oops") });
    let error = git.commit(&remote, panics).await.unwrap_err().to_string();
    assert!(error.contains("the operation panicked"), "{error}");
    assert_eq!(repository.in_bare(&["rev-parse", "main"]), tip);
    git.commit(&remote, change(&[("a", "b")])).await?;
    Ok(())
}

/// Writes `README` and returns the answer.
async fn write_readme(git: &Git, repository: &Repository, text: &str) -> Result<(String, Carrier)> {
    let edits = edits(&[("README", text)]);
    let written = git
        .commit(&repository.remote(), Change::fixed("main", edits)?)
        .await?;
    Ok((written.tip.commit, written.carrier))
}

#[tokio::test]
async fn commit_that_was_made_here_is_found_below_those_of_others() -> Result<()> {
    let repository = Repository::with_a_commit();
    let git = repository.cache("cache");
    let (ours, carrier) = write_readme(&git, &repository, "ours\n").await?;
    assert_eq!(carrier, Carrier::Pushed);
    repository.in_clone(&["pull", "-q", "origin", "main"]);
    let theirs = repository.commit(&[("other", "x\n")], "theirs");
    // As after a push whose answer was lost.
    let (tip, carrier) = write_readme(&git, &repository, "ours\n").await?;
    assert_eq!(tip, theirs);
    let Carrier::Existing(found) = carrier else {
        panic!("it was made here: {carrier:?}");
    };
    assert_eq!(found.commit, ours);
    Ok(())
}

#[tokio::test]
async fn history_that_was_not_fetched_does_not_tell_who_brought_the_content() -> Result<()> {
    let repository = Repository::with_a_commit();
    let tip = repository.commit(&[("other", "x\n")], "second");
    let (git, remote) = (repository.cache("cache"), repository.remote());
    let written = git
        .commit(&remote, change(&[("README", "hello\n")]))
        .await?;
    assert_eq!(written.carrier, Carrier::Unknown);
    assert_eq!(written.revision().commit, tip, "the best that is known");
    let into = repository.scratch("archives");
    let limits = pathline_remote::archive::Limits::default();
    git.archive(&remote, &written.tip, &into, limits).await?;
    let nothing = Change::new("main", |_| Ok::<_, Error>(Edits::default()));
    let written = git.commit(&remote, nothing).await?;
    assert_eq!(written.carrier, Carrier::Unknown, "it is about no path");
    Ok(())
}

#[tokio::test]
async fn commit_that_carries_a_change_is_that_of_gits_own_log() -> Result<()> {
    let repository = Repository::with_a_commit();
    let (git, remote) = (repository.cache("cache"), repository.remote());
    let main = Reference::branch("main");
    let mut steps: Vec<Vec<(&str, &str)>> = vec![
        vec![("a", "1"), ("b", "1")],
        vec![("b", "2")],
        vec![("c", "1"), ("dir/d", "1")],
        vec![("a", "2")],
        vec![("a", "1")],
        vec![("c", "2")],
        vec![("dir/d", "2")],
    ];
    git.fetch(&remote, &main).await?;
    for files in steps.drain(..) {
        repository.commit(&files, "step");
        git.fetch(&remote, &main).await?;
    }
    // A merge whose second side has the content.
    repository.in_clone(&["checkout", "-q", "-b", "side", "HEAD~1"]);
    std::fs::write(repository.scratch("clone/e"), "1")?;
    repository.in_clone(&["add", "e"]);
    repository.in_clone(&["commit", "-q", "-m", "on the side"]);
    repository.in_clone(&["push", "-q", "origin", "side"]);
    git.fetch(&remote, &Reference::branch("side")).await?;
    repository.in_clone(&["checkout", "-q", "main"]);
    repository.in_clone(&["merge", "-q", "--no-edit", "side"]);
    repository.in_clone(&["push", "-q", "origin", "main"]);
    for paths in [
        &["a"][..],
        &["b"],
        &["c"],
        &["dir/d"],
        &["e"],
        &["b", "c"],
        &["a", "b", "c"],
        &["README"],
        &["dir"],
    ] {
        let read: Vec<String> = paths.iter().map(|it| (*it).to_owned()).collect();
        let same = Change::new("main", move |base| {
            for path in &read {
                match path.as_str() {
                    "dir" => drop(base.list(path, 100)?),
                    path => drop(base.read(path, 100)?),
                }
            }
            Ok::<_, Error>(Edits::default())
        });
        let written = git.commit(&remote, same).await?;
        let log = [&["log", "-1", "--format=%H", "main", "--"], paths].concat();
        let expected = repository.in_bare(&log);
        assert!(matches!(written.carrier, Carrier::Existing(_)), "{paths:?}");
        assert_eq!(written.revision().commit, expected, "{paths:?}");
    }
    Ok(())
}

#[tokio::test]
async fn what_nobody_ever_wrote_is_carried_by_nobody() -> Result<()> {
    let repository = Repository::with_a_commit();
    let edits = Edits::new("remove").remove("never/there");
    let wanted = Change::fixed("main", edits)?;
    let git = repository.cache("cache");
    let written = git.commit(&repository.remote(), wanted).await?;
    assert_eq!(written.carrier, Carrier::Unknown);
    Ok(())
}
