//! The client of all polls, against servers that do what they should not.

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use pathline_clock::Clock;
use pathline_remote::Secret;
use pathline_remote::http::{FailureKind, Request};
use pathline_testkit::doubles::{Reply, Server};
use pathline_testkit::scripted_server;
use reqwest::{Method, Url};

use crate::polling::{TOKEN, http, http_among, http_at, impatient};

fn get(url: &str) -> Request {
    let url = Url::parse(url).expect("it is a URL");
    Request::get(url)
        .bearer(&Secret::new(TOKEN))
        .allow_http(true)
}

/// Answers with the header `Authorization` that it was sent.
fn mirror() -> Server {
    Server::start(|request| {
        let sent = request.header("authorization").unwrap_or("nothing");
        Reply::new(200).body(sent)
    })
}

#[tokio::test]
async fn p23_redirect_to_another_origin_drops_the_authorization_for_good() -> Result<()> {
    let end = mirror();
    let back = end.url();
    let other = Server::start(move |_| Reply::new(302).header("location", format!("{back}/end")));
    let away = other.url();
    // There, and back again to where the token is for.
    end.reply_next(Reply::new(307).header("location", format!("{away}/x")));
    let client = http_among(&[&other.address.to_string()]);
    let answer = client.send(get(&format!("{}/start", end.url()))).await?;
    assert_eq!(answer.body, b"nothing", "it does not come back");
    assert_eq!(answer.signs.moved, None, "it is only for now");
    let seen = other.take_requests();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].header("authorization"), None);
    Ok(())
}

#[tokio::test]
async fn p23_secret_in_a_body_is_not_redirected_elsewhere() -> Result<()> {
    let other = mirror();
    let server = mirror();
    let secret = Secret::new(TOKEN);
    for (location, is_followed) in [("/here", true), (&*other.url(), false)] {
        server.reply_next(Reply::new(307).header("location", location));
        let request = Request::new(Method::POST, Url::parse(&server.url())?)
            .body(format!("refresh_token={TOKEN}"))
            .with_secret(&secret)
            .allow_http(true);
        let client = http_among(&[&other.address.to_string()]);
        let sent = client.send(request).await;
        assert_eq!(sent.is_ok(), is_followed, "{location}");
    }
    assert!(other.take_requests().is_empty(), "nobody else was asked");
    Ok(())
}

#[tokio::test]
async fn permanent_redirect_of_the_same_origin_keeps_the_authorization_and_is_told() -> Result<()> {
    let server = mirror();
    let url = server.url();
    for status in [301, 308] {
        server.reply_next(Reply::new(status).header("location", "/new?token=x"));
        let answer = http().send(get(&format!("{url}/old?a=b"))).await?;
        assert_eq!(answer.body, format!("Bearer {TOKEN}").as_bytes());
        let moved = answer.signs.moved.expect("it has moved");
        assert_eq!(moved.from, format!("{url}/old"));
        assert_eq!(moved.to, format!("{url}/new"));
    }
    Ok(())
}

#[tokio::test]
async fn redirects_end_and_lead_to_nothing_but_the_web() -> Result<()> {
    let server = Server::start(|_| Reply::new(302).header("location", "/again"));
    let failure = http().send(get(&server.url())).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Forbidden);
    assert!(failure.message.contains("more than 5 times"), "{failure}");
    assert_eq!(server.take_requests().len(), 6);
    for location in ["file:///etc/passwd", "http://bot:x@127.0.0.1/", "ftp://x/"] {
        server.reply_next(Reply::new(302).header("location", location));
        let failure = http().send(get(&server.url())).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Forbidden, "{location}");
    }
    Ok(())
}

#[tokio::test]
async fn host_is_asked_without_tls_only_where_that_is_allowed() -> Result<()> {
    let server = mirror();
    let url = Url::parse(&server.url())?;
    let failure = http().send(Request::get(url.clone())).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Forbidden);
    assert!(server.take_requests().is_empty(), "nothing was sent");
    let options = pathline_remote::http::Options {
        http_hosts: [server.address.to_string()].into(),
        ..Default::default()
    };
    let client = pathline_remote::http::HttpClient::new(options)?;
    assert_eq!(client.send(Request::get(url)).await?.status, 200);
    Ok(())
}

#[tokio::test]
async fn p23_redirect_without_tls_leads_only_to_hosts_that_are_configured() -> Result<()> {
    let other = mirror();
    let server = mirror();
    let host = other.address.to_string();
    for status in [301, 302, 307, 308] {
        let location = format!("{}/there?token=x", other.url());
        server.reply_next(Reply::new(status).header("location", location.as_str()));
        let failure = http().send(get(&server.url())).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Forbidden);
        assert_eq!(
            failure.message,
            format!(
                "http://{host}/there is not asked without TLS: if `{host}` has none, name it in `registries` of the \
                 configuration, with `http: true`, or in `hosts`, with `schemes: [http]`, if it has repositories; \
                 http://{}/ redirects to it",
                server.address
            )
        );
        server.reply_next(Reply::new(status).header("location", location));
        let answer = http_among(&[&host]).send(get(&server.url())).await?;
        assert_eq!(answer.body, b"nothing", "it is there without the token");
        assert_eq!(other.take_requests().len(), 1);
    }
    Ok(())
}

