//! The server that a test of the suite runs against.

use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use kube::runtime::wait::{await_condition, conditions::is_created};
use kube::{Api, Client, Resource};
use pathline_testkit::kube::{Binaries, Kubectl, with_temp_ns};
use pathline_testkit::skip;
use tokio::time::timeout;

use super::server::{self, Access};
use super::session::Session;
use super::widget::Widget;

/// Far more than any test takes, so that one which hangs says so.
const WAIT_TIMEOUT: Duration = Duration::from_secs(180);

/// The kind of server that a test runs against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Server {
    Embedded,
    Real,
}

/// The clients of a test for its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(non_camel_case_types, reason = "written as words in the list of tests")]
pub(crate) enum Needs {
    kubectl,
    api,
}

/// A namespace of one's own on a server, with an administrator's clients.
pub(crate) struct Target {
    pub(crate) client: Client,
    pub(crate) namespace: String,
    pub(crate) access: Access,
    kubectl: Option<Kubectl>,
}

impl Target {
    /// Waits for what controllers put into every namespace, lest it turns up during the test.
    async fn furnished(&self) -> Result<()> {
        let (maps, accounts) = (self.api::<ConfigMap>(), self.api::<ServiceAccount>());
        await_condition(maps, "kube-root-ca.crt", is_created()).await?;
        await_condition(accounts, "default", is_created()).await?;
        Ok(())
    }

    /// Returns kubectl with the test's namespace as its default.
    pub(crate) fn kubectl(&self) -> &Kubectl {
        self.kubectl
            .as_ref()
            .expect("the test is listed as one that needs kubectl")
    }

    /// Starts a transcript of kubectl calls.
    pub(crate) fn session(&self) -> Session<'_> {
        Session::new(self)
    }

    /// Returns the objects of a kind in the test's namespace.
    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Returns the widgets in the test's namespace.
    pub(crate) fn widgets(&self) -> Api<Widget> {
        self.api()
    }
}

/// Runs one test in a namespace of its own, or skips it where its server or kubectl is missing.
pub(crate) async fn run(
    server: Server,
    needs: Needs,
    test: impl AsyncFnOnce(&Target) -> Result<()>,
) -> Result<()> {
    let kubectl = match Binaries::find() {
        Ok(binaries) => Some(binaries.program("kubectl")),
        Err(missing) if needs == Needs::kubectl => {
            skip(
                "conformance of the embedded API with kubectl",
                &missing.to_string(),
            );
            return Ok(());
        }
        Err(_) => None,
    };
    let access = match server {
        Server::Embedded => server::embedded().await,
        Server::Real => match server::real().await {
            Some(access) => access,
            None => return Ok(()),
        },
    };
    let client = access.client().await?;
    let in_namespace = with_temp_ns(client, async |client, namespace| {
        let kubectl = kubectl.map(|program| {
            Kubectl::new(program, access.kubeconfig.clone(), access.cache.clone())
                .in_namespace(&namespace)
        });
        let target = Target {
            client,
            namespace,
            access,
            kubectl,
        };
        target.furnished().await?;
        test(&target).await
    });
    timeout(WAIT_TIMEOUT, in_namespace)
        .await
        .context("the test hangs")?
}
