//! Files over GitHub's API, against a double of it.

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use pathline_clock::Clock;
use pathline_remote::Secret;
use pathline_remote::source::{
    Known, SourceAnswer, SourceErrorKind, SourceReference, SourceRequest,
};
use pathline_testkit::doubles::Reply;
use pathline_testkit::doubles::github::{GitHub, Limit};
use reqwest::Url;

use crate::polling::{self, TOKEN, http, http_at, sources};

const ONE: &str = "1111111111111111111111111111111111111111";
const TWO: &str = "2222222222222222222222222222222222222222";
/// The id that git gives to `hello\n`.
const HELLO: &str = "ce013625030ba8dba906f756967f9e9ca394464a";

/// A GitHub with one repository that has one file.
fn github(readers: &[&str]) -> GitHub {
    let github = GitHub::start();
    github.add("team/app", readers);
    github.commit(
        "team/app",
        &["HEAD", "heads/main"],
        ONE,
        &[("fathomable.yaml", b"hello\n")],
    );
    github
}

fn request(github: &GitHub, token: &str) -> SourceRequest {
    SourceRequest {
        secret: (!token.is_empty()).then(|| Secret::new(token)),
        github_api: Some(Url::parse(&github.api()).expect("it is a URL")),
        ..polling::request("https://github.example/team/app")
    }
}

fn known(commit: &str, blob: &str) -> Known {
    Known {
        commit: commit.to_owned(),
        blob: Some(blob.to_owned()),
    }
}

fn limit(remaining: u64, reset: i64) -> Limit {
    Limit {
        limit: 5000,
        remaining,
        reset,
    }
}

#[tokio::test]
async fn file_is_read_at_the_commit_that_was_found() -> Result<()> {
    let github = github(&[]);
    let (sources, _cache) = sources(http());
    let (answer, _) = sources.read(&request(&github, ""), None).await?;
    let expected = SourceAnswer::Read {
        commit: ONE.into(),
        blob: HELLO.into(),
        content: b"hello\n".to_vec(),
    };
    assert_eq!(answer, expected);
    let asked = github.server.take_requests();
    let lines: Vec<_> = asked.iter().map(|it| it.line()).collect();
    assert_eq!(
        lines,
        [
            "GET /repos/team/app/commits/heads/main",
            "GET /repos/team/app/contents/fathomable.yaml"
        ]
    );
    assert_eq!(asked[1].parameter("ref").as_deref(), Some(ONE));
    assert_eq!(asked[0].header("authorization"), None);
    Ok(())
}

#[tokio::test]
async fn p01_hundred_polls_without_news_cost_one_request_each_and_no_quota() -> Result<()> {
    let github = github(&[TOKEN]);
    github.limit(TOKEN, limit(100, 2_000_000_000));
    let (sources, _cache) = sources(http());
    for _ in 0..100 {
        let known = known(ONE, HELLO);
        let (answer, signs) = sources.read(&request(&github, TOKEN), Some(&known)).await?;
        assert_eq!(answer, SourceAnswer::Unchanged);
        assert_eq!(signs.quota.map(|it| it.remaining), Some(100));
    }
    assert_eq!(github.server.take_requests().len(), 100);
    assert_eq!(github.remaining(TOKEN), Some(100));
    assert_eq!(github.server.connections(), 1);
    Ok(())
}

#[tokio::test]
async fn p02_new_token_still_asks_by_the_commit() -> Result<()> {
    let github = github(&[TOKEN]);
    let (sources, _cache) = sources(http());
    let known = known(ONE, HELLO);
    sources.read(&request(&github, TOKEN), Some(&known)).await?;
    github.set_readers("team/app", &["ghp_another"]);
    let asked = request(&github, "ghp_another");
    let (answer, _) = sources.read(&asked, Some(&known)).await?;
    assert_eq!(answer, SourceAnswer::Unchanged);
    let asked = github.server.take_requests();
    assert_eq!(asked.len(), 2);
    for request in asked {
        let condition = request.header("if-none-match");
        assert_eq!(condition, Some(&*format!("\"{ONE}\"")));
    }
    Ok(())
}

#[tokio::test]
async fn p03_commit_that_moved_with_the_same_file_is_told_apart() -> Result<()> {
    let github = github(&[]);
    github.commit(
        "team/app",
        &["heads/main"],
        TWO,
        &[("fathomable.yaml", b"hello\n")],
    );
    let (sources, _cache) = sources(http());
    let known = known(ONE, HELLO);
    let (answer, _) = sources.read(&request(&github, ""), Some(&known)).await?;
    let expected = SourceAnswer::Moved {
        commit: TWO.into(),
        blob: HELLO.into(),
    };
    assert_eq!(answer, expected);
    Ok(())
}

