//! Logins of registries: an application's own, the configured one, or Docker's.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use parking_lot::Mutex;
use pathline_remote::Secret;
use pathline_remote::registry::{CredentialHelpers, DockerConfig, ImageRepository, RegistryLogin};
use serde_json::Value;
use tokio::io::AsyncReadExt as _;
use tokio::time::Instant;

use super::settings::TrackingSettings;
use crate::runtime::clock::Clock;

/// The time for which a login of Docker's is remembered.
const REMEMBERED: Duration = Duration::from_secs(60);
/// The largest configuration of Docker, in bytes.
const MAX_DOCKER_CONFIG: u64 = 1 << 20;

/// The places at which a document of an application and its group may have a login, the first one first.
const PLACES: [&str; 2] = [
    "/application/repository/image/auth",
    "/group/repository/image/auth",
];

/// Returns the login that the configuration of an application brings, as it is written there.
pub(super) fn of_document(document: &Value) -> Option<Secret> {
    let found = PLACES.iter().find_map(|place| document.pointer(place));
    let text = found.and_then(Value::as_str)?;
    (!text.is_empty()).then(|| Secret::new(text))
}

/// Finds logins, and remembers for a while those that a program had to be asked for.
pub(super) struct Logins {
    settings: Arc<TrackingSettings>,
    clock: Clock,
    helpers: CredentialHelpers,
    known: Mutex<HashMap<ImageRepository, (Instant, Option<RegistryLogin>)>>,
}

impl Logins {
    pub(super) fn new(settings: Arc<TrackingSettings>, clock: Clock) -> Self {
        Self {
            settings,
            clock,
            helpers: CredentialHelpers::default(),
            known: Mutex::new(HashMap::new()),
        }
    }

    /// Returns the login for a repository: the application's own, the configured one, or Docker's.
    pub(super) async fn find(
        &self,
        image: &ImageRepository,
        own: Option<&Secret>,
    ) -> Option<RegistryLogin> {
        if let Some(own) = own.and_then(decoded) {
            return Some(own);
        }
        let configured = self.settings.registry(&image.registry);
        if let Some(login) = configured.and_then(|it| it.login.clone()) {
            return Some(login);
        }
        let path = self.settings.docker_config.as_ref()?;
        let now = self.clock.instant();
        if let Some((until, login)) = self.known.lock().get(image)
            && *until > now
        {
            return login.clone();
        }
        let login = match self.ask_docker(path, image).await {
            Ok(login) => login,
            Err(error) => {
                tracing::warn!("no login for {} was found: {error:#}", image.registry);
                None
            }
        };
        let mut known = self.known.lock();
        known.retain(|_, (until, _)| *until > now);
        known.insert(image.clone(), (now + REMEMBERED, login.clone()));
        login
    }

    async fn ask_docker(
        &self,
        path: &Path,
        image: &ImageRepository,
    ) -> anyhow::Result<Option<RegistryLogin>> {
        let content = read_limited(path).await;
        let content = content.with_context(|| format!("cannot read {}", path.display()))?;
        let config = DockerConfig::parse(&content)?;
        Ok(self.helpers.login(&config, image).await?)
    }
}

/// Reads a file, but no more of it than a configuration of Docker may have, and a byte.
async fn read_limited(path: &Path) -> io::Result<Vec<u8>> {
    let file = tokio::fs::File::open(path).await?;
    let mut content = Vec::new();
    file.take(MAX_DOCKER_CONFIG + 1)
        .read_to_end(&mut content)
        .await?;
    Ok(content)
}

/// Reads a login as Docker writes it: a user and a password, with a colon in between, in base64.
fn decoded(auth: &Secret) -> Option<RegistryLogin> {
    let bytes = STANDARD.decode(auth.reveal().trim()).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (username, password) = text.split_once(':')?;
    Some(RegistryLogin::Basic {
        username: username.to_owned(),
        password: Secret::new(password.trim_end_matches('\0')),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn login_of_the_application_wins_over_that_of_its_group() {
        let document = |own: Value, group: Value| {
            let settings = |auth| json!({"repository": {"image": {"auth": auth}}});
            json!({"application": settings(own), "group": settings(group)})
        };
        let found = |own, group| of_document(&document(own, group));
        let is = |text| Some(Secret::new(text));
        assert_eq!(found(json!("a"), json!("b")), is("a"));
        assert_eq!(
            found(json!(null), json!("b")).as_ref(),
            None,
            "it is taken away"
        );
        assert_eq!(of_document(&json!({"group": {}})), None);
    }

    #[test]
    fn login_is_a_user_and_a_password_in_base64() {
        let encoded = Secret::new(STANDARD.encode("bot:a:b"));
        let expected = RegistryLogin::Basic {
            username: "bot".to_owned(),
            password: Secret::new("a:b"),
        };
        assert_eq!(decoded(&encoded), Some(expected));
        for bad in ["", "***", "Ym90"] {
            assert_eq!(decoded(&Secret::new(bad)), None, "{bad}");
        }
    }
}
