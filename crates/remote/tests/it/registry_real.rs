//! Real registries, with crane as the oracle.

use anyhow::Result;
use pathline_remote::http::{HttpClient, Options as HttpOptions};
use pathline_remote::registry::{Description, Head, RegistryErrorKind};
use pathline_testkit::doubles::{Reply, Server};
use pathline_testkit::registry::{
    Auth, Crane, Options, PASSWORD, Program, RealRegistry, TokenService, USER,
};
use rcgen::{CertificateParams, KeyPair};

use crate::polling::{http, image, login, registries};

const SUITE: &str = "real registries";
const PROGRAMS: [Program; 2] = [Program::Debian, Program::Distribution];

#[tokio::test]
async fn digests_and_tags_are_those_that_crane_finds() -> Result<()> {
    let Some(crane) = Crane::find(SUITE) else {
        return Ok(());
    };
    for program in PROGRAMS {
        let options = Options {
            max_tags: (program == Program::Distribution).then_some(3),
            ..Options::default()
        };
        let Some(registry) = RealRegistry::start(SUITE, program, &options) else {
            continue;
        };
        let host = registry.host();
        let name = format!("{host}/team/app");
        let labels = [
            ("org.opencontainers.image.revision", "4f0c"),
            ("org.opencontainers.image.source", "https://example.org/a"),
        ];
        let one = crane.push(&format!("{name}:one"), &labels);
        crane.push(&format!("{name}:two"), &[]);
        let images = [format!("{name}:one"), format!("{name}:two")];
        let index = crane.push_index(&format!("{name}:v1"), &[&images[0], &images[1]]);
        for number in (0..8).rev() {
            crane.run(&["tag", &images[1], &format!("t{number}")]);
        }
        let client = registries(http(), &[host]);
        let app = image(host, "team/app");
        for tag in ["one", "two", "v1"] {
            let expected = crane.digest(&format!("{name}:{tag}"));
            let (head, _) = client.head(&app, tag, None, None).await?;
            assert_eq!(head, Head::Digest(expected.clone()), "{program:?} {tag}");
            let (head, _) = client.head(&app, tag, None, Some(&expected)).await?;
            assert_eq!(head, Head::Unchanged, "{program:?} {tag}");
            let (head, _) = client.head(&app, &expected, None, None).await?;
            assert_eq!(head, Head::Digest(expected), "{program:?} {tag}");
        }
        let (head, _) = client.head(&app, "nothing", None, None).await?;
        assert_eq!(head, Head::Missing);
        let (tags, pages, _) = client.tags(&app, None).await?;
        assert_eq!(tags, crane.tags(&name), "{program:?}");
        let expected = if program == Program::Distribution {
            4
        } else {
            1
        };
        assert_eq!(pages, expected, "{program:?}");
        let nowhere = image(host, "team/nowhere");
        let error = client.tags(&nowhere, None).await.unwrap_err();
        assert_eq!(error.kind, RegistryErrorKind::NotFound, "{error}");
        for digest in [&one, &index] {
            let (description, _) = client.describe(&app, digest, None).await?;
            let expected = Description {
                revision: Some("4f0c".into()),
                source: Some("https://example.org/a".into()),
            };
            assert_eq!(description, expected, "{program:?}");
        }
        // A tag that moves.
        let moved = crane.push(&format!("{name}:one"), &[("moved", "yes")]);
        let (head, _) = client.head(&app, "one", None, Some(&one)).await?;
        assert_eq!(head, Head::Digest(moved), "{program:?}");
    }
    Ok(())
}

#[tokio::test]
async fn real_registries_with_passwords_and_tokens_let_us_in() -> Result<()> {
    let Some(crane) = Crane::find(SUITE) else {
        return Ok(());
    };
    let service = TokenService::start();
    for program in PROGRAMS {
        for auth in [Auth::Basic, service.auth()] {
            let is_bearer = matches!(auth, Auth::Bearer { .. });
            let options = Options {
                auth,
                ..Options::default()
            };
            let Some(registry) = RealRegistry::start(SUITE, program, &options) else {
                continue;
            };
            let host = registry.host();
            crane.log_in(host, USER, PASSWORD);
            let pushed = crane.push(&format!("{host}/team/app:v1"), &[]);
            let client = registries(http(), &[host, &service.host()]);
            let app = image(host, "team/app");
            let bot = login(USER, PASSWORD);
            service.server.take_requests();
            for _ in 0..5 {
                let (head, _) = client.head(&app, "v1", Some(&bot), None).await?;
                assert_eq!(head, Head::Digest(pushed.clone()));
            }
            let tokens = service.server.take_requests().len();
            assert_eq!(tokens, usize::from(is_bearer), "{program:?}");
            let (tags, _, _) = client.tags(&app, Some(&bot)).await?;
            assert_eq!(tags, ["v1"]);
            client.describe(&app, &pushed, Some(&bot)).await?;
            for stranger in [Some(login(USER, "wrong")), None] {
                let error = client.head(&app, "v1", stranger.as_ref(), None).await;
                let error = error.unwrap_err();
                assert_eq!(
                    error.kind,
                    RegistryErrorKind::AuthFailed,
                    "{program:?}: {error}"
                );
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn registry_with_a_certificate_of_our_own_is_trusted_when_it_is_told() -> Result<()> {
    let key = KeyPair::generate()?;
    let names = vec!["127.0.0.1".to_owned()];
    let certificate = CertificateParams::new(names)?.self_signed(&key)?.pem();
    let options = Options {
        tls: Some((certificate.clone(), key.serialize_pem())),
        ..Options::default()
    };
    let Some(registry) = RealRegistry::start(SUITE, Program::Debian, &options) else {
        return Ok(());
    };
    let app = image(registry.host(), "team/app");
    let trusting = HttpClient::new(HttpOptions {
        extra_roots: vec![certificate.into_bytes()],
        ..HttpOptions::default()
    })?;
    let (head, _) = registries(trusting, &[])
        .head(&app, "v1", None, None)
        .await?;
    assert_eq!(head, Head::Missing);
    let error = registries(http(), &[]).head(&app, "v1", None, None).await;
    let error = error.unwrap_err();
    assert_eq!(error.status, None, "{error}");
    assert!(error.message.contains("certificate"), "{error}");
    let broken = HttpOptions {
        extra_roots: vec![b"-----BEGIN CERTIFICATE-----\nx".to_vec()],
        ..HttpOptions::default()
    };
    assert!(HttpClient::new(broken).is_err());
    Ok(())
}

#[tokio::test]
async fn push_is_told_to_whoever_is_configured() -> Result<()> {
    let Some(crane) = Crane::find(SUITE) else {
        return Ok(());
    };
    for program in PROGRAMS {
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let listener = Server::start(move |request| {
            let text = String::from_utf8_lossy(&request.body).into_owned();
            // Nobody listens any more when the test is over.
            let _ = tell.send(text);
            Reply::new(200)
        });
        let options = Options {
            notifications: Some(listener.url()),
            ..Options::default()
        };
        let Some(registry) = RealRegistry::start(SUITE, program, &options) else {
            continue;
        };
        let pushed = crane.push(&format!("{}/team/app:v1", registry.host()), &[]);
        loop {
            let text = told.recv().await.expect("the server runs");
            if text.contains(&pushed) && text.contains("\"push\"") {
                break;
            }
        }
    }
    Ok(())
}
