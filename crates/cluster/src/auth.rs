//! Authentication: the administrator's token, and the tokens of service accounts.
//!
//! Every request carries a bearer token. The administrator's is a file of the data directory; a
//! service account's is a JWT signed with a key kept there, good until it expires or the account
//! it was made for (this very one, by uid) is deleted.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use jiff::Timestamp;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use crate::secrets;
use crate::store::{Collection, Key, Store};

/// The issuer of service-account tokens, and the audience the API itself is.
pub(crate) const AUDIENCE: &str = "https://kubernetes.default.svc.cluster.local";

/// Whoever sent a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct User {
    /// The name, such as `system:serviceaccount:default:builder`.
    pub(crate) name: String,
    /// The uid of the service account.
    pub(crate) uid: Option<String>,
    /// The groups it belongs to.
    pub(crate) groups: Vec<String>,
}

/// The request does not say, or does not prove, who sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unauthenticated {
    /// There is no bearer token.
    #[error("the request has no bearer token")]
    NoToken,
    /// The token is none of ours, or was changed.
    #[error("the bearer token is not valid")]
    BadToken,
    /// The token was good once.
    #[error("the bearer token has expired")]
    Expired,
    /// The token is for someone else than this API.
    #[error("the bearer token is for another audience")]
    OtherAudience,
    /// The service account is gone.
    #[error("the service account of the bearer token does not exist any more")]
    AccountGone,
}

/// A service account that asks for a token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account<'a> {
    /// Its namespace.
    pub(crate) namespace: &'a str,
    /// Its name.
    pub(crate) name: &'a str,
    /// Its uid.
    pub(crate) uid: &'a str,
}

/// A token that was issued.
#[derive(Clone, Debug)]
pub(crate) struct Issued {
    /// The token itself.
    pub(crate) token: String,
    /// The time at which it expires.
    pub(crate) expires: Timestamp,
}

/// Knows the keys. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Auth {
    keys: Arc<Keys>,
    store: Store,
}

struct Keys {
    admin_token: String,
    signing: EncodingKey,
    verifying: DecodingKey,
}

/// The claims of a service-account token, under the names Kubernetes gives them.
#[derive(Serialize, Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    aud: Vec<String>,
    iat: i64,
    nbf: i64,
    exp: i64,
    jti: String,
    #[serde(rename = "kubernetes.io")]
    bound: Bound,
}

#[derive(Serialize, Deserialize)]
struct Bound {
    namespace: String,
    serviceaccount: BoundAccount,
}

#[derive(Serialize, Deserialize)]
struct BoundAccount {
    name: String,
    uid: String,
}

impl Auth {
    /// Reads the keys of a data directory, making them first if there are none.
    ///
    /// # Errors
    /// Fails if a file cannot be read or written.
    pub(crate) fn open(data_dir: &Path, store: Store) -> Result<Self, secrets::Error> {
        let admin_token = secrets::read_or_create(&data_dir.join("admin.token"), random_token)?;
        let path = data_dir.join("pki").join("service-accounts.key");
        let pem = secrets::read_or_create(&path, || new_key().serialize_pem())?;
        let key = rcgen::KeyPair::from_pem(&pem).map_err(|error| {
            secrets::Error::new("understand", &path, std::io::Error::other(error))
        })?;
        let keys = Keys {
            admin_token: admin_token.trim().to_owned(),
            signing: EncodingKey::from_ec_der(key.serialized_der()),
            verifying: DecodingKey::from_ec_der(key.public_key_raw()),
        };
        Ok(Self {
            keys: Arc::new(keys),
            store,
        })
    }

    /// Returns the token of the administrator.
    pub(crate) fn admin_token(&self) -> &str {
        &self.keys.admin_token
    }

    /// Says who sends a request with these headers now.
    ///
    /// # Errors
    /// See [`Unauthenticated`]; all of them are answered 401.
    pub(crate) fn authenticate(
        &self,
        headers: &HeaderMap,
        now: Timestamp,
    ) -> Result<User, Unauthenticated> {
        let token = bearer(headers).ok_or(Unauthenticated::NoToken)?;
        if bool::from(token.as_bytes().ct_eq(self.keys.admin_token.as_bytes())) {
            return Ok(User {
                name: "pathline:admin".to_owned(),
                uid: None,
                groups: vec![
                    "system:masters".to_owned(),
                    "system:authenticated".to_owned(),
                ],
            });
        }
        self.authenticate_account(token, now)
    }

