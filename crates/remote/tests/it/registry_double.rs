//! Registries that misbehave, played by a double.

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use pathline_clock::Clock;
use pathline_remote::Secret;
use pathline_remote::registry::{
    Description, Head, RegistryClient, RegistryErrorKind, RegistryLogin,
};
use pathline_testkit::doubles::Reply;
use pathline_testkit::doubles::registry::{Auth, Behaviour, Links, Registry, digest};

use crate::polling::{TOKEN, http, http_among, http_at, image, login, registries};

fn start(behaviour: Behaviour) -> (Registry, RegistryClient) {
    let registry = Registry::start(behaviour);
    let client = registries(http(), &[&registry.host()]);
    (registry, client)
}

fn bearer() -> Behaviour {
    Behaviour {
        auth: Auth::Bearer(Some(("bot".into(), TOKEN.into()))),
        expires_in: Some(300),
        ..Behaviour::default()
    }
}

/// Returns the methods and paths of the requests since the last time.
fn lines(registry: &Registry) -> Vec<String> {
    let requests = registry.server.take_requests();
    requests.iter().map(|it| it.line()).collect()
}

const HEAD: &str = "HEAD /v2/team/app/manifests/v1";
const GET: &str = "GET /v2/team/app/manifests/v1";

#[tokio::test]
async fn p01_known_digest_is_asked_for_once_and_not_sent_again() -> Result<()> {
    let (registry, client) = start(Behaviour::default());
    let pushed = registry.push("team/app", "v1", &[]);
    let app = image(&registry.host(), "team/app");
    let (head, _) = client.head(&app, "v1", None, None).await?;
    assert_eq!(head, Head::Digest(pushed.clone()));
    for _ in 0..100 {
        let (head, _) = client.head(&app, "v1", None, Some(&pushed)).await?;
        assert_eq!(head, Head::Unchanged);
    }
    let requests = registry.server.take_requests();
    assert_eq!(requests.len(), 101);
    let condition = format!("\"{pushed}\"");
    assert_eq!(requests[1].header("if-none-match"), Some(&*condition));
    assert_eq!(registry.server.connections(), 1);
    let newer = registry.push("team/app", "v2", &[]);
    registry.tag("team/app", "v1", &newer);
    let (head, _) = client.head(&app, "v1", None, Some(&pushed)).await?;
    assert_eq!(head, Head::Digest(newer.clone()));
    let (head, _) = client.head(&app, &pushed, None, None).await?;
    assert_eq!(head, Head::Digest(pushed));
    let (head, _) = client.head(&app, "v3", None, Some(&newer)).await?;
    assert_eq!(head, Head::Missing);
    Ok(())
}

#[tokio::test]
async fn p14_registry_401_takes_three_requests_first_and_one_while_the_token_is_valid() -> Result<()>
{
    let (registry, client) = start(bearer());
    let pushed = registry.push("team/app", "v1", &[]);
    let app = image(&registry.host(), "team/app");
    let login = login("bot", TOKEN);
    let (head, _) = client.head(&app, "v1", Some(&login), None).await?;
    assert_eq!(head, Head::Digest(pushed.clone()));
    let requests = registry.server.take_requests();
    let asked: Vec<_> = requests.iter().map(|it| it.line()).collect();
    assert_eq!(asked, [HEAD, "GET /token", HEAD]);
    assert_eq!(requests[1].parameter("service").as_deref(), Some("double"));
    let scope = requests[1].parameter("scope");
    assert_eq!(scope.as_deref(), Some("repository:team/app:pull"));
    let given = requests[2].header("authorization").unwrap_or_default();
    assert!(given.starts_with("Bearer token-"), "{given}");
    for _ in 0..10 {
        let (head, _) = client.head(&app, "v1", Some(&login), Some(&pushed)).await?;
        assert_eq!(head, Head::Unchanged);
        assert_eq!(lines(&registry), [HEAD]);
    }
    client.tags(&app, Some(&login)).await?;
    assert_eq!(lines(&registry), ["GET /v2/team/app/tags/list"]);
    Ok(())
}

