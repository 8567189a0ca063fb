//! Looking at objects of either cluster.

use std::path::Path;
use std::time::Duration;

use kube::api::{ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use kube::runtime::wait::await_condition;
use kube::{Api, Client};
use pathline_kinds::split_api_version;
use serde_json::Value;

/// The time-out of waits that take seconds; a loaded machine gets all the time it needs.
const TIMEOUT: Duration = Duration::from_secs(180);

/// Returns the objects of a kind, given as API version and kind, in the namespace of the story.
pub(crate) fn objects(client: &Client, (api_version, kind): (&str, &str)) -> Api<DynamicObject> {
    let (group, version) = split_api_version(api_version);
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    Api::namespaced_with(client.clone(), "default", &resource)
}

/// Waits until an object is as wanted, and returns it.
pub(crate) async fn await_object(
    client: &Client,
    kind: (&str, &str),
    name: &str,
    is_wanted: impl Fn(&Value) -> bool,
) -> Value {
    let value = |object: &DynamicObject| serde_json::to_value(object).expect("an object is JSON");
    let api = objects(client, kind);
    let condition = |object: Option<&DynamicObject>| object.is_some_and(|it| is_wanted(&value(it)));
    let waiting = await_condition(api.clone(), name, condition);
    match tokio::time::timeout(TIMEOUT, waiting).await {
        Ok(Ok(Some(found))) => value(&found),
        other => {
            let now = api.get_opt(name).await.ok().flatten();
            panic!("waited in vain for {kind:?} {name} ({other:?}); it is {now:#?}")
        }
    }
}

/// Returns a path as an argument.
pub(crate) fn text(path: &Path) -> String {
    path.to_str().expect("paths of tests are text").to_owned()
}
