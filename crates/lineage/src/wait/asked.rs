//! The meaning of a [`WaitFor`] on a path: values of origins.

use super::verdict::Impossible;
use super::wait_for::{WaitFor, Wanted, Written};
use crate::artifact::{Artifact, Kind};
use crate::origin::Origin;
use crate::owner_lineage::OwnerLineage;
use crate::revision;
use crate::state::State;

/// A value of an origin that is waited for.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) origin: Origin,
    pub(super) wanted: Wanted,
}

/// The meaning of a [`WaitFor`] on a path.
#[derive(Debug)]
pub(super) enum Asked {
    /// All of these.
    All(Vec<Value>),
    /// One of these: the same can come from several places.
    One(Vec<Value>),
    /// Nobody can say yet.
    Later(String),
    /// It can't happen on this path.
    Impossible(Impossible),
}

impl Asked {
    pub(super) fn of(wait_for: &WaitFor, lineage: &OwnerLineage) -> Self {
        if lineage.state.chain().resources().is_empty() {
            return Self::Later("no path has been chosen yet".into());
        }
        match wait_for {
            WaitFor::Current => current(&lineage.state),
            WaitFor::Param { name, value } => param(lineage, name, value),
            WaitFor::Field { path, value } => field(&lineage.state, path, value),
            WaitFor::Source(revision) => source(&lineage.state, revision),
            WaitFor::Image(reference) => image(&lineage.state, reference),
        }
    }

    pub(super) fn values(&self) -> &[Value] {
        match self {
            Self::All(values) | Self::One(values) => values,
            Self::Later(_) | Self::Impossible(_) => &[],
        }
    }

    /// Tells whether the owner or something on the path carries any of it.
    pub(super) fn is_carried(&self, lineage: &OwnerLineage) -> bool {
        let carried = |it: &Value| {
            lineage
                .state
                .carries(&it.origin, &|found| it.wanted.is(found))
        };
        self.values().iter().any(carried)
    }
}

fn current(state: &State) -> Asked {
    let read = |name: &String| {
        let mut resources = state.chain().resources().iter();
        resources.any(|it| it.reads.contains(name))
    };
    let owned = state.owner().iter().filter(|(name, _)| read(name));
    Asked::All(
        owned
            .map(|(name, artifact)| Value {
                origin: Origin::owner(name),
                wanted: Wanted::Exactly(artifact.clone()),
            })
            .collect(),
    )
}

fn param(lineage: &OwnerLineage, name: &str, value: &str) -> Asked {
    if let Some(fixed) = lineage.fixed.get(name) {
        return Asked::Impossible(Impossible::Fixed {
            param: name.to_owned(),
            value: fixed.clone(),
        });
    }
    let wanted = Wanted::Value(Written::new(value));
    owned(&lineage.state, &format!("param:{name}"), wanted)
}

/// Finds the field itself, or what was read with it inside.
fn field(state: &State, path: &str, value: &str) -> Asked {
    let exactly = format!("field:{path}");
    let value = Written::new(value);
    if state.owner().contains_key(&exactly) {
        return owned(state, &exactly, Wanted::Value(value));
    }
    let around = path.rmatch_indices('.').find_map(|(at, _)| {
        let name = format!("field:{}", &path[..at]);
        state.owner().contains_key(&name).then_some((name, at))
    });
    match around {
        Some((name, at)) => {
            let path = path[at + 1..].to_owned();
            owned(state, &name, Wanted::Inside { path, value })
        }
        None => owned(state, &exactly, Wanted::Value(value)),
    }
}

fn owned(state: &State, name: &str, wanted: Wanted) -> Asked {
    let origin = Origin::owner(name);
    let wanted = wanted.among(state.values_around(&origin).into_iter());
    Asked::All(vec![Value { origin, wanted }])
}

fn source(state: &State, revision: &str) -> Asked {
    let wanted = Wanted::Revision(revision.to_owned());
    let fixed = state.owner().get("source");
    let fixed = fixed.filter(|it| it.kind() == Kind::Source);
    let found_by = state.entry_points(Kind::Source).into_iter();
    let known = found_by.map(|name| state.newest(&Origin::resource(name)));
    let known: Option<Vec<_>> = fixed.map_or_else(|| known.collect(), |it| Some(vec![it]));
    if let Some(impossible) = known.and_then(|known| no_revision(revision, &known)) {
        return Asked::Impossible(impossible);
    }
    if fixed.is_some() {
        return owned(state, "source", wanted);
    }
    found(state, Kind::Source, &wanted, Vec::new())
}

/// Returns why a text can't name a revision of any source that is there.
fn no_revision(asked: &str, known: &[&Artifact]) -> Option<Impossible> {
    let mut known = known.iter().map(|it| it.shown());
    let now = known.clone().next()?.to_owned();
    let impossible = known.all(|it| revision::can_never_name(asked, it));
    let asked = asked.to_owned();
    impossible.then_some(Impossible::NotARevision { asked, now })
}

fn image(state: &State, reference: &str) -> Asked {
    let wanted = Wanted::Image(reference.to_owned());
    let given = |(name, artifact): (&String, &Artifact)| {
        let image = name == "field:spec.image" || artifact.kind() == Kind::Image;
        (image || wanted.is(artifact)).then(|| Value {
            origin: Origin::owner(name),
            wanted: wanted.clone(),
        })
    };
    let given = state.owner().iter().filter_map(given).collect();
    found(state, Kind::Image, &wanted, given)
}

/// Asks whoever finds artifacts of a kind, besides those that the owner gives.
fn found(state: &State, kind: Kind, wanted: &Wanted, given: Vec<Value>) -> Asked {
    let entry_points = state.entry_points(kind).into_iter().map(|name| Value {
        origin: Origin::resource(name),
        wanted: wanted.clone(),
    });
    let values: Vec<_> = given.into_iter().chain(entry_points).collect();
    if !values.is_empty() {
        return Asked::One(values);
    }
    let what = if kind == Kind::Source {
        "source"
    } else {
        "image"
    };
    if state.is_settled() {
        let what = what.to_owned();
        return Asked::Impossible(Impossible::NotOnPath { what });
    }
    Asked::Later(format!(
        "nothing on the path has found or made a {what} yet"
    ))
}