#[tokio::test]
async fn tokens_are_not_shared_between_repositories_or_logins() -> Result<()> {
    let (registry, client) = start(bearer());
    registry.push("team/app", "v1", &[]);
    registry.push("team/other", "v1", &[]);
    let host = registry.host();
    let (bot, stranger) = (login("bot", TOKEN), login("bot", "wrong"));
    let app = image(&host, "team/app");
    client.head(&app, "v1", Some(&bot), None).await?;
    for login in [Some(&stranger), None] {
        let error = client.head(&app, "v1", login, None).await.unwrap_err();
        assert_eq!(error.kind, RegistryErrorKind::AuthFailed, "{error}");
    }
    registry.server.take_requests();
    client
        .head(&image(&host, "team/other"), "v1", Some(&bot), None)
        .await?;
    assert_eq!(lines(&registry).len(), 3);
    Ok(())
}

#[tokio::test]
async fn identity_token_is_exchanged_and_those_who_ask_at_once_share_a_token() -> Result<()> {
    let (registry, client) = start(bearer());
    registry.push("team/app", "v1", &[]);
    let app = image(&registry.host(), "team/app");
    let identity = RegistryLogin::Identity(Secret::new(TOKEN));
    let ask = || client.head(&app, "v1", Some(&identity), None);
    let all = tokio::join!(ask(), ask(), ask(), ask());
    for answer in [all.0, all.1, all.2, all.3] {
        answer?;
    }
    let asked = lines(&registry);
    let tokens = asked.iter().filter(|it| *it == "POST /token").count();
    assert_eq!(tokens, 1, "{asked:?}");
    Ok(())
}

#[tokio::test]
async fn p15_registry_that_offers_basic_and_bearer_is_asked_with_a_token() -> Result<()> {
    let (registry, client) = start(Behaviour {
        offers_both: true,
        ..bearer()
    });
    registry.push("team/app", "v1", &[]);
    let app = image(&registry.host(), "team/app");
    client
        .head(&app, "v1", Some(&login("bot", TOKEN)), None)
        .await?;
    assert_eq!(lines(&registry), [HEAD, "GET /token", HEAD]);
    Ok(())
}

#[tokio::test]
async fn basic_is_used_where_nothing_else_is_offered() -> Result<()> {
    let (registry, client) = start(Behaviour {
        auth: Auth::Basic("bot".into(), TOKEN.into()),
        ..Behaviour::default()
    });
    registry.push("team/app", "v1", &[]);
    let app = image(&registry.host(), "team/app");
    let bot = login("bot", TOKEN);
    client.head(&app, "v1", Some(&bot), None).await?;
    assert_eq!(lines(&registry), [HEAD, HEAD]);
    client.head(&app, "v1", Some(&bot), None).await?;
    assert_eq!(lines(&registry), [HEAD], "it is remembered");
    for login in [Some(login("bot", "wrong")), None] {
        let error = client.head(&app, "v1", login.as_ref(), None).await;
        assert_eq!(error.unwrap_err().kind, RegistryErrorKind::AuthFailed);
    }
    Ok(())
}

#[tokio::test]
async fn p16_token_without_an_end_is_used_for_a_minute() -> Result<()> {
    let now = Timestamp::from_second(1_800_000_000)?;
    let clock = Clock::standing(now);
    let registry = Registry::start(Behaviour {
        auth: Auth::Bearer(None),
        ..Behaviour::default()
    });
    let client = registries(http_at(clock.clone()), &[&registry.host()]);
    registry.push("team/app", "v1", &[]);
    let app = image(&registry.host(), "team/app");
    for (seconds, expected) in [(0, 3), (30, 1), (59, 1), (60, 3), (119, 1), (120, 3)] {
        clock.set(now + SignedDuration::from_secs(seconds));
        client.head(&app, "v1", None, None).await?;
        assert_eq!(lines(&registry).len(), expected, "after {seconds} s");
    }
    Ok(())
}

