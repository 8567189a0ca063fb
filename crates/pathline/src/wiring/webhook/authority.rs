//! The certificate authority of the webhook, which all replicas share through one Secret.

use std::collections::BTreeMap;

use anyhow::{Context, bail};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::PostParams;
use kube::{Api, Client};
use pathline_cluster::Authority;

/// The one Secret Pathline reads and writes for itself.
const SECRET: &str = "pathline-webhook";
const CERTIFICATE: &str = "ca.crt";
const KEY: &str = "ca.key";

/// The number of times that another replica may be faster before that is a problem.
const ATTEMPTS: usize = 8;

/// Returns the authority all replicas share, making it if there is none.
///
/// The Secret may be there and empty: then no right to create Secrets is needed.
pub(super) async fn shared(client: &Client, namespace: &str) -> anyhow::Result<Authority> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    for _ in 0..ATTEMPTS {
        let stored = secrets.get_opt(SECRET).await.with_context(|| {
            format!(
                "cannot read the Secret {namespace}/{SECRET}; the service account needs `get` on it"
            )
        })?;
        if let Some(authority) = stored.as_ref().map(kept).transpose()?.flatten() {
            return Ok(authority);
        }
        let secret = filled(stored)?;
        let params = PostParams::default();
        let written = match &secret.metadata.resource_version {
            Some(_) => secrets.replace(SECRET, &params, &secret).await,
            None => secrets.create(&params, &secret).await,
        };
        match written {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.code == 409 => {}
            Err(error) => {
                return Err(error).with_context(|| {
                    format!("cannot write the Secret {namespace}/{SECRET}; make it, empty, beforehand, or grant `create` on Secrets")
                });
            }
        }
    }
    bail!("others keep changing the Secret {namespace}/{SECRET}")
}

/// Reads the authority a Secret holds, if it holds one.
fn kept(secret: &Secret) -> anyhow::Result<Option<Authority>> {
    let text = |name: &str| {
        let bytes = secret.data.as_ref()?.get(name)?;
        (!bytes.0.is_empty()).then(|| String::from_utf8_lossy(&bytes.0).into_owned())
    };
    let (Some(certificate), Some(key)) = (text(CERTIFICATE), text(KEY)) else {
        return Ok(None);
    };
    let authority = Authority::from_pem(certificate, &key).with_context(|| {
        format!("the Secret {SECRET} is damaged; empty it to have it made anew")
    })?;
    Ok(Some(authority))
}

fn filled(stored: Option<Secret>) -> anyhow::Result<Secret> {
    let (certificate, key) = Authority::generate()?;
    let mut secret = stored.unwrap_or_else(|| Secret {
        metadata: ObjectMeta {
            name: Some(SECRET.to_owned()),
            ..ObjectMeta::default()
        },
        ..Secret::default()
    });
    let data: BTreeMap<String, ByteString> = [(CERTIFICATE, certificate), (KEY, key)]
        .map(|(name, text)| (name.to_owned(), ByteString(text.into_bytes())))
        .into();
    secret.data.get_or_insert_default().extend(data);
    Ok(secret)
}