#[tokio::test]
async fn answer_is_not_read_beyond_its_cap() -> Result<()> {
    let endless = scripted_server::Server::start(|_, answer| {
        answer.head("200 OK")?;
        answer.repeat(&[b'x'; 4096])
    });
    let request = get(&endless.url()).cap(100_000);
    let failure = http().send(request).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::TooLarge);
    assert!(
        failure.message.contains("more than 100000 bytes"),
        "{failure}"
    );
    // Elsewhere, since the connection is closed by this thread.
    tokio::task::spawn_blocking(move || endless.assert_left()).await?;
    let server = Server::start(|_| Reply::new(200).body(vec![b'x'; 1000]));
    let exact = http().send(get(&server.url()).cap(1000)).await?;
    assert_eq!(exact.body.len(), 1000);
    let failure = http().send(get(&server.url()).cap(999)).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::TooLarge);
    Ok(())
}

#[tokio::test]
async fn endless_error_is_cut() -> Result<()> {
    let endless = scripted_server::Server::start(|_, answer| {
        answer.head("500 Internal Server Error")?;
        answer.repeat(&[b'x'; 4096])
    });
    let answer = http().send(get(&endless.url())).await?;
    assert_eq!(answer.body.len(), 8 << 10);
    let failure = answer.into_failure();
    assert_eq!(failure.status, Some(500));
    assert!(failure.message.len() < 300, "{failure}");
    // Elsewhere, since the connection is closed by this thread.
    tokio::task::spawn_blocking(move || endless.assert_left()).await?;
    Ok(())
}

#[tokio::test]
async fn silent_and_slow_hosts_are_given_up() -> Result<()> {
    let silent = Server::start(|_| Reply::never());
    let failure = impatient().send(get(&silent.url())).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::TimedOut);
    let slow = scripted_server::Server::start(|_, answer| {
        answer.head("200 OK")?;
        loop {
            answer.send(b"x")?;
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    });
    let failure = impatient().send(get(&slow.url())).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::TimedOut);
    // Elsewhere, since the connection is closed by this thread.
    tokio::task::spawn_blocking(move || slow.assert_left()).await?;
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let failure = http().send(get(&format!("http://{nobody}/a?b=c"))).await;
    let failure = failure.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Broken);
    assert!(failure.message.contains(&format!("http://{nobody}/a ")));
    Ok(())
}

#[tokio::test]
async fn content_is_not_decompressed() -> Result<()> {
    let server = Server::start(|_| {
        Reply::new(200)
            .header("content-encoding", "gzip")
            .body([0x1f, 0x8b, 8, 0])
    });
    let answer = http().send(get(&server.url())).await?;
    assert_eq!(answer.body, [0x1f, 0x8b, 8, 0]);
    let asked = server.take_requests();
    assert_eq!(asked[0].header("accept-encoding"), None);
    let agent = asked[0].header("user-agent").unwrap_or_default();
    assert!(agent.starts_with("pathline/"), "{agent}");
    Ok(())
}

#[tokio::test]
async fn p08_retry_after_is_told_in_seconds_and_as_a_date() -> Result<()> {
    let now: Timestamp = "2026-11-17T12:00:00Z".parse()?;
    let client = http_at(Clock::standing(now));
    let server = Server::start(|_| Reply::new(200));
    for (header, expected) in [
        ("30", now + SignedDuration::from_secs(30)),
        (
            "Tue, 17 Nov 2026 12:10:00 GMT",
            now + SignedDuration::from_mins(10),
        ),
    ] {
        for status in [403, 429, 503] {
            server.reply_next(Reply::new(status).header("retry-after", header));
            let answer = client.send(get(&server.url())).await?;
            assert_eq!(answer.signs.retry_after, Some(expected), "{header}");
            let signs = answer.signs.clone();
            assert_eq!(*answer.into_failure().signs, signs);
        }
        for status in [200, 204, 304] {
            server.reply_next(Reply::new(status).header("retry-after", header));
            let answer = client.send(get(&server.url())).await?;
            assert_eq!(answer.signs.retry_after, None, "nothing was refused");
        }
    }
    Ok(())
}

#[tokio::test]
async fn c15_host_that_repeats_the_token_is_not_quoted_with_it() -> Result<()> {
    let server = Server::start(|request| {
        let sent = request.header("authorization").unwrap_or_default();
        Reply::new(500).body(format!("you sent {sent} {}", request.query))
    });
    let url = format!("{}/a?token={TOKEN}", server.url());
    let bearer = get(&url);
    let basic = Request::new(Method::GET, Url::parse(&url)?)
        .basic("x-access-token", &Secret::new(TOKEN))
        .allow_http(true);
    for request in [bearer, basic] {
        let shown = format!("{request:?}");
        let failure = http().send(request).await?.into_failure();
        let shown = format!("{shown} {failure} {failure:?}");
        for form in ["sentinel", "c2VudGluZW", "NlbnRpbmVs", "zZW50aW5lb"] {
            assert!(!shown.contains(form), "{shown}");
        }
        assert!(failure.message.contains("you sent"), "{failure}");
        assert!(failure.message.contains("answers 500"), "{failure}");
    }
    Ok(())
}

#[tokio::test]
async fn connection_is_used_again() -> Result<()> {
    let mirror = mirror();
    let client = http();
    for _ in 0..20 {
        client.send(get(&mirror.url())).await?;
    }
    assert_eq!(mirror.take_requests().len(), 20);
    assert_eq!(mirror.connections(), 1, "one is enough");
    Ok(())
}
