//! A blueprint or template at one generation.

use std::fmt;
use std::str::FromStr;

use pathline_blueprint::owner::OwnerKind;
use pathline_blueprint::template::TemplateKind;
use pathline_blueprint::usage::Generations;

/// A blueprint or template as it was applied: `ClusterTemplate/run@2`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Named {
    /// Its kind and name.
    pub(crate) key: String,
    pub(crate) generation: i64,
}

/// What names no blueprint and no template.
#[derive(Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "`{0}` is no blueprint and no template: write KIND/NAME@GENERATION, such as ClusterTemplate/run@2"
)]
pub(crate) struct NotNamed(String);

impl Named {
    /// Says why an owner was not looked at with this yet, if it was not. One that should use it has to
    /// use that generation; one that should not must not use it any more.
    pub(super) fn missing(&self, expected: &Generations, used: &Generations) -> Option<String> {
        let (key, generation) = (&self.key, self.generation);
        match (expected.contains_key(key), used.get(key)) {
            (true, Some(used)) if *used >= generation => None,
            (true, Some(used)) => Some(format!(
                "generation {generation} of {key} has not been looked at yet, only {used}"
            )),
            (true, None) => Some(format!("{key} has not been looked at yet")),
            (false, Some(_)) => Some(format!("{key} is still used, but not for long")),
            (false, None) => None,
        }
    }

    /// Tells whether an owner uses it, or should.
    pub(super) fn concerns(&self, expected: &Generations, used: &Generations) -> bool {
        expected.contains_key(&self.key) || used.contains_key(&self.key)
    }
}

impl FromStr for Named {
    type Err = NotNamed;

    fn from_str(text: &str) -> Result<Self, NotNamed> {
        let refused = || NotNamed(text.to_owned());
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

impl fmt::Display for Named {
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
        let named: Named = "ClusterTemplate/run@2".parse().expect("a template");
        assert_eq!(named.to_string(), "ClusterTemplate/run@2");
        let missing = |expected: &[(&str, i64)], used: &[(&str, i64)]| {
            let missing = named.missing(&mk_generations(expected), &mk_generations(used));
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
            assert!(text.parse::<Named>().is_err(), "{text}");
        }
    }
}
