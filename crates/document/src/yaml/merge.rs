//! Merge keys: members that a map takes from others.

use std::collections::HashSet;

use super::compose::{Composer, Open};
use crate::document::{Child, Data, Member, NodeId, Origin, identity};
use crate::duplicates;
use crate::error::{ErrorAt, ReadErrorKind};

impl Composer<'_> {
    /// Adds what merge keys bring to a map; what it says itself, or an earlier one brings, counts.
    pub(super) fn merge(&mut self, open: &mut Open) -> Result<(), ErrorAt> {
        let Data::Map(own) = &self.document.node(open.id).data else {
            return Ok(());
        };
        duplicates::refuse(own)?;
        if open.merges.is_empty() {
            return Ok(());
        }
        let mut known: HashSet<String> = own.iter().map(|it| identity(it).into_owned()).collect();
        let mut added = Vec::new();
        for (source, at) in &open.merges {
            for map in self.maps(*source, *at)? {
                let Data::Map(members) = &self.document.node(map).data else {
                    return Err(ErrorAt::new(*at, ReadErrorKind::Merge));
                };
                self.merged += members.len();
                if self.merged > self.limits.merged {
                    let kind = ReadErrorKind::TooManyMerged(self.limits.merged);
                    return Err(ErrorAt::new(*at, kind));
                }
                for member in members {
                    if known.insert(identity(member).into_owned()) {
                        open.weight.add(self.weights[member.value.id.0]);
                        added.push(merged(member));
                    }
                }
                self.count(open.weight.values, *at)?;
            }
        }
        if let Data::Map(own) = &mut self.document.node_mut(open.id).data {
            own.extend(added);
        }
        Ok(())
    }

    fn maps(&self, source: NodeId, at: usize) -> Result<Vec<NodeId>, ErrorAt> {
        match &self.document.node(source).data {
            Data::List(items) => Ok(items.iter().map(|item| item.id).collect()),
            Data::Map(_) => Ok(vec![source]),
            Data::Scalar(..) => Err(ErrorAt::new(at, ReadErrorKind::Merge)),
        }
    }
}

fn merged(member: &Member) -> Member {
    Member {
        value: Child {
            origin: Origin::Merged,
            ..member.value.clone()
        },
        ..member.clone()
    }
}
