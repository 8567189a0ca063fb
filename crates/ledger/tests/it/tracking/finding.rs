//! Releases that are looked for.

use pathline_ledger::releases::{EnvironmentStatus, ReleaseFilter, StoredRelease};
use pathline_ledger::{Error, Ledger, Page};

use super::{Seen, create, mk_name, open};
use crate::home::Home;

on_both!(
    release_is_found_by_its_id_or_enough_of_it,
    release_is_found_by_the_commit_of_its_file_or_of_its_image,
    releases_are_listed_the_newest_first_page_by_page,
    newest_release_of_each_state_is_told_by_environment,
);

fn by(tracker: Option<&str>, commit: Option<&str>) -> ReleaseFilter {
    ReleaseFilter {
        tracker: tracker.map(mk_name),
        commit: commit.map(str::to_owned),
        environment: None,
    }
}

async fn release(ledger: &Ledger, name: &str, seen: &Seen) -> anyhow::Result<StoredRelease> {
    let formed = seen.apply(ledger, name).await?;
    formed.ok_or_else(|| anyhow::anyhow!("{seen:?} is not released"))
}

async fn release_is_found_by_its_id_or_enough_of_it(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, "shop.web").await?;
    let first = release(&ledger, "shop.web", &Seen::new("one", "sha256:1")).await?;
    let second = release(&ledger, "shop.web", &Seen::new("one", "sha256:2")).await?;
    let releases = ledger.releases();
    for length in [7, 8, 63, 64] {
        let found = releases.get(&second.id[..length]).await?;
        assert_eq!(found.as_ref(), Some(&second), "{length}");
    }
    let upper = second.id.to_ascii_uppercase();
    assert_eq!(releases.get(&upper).await?, Some(second.clone()));
    for other in [
        "",
        &second.id[..6],
        "0000000",
        "no digits",
        "%______",
        &format!("{}0", second.id),
    ] {
        assert_eq!(releases.get(other).await?, None, "{other}");
    }
    let ids = format!(
        "update release set id = 'abcdef0' || number where id <> '{}'",
        second.id
    );
    home.run(&ids).await;
    home.run(&format!(
        "update release set id = 'abcdef09' where id = '{}'",
        second.id
    ))
    .await;
    let ambiguous = releases.get("abcdef0").await;
    assert!(matches!(ambiguous, Err(Error::AmbiguousId(id)) if id == "abcdef0"));
    let found = releases
        .get("abcdef01")
        .await?
        .expect("it is the first one");
    assert_eq!(found.release, first.release);
    assert_eq!(releases.of_tracker(&mk_name("shop.web"), 3).await?, None);
    assert_eq!(
        releases.of_tracker(&mk_name("shop.web"), u64::MAX).await?,
        None
    );
    assert_eq!(releases.of_tracker(&mk_name("shop.db"), 1).await?, None);
    Ok(())
}

async fn release_is_found_by_the_commit_of_its_file_or_of_its_image(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    for name in ["shop.web", "shop.db"] {
        create(&ledger, name).await?;
    }
    let commits = ["a".repeat(40), "b".repeat(40), "c".repeat(40)];
    let of = |setting, digest: &str, commit: &String, revision: Option<&String>| Seen {
        commit: commit.clone(),
        revision: revision.cloned(),
        ..Seen::new(setting, digest)
    };
    let first = of("one", "sha256:1", &commits[0], Some(&commits[1]));
    let first = release(&ledger, "shop.web", &first).await?;
    let second = of("two", "sha256:2", &commits[2], Some(&commits[1]));
    let second = release(&ledger, "shop.web", &second).await?;
    let third = release(
        &ledger,
        "shop.db",
        &of("one", "sha256:1", &commits[1], None),
    )
    .await?;
    let ids = [first.id, second.id, third.id];
    let find = async |tracker, commit: Option<&str>| -> anyhow::Result<Vec<usize>> {
        let filter = by(tracker, commit);
        let found = ledger.releases().list(&filter, &Page::default()).await?;
        let found = found.items.into_iter();
        let position = |it: StoredRelease| ids.iter().position(|id| *id == it.id).unwrap();
        Ok(found.map(position).collect())
    };
    assert_eq!(find(None, None).await?, [2, 1, 0]);
    assert_eq!(find(Some("Shop.web"), None).await?, [1, 0]);
    assert!(find(Some("shop.other"), None).await?.is_empty());
    for length in [7, 20, 40] {
        assert_eq!(
            find(None, Some(&commits[0][..length])).await?,
            [0],
            "{length}"
        );
        assert_eq!(
            find(None, Some(&commits[1][..length])).await?,
            [2, 1, 0],
            "{length}"
        );
        assert_eq!(
            find(Some("shop.web"), Some(&commits[1][..length])).await?,
            [1, 0]
        );
    }
    for other in [
        "",
        "aaaaaa",
        "ddddddd",
        "%%%%%%%",
        &format!("{}a", commits[0]),
    ] {
        assert!(find(None, Some(other)).await?.is_empty(), "{other}");
    }
    Ok(())
}

async fn releases_are_listed_the_newest_first_page_by_page(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, "shop.web").await?;
    let mut formed = Vec::new();
    for number in 0..5 {
        let seen = Seen::new("one", &format!("sha256:{number}"));
        formed.insert(0, release(&ledger, "shop.web", &seen).await?.id);
    }
    let (mut page, mut listed) = (Page::first(2), Vec::new());
    for count in [2, 2, 1] {
        let found = ledger.releases().list(&by(None, None), &page).await?;
        assert_eq!(found.items.len(), count);
        assert!(found.items.iter().all(|it| it.entries.contains_key("dev")));
        listed.extend(found.items.into_iter().map(|it| it.id));
        page.after = found.next;
    }
    assert_eq!((page.after, listed), (None, formed));
    let wrong = Page {
        after: Some("x".to_owned()),
        limit: 1,
    };
    let wrong = ledger.releases().list(&by(None, None), &wrong).await;
    assert!(matches!(wrong, Err(Error::BadCursor(_))));
    Ok(())
}

async fn newest_release_of_each_state_is_told_by_environment(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let web = create(&ledger, "shop.web").await?.uid;
    let db = create(&ledger, "shop.db").await?.uid;
    for number in 1..=4 {
        release(
            &ledger,
            "shop.web",
            &Seen::new("one", &format!("sha256:{number}")),
        )
        .await?;
        let state = ["deployed", "deployed", "deploying", "queued"][number - 1];
        home.run(&format!(
            "update entry set state = '{state}' where number = {number}"
        ))
        .await;
    }
    home.run("delete from entry where environment <> 'dev'")
        .await;
    home.run(
        "insert into entry (tracker_uid, number, environment, state, since, attempt, is_promoted) \
         select tracker_uid, number, 'prod', case number when 1 then 'failed' else 'held' end, 0, 0, false \
         from entry where number < 3",
    )
    .await;
    let found = ledger.releases().environments(&[web.clone(), db]).await?;
    assert_eq!(
        Vec::from_iter(found.keys()),
        [&web],
        "the other one has none"
    );
    let dev = EnvironmentStatus {
        queued: Some(4),
        deploying: Some(3),
        deployed: Some(2),
        ..EnvironmentStatus::default()
    };
    let prod = EnvironmentStatus {
        held: Some(2),
        failed: Some(1),
        ..EnvironmentStatus::default()
    };
    let expected = [("dev".to_owned(), dev), ("prod".to_owned(), prod)];
    assert_eq!(found[&web], expected.into());
    assert!(ledger.releases().environments(&[]).await?.is_empty());
    Ok(())
}
