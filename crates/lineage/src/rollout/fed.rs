//! Whether pods have read the ConfigMaps and Secrets of their owner as they are now.

use std::collections::{BTreeMap, BTreeSet};

use super::Stage;
use super::below::Below;
use super::carried::Sha;
use super::config::{ConfigChange, ConfigObservation, ConfigRecord, Digests};
use super::object::Object;
use super::pod::{Start, UNKNOWN_TIME};
use super::pods::Group;
use super::uses::{ConfigKind, ConfigUse, ReadBy};
use crate::kinds;

/// A ConfigMap or Secret that an owner stamps, and that pods may read.
#[derive(Clone, Copy, Debug)]
pub struct FedBy<'a> {
    record: &'a ConfigRecord,
    digests: Option<&'a Digests>,
}

/// Pods of a rollout.
#[derive(Clone, Debug)]
pub struct PodsBelow<'a> {
    /// The object they belong to, for people and for what its template carries.
    object: &'a Object,
    below: &'a Below,
    groups: Vec<&'a Group>,
}

/// The judgement of pods that read ConfigMaps and Secrets.
#[derive(Clone, Debug, PartialEq)]
pub struct Fed {
    /// [`Stage::Done`], or which of them have not read what is there now.
    pub stage: Stage,
    /// The pods that were made after a change and in the very second of it, by what they read.
    pub settled: BTreeMap<(ConfigKind, String), BTreeSet<u64>>,
}

impl<'a> FedBy<'a> {
    /// Takes what is remembered, and what was observed if it could be read: without, no hash counts.
    pub fn new(record: &'a ConfigRecord, observed: Option<&'a ConfigObservation>) -> Self {
        Self {
            record,
            digests: observed.map(ConfigObservation::digests),
        }
    }

    fn is_read_by(&self, it: &ConfigUse) -> bool {
        let is_kept_up_to_date = it.by == ReadBy::Volume && !self.record.is_immutable;
        it.kind == self.record.kind && it.name == self.record.name && !is_kept_up_to_date
    }
}

impl<'a> PodsBelow<'a> {
    /// Takes the pods of everything that an object controls, however far below.
    pub fn of(object: &'a Object, below: &'a Below) -> Self {
        Self {
            groups: below.pods_below(&object.uid),
            object,
            below,
        }
    }

    /// Takes the pods with these labels, by which pods must be told apart.
    pub fn labelled(
        object: &'a Object,
        below: &'a Below,
        labels: &BTreeMap<String, String>,
    ) -> Self {
        Self {
            groups: below.pods_labelled(labels),
            object,
            below,
        }
    }

    /// Returns what controls a group of them.
    fn controller(&self, group: &Group) -> Option<&Object> {
        let itself = Some(self.object).filter(|it| it.uid == group.controller);
        itself.or_else(|| self.below.get(&group.controller))
    }
}

/// Judges whether pods that run have read the ConfigMaps and Secrets as they are now.
///
/// Those of jobs have done what they had to; what changes later is not for them.
pub fn judge_fed<'a>(pods: impl IntoIterator<Item = PodsBelow<'a>>, by: &[FedBy<'_>]) -> Fed {
    let mut fed = Fed {
        stage: Stage::Done,
        settled: BTreeMap::new(),
    };
    for pods in pods {
        for config in by {
            let stage = pods.judge(config, &mut fed.settled);
            fed.stage = fed.stage.and(stage);
        }
    }
    fed
}