    /// Issues a token for a service account. No audience means the API itself.
    pub(crate) fn issue(
        &self,
        account: Account<'_>,
        audiences: &[String],
        lifetime: Duration,
        now: Timestamp,
    ) -> Issued {
        let issued = now.as_second();
        let seconds = i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX);
        let expires =
            Timestamp::from_second(issued.saturating_add(seconds)).unwrap_or(Timestamp::MAX);
        let default_audience = [AUDIENCE.to_owned()];
        let audiences = if audiences.is_empty() {
            &default_audience
        } else {
            audiences
        };
        let claims = Claims {
            iss: AUDIENCE.to_owned(),
            sub: user_name(account.namespace, account.name),
            aud: audiences.to_vec(),
            iat: issued,
            nbf: issued,
            exp: expires.as_second(),
            jti: uuid::Uuid::new_v4().to_string(),
            bound: Bound {
                namespace: account.namespace.to_owned(),
                serviceaccount: BoundAccount {
                    name: account.name.to_owned(),
                    uid: account.uid.to_owned(),
                },
            },
        };
        let header = Header::new(Algorithm::ES256);
        let token = jsonwebtoken::encode(&header, &claims, &self.keys.signing)
            .expect("the key was read as a P-256 key, and the claims are plain text and numbers");
        Issued { token, expires }
    }

    fn authenticate_account(&self, token: &str, now: Timestamp) -> Result<User, Unauthenticated> {
        let mut validation = Validation::new(Algorithm::ES256);
        // Time and audience are checked below, against a given time and with an answer each.
        validation.validate_exp = false;
        validation.validate_aud = false;
        validation.set_issuer(&[AUDIENCE]);
        let Claims {
            aud,
            nbf,
            exp,
            bound,
            ..
        } = jsonwebtoken::decode(token, &self.keys.verifying, &validation)
            .map_err(|_| Unauthenticated::BadToken)?
            .claims;
        if exp <= now.as_second() {
            return Err(Unauthenticated::Expired);
        }
        if nbf > now.as_second() + 60 {
            return Err(Unauthenticated::BadToken);
        }
        if !aud.iter().any(|audience| audience == AUDIENCE) {
            return Err(Unauthenticated::OtherAudience);
        }
        let Bound {
            namespace,
            serviceaccount: BoundAccount { name, uid },
        } = bound;
        let accounts = Collection::new("", "serviceaccounts");
        match self.store.get(&Key::new(&accounts, &namespace, &name)) {
            Some(account) if account.uid() == uid => Ok(User {
                name: user_name(&namespace, &name),
                uid: Some(uid),
                groups: vec![
                    "system:serviceaccounts".to_owned(),
                    format!("system:serviceaccounts:{namespace}"),
                    "system:authenticated".to_owned(),
                ],
            }),
            _ => Err(Unauthenticated::AccountGone),
        }
    }
}

