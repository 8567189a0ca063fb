//! Messages of forges and registries: who sent them, and whom they concern.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use futures::future::try_join_all;
use hmac::{Hmac, KeyInit, Mac};
use parking_lot::Mutex;
use pathline_ledger::{Ledger, Topic};
use pathline_release::ingest::{Hint, Sender};
use pathline_release::request::SourceLocation;
use pathline_remote::Secret;
use serde_json::Value;
use sha2::Sha256;

use crate::AppState;
use crate::error::ApiError;

/// The deliveries that are remembered, so that one that is repeated brings no second poll.
const MAX_DELIVERIES: usize = 10_000;
/// The longest id of a delivery that is remembered.
const MAX_DELIVERY_ID: usize = 256;

/// The longest word of a sender for what happened that is logged, in characters.
const MAX_EVENT: usize = 64;

/// A sender of messages, and how it is known.
#[derive(Clone, Debug)]
pub struct IngestHook {
    /// The name, which is the last part of the path.
    pub name: String,
    /// The habits by which its messages are read.
    pub sender: Sender,
    /// The way in which it shows the secret.
    pub auth: IngestAuth,
    /// The secret.
    pub secret: Secret,
}

/// The way in which a sender shows that it knows the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IngestAuth {
    /// It signs the message, as `X-Hub-Signature-256` or in the header of its own.
    Hmac,
    /// It sends the secret, as `Authorization: Bearer` or in the header of its own.
    Header,
    /// It can do neither, and the secret is in the URL: `?key=`.
    Key,
}

/// A message as it came.
pub(crate) struct Message<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) headers: &'a HeaderMap,
    pub(crate) key: Option<&'a str>,
}

/// The outcome of a message.
enum Taken {
    /// So many trackers are looked at.
    For(usize),
    /// Nobody follows what it names.
    ForNobody,
    /// It names nothing.
    Meaningless,
    /// It came before.
    Repeated,
}

/// The senders, and what is remembered between messages. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Ingest {
    hooks: Arc<[IngestHook]>,
    deliveries: Arc<Mutex<Deliveries>>,
    followed: Arc<Mutex<Option<Followed>>>,
}

/// The deliveries that were taken, the oldest first.
#[derive(Default)]
struct Deliveries {
    known: HashSet<String>,
    order: VecDeque<String>,
}

/// The places that trackers follow, as of a change of the ledger.
#[derive(Clone)]
struct Followed {
    sequence: i64,
    trackers: Arc<Vec<FollowedPlaces>>,
}

/// The places that one tracker follows.
struct FollowedPlaces {
    uid: String,
    source: SourceLocation,
    images: Vec<String>,
}

impl Ingest {
    pub(crate) fn new(hooks: Vec<IngestHook>) -> Self {
        Self {
            hooks: hooks.into(),
            ..Self::default()
        }
    }
}

/// Takes a message, and lets the trackers that it concerns be looked at soon.
///
/// # Errors
/// If the sender is not known, does not show its secret, or the message is no JSON.
pub(crate) async fn take(
    state: &AppState,
    name: &str,
    message: &Message<'_>,
) -> Result<(), ApiError> {
    let ingest = state.ingest();
    let hook = ingest.hooks.iter().find(|it| it.name == name);
    let hook = hook.ok_or_else(|| {
        ApiError::not_found(format!("no sender `{name}` is configured"))
            .with_hint("`ingest` of the configuration file names the senders")
    })?;
    let metrics = state.metrics();
    if !hook.admits(message) {
        metrics.ingested(name, "refused");
        return Err(ApiError::ingest_unauthorized());
    }
    let content: Value = serde_json::from_slice(message.bytes).map_err(|_| {
        metrics.ingested(name, "malformed");
        ApiError::bad_request("the message is not JSON")
    })?;
    let event = message.header(hook.sender.headers().event);
    let event = event.unwrap_or_default();
    // Senders do not know of each other's names for messages.
    let delivery = message.delivery(hook.sender, &content);
    let delivery = delivery.map(|it| format!("{name}/{it}"));
    if let Some(delivery) = &delivery
        && !ingest.deliveries.lock().insert(delivery)
    {
        Taken::Repeated.tell(state, name, event);
        return Ok(());
    }
    let hints = hook.sender.hints(event, &content);
    let recorded = record(state, name, &hints).await;
    // It is sent again by the same name, and has to count then.
    if let (Err(_), Some(delivery)) = (&recorded, &delivery) {
        ingest.deliveries.lock().forget(delivery);
    }
    let taken = match recorded? {
        _ if hints.is_empty() => Taken::Meaningless,
        0 => Taken::ForNobody,
        count => Taken::For(count),
    };
    taken.tell(state, name, event);
    Ok(())
}

