//! The connection of the engine to its cluster: as itself, and as anybody whose token it holds.

use kube::client::Body;
use kube::config::AuthInfo;
use kube::{Client, Config};
use tower::service_fn;

/// A way to a cluster, for the engine itself and for the service accounts it writes under.
#[derive(Clone)]
pub struct Connection {
    client: Client,
    anonymous: Client,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Connection {
    /// Joins the engine's own client with one that says nothing about who asks.
    ///
    /// `anonymous` must not prove an identity by itself, not even by a client certificate: a server
    /// would take that for the identity, whatever token comes with a request.
    pub fn new(client: Client, anonymous: Client) -> Self {
        Self { client, anonymous }
    }

    /// Connects to the cluster of a configuration.
    ///
    /// # Errors
    /// Fails if the certificates or credentials of the configuration cannot be used.
    pub fn to(config: Config) -> kube::Result<Self> {
        let mut anonymous = config.clone();
        anonymous.auth_info = AuthInfo::default();
        Ok(Self {
            client: Client::try_from(config)?,
            anonymous: Client::try_from(anonymous)?,
        })
    }

    /// Returns the client of the engine itself.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Passes both ways through `layer`, so that whatever it does is done for everybody.
    #[must_use]
    pub fn map(self, layer: impl Fn(Client) -> Client) -> Self {
        Self {
            client: layer(self.client),
            anonymous: layer(self.anonymous),
        }
    }

    /// Returns a client that proves itself by a bearer token, over the connections all of them share.
    pub(crate) fn with_token(&self, token: &str) -> Result<Client, http::Error> {
        let mut bearer = http::HeaderValue::from_str(&format!("Bearer {token}"))?;
        bearer.set_sensitive(true);
        let anonymous = self.anonymous.clone();
        let service = service_fn(move |mut request: http::Request<Body>| {
            let anonymous = anonymous.clone();
            let headers = request.headers_mut();
            headers.insert(http::header::AUTHORIZATION, bearer.clone());
            async move { anonymous.send(request).await }
        });
        Ok(Client::new(service, self.client.default_namespace()))
    }
}