fn user_name(namespace: &str, account: &str) -> String {
    format!("system:serviceaccount:{namespace}:{account}")
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

fn random_token() -> String {
    let mut random = [0; 32];
    rustls::crypto::aws_lc_rs::default_provider()
        .secure_random
        .fill(&mut random)
        .expect("the operating system provides random bytes");
    URL_SAFE_NO_PAD.encode(random)
}

fn new_key() -> rcgen::KeyPair {
    rcgen::KeyPair::generate().expect("a P-256 key needs nothing but random bytes")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use serde_json::json;

    use super::*;
    use crate::store::{Change, Expect, Limits, Write};

    struct Fixture {
        auth: Auth,
        store: Store,
        directory: tempfile::TempDir,
    }

    async fn mk_auth() -> Fixture {
        let directory = tempfile::tempdir().unwrap();
        secrets::make_dir(&directory.path().join("pki")).unwrap();
        let store = Store::open(&directory.path().join("cluster.db"), Limits::default())
            .await
            .unwrap();
        let auth = Auth::open(directory.path(), store.clone()).unwrap();
        Fixture {
            auth,
            store,
            directory,
        }
    }

    fn robot_key() -> Key {
        Key::new(&Collection::new("", "serviceaccounts"), "shop", "robot")
    }

    async fn add_robot(store: &Store, uid: &str) -> u64 {
        let account = json!({"metadata": {"name": "robot", "namespace": "shop", "uid": uid}});
        let write = Write {
            key: robot_key(),
            expect: Expect::Absent,
            change: Change::Put(account),
            needs_namespace: false,
        };
        store.write(write).await.unwrap().revision
    }

    fn headers(authorization: &str) -> HeaderMap {
        HeaderMap::from_iter([(AUTHORIZATION, authorization.parse().unwrap())])
    }

    impl Fixture {
        fn issue(&self, audiences: &[String], now: Timestamp) -> String {
            let account = Account {
                namespace: "shop",
                name: "robot",
                uid: "uid-1",
            };
            self.auth
                .issue(account, audiences, Duration::from_secs(600), now)
                .token
        }

        fn try_token(&self, token: &str) -> Result<User, Unauthenticated> {
            let headers = headers(&format!("Bearer {token}"));
            self.auth.authenticate(&headers, Timestamp::now())
        }
    }

    #[tokio::test]
    async fn the_admin_token_is_long_private_and_kept() {
        let fixture = mk_auth().await;
        let token = fixture.auth.admin_token().to_owned();
        assert_eq!(URL_SAFE_NO_PAD.decode(&token).unwrap().len(), 32);
        let file = fixture.directory.path().join("admin.token");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let again = Auth::open(fixture.directory.path(), fixture.store.clone()).unwrap();
        assert_eq!(again.admin_token(), token);
        let user = fixture.try_token(&token).unwrap();
        assert!(user.groups.contains(&"system:masters".to_owned()));
    }

    #[tokio::test]
    async fn requests_without_a_good_token_are_refused() {
        let fixture = mk_auth().await;
        let auth = &fixture.auth;
        assert_eq!(
            auth.authenticate(&HeaderMap::new(), Timestamp::now()),
            Err(Unauthenticated::NoToken)
        );
        for (sent, answer) in [
            ("Basic YTpi", Unauthenticated::NoToken),
            ("Bearer ", Unauthenticated::NoToken),
            ("Bearer x", Unauthenticated::BadToken),
            ("Bearer a.b.c", Unauthenticated::BadToken),
        ] {
            let told = auth.authenticate(&headers(sent), Timestamp::now());
            assert_eq!(told, Err(answer), "{sent}");
        }
        let mut almost = auth.admin_token().to_owned();
        almost.pop();
        assert_eq!(fixture.try_token(&almost), Err(Unauthenticated::BadToken));
    }

    #[tokio::test]
    async fn an_account_is_known_by_its_token_until_it_is_deleted() {
        let fixture = mk_auth().await;
        let revision = add_robot(&fixture.store, "uid-1").await;
        let token = fixture.issue(&[], Timestamp::now());
        let user = fixture.try_token(&token).unwrap();
        assert_eq!(user.name, "system:serviceaccount:shop:robot");
        assert!(
            user.groups
                .contains(&"system:serviceaccounts:shop".to_owned())
        );

        let remove = Write {
            key: robot_key(),
            expect: Expect::Revision(revision),
            change: Change::Remove(json!({"metadata": {"name": "robot"}})),
            needs_namespace: false,
        };
        fixture.store.write(remove).await.unwrap();
        assert_eq!(fixture.try_token(&token), Err(Unauthenticated::AccountGone));
        add_robot(&fixture.store, "uid-2").await;
        assert_eq!(
            fixture.try_token(&token),
            Err(Unauthenticated::AccountGone),
            "an account of the same name is not the same account"
        );
    }

    #[tokio::test]
    async fn a_token_expires_and_is_for_its_audience_only() {
        let fixture = mk_auth().await;
        add_robot(&fixture.store, "uid-1").await;
        let old = fixture.issue(&[], Timestamp::now() - jiff::SignedDuration::from_secs(601));
        assert_eq!(fixture.try_token(&old), Err(Unauthenticated::Expired));
        let foreign = fixture.issue(&["vault".to_owned()], Timestamp::now());
        assert_eq!(
            fixture.try_token(&foreign),
            Err(Unauthenticated::OtherAudience)
        );
    }

    #[tokio::test]
    async fn a_token_signed_with_another_key_is_refused() {
        let fixture = mk_auth().await;
        add_robot(&fixture.store, "uid-1").await;
        let stranger = mk_auth().await.issue(&[], Timestamp::now());
        assert_eq!(fixture.try_token(&stranger), Err(Unauthenticated::BadToken));
        let reopened = Auth::open(fixture.directory.path(), fixture.store.clone()).unwrap();
        let account = Account {
            namespace: "shop",
            name: "robot",
            uid: "uid-1",
        };
        let token = reopened
            .issue(account, &[], Duration::from_secs(600), Timestamp::now())
            .token;
        assert!(
            fixture.try_token(&token).is_ok(),
            "the key survives a restart"
        );
    }
}