/// Records the hints of a sender for all whom they concern; returns how many they are.
async fn record(state: &AppState, name: &str, hints: &[Hint]) -> Result<usize, ApiError> {
    if hints.is_empty() {
        return Ok(0);
    }
    let ledger = state.ledger()?;
    let now = state.clock().now();
    let followed = state.ingest().followed(ledger).await?;
    let concerned = followed.iter().filter(|it| it.is_concerned(hints));
    // At the same time, for the ledger writes together what comes together.
    let hints = concerned.map(|it| ledger.trackers().hint(&it.uid, name, now));
    Ok(try_join_all(hints).await?.len())
}

impl<'a> Message<'a> {
    fn header(&self, name: &str) -> Option<&'a str> {
        self.headers.get(name).and_then(|it| it.to_str().ok())
    }

    /// Returns the sender's name for the message.
    fn delivery<'b>(&self, sender: Sender, content: &'b Value) -> Option<&'b str>
    where
        'a: 'b,
    {
        let headers = sender.headers().delivery.iter();
        let told = headers.filter_map(|it| self.header(it)).next();
        told.or_else(|| sender.delivery(content))
    }

    /// Returns the secret that is in a header.
    fn token(&self, sender: Sender) -> Option<&'a str> {
        let header = sender.headers().token;
        let value = self.header(header)?;
        if header != AUTHORIZATION.as_str() {
            return Some(value);
        }
        match value.split_once(' ') {
            Some((scheme, secret)) if scheme.eq_ignore_ascii_case("bearer") => Some(secret.trim()),
            // Harbor sends what it was given, whatever that is.
            _ => (sender == Sender::Harbor).then_some(value),
        }
    }
}

impl Taken {
    /// Tells the log and the metrics what became of the message; its sender is told nothing, whoever is concerned.
    fn tell(&self, state: &AppState, name: &str, event: &str) {
        let (outcome, words) = match self {
            Self::For(count) => ("concerned", format!("it concerns {count} trackers")),
            Self::ForNobody => ("nobody", "it concerns no tracker".to_owned()),
            Self::Meaningless => (
                "unknown",
                "it names no repository and no image that has changed".to_owned(),
            ),
            Self::Repeated => ("repeated", "it was taken before".to_owned()),
        };
        state.metrics().ingested(name, outcome);
        // The sender's word may be anything.
        let event: String = event.chars().take(MAX_EVENT).collect();
        tracing::info!("took a message of `{name}` (event {event:?}): {words}");
    }
}

impl IngestHook {
    fn admits(&self, message: &Message<'_>) -> bool {
        match self.auth {
            IngestAuth::Hmac => {
                let habits = self.sender.headers();
                let signature = message.header(habits.signature);
                signature
                    .and_then(|it| it.strip_prefix(habits.signature_prefix))
                    .and_then(decode_hex)
                    .is_some_and(|it| self.mac(message.bytes).verify_slice(&it).is_ok())
            }
            IngestAuth::Header => {
                let token = message.token(self.sender);
                token.is_some_and(|it| self.is_secret(it))
            }
            IngestAuth::Key => message.key.is_some_and(|it| self.is_secret(it)),
        }
    }