#[tokio::test]
async fn p17_second_401_after_a_fresh_token_ends_it() -> Result<()> {
    let (registry, client) = start(Behaviour {
        refuses_tokens: true,
        ..bearer()
    });
    registry.push("team/app", "v1", &[]);
    let app = image(&registry.host(), "team/app");
    let bot = login("bot", TOKEN);
    for _ in 0..2 {
        let error = client.head(&app, "v1", Some(&bot), None).await.unwrap_err();
        assert_eq!(error.kind, RegistryErrorKind::AuthFailed, "{error}");
        assert_eq!(error.status, Some(401));
        assert_eq!(
            lines(&registry),
            [HEAD, "GET /token", HEAD],
            "there is no loop"
        );
    }
    Ok(())
}

#[tokio::test]
async fn token_that_was_revoked_is_asked_for_once_more() -> Result<()> {
    let (registry, client) = start(bearer());
    registry.push("team/app", "v1", &[]);
    let app = image(&registry.host(), "team/app");
    let bot = login("bot", TOKEN);
    client.head(&app, "v1", Some(&bot), None).await?;
    registry.revoke();
    registry.server.take_requests();
    client.head(&app, "v1", Some(&bot), None).await?;
    assert_eq!(lines(&registry), [HEAD, "GET /token", HEAD]);
    Ok(())
}

#[tokio::test]
async fn p18_page_of_somebody_in_between_is_no_manifest() -> Result<()> {
    let (registry, client) = start(Behaviour::default());
    let app = image(&registry.host(), "team/app");
    let page = || {
        Reply::new(200)
            .header("content-type", "text/html")
            .body("<html>hi</html>")
    };
    registry.server.reply_next(page());
    registry.server.reply_next(page());
    let error = client.head(&app, "v1", None, None).await.unwrap_err();
    assert_eq!(error.kind, RegistryErrorKind::Failed, "{error}");
    assert!(error.message.contains("no manifest"), "{error}");
    Ok(())
}

#[tokio::test]
async fn p18_digest_that_is_not_told_is_computed() -> Result<()> {
    let (registry, client) = start(Behaviour {
        omits_digest: true,
        ..Behaviour::default()
    });
    let pushed = registry.push("team/app", "v1", &[]);
    let app = image(&registry.host(), "team/app");
    let (head, _) = client.head(&app, "v1", None, None).await?;
    assert_eq!(head, Head::Digest(pushed.clone()));
    assert_eq!(lines(&registry), [HEAD, GET]);
    let (head, _) = client.head(&app, "v1", None, Some(&pushed)).await?;
    assert_eq!(head, Head::Unchanged);
    registry.server.take_requests();
    registry.server.reply_next(Reply::new(405));
    let (head, _) = client.head(&app, "v1", None, None).await?;
    assert_eq!(head, Head::Digest(pushed));
    assert_eq!(
        lines(&registry),
        [HEAD, GET],
        "as where HEAD is not allowed"
    );
    Ok(())
}

#[tokio::test]
async fn digest_that_disagrees_with_the_content_or_the_question_is_refused() -> Result<()> {
    let (registry, client) = start(Behaviour::default());
    let pushed = registry.push("team/app", "v1", &[]);
    let app = image(&registry.host(), "team/app");
    registry.change(|it| it.claimed_digest = Some(digest(b"something else")));
    let error = client.describe(&app, "v1", None).await.unwrap_err();
    assert!(error.message.contains("has not the digest"), "{error}");
    let error = client.head(&app, &pushed, None, None).await.unwrap_err();
    assert!(error.message.contains("another digest"), "{error}");
    for claimed in ["sha256:12", "latest", ""] {
        registry.change(|it| it.claimed_digest = Some(claimed.into()));
        let error = client.head(&app, "v1", None, None).await.unwrap_err();
        assert_eq!(error.kind, RegistryErrorKind::Failed, "{error}");
    }
    Ok(())
}

