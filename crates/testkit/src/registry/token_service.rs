//! A token service that real registries trust.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use parking_lot::Mutex;
use rcgen::{CertificateParams, KeyPair};

use super::{Auth, MORE_USERS, PASSWORD, USER};
use crate::doubles::{Recorded, Reply, Server};

/// The name of the registry at the token service.
pub(super) const SERVICE: &str = "testkit";
/// The name of the token service at the registry.
pub(super) const ISSUER: &str = "testkit-issuer";
/// The time for which tokens are valid, in seconds.
const LASTS: i64 = 300;

/// A token service, which gives tokens to [`USER`] with [`PASSWORD`], and to [`MORE_USERS`].
#[derive(Debug)]
pub struct TokenService {
    /// The server, which knows all requests.
    pub server: Server,
    certificate: String,
    given: Arc<Mutex<Vec<String>>>,
}

impl TokenService {
    /// Starts one.
    ///
    /// # Panics
    ///
    /// If no key can be made.
    pub fn start() -> Self {
        let key = KeyPair::generate().expect("a key");
        let names = vec![ISSUER.to_owned()];
        let parameters = CertificateParams::new(names).expect("a name that can be one");
        let certificate = parameters.self_signed(&key).expect("a certificate");
        let chain = vec![STANDARD.encode(certificate.der())];
        let signer = EncodingKey::from_ec_der(&key.serialize_der());
        let given = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&given);
        let server = Server::start(move |request| match token(request, &signer, &chain) {
            Some(token) => {
                let body = serde_json::json!({"token": token, "expires_in": LASTS});
                noted.lock().push(token);
                Reply::new(200).body(body.to_string())
            }
            None => Reply::new(401),
        });
        Self {
            server,
            certificate: certificate.pem(),
            given,
        }
    }

    /// Returns all tokens that were given.
    pub fn given(&self) -> Vec<String> {
        self.given.lock().clone()
    }

    /// Returns its name, under which it is configured: nobody sends a password elsewhere in clear text.
    pub fn host(&self) -> String {
        // By name: clients do not follow a registry to an address inside of a network.
        format!("localhost:{}", self.server.address.port())
    }

    /// Returns the setting by which a registry trusts it.
    pub fn auth(&self) -> Auth {
        Auth::Bearer {
            realm: format!("http://{}/token", self.host()),
            certificate: self.certificate.clone(),
        }
    }
}

/// Makes the token that a request asks for; nothing for strangers.
fn token(request: &Recorded, signer: &EncodingKey, chain: &[String]) -> Option<String> {
    let authorization = request.header("authorization")?;
    let is_of = |(user, password): &(&str, &str)| {
        let pair = STANDARD.encode(format!("{user}:{password}"));
        authorization == format!("Basic {pair}")
    };
    let mut users = MORE_USERS.into_iter().chain([(USER, PASSWORD)]);
    users.find(is_of)?;
    let scope = request.parameter("scope").unwrap_or_default();
    let scope = scope.replace("%2C", ",");
    let access = match scope.split(':').collect::<Vec<_>>()[..] {
        [kind, name, actions] => {
            let actions: Vec<_> = actions.split(',').collect();
            serde_json::json!([{"type": kind, "name": name, "actions": actions}])
        }
        _ => serde_json::json!([]),
    };
    let now = Timestamp::now().as_second();
    let claims = serde_json::json!({
        "iss": ISSUER, "sub": USER, "aud": SERVICE, "jti": "1",
        "iat": now - 10, "nbf": now - 10, "exp": now + LASTS,
        "access": access,
    });
    let header = Header {
        x5c: Some(chain.to_vec()),
        ..Header::new(Algorithm::ES256)
    };
    let token = jsonwebtoken::encode(&header, &claims, signer);
    Some(token.expect("claims can be signed"))
}