    fn mac(&self, bytes: &[u8]) -> Hmac<Sha256> {
        let mac = Hmac::<Sha256>::new_from_slice(self.secret.reveal().as_bytes());
        mac.expect("a key of any length will do")
            .chain_update(bytes)
    }

    /// Compares by codes of both, so that how long it takes says nothing about the secret.
    fn is_secret(&self, given: &str) -> bool {
        let expected = self.mac(self.secret.reveal().as_bytes());
        let given = self.mac(given.as_bytes()).finalize();
        expected.verify(&given.into_bytes()).is_ok()
    }
}

impl Ingest {
    /// Returns the places that trackers follow; they are read again only when a tracker has changed.
    async fn followed(&self, ledger: &Ledger) -> Result<Arc<Vec<FollowedPlaces>>, ApiError> {
        let sequence = *ledger.subscribe(Topic::Trackers).borrow();
        let known = self.followed.lock().clone();
        if let Some(known) = known.filter(|it| it.sequence == sequence) {
            return Ok(known.trackers);
        }
        let active = ledger.trackers().all_active().await?;
        let places = active.into_iter().map(|tracker| FollowedPlaces {
            images: tracker
                .state
                .queries(tracker.state.source())
                .into_iter()
                .map(|it| it.repository)
                .collect(),
            uid: tracker.uid,
            source: tracker.source,
        });
        let trackers = Arc::new(places.collect::<Vec<_>>());
        *self.followed.lock() = Some(Followed {
            sequence,
            trackers: Arc::clone(&trackers),
        });
        Ok(trackers)
    }
}

impl FollowedPlaces {
    fn is_concerned(&self, hints: &[Hint]) -> bool {
        let images = || self.images.iter().map(String::as_str);
        hints.iter().any(|it| it.concerns(&self.source, images()))
    }
}

impl Deliveries {
    /// Remembers a delivery; tells whether it is new. One whose name is too long is new each time.
    fn insert(&mut self, delivery: &str) -> bool {
        if delivery.len() > MAX_DELIVERY_ID {
            return true;
        }
        let id = delivery.to_owned();
        if !self.known.insert(id.clone()) {
            return false;
        }
        self.order.push_back(id);
        if self.order.len() > MAX_DELIVERIES
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }

    /// Forgets a delivery, which may then come again.
    fn forget(&mut self, delivery: &str) {
        if self.known.remove(delivery) {
            self.order.retain(|it| it != delivery);
        }
    }
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).ok().filter(|it| it.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    };
    digits.map(byte).collect()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    fn mk_hook(auth: IngestAuth) -> IngestHook {
        IngestHook {
            name: "github".to_owned(),
            sender: Sender::GitHub,
            auth,
            secret: Secret::new("It's a Secret to Everybody"),
        }
    }

    fn mk_headers(headers: &[(&'static str, &str)]) -> HeaderMap {
        let headers = headers.iter().map(|(name, value)| {
            let value = value.parse().expect("it is a value");
            (HeaderName::from_static(name), value)
        });
        headers.collect()
    }

    fn admits(
        hook: &IngestHook,
        headers: &[(&'static str, &str)],
        key: Option<&str>,
        bytes: &[u8],
    ) -> bool {
        let headers = &mk_headers(headers);
        hook.admits(&Message {
            bytes,
            headers,
            key,
        })
    }

    /// The example of GitHub's own documentation.
    const SIGNATURE: &str =
        "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

    #[test]
    fn signature_of_githubs_documentation_is_admitted_and_no_other() {
        let hook = mk_hook(IngestAuth::Hmac);
        let signed = |signature: &str, bytes| {
            let headers = [("x-hub-signature-256", signature)];
            admits(&hook, &headers, None, bytes)
        };
        assert!(signed(SIGNATURE, b"Hello, World!"));
        assert!(!signed(SIGNATURE, b"Hello, World?"));
        assert!(!admits(&hook, &[], None, b"Hello, World!"));
        for bad in [
            "",
            "sha256=",
            "sha256=7",
            "sha256=zz",
            "sha1=757107ea",
            &SIGNATURE[7..],
        ] {
            assert!(!signed(bad, b"Hello, World!"), "{bad}");
        }
    }

    #[test]
    fn gitea_signs_without_a_word_before_the_digits() {
        let hook = IngestHook {
            sender: Sender::Gitea,
            ..mk_hook(IngestAuth::Hmac)
        };
        let signed = |header: &'static str, signature: &str| {
            admits(&hook, &[(header, signature)], None, b"Hello, World!")
        };
        assert!(signed("x-gitea-signature", &SIGNATURE[7..]));
        assert!(!signed("x-gitea-signature", SIGNATURE));
        assert!(!signed("x-gitea-signature", ""));
        assert!(!signed("x-hub-signature-256", SIGNATURE));
    }

    #[test]
    fn secret_counts_only_where_it_is_expected() {
        let secret = "It's a Secret to Everybody";
        let bearer = format!("Bearer {secret}");
        let bearer = [("authorization", bearer.as_str())];
        let hook = mk_hook;
        let is_in = |auth, headers: &[_], key| admits(&hook(auth), headers, key, b"{}");
        assert!(is_in(IngestAuth::Header, &bearer, None));
        assert!(is_in(IngestAuth::Key, &[], Some(secret)));
        assert!(!is_in(IngestAuth::Header, &[], Some(secret)));
        assert!(!is_in(
            IngestAuth::Header,
            &[("authorization", secret)],
            None
        ));
        assert!(!is_in(IngestAuth::Key, &bearer, None));
        assert!(!is_in(IngestAuth::Hmac, &bearer, Some(secret)));
        assert!(!is_in(IngestAuth::Key, &[], Some("")));
    }

    #[test]
    fn secret_is_in_the_header_of_its_sender() {
        let secret = "It's a Secret to Everybody";
        let bearer = format!("bearer {secret}");
        let basic = format!("Basic {secret}");
        for (sender, header, value, expected) in [
            (Sender::GitLab, "x-gitlab-token", secret, true),
            (Sender::GitLab, "x-gitlab-token", "other", false),
            (Sender::GitLab, "authorization", &bearer, false),
            (Sender::Harbor, "authorization", secret, true),
            (Sender::Harbor, "authorization", &bearer, true),
            (Sender::Harbor, "authorization", &basic, false),
            (Sender::Generic, "x-gitlab-token", secret, false),
        ] {
            let hook = IngestHook {
                sender,
                ..mk_hook(IngestAuth::Header)
            };
            let found = admits(&hook, &[(header, value)], None, b"{}");
            assert_eq!(found, expected, "{sender:?} {header}: {value}");
        }
    }

    #[test]
    fn delivery_is_known_until_many_others_have_come() {
        let mut deliveries = Deliveries::default();
        assert!(deliveries.insert("a"));
        assert!(!deliveries.insert("a"));
        for index in 0..MAX_DELIVERIES {
            assert!(deliveries.insert(&index.to_string()));
        }
        assert!(deliveries.insert("a"), "it was forgotten");
        assert_eq!(deliveries.known.len(), MAX_DELIVERIES);
    }

    #[test]
    fn delivery_that_is_forgotten_may_come_again() {
        let mut deliveries = Deliveries::default();
        deliveries.insert("a");
        deliveries.forget("a");
        deliveries.forget("b");
        assert!(deliveries.insert("a"));
        assert_eq!(deliveries.order, ["a"]);
        let long = "a".repeat(MAX_DELIVERY_ID + 1);
        assert!(deliveries.insert(&long) && deliveries.insert(&long));
        assert_eq!(deliveries.order, ["a"], "it is not kept");
    }
}
