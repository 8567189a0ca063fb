//! Interim responses: a host may send some of them, and keeps nobody else waiting with more.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use pathline_remote::http::{FailureKind, Request};
use pathline_remote::registry::RegistryErrorKind;
use pathline_testkit::doubles::{Reply, Server};
use pathline_testkit::scripted_server;
use reqwest::Url;
use tokio::task::JoinSet;

use crate::polling::{http, image, registries, request, sources};

/// More than the sockets between two programs hold, and much less than one turn of hyper reads when it is not stopped: 128
/// times its buffer.
const MAX_SENT: usize = 24 << 20;

/// Answers each request with the same interim responses for ever, and counts the bytes that it could send.
fn endless(interim: &'static str) -> (scripted_server::Server, Arc<AtomicUsize>) {
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = sent.clone();
    let server = scripted_server::Server::start(move |_, answer| {
        let many = interim.repeat(1000);
        loop {
            answer.raw(many.as_bytes())?;
            counted.fetch_add(many.len(), Ordering::Relaxed);
        }
    });
    (server, sent)
}

fn get(url: &str) -> Request {
    let url = Url::parse(url).expect("it is a URL");
    Request::get(url).allow_http(true)
}

#[tokio::test]
async fn few_interim_responses_are_skipped() -> Result<()> {
    let server = scripted_server::Server::start(|_, answer| {
        for _ in 0..16 {
            answer.raw(b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n")?;
            answer.raw(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        answer.head("200 OK")?;
        answer.send(b"here")?;
        answer.end()
    });
    let answer = http().send(get(&server.url())).await?;
    assert_eq!(answer.body, b"here");
    Ok(())
}

// One thread for all of it: whoever does not yield keeps everybody waiting.
#[tokio::test(flavor = "current_thread")]
async fn endless_interim_responses_are_cut_while_others_go_on() -> Result<()> {
    for interim in [
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 102 Processing\r\n\r\n",
        "\r\n\nHTTP/1.1 103 Early Hints\nlink: </a>\n\n",
        "HTTP/1.0 199 x\r\n\r\n",
    ] {
        let (hostile, sent) = endless(interim);
        let good = Server::start(|_| Reply::new(200).body("here"));
        let client = http();
        let mut cut = JoinSet::new();
        for _ in 0..4 {
            let (client, url) = (client.clone(), hostile.url());
            cut.spawn(async move { client.send(get(&url)).await });
        }
        // Each answer of the good host takes several turns of the one thread.
        let most = async {
            let mut most = 0;
            while !cut.is_empty() {
                let before = sent.load(Ordering::Relaxed);
                let answer = client.send(get(&good.url())).await?;
                assert_eq!(answer.body, b"here");
                most = most.max(sent.load(Ordering::Relaxed) - before);
                while let Some(failed) = cut.try_join_next() {
                    let failure = failed?.unwrap_err();
                    assert_eq!(failure.kind, FailureKind::Broken, "{failure}");
                    let told = "sends more than 32 interim responses and no answer";
                    assert!(failure.message.contains(told), "{failure}");
                }
            }
            anyhow::Ok(most)
        }
        .await?;
        assert!(most < MAX_SENT, "{most} bytes went by during one answer");
        let all = sent.load(Ordering::Relaxed);
        assert!(all < MAX_SENT, "{all} bytes of {interim:?} were read");
        tokio::task::spawn_blocking(move || hostile.assert_left()).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "current_thread")]
async fn registry_and_repository_say_that_they_were_cut() -> Result<()> {
    let (hostile, _) = endless("HTTP/1.1 100 Continue\r\n\r\n");
    let host = hostile.address.to_string();
    let registry = registries(http(), &[&host]);
    let app = image(&host, "team/app");
    let error = registry.head(&app, "v1", None, None).await.unwrap_err();
    assert_eq!(error.kind, RegistryErrorKind::Failed);
    assert!(error.message.contains("interim responses"), "{error}");
    let (sources, _cache) = sources(http());
    let error = sources.read(&request(&hostile.url()), None).await;
    let error = error.unwrap_err();
    assert!(error.message.contains("interim responses"), "{error}");
    Ok(())
}
