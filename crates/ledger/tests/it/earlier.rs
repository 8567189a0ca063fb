//! Rows of earlier versions, read, migrated and waited on.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use jiff::Timestamp;
use pathline_ledger::{
    Change, Ledger, Location, OwnerRef, Page, Permissions, Token, TokenHash, Topic,
};
use pathline_lineage::wait::{self, Options, Verdict};
use pathline_lineage::{Kind, OwnerLineage};
use serde_json::Value;
use tokio::time::timeout;

use crate::home::Home;

/// A ledger of an earlier version, and what is known of it.
struct Earlier {
    home: Home,
    /// The commit that was delivered last.
    commit: &'static str,
    /// The hashes of the tokens that were made for each scope.
    tokens: [(&'static str, &'static str, Permissions); 3],
}

impl Earlier {
    /// Copies the file.
    fn file() -> Self {
        let home = Home::file();
        let Location::File(path) = home.location() else {
            panic!("it is a file");
        };
        fs::copy(testdata("ledger-1.db"), path).unwrap();
        Self {
            home,
            commit: "19b78704b74ab5b187d82ca79150902af5d62fd9",
            tokens: [
                (
                    "admin",
                    "c2b2e6b5aa53fd5327f1c1cd8bf4912638df00bf16a06e1ecab45a432914f426",
                    Permissions::ADMIN,
                ),
                (
                    "ci",
                    "84003eb0cb7cddc4f1a9fbc57cc5668532a99ef4f0550ce1525d23cac5a46e4e",
                    Permissions::WRITE,
                ),
                (
                    "viewer",
                    "46c97938931a25cdbbea22db5e65c480e90ba290ab0f60d280bc6a4db1e24ae5",
                    Permissions::READ,
                ),
            ],
        }
    }

    /// Restores the dump; nothing where PostgreSQL is not installed.
    fn postgres() -> Option<Self> {
        let home = Home::postgres()?;
        let Location::Postgres(url) = home.location() else {
            panic!("it is PostgreSQL");
        };
        let restored = Command::new("psql")
            .args(["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--file"])
            .arg(testdata("ledger-1.sql"))
            .arg(url)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&restored.stderr);
        assert!(restored.status.success(), "{said}");
        Some(Self {
            home,
            commit: "ecfdc5b6bc311239f81e7aa4435dd7b8fc738d79",
            tokens: [
                (
                    "admin",
                    "524276ce139209487110112e0f57ed707a501be3c91309a1634b36fa22572e8b",
                    Permissions::ADMIN,
                ),
                (
                    "ci",
                    "ba6a4d6894e2211c3b481c639d84eb4b151f5fcc3d04f84156f7182cdd153da6",
                    Permissions::WRITE,
                ),
                (
                    "viewer",
                    "f8be1a1ed3ac8a9a4b9689871af882182456c11836c3967aa6aecaebbf470168",
                    Permissions::READ,
                ),
            ],
        })
    }
}

/// Makes the named functions, `async fn(&Earlier) -> anyhow::Result<()>`, tests on both databases.
macro_rules! on_both_earlier {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test]
            async fn $name() -> anyhow::Result<()> {
                super::$name(&super::Earlier::file()).await
            })+
        }
        mod postgres {
            $(#[tokio::test]
            async fn $name() -> anyhow::Result<()> {
                match super::Earlier::postgres() {
                    Some(earlier) => super::$name(&earlier).await,
                    None => Ok(()),
                }
            })+
        }
    };
}

on_both_earlier!(
    lineage_is_read_with_all_its_fields_and_waited_on,
    changes_are_of_a_topic_and_go_on_where_they_were,
    follower_is_notified_of_a_later_change,
    tokens_authenticate_with_the_permissions_they_had,
    commit_is_found_wherever_it_went,
);

fn testdata(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "testdata", name]
        .iter()
        .collect()
}

