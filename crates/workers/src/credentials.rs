//! Credentials for git, from Secrets.

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client};
use pathline_kinds::workers::SecretReference;
use pathline_remote::git::{self, Credentials, Remote};

/// The reason for which a remote repository cannot be talked to.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The URL names no repository.
    #[error(transparent)]
    Url(#[from] git::Error),
    /// The Secret is not there.
    #[error("there is no Secret `{0}` in this namespace")]
    Missing(String),
    /// The Secret holds something else than a user name and a password.
    #[error(
        "the Secret `{0}` has no `username` and `password`; other ways to authenticate are not supported yet"
    )]
    Unsuitable(String),
    /// The cluster does not show the Secret.
    #[error("the Secret `{0}` cannot be read")]
    Read(String, #[source] kube::Error),
}

/// Returns the remote with this URL, with the credentials of the Secret if one is named.
///
/// # Errors
///
/// Fails if the URL names no repository, or the Secret cannot be read or used.
pub async fn remote(
    client: &Client,
    namespace: &str,
    url: &str,
    secret: Option<&SecretReference>,
) -> Result<Remote, Error> {
    let remote = Remote::new(url)?;
    let Some(SecretReference { name }) = secret else {
        return Ok(remote);
    };
    let api: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let found = api
        .get_opt(name)
        .await
        .map_err(|why| Error::Read(name.clone(), why))?;
    let data = found
        .ok_or_else(|| Error::Missing(name.clone()))?
        .data
        .unwrap_or_default();
    let text = |key: &str| {
        let ByteString(bytes) = data.get(key)?;
        String::from_utf8(bytes.clone())
            .ok()
            .map(|text| text.trim_end_matches('\n').to_owned())
    };
    match (text("username"), text("password")) {
        (Some(username), Some(password)) => {
            Ok(remote.with_credentials(Credentials { username, password }))
        }
        _ => Err(Error::Unsuitable(name.clone())),
    }
}
