//! The commits between two revisions, held against `git rev-list`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::Result;
use pathline_remote::git::{History, Relation};
use pathline_testkit::{Dice, is_nightly, seed};

use crate::repository::Repository;

/// The directories of random histories, each with two files.
const DIRECTORIES: [&str; 3] = ["app", "app-2", "lib/deep"];

async fn history(
    repository: &Repository,
    from: &str,
    to: &str,
    below: &'static str,
) -> Result<History> {
    let git = repository.cache("cache");
    let is_wanted = Arc::new(move |path: &str| path.starts_with(below));
    Ok(git
        .history(&repository.remote(), from, to, is_wanted)
        .await?)
}

fn ids(history: &History) -> BTreeSet<&str> {
    history.gained.iter().map(|it| it.id.as_str()).collect()
}

#[tokio::test]
async fn commit_tells_its_author_its_title_its_trailers_and_its_files() -> Result<()> {
    let repository = Repository::with_a_commit();
    let first = repository.in_clone(&["rev-parse", "HEAD"]);
    let message = "Say hello\n\nIt was silent.\n\nPathline-Event: 1\nPathline-Event: 2";
    let second = repository.commit(
        &[("app/a", "1\n"), ("app/b/c", "1\n"), ("lib/x", "1\n")],
        message,
    );
    let found = history(&repository, &first, &second, "app/").await?;
    assert_eq!(found.relation, Relation::Forward);
    let [commit] = &found.gained[..] else {
        panic!("{found:?}");
    };
    assert_eq!(
        (commit.id.as_str(), commit.title.as_str()),
        (second.as_str(), "Say hello")
    );
    assert_eq!(commit.parents, [first.as_str()]);
    assert_eq!(commit.touched, ["app/a", "app/b/c"]);
    let values: Vec<_> = commit.trailers.iter().map(|it| it.value.as_str()).collect();
    assert_eq!(values, ["1", "2"]);
    assert_eq!(
        commit.author,
        repository.in_clone(&["log", "-1", "--format=%an"])
    );
    assert_eq!(
        commit.time.to_string(),
        repository.in_clone(&["log", "-1", "--format=%at"])
    );

    let back = history(&repository, &second, &first, "app/").await?;
    assert_eq!(back.relation, Relation::Back);
    assert!(back.gained.is_empty());
    assert_eq!(back.lost, found.gained);
    let same = history(&repository, &second, &second, "app/").await?;
    assert_eq!(
        (same.relation, same.gained.len(), same.lost.len()),
        (Relation::Same, 0, 0)
    );
    Ok(())
}

#[tokio::test]
async fn file_that_becomes_a_directory_or_a_link_is_touched() -> Result<()> {
    let repository = Repository::with_a_commit();
    let first = repository.commit(&[("app/x", "1\n")], "a file");
    repository.in_clone(&["rm", "-q", "app/x"]);
    let second = repository.commit(&[("app/x/y", "1\n")], "a directory");
    let found = history(&repository, &first, &second, "app/").await?;
    assert_eq!(found.gained[0].touched, ["app/x", "app/x/y"]);
    Ok(())
}

#[tokio::test]
async fn history_that_was_pushed_over_begins_at_what_both_have() -> Result<()> {
    let repository = Repository::with_a_commit();
    let base = repository.in_clone(&["rev-parse", "HEAD"]);
    let old = repository.commit(&[("app/a", "old\n")], "old");
    // It was deployed, so it was read while it was there.
    history(&repository, &base, &old, "app/").await?;
    repository.in_clone(&["reset", "-q", "--hard", &base]);
    repository.in_clone(&["push", "-q", "-f", "origin", "HEAD:main"]);
    let new = repository.commit(&[("app/a", "new\n")], "new");
    let found = history(&repository, &old, &new, "app/").await?;
    assert_eq!(found.relation, Relation::Diverged(Some(base)));
    assert_eq!(ids(&found), BTreeSet::from([new.as_str()]));
    assert_eq!(found.lost[0].id, old);
    let unknown = "0123456789012345678901234567890123456789";
    assert_eq!(
        history(&repository, unknown, &new, "app/").await?.relation,
        Relation::Unknown
    );
    assert!(history(&repository, &new, unknown, "app/").await.is_err());
    Ok(())
}

