//! Clients of the service accounts that objects are written under, kept while their tokens are good.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::api::PostParams;
use kube::{Api, Client};
use parking_lot::Mutex;
use pathline_blueprint::service_account::{self, Account};

use crate::runtime::calls::{self, call};
use crate::runtime::clock::Clock;
use crate::runtime::connection::Connection;
use crate::runtime::env::Env;

/// The lifetime that a token is asked for, in seconds.
const LIFETIME: i64 = 2 * 60 * 60;

/// The number of accounts that are remembered; the one that was not used for longest makes room.
const MAX_ACCOUNTS: usize = 256;

/// Gives the clients with which the objects of owners are written. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Clients {
    connection: Connection,
    clock: Clock,
    slots: Arc<Mutex<Slots>>,
}

/// Says why there is no client for an account.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The account does not exist, or could not be asked for.
    #[error("unable to get service account [{account}]: {}", .source.message())]
    Account {
        account: Account,
        source: calls::Error,
    },
    /// The cluster gave no token for the account.
    #[error("unable to get a token for service account [{account}]: {}", .source.message())]
    Token {
        account: Account,
        source: calls::Error,
    },
    /// The cluster gave no token, or one that no request can carry.
    #[error("the cluster issued no usable token for service account [{0}]")]
    Unusable(Account),
}

impl Error {
    /// Tells whether trying again can help although nothing changes.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Account { source, .. } | Self::Token { source, .. } => {
                !source.is_absence() && !source.is_forbidden()
            }
            Self::Unusable(_) => true,
        }
    }

    /// Returns what the conditions of an owner say about it.
    pub(crate) fn fault(&self) -> service_account::Fault {
        match self {
            Self::Account { .. } => service_account::Fault::Account(self.to_string()),
            Self::Token { .. } => service_account::Fault::Token(self.to_string()),
            Self::Unusable(_) => service_account::Fault::Client(self.to_string()),
        }
    }
}

#[derive(Default)]
struct Slots {
    by_account: HashMap<Account, Slot>,
    uses: u64,
}

struct Slot {
    last_use: u64,
    held: Arc<tokio::sync::Mutex<Option<Held>>>,
}

/// The client of one account, and until when it is good.
#[derive(Clone)]
struct Held {
    client: Client,
    renewed_from: Timestamp,
    expires: Timestamp,
}

impl Clients {
    pub(crate) fn new(env: &Env) -> Self {
        Self {
            connection: env.connection.clone(),
            clock: env.clock.clone(),
            slots: Arc::default(),
        }
    }

    /// Returns the client of a service account; its token is renewed in the second half of its life.
    pub(crate) async fn of_account(&self, account: &Account) -> Result<Client, Error> {
        let slot = self.slots.lock().slot(account);
        // Held while the token is asked for: many owners of one account make one request.
        let mut held = slot.lock().await;
        let now = self.clock.now();
        let known = held.clone().filter(|held| now < held.expires);
        if let Some(fresh) = known.as_ref().filter(|held| now < held.renewed_from) {
            return Ok(fresh.client.clone());
        }
        match (self.ask(account).await, known) {
            (Ok(new), _) => {
                let client = new.client.clone();
                *held = Some(new);
                Ok(client)
            }
            (Err(error), Some(known)) if error.is_transient() => {
                tracing::warn!(%account, %error, "the token is not renewed yet");
                Ok(known.client)
            }
            (Err(error), _) => {
                *held = None;
                Err(error)
            }
        }
    }

    /// Forgets the client of an account whose token is no longer taken.
    pub(crate) fn forget(&self, account: &Account) {
        self.slots.lock().by_account.remove(account);
    }

    async fn ask(&self, account: &Account) -> Result<Held, Error> {
        let client = self.connection.client().clone();
        let api: Api<ServiceAccount> = Api::namespaced(client, &account.namespace);
        let failed = |source| Error::Account {
            account: account.clone(),
            source,
        };
        call(api.get_metadata(&account.name))
            .await
            .map_err(failed)?;
        let failed = |source| Error::Token {
            account: account.clone(),
            source,
        };
        let request = TokenRequest {
            spec: Some(TokenRequestSpec {
                expiration_seconds: Some(LIFETIME),
                ..TokenRequestSpec::default()
            }),
            ..TokenRequest::default()
        };
        let asked = self.clock.now();
        let params = PostParams::default();
        let made = call(api.create_token_request(&account.name, &params, &request)).await;
        let status = made.map_err(failed)?.status.unwrap_or_default();
        let (Some(token), Some(expires)) = (status.token, status.expiration_timestamp) else {
            return Err(Error::Unusable(account.clone()));
        };
        let expires = expires.0;
        let client = self.connection.with_token(&token);
        Ok(Held {
            client: client.map_err(|_| Error::Unusable(account.clone()))?,
            renewed_from: asked + half(expires.duration_since(asked)),
            expires,
        })
    }
}

fn half(lifetime: SignedDuration) -> SignedDuration {
    (lifetime / 2).max(SignedDuration::ZERO)
}

impl Slots {
    fn slot(&mut self, account: &Account) -> Arc<tokio::sync::Mutex<Option<Held>>> {
        self.uses += 1;
        if let Some(slot) = self.by_account.get_mut(account) {
            slot.last_use = self.uses;
            return slot.held.clone();
        }
        if self.by_account.len() >= MAX_ACCOUNTS {
            self.drop_oldest();
        }
        let slot = Slot {
            last_use: self.uses,
            held: Arc::default(),
        };
        let held = slot.held.clone();
        self.by_account.insert(account.clone(), slot);
        held
    }

    fn drop_oldest(&mut self) {
        let oldest = self.by_account.iter().min_by_key(|(_, slot)| slot.last_use);
        if let Some(oldest) = oldest.map(|(account, _)| account.clone()) {
            self.by_account.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(index: usize) -> Account {
        Account {
            namespace: "dev".to_owned(),
            name: index.to_string(),
        }
    }

    #[test]
    fn the_account_that_was_not_used_for_longest_makes_room() {
        let mut slots = Slots::default();
        (0..MAX_ACCOUNTS).for_each(|index| drop(slots.slot(&account(index))));
        let kept = slots.slot(&account(0));
        slots.slot(&account(MAX_ACCOUNTS));
        assert_eq!(slots.by_account.len(), MAX_ACCOUNTS);
        assert!(Arc::ptr_eq(&kept, &slots.slot(&account(0))));
        assert!(!slots.by_account.contains_key(&account(1)));
    }

    #[test]
    fn a_token_is_renewed_from_half_of_its_life_on() {
        assert_eq!(
            half(SignedDuration::from_secs(600)),
            SignedDuration::from_secs(300)
        );
        assert_eq!(half(SignedDuration::from_secs(-5)), SignedDuration::ZERO);
    }
}