#[tokio::test]
async fn branches_tags_and_the_default_branch_are_asked_by_their_names() -> Result<()> {
    let github = github(&[]);
    let references = ["heads/feature/a b", "tags/v1.0", "HEAD"];
    github.commit(
        "team/app",
        &references,
        TWO,
        &[("a/fathomable.yaml", b"hello\n")],
    );
    let (sources, _cache) = sources(http());
    for (reference, line) in [
        (SourceReference::Tag("v1.0".into()), "tags/v1.0"),
        (SourceReference::Head, "HEAD"),
    ] {
        let request = SourceRequest {
            reference,
            path: "a/fathomable.yaml".into(),
            ..request(&github, "")
        };
        let (answer, _) = sources.read(&request, None).await?;
        assert!(matches!(answer, SourceAnswer::Read { commit, .. } if commit == TWO));
        let asked = github.server.take_requests();
        assert_eq!(
            asked[0].line(),
            format!("GET /repos/team/app/commits/{line}")
        );
        assert_eq!(asked[1].path, "/repos/team/app/contents/a/fathomable.yaml");
    }
    let strange = SourceRequest {
        reference: SourceReference::Branch("feature/#1?x".into()),
        ..request(&github, "")
    };
    sources.read(&strange, None).await.unwrap_err();
    let asked = github.server.take_requests();
    assert_eq!(
        asked[0].path,
        "/repos/team/app/commits/heads/feature/%231%3Fx"
    );
    Ok(())
}

#[tokio::test]
async fn commit_stands_for_itself_and_is_read_once() -> Result<()> {
    let github = github(&[]);
    let (sources, _cache) = sources(http());
    let request = SourceRequest {
        reference: SourceReference::Commit(ONE.into()),
        ..request(&github, "")
    };
    let (answer, _) = sources.read(&request, None).await?;
    assert!(matches!(answer, SourceAnswer::Read { .. }), "{answer:?}");
    assert_eq!(github.server.take_requests().len(), 1);
    let known = known(ONE, HELLO);
    let (answer, _) = sources.read(&request, Some(&known)).await?;
    assert_eq!(answer, SourceAnswer::Unchanged);
    assert!(github.server.take_requests().is_empty());
    Ok(())
}

#[tokio::test]
async fn missing_things_are_told_apart_and_what_may_not_be_read_is_missing() -> Result<()> {
    let github = github(&[TOKEN]);
    github.add("team/secret", &["ghp_another"]);
    github.commit(
        "team/app",
        &["heads/bare"],
        TWO,
        &[("fathomable.yaml/x", b"")],
    );
    let (sources, _cache) = sources(http());
    let branch = |name: &str| SourceReference::Branch(name.to_owned());
    let at = |url: &str, reference| SourceRequest {
        url: url.to_owned(),
        reference,
        ..request(&github, TOKEN)
    };
    let app = "https://github.example/team/app";
    let file_missing = SourceErrorKind::FileMissing { commit: TWO.into() };
    for (request, kind) in [
        (at(app, branch("nowhere")), SourceErrorKind::RefMissing),
        (
            at("https://github.example/team/none", branch("main")),
            SourceErrorKind::RefMissing,
        ),
        (
            at("https://github.example/team/secret", branch("main")),
            SourceErrorKind::RefMissing,
        ),
        (at(app, branch("bare")), file_missing.clone()),
        (
            SourceRequest {
                path: "other.yaml".into(),
                ..at(app, branch("bare"))
            },
            file_missing,
        ),
    ] {
        let error = sources.read(&request, None).await.unwrap_err();
        assert_eq!(error.kind, kind, "{error}");
    }
    github
        .server
        .reply_next(Reply::new(409).body("Git Repository is empty."));
    let error = sources.read(&at(app, branch("main")), None).await;
    assert_eq!(error.unwrap_err().kind, SourceErrorKind::RefMissing);
    Ok(())
}

#[tokio::test]
async fn file_of_more_than_a_mebibyte_is_too_large() -> Result<()> {
    let github = github(&[]);
    let (sources, _cache) = sources(http());
    let (just, over) = (vec![b'x'; 1 << 20], vec![b'x'; (1 << 20) + 1]);
    github.commit(
        "team/app",
        &["heads/main"],
        ONE,
        &[("fathomable.yaml", &just)],
    );
    let (answer, _) = sources.read(&request(&github, ""), None).await?;
    assert!(matches!(answer, SourceAnswer::Read { .. }));
    github.commit(
        "team/app",
        &["heads/main"],
        TWO,
        &[("fathomable.yaml", &over)],
    );
    let error = sources.read(&request(&github, ""), None).await.unwrap_err();
    assert_eq!(error.kind, SourceErrorKind::TooLarge { commit: TWO.into() });
    Ok(())
}

