//! Under which service account is an owner's work done?

use k8s_openapi::api::rbac::v1::Subject;

use crate::blueprint::Blueprint;
use crate::owner::Owner;

/// The account of owners and blueprints that name none.
const DEFAULT_NAME: &str = "default";
/// The prefix of the groups that stand for all accounts, or all of a namespace.
const GROUP: &str = "system:serviceaccounts";

/// Names a service account.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Account {
    /// The namespace it lives in.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl std::fmt::Display for Account {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/{}", self.namespace, self.name)
    }
}

/// Says why the work of an owner cannot be done under its account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The account does not exist, or cannot be read.
    Account(String),
    /// There is no token for the account.
    Token(String),
    /// Nothing can be written with the token.
    Client(String),
}

/// The accounts that hold a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// This one.
    One(Account),
    /// All of a namespace.
    AllOf(String),
    /// All of the cluster.
    All,
}

impl Holder {
    /// Returns the accounts that a subject of a binding stands for, if it stands for any; `bound_in` is the namespace
    /// of the binding.
    pub fn of(subject: Subject, bound_in: &str) -> Option<Self> {
        match subject.kind.as_str() {
            "ServiceAccount" => Some(Self::One(Account {
                namespace: subject.namespace.unwrap_or_else(|| bound_in.to_owned()),
                name: subject.name,
            })),
            "Group" => match subject.name.strip_prefix(GROUP)? {
                "" => Some(Self::All),
                rest => rest
                    .strip_prefix(':')
                    .map(|namespace| Self::AllOf(namespace.to_owned())),
            },
            _ => None,
        }
    }
}

impl Account {
    /// Returns the account of an owner: its own, else its blueprint's, else `default` of its namespace.
    pub fn of(owner: &Owner, blueprint: &Blueprint) -> Self {
        let (None, Some(reference)) = (own_name(owner), &blueprint.service_account) else {
            return Self::without_blueprint(owner);
        };
        let namespace = reference.namespace.as_deref().filter(|ns| !ns.is_empty());
        Self {
            namespace: namespace.unwrap_or(&owner.namespace).to_owned(),
            name: reference.name.clone(),
        }
    }

    /// Returns the account of an owner that has no blueprint: its own, else `default`.
    pub fn without_blueprint(owner: &Owner) -> Self {
        Self {
            namespace: owner.namespace.clone(),
            name: own_name(owner).unwrap_or(DEFAULT_NAME).to_owned(),
        }
    }
}

fn own_name(owner: &Owner) -> Option<&str> {
    let name = owner.object.pointer("/spec/serviceAccountName")?.as_str()?;
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::owner::OwnerKind;
    use crate::testing::{owner, supply_chain};

    fn account(own: &str, reference: Value) -> String {
        let owner = owner(
            OwnerKind::Workload,
            json!({"metadata": {"name": "app"}, "spec": {"serviceAccountName": own}}),
        );
        let mut spec = json!({"resources": []});
        if !reference.is_null() {
            spec["serviceAccountRef"] = reference;
        }
        let chain = supply_chain(json!({"metadata": {"name": "chain"}, "spec": spec}));
        Account::of(&owner, &chain).to_string()
    }

    #[test]
    fn the_nearest_account_is_taken() {
        let elsewhere = json!({"name": "chain", "namespace": "platform"});
        assert_eq!(account("own", elsewhere.clone()), "dev/own");
        assert_eq!(account("", elsewhere), "platform/chain");
        assert_eq!(account("", json!({"name": "chain"})), "dev/chain");
        assert_eq!(account("", Value::Null), "dev/default");
    }

    #[test]
    fn subjects_lead_to_accounts() {
        let subject = |kind: &str, name: &str, namespace: Option<&str>| Subject {
            kind: kind.to_owned(),
            name: name.to_owned(),
            namespace: namespace.map(str::to_owned),
            api_group: None,
        };
        let robot = |namespace: &str| {
            Some(Holder::One(Account {
                namespace: namespace.to_owned(),
                name: "robot".to_owned(),
            }))
        };
        let rows = [
            (subject("ServiceAccount", "robot", Some("ci")), robot("ci")),
            (subject("ServiceAccount", "robot", None), robot("dev")),
            (
                subject("Group", "system:serviceaccounts", None),
                Some(Holder::All),
            ),
            (
                subject("Group", "system:serviceaccounts:ci", None),
                Some(Holder::AllOf("ci".to_owned())),
            ),
            (subject("Group", "system:masters", None), None),
            (subject("User", "jane", None), None),
        ];
        for (subject, expected) in rows {
            assert_eq!(Holder::of(subject, "dev"), expected);
        }
    }
}