async fn hello(ledger: &Ledger) -> anyhow::Result<(OwnerRef, OwnerLineage)> {
    let [kind, namespace, name] = ["Workload", "default", "hello"];
    let owner = ledger.lineage().find_owner(kind, namespace, name).await?;
    let lineage = ledger.lineage().find(kind, namespace, name).await?;
    Ok((owner.expect("it is there"), lineage.expect("it is known")))
}

async fn lineage_is_read_with_all_its_fields_and_waited_on(
    earlier: &Earlier,
) -> anyhow::Result<()> {
    let ledger = earlier.home.open().await?;
    let (owner, lineage) = hello(&ledger).await?;
    assert_eq!(lineage.uid, owner.uid);
    is_hello(&lineage, earlier.commit);
    let [lost] = &ledger.lineage().changes(0, 1).await?[..] else {
        panic!("there is a first change");
    };
    let lost = ledger.lineage().get(&lost.owner.uid).await?.unwrap();
    assert_eq!(lost.metadata_digest, "9949c653de507d92");
    let said = serde_json::to_string(&lost)?;
    assert!(said.contains("no supply chain found"), "{said}");
    Ok(())
}

async fn changes_are_of_a_topic_and_go_on_where_they_were(earlier: &Earlier) -> anyhow::Result<()> {
    let ledger = earlier.home.open().await?;
    let changes = ledger.lineage().changes(0, 100).await?;
    let sequences: Vec<i64> = changes.iter().map(|it| it.sequence).collect();
    let newest = *ledger.subscribe(Topic::Lineage).borrow();
    assert_eq!(sequences, (1..=newest).collect::<Vec<_>>());
    assert_eq!(*ledger.subscribe(Topic::Access).borrow(), 0);
    let names: Vec<_> = changes.iter().map(|it| it.owner.name.as_str()).collect();
    assert_eq!(names[..2], ["lost", "hello"]);
    assert!(
        changes
            .iter()
            .any(|it| it.what.arrived.iter().any(|it| it.live))
    );

    // No sequence is given out twice, also if the newest changes were removed.
    earlier.home.run("delete from change").await;
    let (owner, _) = hello(&ledger).await?;
    ledger.lineage().gone(&owner, Timestamp::now()).await?;
    let changes = ledger.lineage().changes(newest, 100).await?;
    assert_eq!(
        changes.iter().map(|it| it.sequence).collect::<Vec<_>>(),
        [newest + 1]
    );
    Ok(())
}

async fn follower_is_notified_of_a_later_change(earlier: &Earlier) -> anyhow::Result<()> {
    let (here, there) = (earlier.home.open().await?, earlier.home.open().await?);
    let (owner, mut lineage) = hello(&here).await?;
    let mut follower = there.lineage().follow(&owner.uid).await?;
    assert_eq!(follower.borrow().as_deref(), Some(&lineage));
    lineage.generation += 1;
    let change = Change {
        owner: &owner,
        lineage: &lineage,
        derivations: &[],
        arrivals: &[],
        time: Timestamp::now(),
    };
    here.lineage().record(&change).await?;
    let newest = follower.wait_for(|it| it.as_ref().is_some_and(|it| it.generation == 2));
    let newest = timeout(Duration::from_secs(60), newest).await??.clone();
    assert_eq!(newest.as_deref(), Some(&lineage));
    Ok(())
}

async fn tokens_authenticate_with_the_permissions_they_had(
    earlier: &Earlier,
) -> anyhow::Result<()> {
    let ledger = earlier.home.open().await?;
    for (name, hash, permissions) in earlier.tokens {
        let token = ledger.access().token_by_hash(&bytes(hash)).await?;
        let found = token.map(|it: Token| (it.name, it.permissions, it.revoked));
        assert_eq!(found, Some((name.to_owned(), permissions, None)));
    }
    assert_eq!(ledger.access().tokens().await?.len(), earlier.tokens.len());
    Ok(())
}