#[tokio::test]
async fn p07_exhausted_quota_says_until_when() -> Result<()> {
    let now = Timestamp::from_second(1_800_000_000)?;
    let github = github(&[TOKEN, "ghp_another"]);
    github.limit(TOKEN, limit(0, now.as_second() + 600));
    let (sources, _cache) = sources(http_at(Clock::standing(now)));
    let error = sources.read(&request(&github, TOKEN), None).await;
    let error = error.unwrap_err();
    assert_eq!(error.kind, SourceErrorKind::RateLimited, "{error}");
    assert_eq!(error.status, Some(403));
    let quota = error.signs.quota.expect("it was told");
    assert_eq!(quota.floor(now), Some(now + SignedDuration::from_secs(600)));
    let other = sources.read(&request(&github, "ghp_another"), None).await;
    assert!(other.is_ok(), "other credentials are not affected");
    Ok(())
}

#[tokio::test]
async fn p08_too_many_requests_say_when_to_come_back() -> Result<()> {
    let now = Timestamp::from_second(1_800_000_000)?;
    let github = github(&[]);
    let (sources, _cache) = sources(http_at(Clock::standing(now)));
    let soon = now + SignedDuration::from_secs(30);
    for status in [429, 403] {
        let reply = Reply::new(status).header("retry-after", "30");
        github.server.reply_next(reply);
        let error = sources.read(&request(&github, ""), None).await.unwrap_err();
        assert_eq!(error.kind, SourceErrorKind::RateLimited, "{error}");
        assert_eq!(error.signs.retry_after, Some(soon));
    }
    // The secondary limit is sometimes told in words alone.
    let words = "{\"message\": \"You have exceeded a secondary rate limit.\"}";
    github.server.reply_next(Reply::new(403).body(words));
    let error = sources.read(&request(&github, ""), None).await.unwrap_err();
    assert_eq!(error.kind, SourceErrorKind::RateLimited, "{error}");
    let minute = now + SignedDuration::from_secs(60);
    assert_eq!(error.signs.retry_after, Some(minute));
    Ok(())
}

#[tokio::test]
async fn p09_forbidden_without_a_limit_is_a_matter_of_credentials() -> Result<()> {
    let github = github(&[TOKEN]);
    github.limit(TOKEN, limit(100, 2_000_000_000));
    let (sources, _cache) = sources(http());
    github
        .server
        .reply_next(Reply::new(403).body("Resource not accessible"));
    let error = sources.read(&request(&github, TOKEN), None).await;
    assert_eq!(error.unwrap_err().kind, SourceErrorKind::AuthFailed);
    let error = sources.read(&request(&github, "ghp_wrong"), None).await;
    let error = error.unwrap_err();
    assert_eq!(
        (error.kind, error.status),
        (SourceErrorKind::AuthFailed, Some(401))
    );
    Ok(())
}

#[tokio::test]
async fn renamed_repository_is_followed_and_told_every_time() -> Result<()> {
    let github = github(&[TOKEN]);
    github.rename("team/app", "team/new-app");
    let (sources, _cache) = sources(http());
    let (answer, signs) = sources.read(&request(&github, TOKEN), None).await?;
    assert!(matches!(answer, SourceAnswer::Read { .. }), "{answer:?}");
    let moved = signs.moved.expect("it has moved");
    assert!(moved.from.ends_with("/repos/team/app/commits/heads/main"));
    assert!(moved.to.ends_with("/repositories/1/commits/heads/main"));
    let known = known(ONE, HELLO);
    let (answer, signs) = sources.read(&request(&github, TOKEN), Some(&known)).await?;
    assert_eq!(answer, SourceAnswer::Unchanged);
    assert!(signs.moved.is_some());
    Ok(())
}

#[tokio::test]
async fn c15_token_in_an_error_of_github_is_not_shown() -> Result<()> {
    let github = github(&["ghp_another"]);
    github.echo();
    let (sources, _cache) = sources(http());
    let asked = request(&github, TOKEN);
    let error = sources.read(&asked, None).await.unwrap_err();
    let shown = format!("{error} {error:?} {asked:?} {sources:?}");
    assert!(shown.contains("Bad credentials"), "{shown}");
    assert!(!shown.contains("sentinel"), "{shown}");
    Ok(())
}

#[tokio::test]
async fn nonsense_of_the_host_is_a_failure_and_nothing_is_sent_in_clear_text() -> Result<()> {
    let github = github(&[]);
    let (sources, _cache) = sources(http());
    for reply in [
        Reply::new(200).body("<html>"),
        Reply::new(200).body("x".repeat(1000)),
        Reply::new(304),
        Reply::new(204),
        Reply::new(502),
    ] {
        github.server.reply_next(reply);
        let error = sources.read(&request(&github, ""), None).await.unwrap_err();
        assert_eq!(error.kind, SourceErrorKind::Failed, "{error}");
    }
    github.server.take_requests();
    let plain = SourceRequest {
        allow_http: false,
        ..request(&github, TOKEN)
    };
    let error = sources.read(&plain, None).await.unwrap_err();
    assert_eq!(error.kind, SourceErrorKind::Failed, "{error}");
    assert!(github.server.take_requests().is_empty());
    Ok(())
}
