//! What a wish means on a path: values of origins.

use super::verdict::Never;
use super::wish::{Wanted, Wish, Written};
use crate::artifact::{Artifact, Kind};
use crate::origin::Origin;
use crate::revision;
use crate::state::State;
use crate::track::Track;

/// A value of an origin that is waited for.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) origin: Origin,
    pub(super) wanted: Wanted,
}

/// What a wish means on a path.
#[derive(Debug)]
pub(super) enum Asked {
    /// All of these.
    All(Vec<Value>),
    /// One of these: the same can come from several places.
    One(Vec<Value>),
    /// Nobody can say yet.
    Later(String),
    /// It can't happen on this path.
    Never(Never),
}

impl Asked {
    pub(super) fn of(wish: &Wish, track: &Track) -> Self {
        if track.state.chain().resources().is_empty() {
            return Self::Later("no path has been chosen yet".into());
        }
        match wish {
            Wish::Current => current(&track.state),
            Wish::Param { name, value } => param(track, name, value),
            Wish::Field { path, value } => field(&track.state, path, value),
            Wish::Source(revision) => source(&track.state, revision),
            Wish::Image(reference) => image(&track.state, reference),
        }
    }

    pub(super) fn values(&self) -> &[Value] {
        match self {
            Self::All(values) | Self::One(values) => values,
            Self::Later(_) | Self::Never(_) => &[],
        }
    }

    /// Tells whether the owner or something on the path carries any of it.
    pub(super) fn is_carried(&self, track: &Track) -> bool {
        let carried = |it: &Value| {
            track
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

fn param(track: &Track, name: &str, value: &str) -> Asked {
    if let Some(fixed) = track.fixed.get(name) {
        return Asked::Never(Never::Fixed {
            param: name.to_owned(),
            value: fixed.clone(),
        });
    }
    let wanted = Wanted::Value(Written::new(value));
    owned(&track.state, &format!("param:{name}"), wanted)
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
    let found_by = state.finders(Kind::Source).into_iter();
    let known = found_by.map(|name| state.newest(&Origin::resource(name)));
    let known: Option<Vec<_>> = fixed.map_or_else(|| known.collect(), |it| Some(vec![it]));
    if let Some(never) = known.and_then(|known| no_revision(revision, &known)) {
        return Asked::Never(never);
    }
    if fixed.is_some() {
        return owned(state, "source", wanted);
    }
    found(state, Kind::Source, &wanted, Vec::new())
}

/// Returns why a text can't name a revision of any source that is there.
fn no_revision(asked: &str, known: &[&Artifact]) -> Option<Never> {
    let mut known = known.iter().map(|it| it.shown());
    let now = known.clone().next()?.to_owned();
    let never = known.all(|it| revision::can_never_name(asked, it));
    let asked = asked.to_owned();
    never.then_some(Never::NotARevision { asked, now })
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
    let finders = state.finders(kind).into_iter().map(|name| Value {
        origin: Origin::resource(name),
        wanted: wanted.clone(),
    });
    let values: Vec<_> = given.into_iter().chain(finders).collect();
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
        return Asked::Never(Never::NotOnPath { what });
    }
    Asked::Later(format!(
        "nothing on the path has found or made a {what} yet"
    ))
}
