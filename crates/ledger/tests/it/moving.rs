//! From the file to PostgreSQL, as docs/ledger.md says.

use std::fs;
use std::process::Command;

use pathline_ledger::releases::{ReleaseFilter, StoredRelease};
use pathline_ledger::{Ledger, Location, Page, Permissions, Topic};
use pathline_lineage::Kind;
use pathline_testkit::{repository_root, skip};

use crate::home::Home;
use crate::story::{Story, at, image, source};
use crate::tracking::{SECRET, Seen, create, mk_key, stored};

async fn all_releases(ledger: &Ledger) -> anyhow::Result<Vec<StoredRelease>> {
    let all = ReleaseFilter::default();
    Ok(ledger.releases().list(&all, &Page::default()).await?.items)
}

/// Returns the commands of the page.
fn commands() -> String {
    let page = fs::read_to_string(repository_root().join("docs/ledger.md")).unwrap();
    let (_, section) = page.split_once("### From the file to PostgreSQL").unwrap();
    let (_, block) = section.split_once("```bash\n").unwrap();
    block.split_once("```").unwrap().0.to_owned()
}

#[tokio::test]
async fn ledger_moves_from_the_file_to_postgres() -> anyhow::Result<()> {
    if Command::new("sqlite3").arg("--version").output().is_err() {
        skip("moving the ledger", "sqlite3 is not installed");
        return Ok(());
    }
    let (old, Some(new)) = (Home::file(), Home::postgres()) else {
        return Ok(());
    };
    let (Location::File(path), Location::Postgres(url)) = (old.location(), new.location()) else {
        panic!("one of each");
    };
    let ledger = old.open().await?;
    let mut story = Story::of("app");
    for (revision, digit) in [("def567", 'a'), ("abc123", 'b')] {
        story.deliver(&source(revision), "", &image(digit));
        story.arrive("source", &source(revision), digit == 'b');
        story.record(&ledger).await?;
    }
    ledger
        .access()
        .create_token("ci", Permissions::READ, &[1; 32], None, at(1))
        .await?;
    let history = ledger
        .lineage()
        .history(&story.owner.uid, &Page::default())
        .await?;
    let tokens = ledger.access().tokens().await?;
    let ledger = ledger.with_seal_key(mk_key(1)).await?;
    create(&ledger, "shop.web").await?;
    for digest in ["sha256:1", "sha256:2"] {
        let mut seen = Seen::new("one", digest);
        seen.has_secret = true;
        seen.apply(&ledger, "shop.web").await?;
    }
    let tracker = stored(&ledger, "shop.web").await?;
    let releases = all_releases(&ledger).await?;
    ledger.close().await;
    // The first start records what it finds, and makes a token.
    let ledger = new.open().await?;
    let mut again = Story::of("app");
    again.deliver(&source("abc123"), "", &image('b'));
    again.record(&ledger).await?;
    ledger
        .access()
        .create_token("admin", Permissions::READ, &[2; 32], None, at(2))
        .await?;
    ledger.close().await;

    let moved = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &commands()])
        .current_dir(path.parent().unwrap())
        .env("URL", &url)
        .output()?;
    assert!(
        moved.status.success(),
        "{}",
        String::from_utf8_lossy(&moved.stderr)
    );

    let ledger = new.open().await?;
    assert_eq!(
        ledger
            .lineage()
            .history(&story.owner.uid, &Page::default())
            .await?,
        history
    );
    assert_eq!(ledger.access().tokens().await?, tokens);
    assert_eq!(
        ledger.lineage().get(&story.owner.uid).await?,
        Some(story.lineage.clone())
    );
    assert_eq!(
        ledger.lineage().arrivals(&story.owner.uid, 10).await?.len(),
        2
    );
    let ledger = ledger.with_seal_key(mk_key(1)).await?;
    assert_eq!(stored(&ledger, "shop.web").await?, tracker);
    assert!(ledger.trackers().token(&tracker.uid).await?.is_some());
    assert_eq!(all_releases(&ledger).await?, releases);
    let hash = &tracker.state.source().unwrap().config_hash;
    let configuration = ledger.releases().configuration(&tracker.uid, hash).await?;
    assert!(configuration.unwrap().whole().to_string().contains(SECRET));
    Seen::new("one", "sha256:3")
        .apply(&ledger, "shop.web")
        .await?;
    assert_eq!(all_releases(&ledger).await?.len(), 3);
    let newest = *ledger.subscribe(Topic::Lineage).borrow();
    story.deliver(&source("fff000"), "", &image('c'));
    story.record(&ledger).await?;
    assert_eq!(ledger.lineage().changes(newest, 10).await?.len(), 1);
    let found = ledger
        .lineage()
        .contains(Kind::Source, "fff000", &Page::default())
        .await?;
    assert_eq!(found.items.len(), 3);
    Ok(())
}
