//! The kinds Pathline brings to a cluster.

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams};
use kube::runtime::conditions;
use kube::runtime::wait::await_condition;
use kube::{Api, Client, ResourceExt};
use pathline_kinds::{carto, environment};

use pathline_workers as workers;

use crate::FIELD_MANAGER;

/// A server establishes a kind within milliseconds; one that needs longer than this has a problem.
const ESTABLISH_TIMEOUT: Duration = Duration::from_secs(30);

/// Says why the kinds could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server refused a kind.
    #[error("the cluster refused the kind `{crd}`")]
    Apply {
        /// The name of the CustomResourceDefinition.
        crd: String,
        /// The error of the server.
        #[source]
        source: kube::Error,
    },
    /// The server accepted a kind but does not serve it.
    #[error(
        "the cluster accepted the kind `{crd}` but does not serve it; see `kubectl describe crd {crd}`"
    )]
    NotEstablished {
        /// The name of the CustomResourceDefinition.
        crd: String,
    },
}

/// Returns every kind of Pathline: those of supply chains first, then those of releases and of the workers.
pub fn all() -> Vec<CustomResourceDefinition> {
    pathline_kinds::crds()
}

/// Returns the kinds of Pathline on a cluster that has controllers of its own.
pub fn on_a_real_cluster() -> Vec<CustomResourceDefinition> {
    let mut crds = carto::crds();
    crds.extend(environment::crds());
    crds.extend(workers::Kinds::on_a_real_cluster().crds());
    crds
}

/// Installs or updates every kind of [`all`] and returns when the cluster serves them.
pub async fn install(client: &Client) -> Result<(), Error> {
    install_these(client, &all()).await
}

/// Returns the names of those kinds that the cluster does not have.
///
/// # Errors
/// Fails if the cluster cannot be asked.
pub async fn missing(
    client: &Client,
    crds: &[CustomResourceDefinition],
) -> kube::Result<Vec<String>> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let mut missing = Vec::new();
    for crd in crds {
        let name = crd.name_any();
        if api.get_opt(&name).await?.is_none() {
            missing.push(name);
        }
    }
    Ok(missing)
}

/// Installs or updates these kinds and returns when the cluster serves them.
pub async fn install_these(
    client: &Client,
    crds: &[CustomResourceDefinition],
) -> Result<(), Error> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for crd in crds {
        let name = crd.name_any();
        api.patch(
            &name,
            &PatchParams::apply(FIELD_MANAGER).force(),
            &Patch::Apply(crd),
        )
        .await
        .map_err(|source| Error::Apply {
            crd: name.clone(),
            source,
        })?;
    }
    for crd in crds {
        established(&api, &crd.name_any()).await?;
    }
    Ok(())
}

async fn established(api: &Api<CustomResourceDefinition>, name: &str) -> Result<(), Error> {
    let condition = await_condition(api.clone(), name, conditions::is_crd_established());
    match tokio::time::timeout(ESTABLISH_TIMEOUT, condition).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(Error::NotEstablished {
            crd: name.to_owned(),
        }),
    }
}
