//! Files at revisions of the repository one works in.

use anyhow::Result;
use pathline_remote::local::{Error, file_at};
use pathline_testkit::git;

/// Makes a repository with two commits of `conf/app.yaml`.
fn repository() -> Result<tempfile::TempDir> {
    let directory = tempfile::tempdir()?;
    let top = directory.path();
    git(top, &["init", "-q", "-b", "main"]);
    std::fs::create_dir(top.join("conf"))?;
    for content in ["size: 1\n", "size: 2\n"] {
        std::fs::write(top.join("conf/app.yaml"), content)?;
        git(top, &["add", "."]);
        git(top, &["commit", "-q", "-m", "size"]);
    }
    Ok(directory)
}

#[test]
fn path_is_from_the_top_unless_it_begins_with_a_dot() -> Result<()> {
    let repository = repository()?;
    let below = repository.path().join("conf");
    assert_eq!(file_at(&below, "main", "./app.yaml")?, b"size: 2\n");
    assert_eq!(file_at(&below, "HEAD~1", "conf/app.yaml")?, b"size: 1\n");
    assert_eq!(
        file_at(repository.path(), "main", "./conf/app.yaml")?,
        b"size: 2\n"
    );
    Ok(())
}

#[test]
fn what_is_not_there_is_named() -> Result<()> {
    let repository = repository()?;
    let top = repository.path();
    let missing = file_at(top, "main", "conf/none.yaml").unwrap_err();
    assert_eq!(
        missing.to_string(),
        "there is no file `conf/none.yaml` at `main`"
    );
    let directory = file_at(top, "main", "conf").unwrap_err();
    assert!(matches!(directory, Error::NoSuchFile { .. }));
    let revision = file_at(top, "nowhere", "conf/app.yaml").unwrap_err();
    assert_eq!(
        revision.to_string(),
        "the repository has no commit `nowhere`"
    );
    let outside = tempfile::tempdir()?;
    let nothing = file_at(outside.path(), "main", "a").unwrap_err();
    assert!(matches!(nothing, Error::NoRepository { .. }));
    Ok(())
}

#[test]
fn hole_4_file_that_is_too_large_is_not_read() -> Result<()> {
    let repository = repository()?;
    let top = repository.path();
    std::fs::File::create(top.join("zeros"))?.set_len(17 << 20)?;
    git(top, &["add", "."]);
    git(top, &["commit", "-q", "-m", "zeros"]);
    let refused = file_at(top, "main", "zeros").unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`zeros` has 17825792 bytes at `main`, and at most 16777216 are read"
    );
    Ok(())
}

#[test]
fn path_that_leaves_the_repository_names_no_file() -> Result<()> {
    let repository = repository()?;
    let below = repository.path().join("conf");
    for path in [
        "./../../etc/passwd",
        "../conf/app.yaml",
        "/etc/passwd",
        "",
        "./",
        "conf/app.yaml/x",
    ] {
        let refused = file_at(&below, "main", path);
        assert!(refused.is_err(), "{path:?}");
    }
    Ok(())
}

#[test]
fn bare_repository_has_its_files_from_the_top() -> Result<()> {
    let repository = repository()?;
    let bare = repository.path().join("bare.git");
    git(
        repository.path(),
        &["clone", "-q", "--bare", ".", "bare.git"],
    );
    for path in ["conf/app.yaml", "./conf/app.yaml"] {
        assert_eq!(file_at(&bare, "main", path)?, b"size: 2\n", "{path}");
    }
    Ok(())
}

#[test]
fn damaged_repository_cannot_be_read() -> Result<()> {
    let repository = repository()?;
    let top = repository.path();
    let blob = git(top, &["rev-parse", "main:conf/app.yaml"]);
    let object = top.join(".git/objects").join(&blob[..2]).join(&blob[2..]);
    std::fs::remove_file(object)?;
    let refused = file_at(top, "main", "conf/app.yaml").unwrap_err();
    assert!(matches!(refused, Error::Unreadable(_)), "{refused:?}");
    assert_eq!(file_at(top, "main~1", "conf/app.yaml")?, b"size: 1\n");
    Ok(())
}