impl PodsBelow<'_> {
    fn judge(
        &self,
        config: &FedBy<'_>,
        settled: &mut BTreeMap<(ConfigKind, String), BTreeSet<u64>>,
    ) -> Stage {
        let (mut stale, mut all) = (0_usize, 0_usize);
        for group in &self.groups {
            let uses = group.uses.all.iter().filter(|it| config.is_read_by(it));
            let uses: Vec<_> = uses.collect();
            let controller = self.controller(group);
            if uses.is_empty() || controller.is_some_and(|it| it.kind == kinds::JOB.kind) {
                continue;
            }
            let carried = controller.map(|it| it.carried.as_slice());
            for (pod, start) in self.below.pods().starts_of(group) {
                let is_settled = config.record.settled.contains(&pod);
                let change = &config.record.change;
                all += 1;
                let mut uses = uses.iter();
                let has_all = uses.all(|it| {
                    let read = Read {
                        by: it.by,
                        optional: it.optional,
                        made: start.made,
                        order: order(start, change, is_settled),
                        started: start.containers[it.container],
                        carries: carries(config.digests, it, carried.unwrap_or_default()),
                    };
                    read.is_current(change)
                });
                stale += usize::from(!has_all);
                if start.made == change.time && is_after(start, change) {
                    let key = (config.record.kind, config.record.name.clone());
                    settled.entry(key).or_default().insert(pod);
                }
            }
        }
        match stale {
            0 => Stage::Done,
            _ => Stage::progressing(self.advice(config.record, stale, all)),
        }
    }

    fn advice(&self, record: &ConfigRecord, stale: usize, all: usize) -> String {
        let (kind, name) = (record.kind.name(), &record.name);
        let Object {
            kind: of,
            name: object,
            namespace,
            ..
        } = self.object;
        let again = match self.object.group_kind() {
            kinds::DEPLOYMENT | kinds::STATEFUL_SET | kinds::DAEMON_SET => {
                let of = of.to_lowercase();
                format!("`kubectl rollout restart -n {namespace} {of}/{object}`")
            }
            _ => format!("start the pods of {} again", self.object.title()),
        };
        format!(
            "{stale} of {all} pods started before {kind} `{name}` changed, which they read only when they start: {again}, or let the template put the hash of its data into the annotations of its pods"
        )
    }
}

/// The order of a pod's making and a change that happened in the same second.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Order {
    After,
    Unknown,
}

fn order(start: &Start, change: &ConfigChange, is_settled: bool) -> Order {
    if is_settled || is_after(start, change) {
        Order::After
    } else {
        Order::Unknown
    }
}

/// Tells whether a pod was made in a later version than a change. All objects of a cluster share one
/// count of versions.
fn is_after(start: &Start, change: &ConfigChange) -> bool {
    change.version.is_some() && start.version > change.version
}

/// Tells whether a pod template carries the hash of what a container reads: of the whole data, or of
/// each value that it reads.
fn carries(digests: Option<&Digests>, by: &ConfigUse, carried: &[Sha]) -> bool {
    let Some(digests) = digests else {
        return false;
    };
    let values: Vec<_> = match &by.key {
        Some(key) => digests.values.get(key).into_iter().collect(),
        None => digests.values.values().collect(),
    };
    let all_values = !values.is_empty() && values.iter().all(|it| carried.contains(it));
    all_values || carried.contains(&digests.whole)
}

/// One container that reads a ConfigMap or Secret.
#[derive(Clone, Copy, Debug)]
struct Read {
    by: ReadBy,
    optional: bool,
    /// The second in which the pod was made.
    made: i64,
    /// Whether the pod was made after the change, if that was in the same second.
    order: Order,
    /// The second in which the container started.
    started: i64,
    /// Whether the pod carries the hash of what it reads.
    carries: bool,
}

