//! The pace of requests: each one that is sent waits for its turn, by the host that it goes to.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;
use parking_lot::Mutex;
use pathline_remote::http::{FailureKind, Pace, Request, Signs, Turn};
use pathline_remote::registry::{Head, RegistryErrorKind};
use pathline_remote::source::{Known, SourceAnswer};
use pathline_testkit::doubles::github::GitHub;
use pathline_testkit::doubles::registry::{Auth, Behaviour, Registry};
use pathline_testkit::doubles::{Reply, Server};
use reqwest::Url;

use crate::polling::{TOKEN, http, http_among, image, login, registries, request, sources};
use crate::repository::Repository;

/// Counts turns, and lets everybody pass until a host says otherwise.
#[derive(Debug, Default)]
struct Counted {
    turns: Mutex<BTreeMap<String, usize>>,
    until: Mutex<Option<Timestamp>>,
}

impl Counted {
    fn take(&self) -> BTreeMap<String, usize> {
        std::mem::take(&mut self.turns.lock())
    }

    /// Returns the number of turns since the last time; all were for one host.
    fn take_of(&self, host: &str) -> usize {
        let mut turns = self.take();
        let count = turns.remove(host).unwrap_or_default();
        assert_eq!(turns, BTreeMap::new(), "nobody else was asked");
        count
    }
}

impl Pace for Counted {
    fn turn<'a>(&'a self, host: &'a str) -> Turn<'a> {
        Box::pin(async move {
            if let Some(until) = *self.until.lock() {
                return Err(until);
            }
            *self.turns.lock().entry(host.to_owned()).or_default() += 1;
            Ok(())
        })
    }

    fn heed(&self, _: &str, signs: &Signs) {
        let quota = signs.quota.filter(|it| it.remaining == 0);
        let mut until = self.until.lock();
        *until = signs
            .retry_after
            .max(quota.and_then(|it| it.reset))
            .max(*until);
    }
}

/// Takes longer than any time-out lets a request take, by a clock that is not waited for.
#[derive(Debug)]
struct Slow;

impl Pace for Slow {
    fn turn<'a>(&'a self, _: &'a str) -> Turn<'a> {
        Box::pin(async {
            tokio::time::pause();
            tokio::time::sleep(Duration::from_secs(3600)).await;
            tokio::time::resume();
            Ok(())
        })
    }

    fn heed(&self, _: &str, _: &Signs) {}
}

#[tokio::test]
async fn p14_each_request_to_a_registry_takes_a_turn_pages_and_tokens_too() -> Result<()> {
    let registry = Registry::start(Behaviour {
        auth: Auth::Bearer(Some(("bot".into(), TOKEN.into()))),
        expires_in: Some(300),
        page: Some(1),
        ..Behaviour::default()
    });
    let digest = registry.push("team/app", "v1", &[("a", "b")]);
    registry.push("team/app", "v2", &[]);
    registry.push("team/app", "v3", &[]);
    registry.server.take_requests();
    let (host, app) = (registry.host(), image(&registry.host(), "team/app"));
    let (pace, login) = (Arc::new(Counted::default()), login("bot", TOKEN));
    let client = registries(http(), &[&host]).paced(pace.clone());
    let asked = || registry.server.take_requests().len();

    client.head(&app, "v1", Some(&login), None).await?;
    assert_eq!((asked(), pace.take_of(&host)), (3, 3), "the first time");
    let (head, _) = client.head(&app, "v1", Some(&login), Some(&digest)).await?;
    assert_eq!(head, Head::Unchanged);
    assert_eq!((asked(), pace.take_of(&host)), (1, 1), "the next time");
    let (_, pages, _) = client.tags(&app, Some(&login)).await?;
    assert_eq!((pages, asked(), pace.take_of(&host)), (3, 3, 3));
    client.describe(&app, &digest, Some(&login)).await?;
    assert_eq!((asked(), pace.take_of(&host)), (2, 2), "manifest, labels");
    Ok(())
}