#[tokio::test]
async fn p19_index_is_followed_and_never_an_image_in_it() -> Result<()> {
    let (registry, client) = start(Behaviour {
        is_per_accept: true,
        ..Behaviour::default()
    });
    let one = registry.push("team/app", "amd64", &[]);
    let index = registry.push_index("team/app", "v1", &[&one]);
    let app = image(&registry.host(), "team/app");
    let (head, _) = client.head(&app, "v1", None, None).await?;
    assert_eq!(head, Head::Digest(index));
    let asked = registry.server.take_requests();
    let accept = asked[0].header("accept").unwrap_or_default();
    assert_eq!(accept.split(", ").count(), 4, "{accept}");
    registry.change(|it| it.omits_digest = true);
    let (head, _) = client.head(&app, "v1", None, None).await?;
    assert!(matches!(head, Head::Digest(found) if found != one));
    Ok(())
}

#[tokio::test]
async fn manifest_of_version_1_is_refused() -> Result<()> {
    let (registry, client) = start(Behaviour::default());
    let kind = "application/vnd.docker.distribution.manifest.v1+prettyjws";
    let old = registry.store(kind, b"{}");
    registry.tag("team/app", "v1", &old);
    let app = image(&registry.host(), "team/app");
    let error = client.head(&app, "v1", None, None).await.unwrap_err();
    assert!(error.message.contains("version 1"), "{error}");
    Ok(())
}

/// A registry with the tags `v0` to `v9`.
fn ten_tags(behaviour: Behaviour) -> (Registry, RegistryClient) {
    let (registry, client) = start(behaviour);
    let pushed = registry.push("team/app", "v0", &[]);
    for number in 1..10 {
        registry.tag("team/app", &format!("v{number}"), &pushed);
    }
    (registry, client)
}

#[tokio::test]
async fn p20_tags_in_pages_are_all_read_however_short_the_pages_are() -> Result<()> {
    for links in [Links::Relative, Links::Absolute] {
        for (page, pages) in [(4, 3), (9, 2), (10, 1), (1, 10)] {
            let (registry, client) = ten_tags(Behaviour {
                page: Some(page),
                links,
                ..Behaviour::default()
            });
            let app = image(&registry.host(), "team/app");
            let (tags, read, _) = client.tags(&app, None).await?;
            let expected: Vec<_> = (0..10).map(|it| format!("v{it}")).collect();
            assert_eq!((tags, read), (expected, pages));
            let asked = registry.server.take_requests();
            assert_eq!(asked[0].query, "n=1000");
        }
    }
    Ok(())
}

#[tokio::test]
async fn p21_pages_that_lead_back_or_elsewhere_are_an_error() -> Result<()> {
    for (links, told) in [(Links::Loop, "comes back"), (Links::Elsewhere, "elsewhere")] {
        let (registry, client) = ten_tags(Behaviour {
            page: Some(4),
            links,
            ..Behaviour::default()
        });
        let app = image(&registry.host(), "team/app");
        let error = client.tags(&app, None).await.unwrap_err();
        assert_eq!(error.kind, RegistryErrorKind::Failed);
        assert!(error.message.contains(told), "{error}");
        assert_eq!(registry.server.take_requests().len(), 1);
    }
    Ok(())
}

#[tokio::test]
async fn p22_list_with_a_page_that_fails_is_an_error() -> Result<()> {
    let (registry, client) = ten_tags(Behaviour {
        page: Some(4),
        failing_page: Some(2),
        ..Behaviour::default()
    });
    let app = image(&registry.host(), "team/app");
    let error = client.tags(&app, None).await.unwrap_err();
    assert_eq!(
        (error.kind, error.status),
        (RegistryErrorKind::Failed, Some(500))
    );
    Ok(())
}

#[tokio::test]
async fn registry_that_refuses_the_size_of_pages_is_asked_without_it() -> Result<()> {
    for status in [400, 405] {
        let (registry, client) = ten_tags(Behaviour {
            refuses_n: Some(status),
            ..Behaviour::default()
        });
        let app = image(&registry.host(), "team/app");
        let (tags, pages, _) = client.tags(&app, None).await?;
        assert_eq!((tags.len(), pages), (10, 1));
        let asked = registry.server.take_requests();
        let queries: Vec<_> = asked.iter().map(|it| it.query.as_str()).collect();
        assert_eq!(queries, ["n=1000", ""]);
    }
    Ok(())
}