/// Returns what git lists: commits that touch the files, and merges that are unlike every parent.
fn listed(repository: &Repository, from: &str, to: &str, below: &str) -> BTreeSet<String> {
    let range = format!("{from}..{to}");
    let path = below.trim_end_matches('/');
    let lines = |arguments: &[&str]| {
        let listed = repository.in_bare(arguments);
        listed.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let ordinary = [
        "rev-list",
        "--full-history",
        "--no-merges",
        &range,
        "--",
        path,
    ];
    let mut all: BTreeSet<String> = lines(&ordinary).into_iter().collect();
    for merge in lines(&["rev-list", "--merges", "--parents", &range]) {
        let mut ids = merge.split(' ');
        let merge = ids.next().expect("the commit itself");
        let differs =
            |parent: &str| !lines(&["diff", "--name-only", parent, merge, "--", path]).is_empty();
        if ids.all(differs) {
            all.insert(merge.to_owned());
        }
    }
    all
}

/// Makes a random history of ordinary commits, merges of two to four, and roots; returns all commits.
fn play(repository: &Repository, dice: &mut Dice) -> Vec<String> {
    const COMMITS: u64 = 14;
    let mut stream = String::new();
    let mut files: Vec<BTreeMap<String, u64>> = Vec::new();
    for number in 1..=COMMITS {
        let pick = |dice: &mut Dice| 1 + dice.below(number - 1);
        let parents = match (number, dice.below(10)) {
            (1, _) | (_, 0) => Vec::new(),
            (_, 1..=3) => (0..2 + dice.below(3)).map(|_| pick(dice)).collect(),
            _ => vec![pick(dice)],
        };
        let parents: BTreeSet<u64> = parents.into_iter().collect();
        // A merge has a little of each side, and now and then something of its own.
        let mut content = BTreeMap::new();
        for parent in &parents {
            let parent = &files[usize::try_from(*parent - 1).expect("small")];
            let more = parent
                .iter()
                .filter(|_| parents.len() == 1 || dice.below(2) == 0);
            content.extend(
                more.map(|(path, value)| (path.clone(), *value))
                    .collect::<Vec<_>>(),
            );
        }
        if parents.len() < 2 || dice.below(3) == 0 {
            let directory = DIRECTORIES[usize::try_from(dice.below(3)).expect("small")];
            let path = format!("{directory}/{}", dice.below(2));
            match dice.below(5) {
                0 => drop(content.remove(&path)),
                _ => drop(content.insert(path, dice.below(3))),
            }
        }
        // The dates of commits are whatever a clock said.
        let date = 1_600_000_000 + dice.below(1_000);
        stream += &format!("commit refs/heads/c{number}\nmark :{number}\n");
        stream += &format!("committer A <a@example.org> {date} +0000\ndata 4\nstep\n");
        for (place, parent) in parents.iter().enumerate() {
            let word = if place == 0 { "from" } else { "merge" };
            stream += &format!("{word} :{parent}\n");
        }
        stream += "deleteall\n";
        for (path, value) in &content {
            stream += &format!("M 100644 inline {path}\ndata 1\n{value}\n");
        }
        files.push(content);
    }
    import(repository, &stream);
    let all = repository.in_bare(&["for-each-ref", "--format=%(objectname)", "refs/heads/c*"]);
    all.lines().map(str::to_owned).collect()
}

fn import(repository: &Repository, stream: &str) {
    let mut import = Command::new("git");
    import
        .args(["fast-import", "--quiet"])
        .current_dir(repository.bare());
    let mut import = import.stdin(Stdio::piped()).spawn().expect("git starts");
    let mut input = import.stdin.take().expect("it is piped");
    input.write_all(stream.as_bytes()).expect("git reads");
    drop(input);
    assert!(import.wait().expect("git ends").success(), "{stream}");
}

#[tokio::test]
async fn random_histories_are_listed_as_git_lists_them() -> Result<()> {
    let mut dice = Dice::new(seed("histories of git"));
    let histories = if is_nightly() { 1_000 } else { 100 };
    for number in 0..histories {
        let repository = Repository::empty();
        let commits = play(&repository, &mut dice);
        for below in ["app/", "app-2/", "lib/"] {
            let mut pick = || {
                commits[usize::try_from(dice.below(commits.len() as u64)).expect("small")].clone()
            };
            let (from, to) = (pick(), pick());
            let found = history(&repository, &from, &to, below).await?;
            let expected = listed(&repository, &from, &to, below);
            let expected: BTreeSet<&str> = expected.iter().map(String::as_str).collect();
            assert_eq!(
                ids(&found),
                expected,
                "history {number}: {from}..{to} -- {below}"
            );
        }
    }
    Ok(())
}
