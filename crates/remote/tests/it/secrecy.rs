//! No secret is in a log, however much is logged.

use std::io::{self, Write};
use std::sync::Arc;

use anyhow::Result;
use parking_lot::Mutex;
use pathline_remote::Secret;
use pathline_remote::source::SourceRequest;
use pathline_testkit::doubles::github::GitHub;
use pathline_testkit::doubles::registry::{Auth, Behaviour, Registry};
use pathline_testkit::git_server::{GitServer, Options};
use reqwest::Url;

use crate::polling::{TOKEN, http, image, login, registries, request, sources};
use crate::repository::Repository;

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// In a process of its own, since there is one log in each.
#[test]
fn c14_secrets_are_in_no_log_and_no_error() -> Result<()> {
    const NAME: &str = "secrecy::c14_secrets_are_in_no_log_and_no_error";
    if let Some(mut child) = pathline_testkit::child_of(NAME) {
        let ran = child.output()?;
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success() && said.contains("1 passed"), "{said}");
        return Ok(());
    }
    let log = Log::default();
    let writer = log.clone();
    tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(move || writer.clone())
        .init();
    let told = tokio::runtime::Runtime::new()?.block_on(everything());
    let log = String::from_utf8_lossy(&log.0.lock()).into_owned();
    assert!(log.contains("127.0.0.1"), "there is a log");
    for text in [&log, &told] {
        // As it is, and in base64 wherever it begins.
        for form in [
            "sentinel",
            "c2VudGluZW",
            "NlbnRpbmVs",
            "zZW50aW5lb",
            "token-0-",
        ] {
            let at = text.find(form);
            let around = at.map(|at| &text[at.saturating_sub(200)..at]);
            assert_eq!(around, None, "{form} is told");
        }
    }
    Ok(())
}

/// Asks everybody, with and without success, and returns all that can be printed of it.
async fn everything() -> String {
    let mut told = Vec::new();
    let github = GitHub::start();
    github.add("team/app", &["ghp_another"]);
    github.echo();
    let (sources, _cache) = sources(http());
    let secret = Some(Secret::new(TOKEN));
    let asked = SourceRequest {
        secret: secret.clone(),
        github_api: Url::parse(&github.api()).ok(),
        ..request("https://github.example/team/app")
    };
    told.push(format!("{asked:?} {:?}", sources.read(&asked, None).await));
    github.set_readers("team/app", &[TOKEN]);
    told.push(format!("{:?}", sources.read(&asked, None).await));

    let repository = Repository::with_a_commit();
    for authorization in [None, Some("Basic x".to_owned())] {
        let options = Options {
            authorization,
            ..Options::default()
        };
        let bare = repository.bare();
        let server = GitServer::start(bare.parent().expect("it is in a directory"), options);
        let asked = SourceRequest {
            secret: secret.clone(),
            path: "README".to_owned(),
            ..request(&server.url("origin.git"))
        };
        told.push(format!("{:?}", sources.read(&asked, None).await));
    }
    told.push(format!("{sources:?}"));

    let bot = login("bot", TOKEN);
    for auth in [
        Auth::Basic("bot".into(), TOKEN.into()),
        Auth::Bearer(Some(("bot".into(), TOKEN.into()))),
        Auth::Bearer(Some(("bot".into(), "another".into()))),
    ] {
        let registry = Registry::start(Behaviour {
            auth,
            ..Behaviour::default()
        });
        registry.push("team/app", "v1", &[]);
        let client = registries(http(), &[&registry.host()]);
        let app = image(&registry.host(), "team/app");
        let head = client.head(&app, "v1", Some(&bot), None).await;
        let tags = client.tags(&app, Some(&bot)).await;
        told.push(format!("{bot:?} {head:?} {tags:?} {client:?}"));
    }
    told.join("\n")
}
