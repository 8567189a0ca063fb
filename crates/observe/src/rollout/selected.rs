//! Objects that a template's `liveSelector` selects, which the stamped one does not control.

use std::collections::BTreeMap;

use pathline_blueprint::live_selector;
use pathline_kinds::carto::LiveSelector;
use pathline_kinds::split_api_version;
use pathline_lineage::Rollout;
use pathline_lineage::rollout::{self, Below, Object};

use crate::observed_object::ObservedObject;

/// The objects that a template selects.
#[derive(Debug, Clone)]
pub struct SelectedObjects {
    /// The API group of their kind; empty for the core group.
    pub group: String,
    /// The version of the API.
    pub version: String,
    /// Their kind.
    pub kind: String,
    /// The labels that all of them have.
    pub labels: BTreeMap<String, String>,
    /// The generation that the stamped object says was observed.
    observed: Option<i64>,
}

impl SelectedObjects {
    /// Evaluates a selector for a stamped object; the error says for people why it selects nothing.
    pub(crate) fn of(
        selector: &LiveSelector,
        stamped: &ObservedObject<'_>,
    ) -> Result<Self, String> {
        let (group, version) = split_api_version(&selector.api_version);
        let labels = live_selector::labels(selector, stamped.answer)
            .map_err(|error| format!("its liveSelector selects nothing: {error}"))?;
        Ok(Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: selector.kind.clone(),
            labels,
            observed: stamped.observed,
        })
    }

    /// Tells whether pods are selected.
    pub fn is_pods(&self) -> bool {
        self.group.is_empty() && self.kind == "Pod"
    }

    /// Returns what is known of the objects in their namespace; pods are not among them.
    pub fn known<'b>(&self, below: Option<&'b Below>) -> impl Iterator<Item = &'b Object> {
        let known = below.map(|below| below.labelled(&self.group, &self.kind, &self.labels));
        known.into_iter().flatten()
    }

    /// Judges the rollout of the stamped object on what is known of their namespace.
    pub fn judge(&self, stamped: &Object, below: Option<&Below>, images: &[String]) -> Rollout {
        let nothing = Below::default();
        let below = below.unwrap_or(&nothing);
        if self.is_pods() {
            return rollout::judge_selected_pods(
                stamped,
                self.observed,
                &self.labels,
                below,
                images,
            );
        }
        let found = self.known(Some(below));
        rollout::judge_selected(stamped, self.observed, found, below, images)
    }
}
