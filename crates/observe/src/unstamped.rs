//! Resources that could not be stamped.

use std::collections::BTreeMap;

use pathline_blueprint::realization::{Failure, Outcome, Realization};
use pathline_lineage::Unstamped;

/// Returns which resources could not be stamped, by name, and why, as far as the cluster said.
pub(crate) fn unstamped(resources: &[Realization]) -> BTreeMap<String, Unstamped> {
    let why = |it: &Realization| {
        let (why, retried) = match &it.outcome {
            Outcome::Failed(Failure::Rejected {
                reason, is_invalid, ..
            }) => (reason.clone(), !is_invalid),
            Outcome::Failed(
                Failure::NoTemplate(_)
                | Failure::TemplateUnavailable(_)
                | Failure::Stamp(_)
                | Failure::NoSuchInput(_),
            ) => (String::new(), false),
            _ => return None,
        };
        Some((it.resource.clone(), Unstamped { why, retried }))
    };
    resources.iter().filter_map(why).collect()
}

#[cfg(test)]
mod tests {
    use pathline_blueprint::health;

    use super::*;

    fn realization(resource: &str, outcome: Outcome) -> Realization {
        Realization {
            resource: resource.to_owned(),
            template: None,
            stamped: None,
            producers: Vec::new(),
            outcome,
            output: None,
            health: health::unknown(),
            is_observed: true,
            failed: None,
        }
    }

    #[test]
    fn what_the_cluster_rejects_is_tried_again_unless_it_is_invalid() {
        let rejected = |is_invalid| {
            Outcome::Failed(Failure::Rejected {
                object: "apps/app".to_owned(),
                reason: "no".to_owned(),
                is_forbidden: false,
                is_invalid,
            })
        };
        let missing = Outcome::Failed(Failure::NoSuchInput("image".to_owned()));
        let unstamped = unstamped(&[
            realization("refused", rejected(false)),
            realization("invalid", rejected(true)),
            realization("incomplete", missing),
            realization("stamped", Outcome::Submitted),
        ]);
        let of = |why: &str, retried| Unstamped {
            why: why.to_owned(),
            retried,
        };
        let expected = [
            ("incomplete", of("", false)),
            ("invalid", of("no", false)),
            ("refused", of("no", true)),
        ];
        assert_eq!(
            unstamped,
            BTreeMap::from(expected.map(|(name, it)| (name.to_owned(), it)))
        );
    }
}
