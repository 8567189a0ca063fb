//! A namespace for each test.

use std::panic::AssertUnwindSafe;

use ::kube::api::{DeleteParams, ObjectMeta, PostParams};
use ::kube::{Api, Client, ResourceExt};
use anyhow::Result;
use futures::FutureExt;
use k8s_openapi::api::core::v1::Namespace;

/// Runs a test in a namespace of its own, which is deleted afterwards, whether the test returns or
/// panics. The deletion is asked for, not waited for: it takes a real server five seconds.
pub async fn with_temp_ns<T, Test>(client: Client, test: impl FnOnce(Client, String) -> Test) -> T
where
    Test: Future<Output = T>,
{
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let name = create(&namespaces)
        .await
        .expect("a namespace for the test can be created");
    let result = AssertUnwindSafe(test(client, name.clone()))
        .catch_unwind()
        .await;
    let deleted = namespaces.delete(&name, &DeleteParams::background()).await;
    match result {
        Ok(value) => {
            deleted.expect("the namespace of the test can be deleted");
            value
        }
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

async fn create(namespaces: &Api<Namespace>) -> Result<String> {
    let namespace = Namespace {
        metadata: ObjectMeta {
            generate_name: Some("test-".to_owned()),
            ..ObjectMeta::default()
        },
        ..Namespace::default()
    };
    Ok(namespaces
        .create(&PostParams::default(), &namespace)
        .await?
        .name_any())
}
