//! From a pod up to what was stamped.

use std::collections::BTreeSet;

/// The most controllers that are followed upwards.
const HIGHEST: usize = 16;

/// The object that controls another.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OwnerReference {
    /// Its API version.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Its name, in the namespace of what it controls.
    pub name: String,
    /// Its uid.
    pub uid: String,
}

/// One object on the way up.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Step<T> {
    /// It was stamped for this owner and resource.
    Stamped(T),
    /// It is controlled by another object.
    ControlledBy(OwnerReference),
    /// Nobody controls it, or it is gone.
    End,
}

/// Follows controllers up from an object until one was stamped; `find` says what is known of each.
///
/// Returns the uids on the way, the object's own first, and what was found. References that lead in
/// a circle, or very far, end the search.
pub fn climb<T>(uid: &str, mut find: impl FnMut(&str) -> Step<T>) -> (Vec<String>, Option<T>) {
    let mut way = vec![uid.to_owned()];
    let mut visited = BTreeSet::from([uid.to_owned()]);
    loop {
        let here = way.last().expect("the object itself is there");
        match find(here) {
            Step::Stamped(found) => return (way, Some(found)),
            Step::ControlledBy(owner)
                if way.len() < HIGHEST && visited.insert(owner.uid.clone()) =>
            {
                way.push(owner.uid);
            }
            Step::ControlledBy(_) | Step::End => return (way, None),
        }
    }
}
