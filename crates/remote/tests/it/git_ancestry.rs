//! Files of one commit that are still there at another.

use anyhow::Result;
use pathline_remote::git::{Kept, Reference};

use crate::repository::Repository;

fn files(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

#[tokio::test]
async fn later_commit_keeps_what_an_earlier_one_wrote_unless_it_changes_it() -> Result<()> {
    let repository = Repository::with_a_commit();
    let (git, remote) = (repository.cache("cache"), repository.remote());
    let app = files(&["app/deploy.yaml"]);
    let written = repository.commit(&[("app/deploy.yaml", "v: 1\n")], "app at 1");
    assert_eq!(
        git.kept(&remote, &written, &app, &written).await?,
        Kept::All
    );
    let beside = repository.commit(&[("other/deploy.yaml", "v: 1\n")], "other at 1");
    assert_eq!(git.kept(&remote, &written, &app, &beside).await?, Kept::All);
    let over = repository.commit(&[("app/deploy.yaml", "v: 2\n")], "app at 2");
    assert_eq!(
        git.kept(&remote, &written, &app, &over).await?,
        Kept::Changed(vec!["app/deploy.yaml".into()])
    );
    assert_eq!(
        git.kept(&remote, &beside, &files(&["other/deploy.yaml"]), &over)
            .await?,
        Kept::All
    );
    Ok(())
}

#[tokio::test]
async fn content_that_comes_back_is_kept() -> Result<()> {
    let repository = Repository::with_a_commit();
    let (git, remote) = (repository.cache("cache"), repository.remote());
    let written = repository.commit(&[("a", "1\n")], "one");
    repository.commit(&[("a", "2\n")], "two");
    let back = repository.commit(&[("a", "1\n")], "one again");
    assert_eq!(
        git.kept(&remote, &written, &files(&["a"]), &back).await?,
        Kept::All
    );
    Ok(())
}

#[tokio::test]
async fn earlier_and_foreign_commits_do_not_build_on_it() -> Result<()> {
    let repository = Repository::with_a_commit();
    let (git, remote) = (repository.cache("cache"), repository.remote());
    let first = repository.in_clone(&["rev-parse", "HEAD"]);
    let second = repository.commit(&[("a", "1\n")], "second");
    assert_eq!(
        git.kept(&remote, &second, &files(&["a"]), &first).await?,
        Kept::Elsewhere
    );
    let a = files(&["a"]);
    let unknown = "0123456789012345678901234567890123456789";
    assert_eq!(
        git.kept(&remote, unknown, &a, &second).await?,
        Kept::Elsewhere
    );
    repository.in_clone(&["checkout", "-q", "-b", "side", &first]);
    repository.in_clone(&["commit", "-q", "--allow-empty", "-m", "on a side branch"]);
    repository.in_clone(&["push", "-q", "origin", "side"]);
    let side = repository.in_clone(&["rev-parse", "HEAD"]);
    assert_eq!(
        git.kept(&remote, &second, &a, &side).await?,
        Kept::Elsewhere
    );
    assert!(git.kept(&remote, &second, &a, unknown).await.is_err());
    assert!(git.kept(&remote, "main", &a, &second).await.is_err());
    Ok(())
}

#[tokio::test]
async fn removed_file_stays_removed_and_a_fetch_without_history_is_no_obstacle() -> Result<()> {
    let repository = Repository::with_a_commit();
    let (git, remote) = (repository.cache("cache"), repository.remote());
    let readme = files(&["README"]);
    repository.in_clone(&["rm", "-q", "README"]);
    repository.in_clone(&["commit", "-q", "-m", "remove"]);
    repository.in_clone(&["push", "-q", "origin", "HEAD:main"]);
    let removed = repository.in_clone(&["rev-parse", "HEAD"]);
    let later = repository.commit(&[("b", "1\n")], "later");
    git.fetch(&remote, &Reference::branch("main")).await?;
    assert_eq!(
        git.kept(&remote, &removed, &readme, &later).await?,
        Kept::All
    );
    let again = repository.commit(&[("README", "hello\n")], "it is back");
    assert_eq!(
        git.kept(&remote, &removed, &readme, &again).await?,
        Kept::Changed(vec!["README".into()])
    );
    Ok(())
}

#[tokio::test]
async fn commit_that_was_merged_is_kept_by_the_merge_alone() -> Result<()> {
    let repository = Repository::with_a_commit();
    let (git, remote) = (repository.cache("cache"), repository.remote());
    let a = files(&["a"]);
    repository.in_clone(&["checkout", "-q", "-b", "side"]);
    std::fs::write(repository.scratch("clone/a"), "1\n")?;
    repository.in_clone(&["add", "a"]);
    repository.in_clone(&["commit", "-q", "-m", "on the side"]);
    let side = repository.in_clone(&["rev-parse", "HEAD"]);
    repository.in_clone(&["checkout", "-q", "main"]);
    let main = repository.commit(&[("b", "1\n")], "on main");
    repository.in_clone(&["merge", "-q", "--no-edit", "side"]);
    repository.in_clone(&["push", "-q", "origin", "main"]);
    let merge = repository.in_clone(&["rev-parse", "HEAD"]);
    assert_eq!(git.kept(&remote, &side, &a, &merge).await?, Kept::All);
    assert_eq!(git.kept(&remote, &side, &a, &main).await?, Kept::Elsewhere);
    assert_eq!(
        git.kept(&remote, &main, &a, &merge).await?,
        Kept::Changed(a)
    );
    Ok(())
}

#[tokio::test]
async fn file_that_becomes_executable_is_changed() -> Result<()> {
    let repository = Repository::with_a_commit();
    let (git, remote) = (repository.cache("cache"), repository.remote());
    let readme = files(&["README"]);
    let written = repository.in_clone(&["rev-parse", "HEAD"]);
    repository.in_clone(&["update-index", "--chmod=+x", "README"]);
    repository.in_clone(&["commit", "-q", "-m", "executable"]);
    repository.in_clone(&["push", "-q", "origin", "HEAD:main"]);
    let later = repository.in_clone(&["rev-parse", "HEAD"]);
    let kept = git.kept(&remote, &written, &readme, &later).await?;
    assert_eq!(kept, Kept::Changed(readme));
    Ok(())
}
