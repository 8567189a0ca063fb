//! Replacing what trackers read.

use pathline_ledger::trackers::{Edition, ReplaceOutcome};

use super::{Seen, TOKEN, create, mk_name, mk_replacement, open, replace, stored};
use crate::home::Home;
use crate::story::at;

on_both!(
    other_source_is_another_generation_and_forgets_what_was_read,
    other_token_is_another_version_and_nothing_else,
    token_may_be_taken_away,
    same_content_changes_nothing,
    other_editions_than_the_expected_one_are_left_alone,
    stored_token_is_not_taken_to_another_repository,
    nobody_is_replaced_where_nobody_is,
);

async fn other_source_is_another_generation_and_forgets_what_was_read(
    home: &Home,
) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, "shop.web").await?;
    Seen::new("one", "sha256:1")
        .apply(&ledger, "shop.web")
        .await?;
    let before = stored(&ledger, "shop.web").await?;
    assert!(before.known_source.is_some() && before.state.source().is_some());

    let elsewhere = mk_replacement("acme/shop", "other", None);
    let after = replace(&ledger, "SHOP.web", elsewhere.clone()).await?;
    assert_eq!(after.uid, before.uid);
    assert_eq!(after.source, elsewhere.source);
    assert_eq!(after.edition.to_string(), "2.1");
    assert_eq!(after.known_source, None);
    assert_eq!(after.state.source(), None);
    assert_eq!(after.state.last_release(), before.state.last_release());
    assert_eq!((after.updated, after.updated_by.as_str()), (at(5), "ops"));
    assert_eq!((after.created, after.created_by.as_str()), (at(1), "ci"));
    assert_eq!(stored(&ledger, "shop.web").await?, after);
    let token = ledger.trackers().token(&after.uid).await?;
    assert_eq!(
        token.as_ref().map(|it| it.reveal()),
        Some(TOKEN),
        "it stays"
    );
    Ok(())
}

async fn other_token_is_another_version_and_nothing_else(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let before = create(&ledger, "shop.web").await?;
    let other = mk_replacement("acme/shop", "deploy", Some("other"));
    let after = replace(&ledger, "shop.web", other).await?;
    assert_eq!(after.edition.to_string(), "1.2");
    assert_eq!((after.state, after.source), (before.state, before.source));
    let token = ledger.trackers().token(&after.uid).await?;
    assert_eq!(token.as_ref().map(|it| it.reveal()), Some("other"));
    let both = mk_replacement("acme/other", "deploy", Some("third"));
    let after = replace(&ledger, "shop.web", both).await?;
    assert_eq!(after.edition.to_string(), "2.3");
    Ok(())
}

async fn token_may_be_taken_away(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, "shop.web").await?;
    let anonymous = mk_replacement("acme/shop", "deploy", Some(""));
    let after = replace(&ledger, "shop.web", anonymous.clone()).await?;
    assert_eq!((after.has_token, after.edition.token_version), (false, 2));
    let again = ledger
        .trackers()
        .replace(&mk_name("shop.web"), anonymous, None, "ops", at(6))
        .await?;
    assert!(matches!(again, ReplaceOutcome::Unchanged(_)), "{again:?}");
    let back = mk_replacement("acme/other", "deploy", Some(TOKEN));
    let after = replace(&ledger, "shop.web", back).await?;
    assert_eq!((after.has_token, after.edition.token_version), (true, 3));
    Ok(())
}

async fn same_content_changes_nothing(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let before = create(&ledger, "shop.web").await?;
    for token in [None, Some(TOKEN)] {
        let same = mk_replacement("acme/shop", "deploy", token);
        let name = mk_name("shop.web");
        let outcome = ledger.trackers().replace(&name, same, None, "ops", at(5));
        let outcome = outcome.await?;
        let expected = ReplaceOutcome::Unchanged(Box::new(before.clone()));
        assert_eq!(outcome, expected);
    }
    assert_eq!(stored(&ledger, "shop.web").await?, before);
    assert_eq!(home.count("change").await, 1);
    Ok(())
}

async fn other_editions_than_the_expected_one_are_left_alone(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let before = create(&ledger, "shop.web").await?;
    let name = mk_name("shop.web");
    for (generation, token_version) in [(1, 2), (2, 1), (0, 1)] {
        let expected = Some(Edition {
            generation,
            token_version,
        });
        let elsewhere = mk_replacement("acme/shop", "other", None);
        let replaced = ledger
            .trackers()
            .replace(&name, elsewhere, expected, "ops", at(5));
        assert_eq!(replaced.await?, ReplaceOutcome::Stale);
    }
    assert_eq!(stored(&ledger, "shop.web").await?, before);
    let elsewhere = mk_replacement("acme/shop", "other", None);
    let expected = Some(before.edition);
    let replaced = ledger
        .trackers()
        .replace(&name, elsewhere, expected, "ops", at(5));
    assert!(matches!(replaced.await?, ReplaceOutcome::Replaced(_)));
    Ok(())
}

/// Two replacements without conditions: the second was read before the first was written.
async fn stored_token_is_not_taken_to_another_repository(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    create(&ledger, "shop.web").await?;
    let first = mk_replacement("acme/private", "deploy", Some("of-private"));
    let moved = replace(&ledger, "shop.web", first).await?;
    let second = mk_replacement("acme/shop", "other", None);
    let name = mk_name("shop.web");
    let outcome = ledger
        .trackers()
        .replace(&name, second, None, "ops", at(6))
        .await?;
    assert_eq!(outcome, ReplaceOutcome::TokenRequired);
    assert_eq!(stored(&ledger, "shop.web").await?, moved);
    Ok(())
}

async fn nobody_is_replaced_where_nobody_is(home: &Home) -> anyhow::Result<()> {
    let ledger = open(home).await?;
    let replacement = mk_replacement("acme/shop", "other", Some(TOKEN));
    let name = mk_name("shop.web");
    let outcome = ledger
        .trackers()
        .replace(&name, replacement, None, "ops", at(5));
    assert_eq!(outcome.await?, ReplaceOutcome::Missing);
    assert_eq!(home.count("tracker").await, 0);
    Ok(())
}
