//! Deletion through the API: preconditions, answers, collections.

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, ListParams, PostParams, Preconditions};
use kube::{Api, ResourceExt};

use super::expect::{refusal, refused};
use super::objects::mk_secret;
use super::target::Target;
use super::widget::mk_widget;

conformance!(api:
    deletion_with_another_uid_or_version_is_refused,
    deletion_answers_with_a_status_or_the_waiting_object,
    finalizers_hold_and_release,
    collection_is_deleted_by_selector,
    dry_run_deletes_nothing,
);

fn only_if(preconditions: Preconditions) -> DeleteParams {
    DeleteParams::default().preconditions(preconditions)
}

async fn deletion_with_another_uid_or_version_is_refused(t: &Target) -> Result<()> {
    let secrets: Api<Secret> = t.api();
    let secret = secrets
        .create(&PostParams::default(), &mk_secret("a", "a"))
        .await?;
    let other = only_if(Preconditions {
        uid: Some("other".to_owned()),
        resource_version: None,
    });
    let uid = secret.uid().context("a uid")?;
    assert_eq!(
        refusal(secrets.delete("a", &other).await),
        format!(
            "409 Conflict: Operation cannot be fulfilled on Secret \"a\": the UID in the precondition (other) does not match the UID in record ({uid}). The object might have been deleted and then recreated"
        )
    );
    let old = only_if(Preconditions {
        uid: None,
        resource_version: Some("1".to_owned()),
    });
    let status = refused(secrets.delete("a", &old).await);
    assert_eq!((status.code, status.reason.as_str()), (409, "Conflict"));
    let version = secret.resource_version().context("a version")?;
    assert_eq!(
        status.message,
        format!(
            "Operation cannot be fulfilled on Secret \"a\": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record ({version}). The object might have been modified"
        )
    );
    let right = only_if(Preconditions {
        uid: Some(uid),
        resource_version: Some(version),
    });
    secrets.delete("a", &right).await?;
    assert_eq!(secrets.get_opt("a").await?, None);
    Ok(())
}

async fn deletion_answers_with_a_status_or_the_waiting_object(t: &Target) -> Result<()> {
    let secrets: Api<Secret> = t.api();
    let secret = secrets
        .create(&PostParams::default(), &mk_secret("a", "a"))
        .await?;
    let answer = secrets.delete("a", &DeleteParams::default()).await?;
    let status = answer.right().context("a Status")?;
    assert!(status.is_success());
    let details = status.details.context("details")?;
    assert_eq!(
        (details.name.as_str(), details.kind.as_str()),
        ("a", "secrets")
    );
    assert_eq!(Some(details.uid), secret.uid());

    let mut held = mk_secret("b", "b");
    held.finalizers_mut().push("example.com/hold".to_owned());
    secrets.create(&PostParams::default(), &held).await?;
    let answer = secrets.delete("b", &DeleteParams::default()).await?;
    let waiting = answer.left().context("the object")?;
    assert!(waiting.metadata.deletion_timestamp.is_some());
    Ok(())
}

async fn finalizers_hold_and_release(t: &Target) -> Result<()> {
    let widgets = t.widgets();
    let mut widget = mk_widget("a");
    widget
        .finalizers_mut()
        .extend(["example.com/a".to_owned(), "example.com/b".to_owned()]);
    widgets.create(&PostParams::default(), &widget).await?;
    widgets.delete("a", &DeleteParams::default()).await?;
    let marked = widgets.get("a").await?;
    assert_eq!(
        marked.metadata.generation,
        Some(2),
        "marking it counts as a change"
    );
    widgets.delete("a", &DeleteParams::default()).await?;
    let again = widgets.get("a").await?;
    assert_eq!(
        again.resource_version(),
        marked.resource_version(),
        "once is enough"
    );

    let mut update = again;
    update.metadata.deletion_timestamp = None;
    update.finalizers_mut().remove(0);
    let kept = widgets
        .replace("a", &PostParams::default(), &update)
        .await?;
    assert_eq!(
        kept.metadata.deletion_timestamp, marked.metadata.deletion_timestamp,
        "there is no way back"
    );
    let mut update = kept;
    update.finalizers_mut().clear();
    widgets
        .replace("a", &PostParams::default(), &update)
        .await?;
    assert!(
        widgets.get_opt("a").await?.is_none(),
        "the last finalizer was the last hold"
    );
    Ok(())
}

async fn collection_is_deleted_by_selector(t: &Target) -> Result<()> {
    let secrets: Api<Secret> = t.api();
    for name in ["a", "b", "c"] {
        secrets
            .create(&PostParams::default(), &mk_secret(name, name))
            .await?;
    }
    let selected = ListParams::default().labels("tier in (a,b)");
    let answer = secrets
        .delete_collection(&DeleteParams::default(), &selected)
        .await?;
    let deleted = answer.left().context("the list of what was deleted")?;
    assert_eq!(deleted.items.len(), 2);
    let left = secrets.list(&ListParams::default()).await?;
    assert_eq!(
        left.items
            .iter()
            .map(|secret| secret.name_any())
            .collect::<Vec<_>>(),
        ["c"]
    );
    Ok(())
}

async fn dry_run_deletes_nothing(t: &Target) -> Result<()> {
    let secrets: Api<Secret> = t.api();
    let secret = secrets
        .create(&PostParams::default(), &mk_secret("a", "a"))
        .await?;
    secrets
        .delete("a", &DeleteParams::default().dry_run())
        .await?;
    assert_eq!(secrets.get("a").await?, secret);
    Ok(())
}