#[tokio::test]
async fn list_of_too_many_pages_or_bytes_is_an_error() -> Result<()> {
    let (registry, client) = start(Behaviour {
        page: Some(1),
        ..Behaviour::default()
    });
    let pushed = registry.push("team/app", "v0", &[]);
    for number in 0..1001 {
        registry.tag("team/app", &format!("v{number:04}"), &pushed);
    }
    let app = image(&registry.host(), "team/app");
    let error = client.tags(&app, None).await.unwrap_err();
    assert!(error.message.contains("more than 1000 pages"), "{error}");
    let large = format!("{{\"tags\": [\"{}\"]}}", "x".repeat(9 << 20));
    let first = Reply::new(200)
        .header("link", "</v2/team/app/tags/list?last=x>; rel=\"next\"")
        .body(large.clone());
    registry.server.reply_next(first);
    registry.server.reply_next(Reply::new(200).body(large));
    let error = client.tags(&app, None).await.unwrap_err();
    assert_eq!(error.kind, RegistryErrorKind::Failed, "{error}");
    assert!(error.message.contains("answers with more than"), "{error}");
    Ok(())
}

#[tokio::test]
async fn empty_lists_and_missing_repositories_are_told_apart() -> Result<()> {
    let (registry, client) = start(Behaviour::default());
    let app = image(&registry.host(), "team/app");
    for body in ["{\"tags\": null}", "{\"tags\": []}", "{}"] {
        registry.server.reply_next(Reply::new(200).body(body));
        let (tags, pages, _) = client.tags(&app, None).await?;
        assert_eq!((tags.len(), pages), (0, 1));
    }
    let error = client.tags(&app, None).await.unwrap_err();
    assert_eq!(error.kind, RegistryErrorKind::NotFound, "{error}");
    let absent = digest(b"absent");
    let error = client.describe(&app, &absent, None).await.unwrap_err();
    assert_eq!(error.kind, RegistryErrorKind::NotFound, "{error}");
    registry.server.reply_next(Reply::new(200).body("<html>"));
    let error = client.tags(&app, None).await.unwrap_err();
    assert_eq!(error.kind, RegistryErrorKind::Failed, "{error}");
    Ok(())
}

#[tokio::test]
async fn p23_registry_that_redirects_elsewhere_does_not_take_the_token_along() -> Result<()> {
    let store = Registry::start(Behaviour::default());
    let (registry, client) = start(Behaviour {
        redirects_to: Some(store.server.url()),
        ..bearer()
    });
    let pushed = store.push("team/app", "v1", &[]);
    let app = image(&registry.host(), "team/app");
    let bot = login("bot", TOKEN);
    let error = client.head(&app, "v1", Some(&bot), None).await.unwrap_err();
    let told = format!("if `{}` has none, name it in `registries`", store.host());
    assert!(error.message.contains(&told), "{error}");
    assert!(store.server.take_requests().is_empty(), "nor is it asked");
    let client = registries(http_among(&[&store.host()]), &[&registry.host()]);
    let (head, _) = client.head(&app, "v1", Some(&bot), None).await?;
    assert_eq!(head, Head::Digest(pushed));
    let seen = store.server.take_requests();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].header("authorization"), None);
    Ok(())
}

#[tokio::test]
async fn p23_password_goes_to_no_token_service_without_tls_that_is_not_configured() -> Result<()> {
    let service = Registry::start(bearer());
    let (registry, client) = start(Behaviour::default());
    let host = service.host();
    let challenge = || {
        let realm = format!("Bearer realm=\"http://{host}/token\",service=\"double\"");
        Reply::new(401).header("www-authenticate", realm)
    };
    let app = image(&registry.host(), "team/app");
    registry.push("team/app", "v1", &[]);
    for login in [
        login("bot", TOKEN),
        RegistryLogin::Identity(Secret::new(TOKEN)),
    ] {
        registry.server.reply_next(challenge());
        let error = client.head(&app, "v1", Some(&login), None).await;
        let told = error.unwrap_err().message;
        assert_eq!(
            told,
            format!(
                "http://{host}/token is not asked without TLS: if `{host}` has none, name it in `registries` of the \
                 configuration, with `http: true`, or in `hosts`, with `schemes: [http]`, if it has repositories"
            )
        );
        assert!(service.server.take_requests().is_empty(), "nothing is sent");
    }
    let client = registries(http(), &[&registry.host(), &host]);
    registry.server.reply_next(challenge());
    let bot = login("bot", TOKEN);
    client.head(&app, "v1", Some(&bot), None).await?;
    let asked = service.server.take_requests();
    assert!(
        asked[0].header("authorization").is_some(),
        "it is configured"
    );
    Ok(())
}

