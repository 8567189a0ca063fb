//! The registration of the webhook at a cluster.

use std::str::FromStr;

use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    RuleWithOperations, ServiceReference, ValidatingWebhook, ValidatingWebhookConfiguration,
    WebhookClientConfig,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use kube::{Api, Client};
use pathline_engine::FIELD_MANAGER;
use url::Url;

use super::PATH;
use crate::wiring::admission::NAME;

/// The name of the configuration object.
const CONFIGURATION: &str = "pathline";

/// The kinds of supply chains that have rules.
const RESOURCES: [&str; 8] = [
    "clustersupplychains",
    "clusterdeliveries",
    "clustersourcetemplates",
    "clusterimagetemplates",
    "clusterconfigtemplates",
    "clusterdeploymenttemplates",
    "clustertemplates",
    "clusterruntemplates",
];

/// The address under which the cluster reaches the webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A Service of the cluster, on port 443.
    Service {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
    /// Somewhere else.
    Url(Url),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.starts_with("https://") {
            return Url::parse(text)
                .map(Self::Url)
                .map_err(|error| format!("{error}"));
        }
        match text.split_once('/') {
            Some((namespace, name))
                if !namespace.is_empty() && !name.is_empty() && !name.contains('/') =>
            {
                Ok(Self::Service {
                    namespace: namespace.to_owned(),
                    name: name.to_owned(),
                })
            }
            _ => Err(
                "write a Service as NAMESPACE/NAME, or an address as https://HOST:PORT".to_owned(),
            ),
        }
    }
}

impl Target {
    /// Puts the port that is listened on where port 0 was written.
    pub(crate) fn on(mut self, port: u16) -> Self {
        if let Self::Url(url) = &mut self
            && url.port() == Some(0)
        {
            let _ = url.set_port(Some(port));
        }
        self
    }

    /// Returns the names the server's certificate must have.
    pub(super) fn names(&self) -> Vec<String> {
        match self {
            Self::Service { namespace, name } => vec![
                format!("{name}.{namespace}.svc"),
                format!("{name}.{namespace}.svc.cluster.local"),
            ],
            Self::Url(url) => {
                let host = url.host_str().unwrap_or_default();
                vec![host.trim_matches(['[', ']']).to_owned()]
            }
        }
    }

    fn client_config(&self, authority: &str) -> WebhookClientConfig {
        let ca_bundle = Some(ByteString(authority.as_bytes().to_vec()));
        match self {
            Self::Service { namespace, name } => WebhookClientConfig {
                ca_bundle,
                service: Some(ServiceReference {
                    name: name.clone(),
                    namespace: namespace.clone(),
                    path: Some(PATH.to_owned()),
                    port: Some(443),
                }),
                url: None,
            },
            Self::Url(url) => WebhookClientConfig {
                ca_bundle,
                service: None,
                url: url.join(PATH).ok().map(String::from),
            },
        }
    }
}

/// Tells the cluster, again at every start: the address may have changed, and replicas agree.
pub(super) async fn register(
    client: &Client,
    target: &Target,
    authority: &str,
) -> kube::Result<()> {
    let configuration = ValidatingWebhookConfiguration {
        metadata: ObjectMeta {
            name: Some(CONFIGURATION.to_owned()),
            ..ObjectMeta::default()
        },
        webhooks: Some(vec![webhook(target.client_config(authority))]),
    };
    let api: Api<ValidatingWebhookConfiguration> = Api::all(client.clone());
    let params = PatchParams::apply(FIELD_MANAGER).force();
    api.patch(CONFIGURATION, &params, &Patch::Apply(&configuration))
        .await
        .map(drop)
}

/// Takes back what [`register`] told the cluster, if nobody else can answer at the address.
///
/// A Service stays when one of its replicas ends, and an upgrade must not leave a moment in which
/// nothing is checked: its registration belongs to the installation. An address is this process:
/// left registered it would block every later write. So it goes, unless another has registered since.
pub(super) async fn unregister(
    client: &Client,
    target: &Target,
    authority: &str,
) -> kube::Result<()> {
    if matches!(target, Target::Service { .. }) {
        return Ok(());
    }
    let api: Api<ValidatingWebhookConfiguration> = Api::all(client.clone());
    let Some(found) = api.get_opt(CONFIGURATION).await? else {
        return Ok(());
    };
    let ours = target.client_config(authority);
    let mut webhooks = found.webhooks.iter().flatten();
    if !webhooks.all(|webhook| webhook.client_config.url == ours.url) {
        return Ok(());
    }
    // Somebody may register between the two requests.
    let as_found = DeleteParams::default().preconditions(Preconditions {
        resource_version: found.metadata.resource_version,
        uid: found.metadata.uid,
    });
    match api.delete(CONFIGURATION, &as_found).await {
        Err(kube::Error::Api(status)) if status.is_conflict() || status.is_not_found() => Ok(()),
        deleted => deleted.map(drop),
    }
}

fn webhook(client_config: WebhookClientConfig) -> ValidatingWebhook {
    ValidatingWebhook {
        name: NAME.to_owned(),
        admission_review_versions: vec!["v1".to_owned()],
        side_effects: "None".to_owned(),
        failure_policy: Some("Fail".to_owned()),
        timeout_seconds: Some(10),
        rules: Some(vec![
            rule("carto.run", &RESOURCES),
            rule("pathline.dev", &["environments"]),
        ]),
        client_config,
        ..ValidatingWebhook::default()
    }
}

/// Returns the writes of kinds of a group, which the cluster asks about.
fn rule(group: &str, resources: &[&str]) -> RuleWithOperations {
    let all = |values: &[&str]| Some(values.iter().map(|value| (*value).to_owned()).collect());
    RuleWithOperations {
        api_groups: all(&[group]),
        api_versions: all(&["v1alpha1"]),
        operations: all(&["CREATE", "UPDATE"]),
        resources: all(resources),
        scope: Some("Cluster".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_service_or_an_address() {
        let service: Target = "system/hook".parse().unwrap();
        assert_eq!(
            service.names(),
            ["hook.system.svc", "hook.system.svc.cluster.local"]
        );
        let address: Target = "https://127.0.0.1:9443".parse().unwrap();
        assert_eq!(address.names(), ["127.0.0.1"]);
        let config = address.client_config("CA");
        assert_eq!(
            config.url.as_deref(),
            Some("https://127.0.0.1:9443/validate")
        );
        let any: Target = "https://127.0.0.1:0".parse().unwrap();
        assert_eq!(
            any.on(7).client_config("CA").url.as_deref(),
            Some("https://127.0.0.1:7/validate")
        );
        let six: Target = "https://[::1]:1".parse().unwrap();
        assert_eq!(six.names(), ["::1"]);
        for wrong in ["hook", "a/b/c", "/a", "http://127.0.0.1"] {
            assert!(wrong.parse::<Target>().is_err(), "{wrong}");
        }
    }
}