async fn commit_is_found_wherever_it_went(earlier: &Earlier) -> anyhow::Result<()> {
    let ledger = earlier.home.open().await?;
    let found = ledger
        .lineage()
        .contains(Kind::Source, earlier.commit, &Page::default())
        .await?;
    let current = found.items.iter().filter(|it| it.current && it.proven);
    let owners: std::collections::BTreeSet<_> = current.map(|it| it.owner.kind.as_str()).collect();
    assert_eq!(Vec::from_iter(owners), ["Deliverable", "Workload"]);
    Ok(())
}

#[test]
fn stored_lineage_is_readable_for_ever() {
    let stored = fs::read_to_string(testdata("lineage-1.json")).unwrap();
    let lineage: OwnerLineage = serde_json::from_str(&stored).unwrap();
    is_hello(&lineage, "19b78704b74ab5b187d82ca79150902af5d62fd9");
    loses_nothing(&stored, &lineage, &[]);
}

#[test]
fn stored_lineage_that_nothing_follows_is_readable_for_ever() {
    let stored = fs::read_to_string(testdata("lineage-1-no-follower.json")).unwrap();
    let lineage: OwnerLineage = serde_json::from_str(&stored).unwrap();
    loses_nothing(&stored, &lineage, &[("unfollowed", "noFollower")]);
}

/// Checks what was recorded of the Workload `hello`.
fn is_hello(lineage: &OwnerLineage, commit: &str) {
    assert_eq!(lineage.generation, 1);
    assert_eq!(lineage.live_generation, Some(1));
    assert_eq!(lineage.metadata_digest, "4d0c01f24b2990d1");
    assert_eq!(lineage.used["ClusterSupplyChain/hello"], 1);
    let chain = lineage.state.chain().resources().iter();
    let chain: Vec<&str> = chain.map(|it| it.name.as_str()).collect();
    assert_eq!(chain, ["source", "test", "build", "manifest"]);
    let built = lineage.state.current("build").expect("an image was made");
    assert_eq!(built.output.as_ref().map(|it| it.kind()), Some(Kind::Image));
    assert_eq!(
        lineage.rollouts["manifest"].deliveries[0].metadata_digest,
        "4d0c01f24b2990d1"
    );
    let awaited = [format!("source={commit}"), "current".to_owned()];
    let awaited = awaited.map(|it| it.parse().unwrap());
    for live in [false, true] {
        let options = Options {
            live,
            ..Options::default()
        };
        let verdict = wait::judge(lineage, &awaited, options);
        assert!(matches!(verdict, Verdict::Holds(_)), "{verdict:?}");
    }
}

/// Checks that every value that was stored is there when it is stored again, under whatever name.
fn loses_nothing(stored: &str, lineage: &OwnerLineage, renamed: &[(&str, &str)]) {
    let mut before = BTreeMap::new();
    count_values(&serde_json::from_str(stored).unwrap(), &mut before);
    let mut after = BTreeMap::new();
    count_values(&serde_json::to_value(lineage).unwrap(), &mut after);
    for (value, count) in before {
        let new = renamed.iter().find(|(old, _)| value == format!("{old:?}"));
        let value = new.map_or(value, |(_, new)| format!("{new:?}"));
        assert!(
            after.get(&value) >= Some(&count),
            "{value} was there {count} times"
        );
    }
}

fn count_values(json: &Value, counts: &mut BTreeMap<String, usize>) {
    match json {
        Value::Array(items) => items.iter().for_each(|it| count_values(it, counts)),
        Value::Object(fields) => fields.values().for_each(|it| count_values(it, counts)),
        value => *counts.entry(value.to_string()).or_default() += 1,
    }
}

fn bytes(digits: &str) -> TokenHash {
    let byte = |index: usize| u8::from_str_radix(&digits[2 * index..2 * index + 2], 16).unwrap();
    std::array::from_fn(byte)
}