#[tokio::test]
async fn redirect_takes_a_turn_of_the_host_that_it_leads_to() -> Result<()> {
    let end = Server::start(|_| Reply::new(200).body("here"));
    let target = format!("{}/end", end.url());
    let server = Server::start(move |_| Reply::new(307).header("location", target.as_str()));
    let pace = Arc::new(Counted::default());
    let asked = Request::get(Url::parse(&server.url())?).allow_http(true);
    let client = http_among(&[&end.address.to_string()]);
    client.paced(pace.clone()).send(asked).await?;
    let hosts = [server.address, end.address].map(|it| (it.to_string(), 1));
    assert_eq!(pace.take(), BTreeMap::from(hosts));
    Ok(())
}

#[tokio::test]
async fn repository_takes_a_turn_for_each_request_and_one_where_git_itself_talks() -> Result<()> {
    let github = GitHub::start();
    github.add("team/app", &[]);
    let commit = "0123456789012345678901234567890123456789";
    github.commit(
        "team/app",
        &["heads/main"],
        commit,
        &[("fathomable.yaml", b"a: b")],
    );
    let pace = Arc::new(Counted::default());
    let (sources, _cache) = sources(http());
    let sources = sources.paced(pace.clone());
    let mut asked = request("http://github.example/team/app");
    asked.github_api = Some(Url::parse(&github.api())?);
    let host = github.server.address.to_string();
    let (answer, _) = sources.read(&asked, None).await?;
    let SourceAnswer::Read { blob, .. } = answer else {
        panic!("it was not known: {answer:?}");
    };
    assert_eq!(pace.take_of(&host), 2, "the commit, and the file");
    let known = Known {
        commit: commit.to_owned(),
        blob: Some(blob),
    };
    let (answer, _) = sources.read(&asked, Some(&known)).await?;
    assert_eq!((answer, pace.take_of(&host)), (SourceAnswer::Unchanged, 1));

    let repository = Repository::with_a_commit();
    let asked = request(&format!("file://{}", repository.bare().display()));
    let known = Known {
        commit: repository.in_bare(&["rev-parse", "main"]),
        blob: None,
    };
    let (answer, _) = sources.read(&asked, Some(&known)).await?;
    assert_eq!((answer, pace.take_of("")), (SourceAnswer::Unchanged, 1));
    Ok(())
}

#[tokio::test]
async fn wait_for_a_turn_is_no_part_of_the_time_that_a_request_may_take() -> Result<()> {
    let server = Server::start(|request| match request.path.as_str() {
        "/" => Reply::new(307).header("location", "/end"),
        _ => Reply::new(200).body("here"),
    });
    let asked = Request::get(Url::parse(&server.url())?).allow_http(true);
    let answer = http().paced(Arc::new(Slow)).send(asked).await?;
    assert_eq!(answer.body, b"here");
    Ok(())
}

#[tokio::test]
async fn host_that_wants_to_be_left_alone_in_the_middle_of_a_list_is() -> Result<()> {
    let registry = Registry::start(Behaviour::default());
    let (host, app) = (registry.host(), image(&registry.host(), "team/app"));
    let page = Reply::new(200)
        .header("link", "</v2/team/app/tags/list?last=v1>; rel=\"next\"")
        .header("x-ratelimit-remaining", "0")
        .header("x-ratelimit-reset", "600")
        .body(r#"{"tags": ["v1"]}"#);
    registry.server.reply_next(page);
    let pace = Arc::new(Counted::default());
    let client = registries(http(), &[&host]).paced(pace.clone());
    let error = client.tags(&app, None).await.unwrap_err();
    assert_eq!(error.kind, RegistryErrorKind::RateLimited, "{error}");
    let until = pace.until.lock().expect("it says until when").to_string();
    assert!(
        error.message.contains(&host) && error.message.contains(&until),
        "{error}"
    );
    assert_eq!(registry.server.take_requests().len(), 1);
    let asked = Request::get(Url::parse(&registry.server.url())?).allow_http(true);
    let failure = http().paced(pace).send(asked).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Held, "nor is it asked by others");
    Ok(())
}
