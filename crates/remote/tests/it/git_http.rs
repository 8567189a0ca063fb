use anyhow::Result;
use pathline_remote::archive::Limits;
use pathline_remote::git::{Credentials, Error, Kept, Reference, Remote};
use pathline_testkit::git_server as cgi;

use crate::repository::{Repository, change};

/// `bot:s3cret`, as basic authentication sends it.
const AUTHORIZATION: &str = "Basic Ym90OnMzY3JldA==";

#[tokio::test]
async fn reading_and_writing_work_over_http() -> Result<()> {
    let repository = Repository::with_a_commit();
    let address = cgi::serve(repository.bare().parent().unwrap(), None);
    let remote = Remote::new(&format!("http://{address}/origin.git"))?;
    let git = repository.cache("cache");
    let main = Reference::branch("main");
    let first = git.fetch(&remote, &main).await?;
    assert_eq!(first.commit, repository.in_bare(&["rev-parse", "main"]));
    let written = git.commit(&remote, change(&[("over", "http\n")])).await?;
    assert_eq!(
        written.tip.commit,
        repository.in_bare(&["rev-parse", "main"])
    );
    assert_eq!(git.resolve(&remote, &main).await?, written.tip);
    repository.assert_sound();
    Ok(())
}

#[tokio::test]
async fn older_server_is_read_and_written_too() -> Result<()> {
    let repository = Repository::with_a_commit();
    let address = cgi::serve_version_0(repository.bare().parent().unwrap());
    let remote = Remote::new(&format!("http://{address}/origin.git"))?;
    let git = repository.cache("cache");
    let main = Reference::branch("main");
    git.fetch(&remote, &main).await?;
    repository.in_clone(&["tag", "-a", "v1", "-m", "a tag"]);
    repository.in_clone(&["push", "-q", "origin", "v1"]);
    let tagged = git.fetch(&remote, &Reference::Tag("v1".into())).await?;
    assert_eq!(tagged.commit, repository.in_bare(&["rev-parse", "main"]));
    let written = git.commit(&remote, change(&[("over", "http\n")])).await?;
    let later = repository_commit_on(&repository);
    let fetched = git.fetch(&remote, &main).await?;
    assert_eq!(fetched.commit, later);
    let files = ["over".to_owned()];
    let kept = git
        .kept(&remote, &written.tip.commit, &files, &later)
        .await?;
    assert_eq!(kept, Kept::All);
    let into = repository.scratch("archives");
    git.archive(&remote, &fetched, &into, Limits::default())
        .await?;
    let missing = git.resolve(&remote, &Reference::branch("nowhere")).await;
    assert!(matches!(missing, Err(Error::UnknownReference { .. })));
    Ok(())
}

/// Commits on top of what was pushed by others.
fn repository_commit_on(repository: &Repository) -> String {
    repository.in_clone(&["pull", "-q", "origin", "main"]);
    repository.commit(&[("more", "content\n")], "more")
}

#[tokio::test]
async fn credentials_never_travel_in_clear_text_and_are_never_shown() -> Result<()> {
    let repository = Repository::with_a_commit();
    let address = cgi::serve(repository.bare().parent().unwrap(), Some(AUTHORIZATION));
    let git = repository.cache("cache");
    let known = Credentials {
        username: "bot".into(),
        password: "s3cret".into(),
    };
    let remote = Remote::new(&format!("http://{address}/origin.git"))?.with_credentials(known);
    for error in [
        git.fetch(&remote, &Reference::branch("main"))
            .await
            .unwrap_err(),
        git.commit(&remote, change(&[("a", "b")]))
            .await
            .unwrap_err(),
    ] {
        assert!(error.to_string().contains("clear text"), "{error}");
        assert!(
            !format!("{error} {error:?}").contains("s3cret"),
            "{error:?}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_server_that_wants_credentials_is_told_apart_from_one_that_is_down() -> Result<()> {
    let repository = Repository::with_a_commit();
    let address = cgi::serve(repository.bare().parent().unwrap(), Some(AUTHORIZATION));
    let remote = Remote::new(&format!("http://{address}/origin.git"))?;
    let git = repository.cache("cache");
    let error = git
        .resolve(&remote, &Reference::branch("main"))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Unauthenticated { .. }), "{error:?}");
    Ok(())
}

#[tokio::test]
async fn a_closed_port_is_an_error_that_names_the_remote() -> Result<()> {
    let free = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let repository = Repository::empty();
    for scheme in ["http", "https"] {
        let remote = Remote::new(&format!("{scheme}://{free}/origin.git"))?;
        let git = repository.cache("cache");
        let error = git
            .resolve(&remote, &Reference::branch("main"))
            .await
            .unwrap_err();
        assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
        assert!(error.to_string().contains(&free.to_string()), "{error}");
    }
    Ok(())
}
