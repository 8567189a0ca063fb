//! Rows of the ledger as wire types.

use pathline_client::api::{
    ArrivedNow, Artifact, ArtifactEntry, Carrier, Change, Edge, MadeNow, Making, OwnerRef, Scope,
    TemplateVersion, Token, Use,
};
use pathline_ledger::{self as ledger, Permissions};

/// Returns an owner.
pub(crate) fn owner_ref(owner: ledger::OwnerRef) -> OwnerRef {
    OwnerRef {
        kind: owner.kind,
        namespace: owner.namespace,
        name: owner.name,
        uid: owner.uid,
    }
}

/// Returns a token, which has no secret.
pub(crate) fn token(token: ledger::Token) -> Token {
    Token {
        name: token.name,
        scope: token.permissions.to_string(),
        created: token.created,
        expires: token.expires,
        last_used: token.last_used,
        revoked: token.revoked,
    }
}

/// Returns the permissions that a scope gives.
pub(crate) fn scope(scope: Scope) -> Permissions {
    match scope {
        Scope::Read => Permissions::READ,
        Scope::Write => Permissions::WRITE,
        Scope::Admin => Permissions::ADMIN,
    }
}

/// Returns a change of an owner.
pub(crate) fn change(recorded: ledger::Recorded) -> Change {
    let ledger::What {
        made,
        arrived,
        gone,
    } = recorded.what;
    let made = made.into_iter().map(|it| MadeNow {
        resource: it.resource,
        artifact: it.artifact,
    });
    let arrived = arrived.into_iter().map(|it| ArrivedNow {
        input: it.input,
        artifact: it.artifact,
        live: it.live,
    });
    Change {
        sequence: recorded.sequence,
        time: recorded.time,
        owner: owner_ref(recorded.owner),
        made: made.collect(),
        arrived: arrived.collect(),
        gone,
    }
}

/// Returns everything that is known of an artifact.
pub(crate) fn artifact_entry(entry: ledger::Entry) -> ArtifactEntry {
    ArtifactEntry {
        artifact: Artifact::from(&entry.artifact),
        first_seen: entry.first_seen,
        cut: entry.made.next.is_some() || entry.used.next.is_some(),
        made: entry.made.items.into_iter().map(making).collect(),
        used: entry.used.items.into_iter().map(usage).collect(),
    }
}

/// Returns something that was made of what was asked about; its object is not known here.
pub(crate) fn carrier(carrier: ledger::Carrier) -> Carrier {
    Carrier {
        owner: owner_ref(carrier.owner),
        resource: carrier.resource,
        artifact: carrier.artifact.as_ref().map(Artifact::from),
        object: None,
        proven: carrier.proven,
        current: carrier.current,
        since: carrier.since,
        until: carrier.until,
    }
}

fn making(made: ledger::Making) -> Making {
    Making {
        owner: owner_ref(made.owner),
        resource: made.resource,
        template: TemplateVersion::from(&made.template),
        from: made.from.iter().map(edge).collect(),
        current: made.until.is_none(),
        since: made.since,
        until: made.until,
    }
}

fn edge(ingredient: &ledger::Ingredient) -> Edge {
    Edge {
        origin: ingredient.origin.to_string(),
        artifact: Artifact::from(&ingredient.artifact),
        evidence: ingredient.evidence,
        offered: ingredient.offered,
    }
}

fn usage(used: ledger::Use) -> Use {
    Use {
        owner: owner_ref(used.owner),
        resource: used.resource,
        origin: used.origin.to_string(),
        output: used.output.as_ref().map(Artifact::from),
        evidence: used.evidence,
        current: used.until.is_none(),
        since: used.since,
        until: used.until,
    }
}