#[tokio::test]
async fn limits_are_told_with_good_and_bad_answers() -> Result<()> {
    let now = Timestamp::from_second(1_800_000_000)?;
    let registry = Registry::start(Behaviour {
        remaining: Some(7),
        ..Behaviour::default()
    });
    let client = registries(http_at(Clock::standing(now)), &[&registry.host()]);
    registry.push("team/app", "v1", &[]);
    let app = image(&registry.host(), "team/app");
    let (_, signs) = client.head(&app, "v1", None, None).await?;
    let quota = signs.quota.expect("it was told");
    assert_eq!((quota.limit, quota.remaining), (100, 7));
    let reply = Reply::new(429).header("retry-after", "30");
    registry.server.reply_next(reply);
    let error = client.head(&app, "v1", None, None).await.unwrap_err();
    assert_eq!(error.kind, RegistryErrorKind::RateLimited, "{error}");
    let until = now + SignedDuration::from_secs(30);
    assert_eq!(error.signs.retry_after, Some(until));
    registry.server.reply_next(Reply::new(403));
    let error = client.head(&app, "v1", None, None).await.unwrap_err();
    assert_eq!(error.kind, RegistryErrorKind::AuthFailed, "{error}");
    registry.server.reply_next(Reply::new(500));
    let error = client.head(&app, "v1", None, None).await.unwrap_err();
    assert_eq!(error.kind, RegistryErrorKind::Failed, "{error}");
    Ok(())
}

#[tokio::test]
async fn origin_is_read_from_labels_and_never_from_a_layer() -> Result<()> {
    let (registry, client) = start(Behaviour::default());
    let labels = [
        ("org.opencontainers.image.revision", "4f0c"),
        ("org.opencontainers.image.source", "https://example.org/a"),
    ];
    let one = registry.push("team/app", "amd64", &labels);
    let index = registry.push_index("team/app", "v1", &[&one]);
    let bare = registry.push("team/app", "bare", &[]);
    let app = image(&registry.host(), "team/app");
    let expected = Description {
        revision: Some("4f0c".into()),
        source: Some("https://example.org/a".into()),
    };
    for digest in [&one, &index] {
        let (description, _) = client.describe(&app, digest, None).await?;
        assert_eq!(description, expected);
    }
    let (description, _) = client.describe(&app, &bare, None).await?;
    assert_eq!(description, Description::default());
    Ok(())
}

#[tokio::test]
async fn insecure_registries_are_named_and_strange_names_are_not_asked() -> Result<()> {
    let (registry, _) = start(Behaviour::default());
    registry.push("team/app", "v1", &[]);
    let secure = registries(http(), &[]);
    let app = image(&registry.host(), "team/app");
    secure.head(&app, "v1", None, None).await.unwrap_err();
    assert!(
        registry.server.take_requests().is_empty(),
        "it speaks no TLS"
    );
    let client = registries(http(), &[&registry.host()]);
    let host = registry.host();
    for (registry, repository, reference) in [
        (&*host, "../x", "v1"),
        (&host, "team/app", "../../x"),
        (&host, "team/app", ""),
        (&host, "Team", "v1"),
        ("a.example/b", "team", "v1"),
        ("bot@a.example", "team", "v1"),
        ("", "team", "v1"),
    ] {
        let odd = image(registry, repository);
        let error = client.head(&odd, reference, None, None).await.unwrap_err();
        assert_eq!(error.status, None, "{error}");
    }
    assert!(registry.server.take_requests().is_empty());
    Ok(())
}
