//! Equality of what documents say.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{Data, Document, Member, NodeId};
use crate::scalar::Scalar;

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        same(self, self.root(), other, other.root())
    }
}

/// Tells whether two values say the same.
pub(crate) fn same(one: &Document, id: NodeId, two: &Document, other_id: NodeId) -> bool {
    let mut pairs = vec![(id, other_id)];
    while let Some((id, other_id)) = pairs.pop() {
        let (node, other) = (one.node(id), two.node(other_id));
        if node.tag != other.tag {
            return false;
        }
        match (&node.data, &other.data) {
            (Data::Scalar(kind, text), Data::Scalar(other_kind, other_text)) => {
                if kind != other_kind || meaning(*kind, text) != meaning(*kind, other_text) {
                    return false;
                }
            }
            (Data::List(items), Data::List(others)) => {
                if items.len() != others.len() {
                    return false;
                }
                pairs.extend(items.iter().zip(others).map(|(a, b)| (a.id, b.id)));
            }
            (Data::Map(members), Data::Map(others)) => {
                let Some(values) = paired(members, others) else {
                    return false;
                };
                pairs.extend(values);
            }
            _ => return false,
        }
    }
    true
}

/// Returns the values under equal keys, or nothing if the keys differ.
fn paired(members: &[Member], others: &[Member]) -> Option<Vec<(NodeId, NodeId)>> {
    if members.len() != others.len() {
        return None;
    }
    let key = |member: &'_ Member| (member.key_type, identity(member).into_owned());
    let by_key: HashMap<_, _> = others
        .iter()
        .map(|other| (key(other), other.value.id))
        .collect();
    members
        .iter()
        .map(|member| Some((member.value.id, *by_key.get(&key(member))?)))
        .collect()
}

/// Returns the spelling by which the key of a map is known.
pub(crate) fn identity(member: &Member) -> Cow<'_, str> {
    meaning(member.key_type, &member.key)
}

fn meaning(kind: Scalar, text: &str) -> Cow<'_, str> {
    kind.canonical(text).unwrap_or(Cow::Borrowed(text))
}
