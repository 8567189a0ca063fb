//! A blueprint or template at one generation.

use std::fmt;
use std::str::FromStr;

use pathline_blueprint::owner::OwnerKind;
use pathline_blueprint::template::TemplateKind;
use pathline_blueprint::usage::Generations;
use pathline_lineage::OwnerLineage;

/// A blueprint or template as it was applied: `ClusterTemplate/run@2`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct ObjectVersion {
    /// Its kind and name.
    pub(crate) key: String,
    pub(crate) generation: i64,
}

/// A text that names no blueprint and no template.
#[derive(Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "`{0}` is no blueprint and no template: write KIND/NAME@GENERATION, such as ClusterTemplate/run@2"
)]
pub(crate) struct ParseObjectVersionError(String);

impl ObjectVersion {
    /// Says why an owner was not looked at with this yet, if it was not.
    pub(super) fn missing(&self, expected: &Generations, lineage: &OwnerLineage) -> Option<String> {
        lineage.unobserved(&self.key, self.generation, expected)
    }

    /// Tells whether an owner uses it, or should.
    pub(super) fn concerns(&self, expected: &Generations, used: &Generations) -> bool {
        expected.contains_key(&self.key) || used.contains_key(&self.key)
    }
}

impl FromStr for ObjectVersion {
    type Err = ParseObjectVersionError;

    fn from_str(text: &str) -> Result<Self, ParseObjectVersionError> {
        let refused = || ParseObjectVersionError(text.to_owned());
        let (key, generation) = text.rsplit_once('@').ok_or_else(refused)?;
        let (kind, name) = key.split_once('/').ok_or_else(refused)?;
        let blueprints = OwnerKind::ALL.map(OwnerKind::blueprint_kind);
        let mut kinds = TemplateKind::ALL
            .map(TemplateKind::name)
            .into_iter()
            .chain(blueprints);
        let generation = generation.parse().ok().filter(|it| *it >= 0);
        let is_known = kinds.any(|known| known == kind) && !name.is_empty();
        Ok(Self {
            key: key.to_owned(),
            generation: generation.filter(|_| is_known).ok_or_else(refused)?,
        })
    }
}

impl fmt::Display for ObjectVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.key, self.generation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mk_generations(of: &[(&str, i64)]) -> Generations {
        of.iter()
            .map(|(key, it)| ((*key).to_owned(), *it))
            .collect()
    }

    #[test]
    fn who_should_use_it_has_seen_it_and_who_should_not_has_left_it() {
        let named: ObjectVersion = "ClusterTemplate/run@2".parse().expect("a template");
        assert_eq!(named.to_string(), "ClusterTemplate/run@2");
        let missing = |expected: &[(&str, i64)], used: &[(&str, i64)]| {
            let lineage = OwnerLineage {
                used: mk_generations(used),
                ..OwnerLineage::default()
            };
            let missing = named.missing(&mk_generations(expected), &lineage);
            missing.is_some()
        };
        let run = |generation| [("ClusterTemplate/run", generation)];
        assert!(missing(&run(2), &run(1)));
        assert!(missing(&run(2), &[]));
        assert!(!missing(&run(3), &run(2)), "a later one is another story");
        assert!(!missing(&run(3), &run(3)));
        assert!(missing(&[], &run(1)), "it is about to leave");
        assert!(!missing(&[], &[]), "it is no concern of this one");
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for text in [
            "",
            "run@1",
            "Pod/run@1",
            "ClusterTemplate/run",
            "ClusterTemplate/@1",
            "ClusterTemplate/a@-1",
        ] {
            assert!(text.parse::<ObjectVersion>().is_err(), "{text}");
        }
    }
}
