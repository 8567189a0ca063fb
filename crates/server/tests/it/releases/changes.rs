use serde_json::{Value, json};

use crate::tracked::{SECRET, Seen, Tracked};

const SETTING: &str = "/environment/variable/SETTING";

/// Forms a release, and returns what it changes, by keys.
async fn changes(tracked: &Tracked, seen: Seen) -> Vec<Value> {
    let formed = tracked.see("a.b", &seen).await.expect("it is formed");
    let shown = tracked.get(&format!("/releases/{}", formed.id)).await;
    assert_eq!(shown.status, 200, "{shown:?}");
    shown.body["changes"]
        .as_array()
        .expect("it is there")
        .clone()
}

fn of<'c>(changes: &'c [Value], end: &str) -> &'c Value {
    let is_it = |it: &&Value| it["key"].as_str().expect("it is there").ends_with(end);
    let found = changes.iter().find(is_it);
    found.unwrap_or_else(|| panic!("no {end} in {changes:?}"))
}

#[tokio::test]
async fn release_says_which_keys_it_changes() {
    let tracked = Tracked::new().await;
    tracked.make(json!({})).await;
    let first = changes(&tracked, Seen::new("one", "sha256:1")).await;
    assert!(first.iter().all(|it| it["change"] == "added"), "{first:?}");
    let empty = first.iter().find(|it| it["after"] == "");
    assert_eq!(empty, None, "maps without members are no news");
    let setting = of(&first, SETTING);
    assert_eq!(
        (setting.get("before"), &setting["after"]),
        (None, &json!("one"))
    );
    assert_eq!(setting.get("secret"), None);

    let second = changes(&tracked, Seen::new("two", "sha256:2")).await;
    let [changed] = &second[..] else {
        panic!("one key is changed: {second:?}");
    };
    assert_eq!(changed, of(&second, SETTING));
    assert_eq!(changed["change"], "modified");
    assert_eq!(
        (&changed["before"], &changed["after"]),
        (&json!("one"), &json!("two"))
    );

    let third = changes(&tracked, Seen::new("two", "sha256:3")).await;
    assert!(third.is_empty(), "only the image is another: {third:?}");
}

#[tokio::test]
async fn secret_that_changes_is_told_and_not_shown() {
    let tracked = Tracked::new().await;
    tracked.make(json!({})).await;
    changes(&tracked, Seen::new("one", "sha256:1")).await;
    let with = |secret, digest| Seen {
        secret: Some(secret),
        ..Seen::new("one", digest)
    };
    let other = "SentinelOfTheSecret01234";
    let steps = [
        (with(SECRET, "sha256:2"), "added"),
        (with(other, "sha256:3"), "modified"),
        (Seen::new("one", "sha256:4"), "removed"),
    ];
    for (seen, change) in steps {
        let told = changes(&tracked, seen).await;
        let hidden: Vec<_> = told.iter().filter(|it| it["secret"] == true).collect();
        let [hidden] = hidden[..] else {
            panic!("one secret is {change}: {told:?}");
        };
        assert_eq!(hidden["change"], change);
        assert!(
            hidden["key"].as_str().unwrap().ends_with("/value"),
            "{hidden}"
        );
        assert_eq!((hidden.get("before"), hidden.get("after")), (None, None));
    }
    let same = Seen::new("one", "sha256:5");
    assert!(changes(&tracked, same).await.is_empty());
}

#[tokio::test]
async fn release_is_compared_with_the_one_before_it() {
    let tracked = Tracked::new().await;
    tracked.make(json!({})).await;
    let mut ids = Vec::new();
    for (setting, digest) in [
        ("one", "sha256:1"),
        ("two", "sha256:2"),
        ("one", "sha256:3"),
    ] {
        let seen = Seen::new(setting, digest);
        ids.push(tracked.see("a.b", &seen).await.unwrap().id);
    }
    let shown = tracked.get(&format!("/releases/{}", ids[1])).await;
    let changed = shown.body["changes"].as_array().unwrap().clone();
    assert_eq!(of(&changed, SETTING)["after"], "two");
}
