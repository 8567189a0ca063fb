//! The kinds of objects that were stamped before this Pathline started.
//!
//! Kinds are watched once something of them is stamped. An object that was written just before a
//! Pathline was killed, and whose kind nothing stamps any more, would never be seen; so every kind is
//! asked once whether there is something of ours.

use std::time::Duration;

use kube::api::{ApiResource, DynamicObject, ListParams};
use kube::core::GroupVersionKind;
use kube::discovery::{ApiCapabilities, Discovery, Scope, verbs};
use kube::{Api, Client};

use super::{WatchLabel, Watches};
use crate::runtime::calls::{self, call};
use crate::runtime::env::Env;
use crate::runtime::retry;

/// The pause after the first failure.
const FIRST_DELAY: Duration = Duration::from_secs(1);

/// Kinds that nobody is asked for: Secrets are nobody's business unless a template stamps some, and
/// Events are never stamped.
const LEFT_ALONE: [&str; 2] = ["secrets", "events"];

/// Watches every kind of which something is stamped already.
pub(crate) async fn discover_stamped(env: &Env, watches: &Watches) {
    let work = retry::until_ok(
        FIRST_DELAY,
        || ask_every_kind(&env.client, watches),
        |error| tracing::warn!(error = error.message(), "kinds are not known yet"),
    );
    env.stop.run_until_cancelled(work).await;
}

async fn ask_every_kind(client: &Client, watches: &Watches) -> Result<(), calls::Error> {
    let discovery = call(Discovery::new(client.clone()).run()).await?;
    let resources = discovery
        .groups()
        .flat_map(|group| group.recommended_resources());
    let asked = resources.filter(|(resource, capabilities)| is_asked(resource, capabilities));
    let asked: Vec<ApiResource> = asked.map(|(resource, _)| resource).collect();
    for resource in &asked {
        if let Err(error) = ask(client, watches, resource).await {
            let kind = &resource.kind;
            tracing::debug!(kind, error = error.message(), "a kind is not asked");
        }
    }
    Ok(())
}

fn is_asked(resource: &ApiResource, capabilities: &ApiCapabilities) -> bool {
    capabilities.scope == Scope::Namespaced
        && capabilities.supports_operation(verbs::LIST)
        && capabilities.supports_operation(verbs::WATCH)
        && !LEFT_ALONE.contains(&resource.plural.as_str())
}

async fn ask(
    client: &Client,
    watches: &Watches,
    resource: &ApiResource,
) -> Result<(), calls::Error> {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), resource);
    let any = ListParams::default()
        .labels(WatchLabel::Resource.key())
        .limit(1);
    if call(api.list_metadata(&any)).await?.items.is_empty() {
        return Ok(());
    }
    let gvk = GroupVersionKind::gvk(&resource.group, &resource.version, &resource.kind);
    watches.kind(&gvk, WatchLabel::Resource).await.map(drop)
}