impl Read {
    /// Tells whether the container has read what is there since a change: one clause is enough.
    ///
    /// - The pod was made in a later second: so its containers started later. Both times are of the
    ///   API server.
    /// - It was made in the same second, and in a later version. Times have whole seconds, and on a
    ///   quick cluster much happens in one. The order decides within that second only.
    /// - The container started in a later second, and reads variables. It may have been started again in
    ///   a pod that is older, and reads variables anew. Files that are mounted by themselves it may see as
    ///   they were, since the node renews them in its own time: there the pod itself must be newer.
    /// - It was made in the same second as the ConfigMap or Secret, whose content is as it was created,
    ///   and does not start without it: so it was there when the container started.
    /// - The pod carries the hash of what is there now, unless it is known to have started before that
    ///   was there: who writes the hash first gets pods with the hash of what they have not read.
    fn is_current(&self, change: &ConfigChange) -> bool {
        let same_second = self.made == change.time;
        let was_made_after = self.made > change.time;
        let was_made_next = same_second && self.order == Order::After;
        let was_started_after = self.by == ReadBy::Env && self.started > change.time;
        let was_waited_for = same_second && change.is_creation && !self.optional;
        let is_known = self.started != UNKNOWN_TIME;
        let was_early = change.is_own && is_known && self.started < change.time;
        was_made_after
            || was_made_next
            || was_started_after
            || was_waited_for
            || (self.carries && !was_early)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGE: i64 = 100;

    /// A container that started before the change, in a pod that was made before it.
    const OLD: Read = Read {
        by: ReadBy::Env,
        optional: false,
        made: CHANGE - 10,
        order: Order::Unknown,
        started: CHANGE - 5,
        carries: false,
    };

    fn change(is_own: bool, is_creation: bool) -> ConfigChange {
        ConfigChange {
            time: CHANGE,
            version: Some(7),
            is_own,
            is_creation,
        }
    }

    #[test]
    fn point_17_each_clause_alone_shows_that_a_container_has_read_a_change() {
        let own = change(true, false);
        let seen = change(false, false);
        let creation = change(true, true);
        let made = |made| Read { made, ..OLD };
        let file = |read| Read {
            by: ReadBy::SubPath,
            ..read
        };
        let table = [
            ("before", OLD, &own, false),
            ("pod made later", made(CHANGE + 1), &own, true),
            (
                "pod with a file made later",
                file(made(CHANGE + 1)),
                &own,
                true,
            ),
            ("pod made in the same second", made(CHANGE), &own, false),
            (
                "pod made in the same second, and after",
                Read {
                    order: Order::After,
                    ..made(CHANGE)
                },
                &own,
                true,
            ),
            (
                "order does not count across seconds",
                Read {
                    order: Order::After,
                    ..OLD
                },
                &own,
                false,
            ),
            (
                "started later",
                Read {
                    started: CHANGE + 1,
                    ..OLD
                },
                &own,
                true,
            ),
            (
                "started in the same second",
                Read {
                    started: CHANGE,
                    ..OLD
                },
                &own,
                false,
            ),
            (
                "started later, with a file of a pod made before",
                file(Read {
                    started: CHANGE + 1,
                    ..OLD
                }),
                &own,
                false,
            ),
            ("made with its config", made(CHANGE), &creation, true),
            (
                "made with its config, as a file",
                file(made(CHANGE)),
                &creation,
                true,
            ),
            (
                "made with its config, but can do without",
                Read {
                    optional: true,
                    ..made(CHANGE)
                },
                &creation,
                false,
            ),
            ("made before its config", OLD, &creation, false),
            (
                "carries the hash of what is there",
                Read {
                    carries: true,
                    ..OLD
                },
                &seen,
                true,
            ),
            (
                "carries the hash, but started before it was true",
                Read {
                    carries: true,
                    ..OLD
                },
                &own,
                false,
            ),
            (
                "carries the hash, started in the same second",
                Read {
                    carries: true,
                    started: CHANGE,
                    ..OLD
                },
                &own,
                true,
            ),
            (
                "nobody says when it started",
                Read {
                    started: UNKNOWN_TIME,
                    made: UNKNOWN_TIME,
                    ..OLD
                },
                &own,
                false,
            ),
            (
                "nobody says when it started, but it carries the hash",
                Read {
                    started: UNKNOWN_TIME,
                    made: UNKNOWN_TIME,
                    carries: true,
                    ..OLD
                },
                &own,
                true,
            ),
        ];
        for (case, read, change, wanted) in table {
            assert_eq!(read.is_current(change), wanted, "{case}");
        }
    }
}
