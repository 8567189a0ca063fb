//! Secrets in files: none but sealed ones, and none at all of what was deleted.

use std::fs;
use std::path::Path;
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use pathline_ledger::{Ledger, Location};
use pathline_testkit::skip;
use sqlx::Connection;

use super::{SECRET, Seen, TOKEN, create, mk_key, mk_name, mk_replacement, open, replace};
use crate::home::Home;
use crate::story::at;

/// Returns the files of a ledger in which a text is, as it is or as a part of base64.
fn files_with(directory: &Path, text: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    let mut forms = vec![bytes.to_vec()];
    for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
        // However it is aligned; the letters at both ends depend on what is beside it.
        for skipped in 0..3 {
            let text = engine.encode(&bytes[skipped..]);
            let whole = text.len() / 4 * 4;
            forms.push(text.as_bytes()[..whole.min(text.len() - 1)].to_vec());
        }
    }
    let mut found = Vec::new();
    for file in fs::read_dir(directory).unwrap() {
        let path = file.unwrap().path();
        let content = fs::read(&path).unwrap();
        let has = |form: &Vec<u8>| content.windows(form.len()).any(|it| it == form.as_slice());
        if forms.iter().any(has) {
            found.push(path.display().to_string());
        }
    }
    found
}

fn directory(home: &Home) -> &Path {
    match home {
        Home::File(directory) => directory.path(),
        Home::Postgres { .. } => panic!("it is a file"),
    }
}

/// Reads all that is sealed, behind the ledger's back.
async fn sealed(home: &Home) -> Vec<String> {
    let Location::File(path) = home.location() else {
        panic!("it is a file");
    };
    let url = format!("sqlite://{}", path.display());
    let mut connection = sqlx::SqliteConnection::connect(&url).await.unwrap();
    let asked = "select token from tracker where token is not null \
                 union all select secrets from configuration where secrets is not null";
    let sealed = sqlx::query_scalar(asked).fetch_all(&mut connection).await;
    connection.close().await.unwrap();
    sealed.unwrap()
}

async fn fill(ledger: &Ledger) -> anyhow::Result<()> {
    for name in ["shop.web", "shop.db"] {
        create(ledger, name).await?;
        for (setting, digest) in [("one", "sha256:1"), ("two", "sha256:2")] {
            let seen = Seen {
                has_secret: true,
                ..Seen::new(setting, digest)
            };
            seen.apply(ledger, name).await?;
        }
    }
    Ok(())
}

/// C14, as far as it is about files.
#[tokio::test]
async fn secrets_are_in_no_file_of_the_ledger() -> anyhow::Result<()> {
    let home = Home::file();
    let ledger = open(&home).await?;
    fill(&ledger).await?;
    for is_open in [true, false] {
        for secret in [TOKEN, SECRET] {
            assert_eq!(files_with(directory(&home), secret), [""; 0], "{secret}");
        }
        // The search finds what is there.
        assert_ne!(files_with(directory(&home), "acme/shop"), [""; 0]);
        if is_open {
            ledger.close().await;
        }
    }
    Ok(())
}

/// C14, as far as it is about tables.
#[tokio::test]
async fn secrets_are_in_no_dump_of_postgres() -> anyhow::Result<()> {
    let Some(home) = Home::postgres() else {
        return Ok(());
    };
    let Location::Postgres(url) = home.location() else {
        panic!("it is PostgreSQL");
    };
    let Ok(version) = Command::new("pg_dump").arg("--version").output() else {
        skip("a dump of the ledger", "pg_dump is not installed");
        return Ok(());
    };
    assert!(version.status.success());
    fill(&open(&home).await?).await?;
    let dumped = Command::new("pg_dump").arg(url).output()?;
    let said = String::from_utf8_lossy(&dumped.stderr);
    assert!(dumped.status.success(), "{said}");
    let directory = tempfile::tempdir()?;
    fs::write(directory.path().join("dump.sql"), dumped.stdout)?;
    for secret in [TOKEN, SECRET] {
        assert_eq!(files_with(directory.path(), secret), [""; 0], "{secret}");
    }
    assert_ne!(files_with(directory.path(), "acme/shop"), [""; 0]);
    Ok(())
}

/// C14, as far as it is about what is logged.
#[tokio::test]
async fn secrets_are_not_shown_by_what_carries_them() -> anyhow::Result<()> {
    let home = Home::file();
    let ledger = open(&home).await?;
    let tracker = create(&ledger, "shop.web").await?;
    let seen = Seen {
        has_secret: true,
        ..Seen::new("one", "sha256:1")
    };
    let result = seen.result(&tracker);
    let hash = result.configuration.as_ref().unwrap().config_hash.clone();
    let mut shown = format!("{:?} {result:?}", super::mk_new("shop.web", TOKEN));
    let applied = ledger.trackers().apply(result).await?;
    let configuration = ledger.releases().configuration(&tracker.uid, &hash).await?;
    let token = ledger.trackers().token(&tracker.uid).await?;
    shown += &format!("{applied:?} {configuration:?} {token:?} {tracker:?} {ledger:?}");
    for secret in [TOKEN, SECRET] {
        assert!(!shown.contains(secret), "{shown}");
    }
    Ok(())
}

/// C16.
#[tokio::test]
async fn token_of_a_deleted_tracker_is_in_no_file_not_even_sealed() -> anyhow::Result<()> {
    let home = Home::file();
    let ledger = open(&home).await?;
    fill(&ledger).await?;
    let tokens = sealed_tokens(&home).await;
    assert_eq!(tokens.len(), 2);
    for token in &tokens {
        assert_ne!(
            files_with(directory(&home), token),
            [""; 0],
            "it is there before"
        );
    }
    for name in ["shop.web", "shop.db"] {
        ledger
            .trackers()
            .delete(&mk_name(name), None, "ops", at(5))
            .await?;
    }
    for token in &tokens {
        assert_eq!(files_with(directory(&home), token), [""; 0]);
    }
    // Writers wait for others as long as before.
    fill(&ledger).await
}

#[tokio::test]
async fn token_that_was_replaced_is_in_no_file_not_even_sealed() -> anyhow::Result<()> {
    let home = Home::file();
    let ledger = open(&home).await?;
    fill(&ledger).await?;
    let tokens = sealed_tokens(&home).await;
    for name in ["shop.web", "shop.db"] {
        replace(
            &ledger,
            name,
            mk_replacement("acme/shop", "deploy", Some("other")),
        )
        .await?;
    }
    for token in &tokens {
        assert_eq!(files_with(directory(&home), token), [""; 0]);
    }
    Ok(())
}

#[tokio::test]
async fn what_was_sealed_with_the_old_key_is_in_no_file() -> anyhow::Result<()> {
    let home = Home::file();
    let ledger = open(&home).await?;
    fill(&ledger).await?;
    let before = sealed(&home).await;
    assert_eq!(before.len(), 6);
    ledger.reseal(&mk_key(1), &mk_key(2)).await?;
    for sealed in &before {
        assert_eq!(files_with(directory(&home), sealed), [""; 0]);
    }
    Ok(())
}

async fn sealed_tokens(home: &Home) -> Vec<String> {
    let mut sealed = sealed(home).await;
    sealed.truncate(2);
    sealed
}
