//! Blueprints and templates.

use crate::used::Used;

/// A blueprint or template, at the generation that a reconcile used.
#[derive(Clone, Copy, Debug)]
pub struct UsedObject<'l> {
    /// Its kind and name, as `Kind/name`. It is not in a namespace.
    pub key: &'l str,
    generation: i64,
}

impl<'l> UsedObject<'l> {
    pub(super) fn all(used: &'l Used) -> Vec<Self> {
        let used = used
            .iter()
            .map(|(key, &generation)| Self { key, generation });
        used.collect()
    }

    /// Says that it has a newer generation by now: what the reconcile found is of the past. One that is not there
    /// any more has no generation; its owners are woken.
    pub fn difference(&self, now: Option<i64>) -> Option<String> {
        let newer = now.filter(|now| *now > self.generation)?;
        let key = self.key;
        Some(format!(
            "generation {newer} of {key} has not been observed yet"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_newer_generation_of_a_template_differs() {
        let used = Used::from([("ClusterTemplate/run".to_owned(), 2)]);
        let [template] = UsedObject::all(&used)[..] else {
            panic!("one template was used");
        };
        assert_eq!(template.key, "ClusterTemplate/run");
        assert_eq!(template.difference(None), None, "its owners are woken");
        assert_eq!(template.difference(Some(2)), None);
        assert_eq!(
            template.difference(Some(3)).as_deref(),
            Some("generation 3 of ClusterTemplate/run has not been observed yet")
        );
    }
}
