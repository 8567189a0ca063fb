//! Lists: pages, selectors, and lists of an older state.

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, ListParams, PostParams, VersionMatch};
use kube::{Api, ResourceExt};

use super::expect::refused;
use super::objects::mk_secret;
use super::target::Target;
use super::widget::{Widget, mk_widget};

conformance!(api:
    pages_show_one_moment_in_order,
    selected_pages_count_only_what_is_selected,
    list_of_all_namespaces_is_ordered_by_namespace,
    list_at_an_exact_version_shows_the_past,
    empty_list_has_a_version,
    unreadable_continue_token_is_refused,
);

async fn pages_show_one_moment_in_order(t: &Target) -> Result<()> {
    let secrets: Api<Secret> = t.api();
    for i in [3, 1, 4, 0, 2] {
        secrets
            .create(&PostParams::default(), &mk_secret(&format!("m{i}"), "x"))
            .await?;
    }
    let page = secrets.list(&ListParams::default().limit(2)).await?;
    let names = |list: &[Secret]| {
        list.iter()
            .map(|secret| secret.name_any())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&page.items), ["m0", "m1"]);
    assert_eq!(page.metadata.remaining_item_count, Some(3));
    let token = page.metadata.continue_.context("there is more")?;

    secrets
        .create(&PostParams::default(), &mk_secret("m2-late", "x"))
        .await?;
    secrets.delete("m3", &DeleteParams::default()).await?;

    let second = secrets
        .list(&ListParams::default().limit(2).continue_token(&token))
        .await?;
    assert_eq!(
        names(&second.items),
        ["m2", "m3"],
        "as it was when the first page was taken"
    );
    assert_eq!(
        second.metadata.resource_version,
        page.metadata.resource_version
    );
    let token = second.metadata.continue_.context("there is more")?;
    let last = secrets
        .list(&ListParams::default().limit(2).continue_token(&token))
        .await?;
    assert_eq!(names(&last.items), ["m4"]);
    assert_eq!(
        last.metadata.continue_.unwrap_or_default(),
        "",
        "nothing is left"
    );
    assert_eq!(last.metadata.remaining_item_count, None);
    Ok(())
}

async fn selected_pages_count_only_what_is_selected(t: &Target) -> Result<()> {
    let widgets = t.widgets();
    for i in 0..6 {
        let mut widget = mk_widget(&format!("w{i}"));
        widget
            .labels_mut()
            .insert("odd".to_owned(), (i % 2 == 1).to_string());
        widgets.create(&PostParams::default(), &widget).await?;
    }
    let odd = ListParams::default().labels("odd=true").limit(2);
    let page = widgets.list(&odd).await?;
    let names: Vec<_> = page.items.iter().map(|widget| widget.name_any()).collect();
    assert_eq!(names, ["w1", "w3"]);
    assert_eq!(
        page.metadata.remaining_item_count, None,
        "not known without looking"
    );
    let token = page.metadata.continue_.context("there is more")?;
    let rest = widgets.list(&odd.continue_token(&token)).await?;
    assert_eq!(rest.items.len(), 1);
    assert_eq!(rest.items[0].name_any(), "w5");
    Ok(())
}

async fn list_of_all_namespaces_is_ordered_by_namespace(t: &Target) -> Result<()> {
    t.widgets()
        .create(&PostParams::default(), &mk_widget("a"))
        .await?;
    let everywhere: Api<Widget> = Api::all(t.client.clone());
    let list = everywhere.list(&ListParams::default()).await?;
    let keys: Vec<_> = list
        .items
        .iter()
        .map(|widget| (widget.namespace(), widget.name_any()))
        .collect();
    assert!(keys.is_sorted(), "{keys:?}");
    assert!(keys.contains(&(Some(t.namespace.clone()), "a".to_owned())));
    Ok(())
}

async fn list_at_an_exact_version_shows_the_past(t: &Target) -> Result<()> {
    let secrets: Api<Secret> = t.api();
    secrets
        .create(&PostParams::default(), &mk_secret("a", "x"))
        .await?;
    let then = secrets
        .list(&ListParams::default())
        .await?
        .metadata
        .resource_version;
    let then = then.context("a version")?;
    secrets
        .create(&PostParams::default(), &mk_secret("b", "x"))
        .await?;
    secrets.delete("a", &DeleteParams::default()).await?;
    let past = secrets
        .list(
            &ListParams::default()
                .at(&then)
                .matching(VersionMatch::Exact),
        )
        .await?;
    assert_eq!(past.items.len(), 1);
    assert_eq!(past.items[0].name_any(), "a");
    assert_eq!(past.metadata.resource_version, Some(then));
    Ok(())
}

async fn empty_list_has_a_version(t: &Target) -> Result<()> {
    let list = t.widgets().list(&ListParams::default()).await?;
    assert!(list.items.is_empty());
    let version = list.metadata.resource_version.context("a version")?;
    assert!(version.parse::<u64>()? > 0);
    Ok(())
}

async fn unreadable_continue_token_is_refused(t: &Target) -> Result<()> {
    let secrets: Api<Secret> = t.api();
    let status = refused(
        secrets
            .list(&ListParams::default().limit(1).continue_token("bm8="))
            .await,
    );
    assert_eq!(
        (status.code, status.reason.as_str()),
        (400, "BadRequest"),
        "{status:?}"
    );
    Ok(())
}
