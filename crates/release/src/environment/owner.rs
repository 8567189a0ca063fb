//! The object that is written for each application, as a spec has it.

use std::collections::BTreeMap;

use pathline_kinds::names;

use super::section::{Section, shortened};
use super::{OwnerKind, OwnerSettings, Problem};

/// The labels that are written in any case.
const OWN_LABELS: [&str; 2] = ["app.kubernetes.io/name", "pathline.dev/"];

impl Section<'_> {
    /// Reads the settings of the object that is written.
    pub(super) fn owner(&self, problems: &mut Vec<Problem>) -> OwnerSettings {
        let Some(owner) = self.section("owner", problems) else {
            return OwnerSettings::default();
        };
        let kinds = [OwnerKind::Workload, OwnerKind::Deliverable].map(|it| (it.as_str(), it));
        let kind = owner.word("kind", &kinds, problems).unwrap_or_default();
        let labels = owner.labels(problems);
        let account = owner.text("serviceAccountName", problems);
        let wrong = account.map(names::dns_subdomain).unwrap_or_default();
        if let Some(wrong) = wrong.first() {
            let message = format!("no name of a service account: {wrong}");
            owner.refuse("serviceAccountName", message, problems);
        }
        owner.refuse_unknown(&["kind", "labels", "serviceAccountName"], problems);
        OwnerSettings {
            kind,
            labels,
            service_account_name: account.map(str::to_owned),
        }
    }

    fn labels(&self, problems: &mut Vec<Problem>) -> BTreeMap<String, String> {
        let Some(section) = self.section("labels", problems) else {
            return BTreeMap::new();
        };
        let mut labels = BTreeMap::new();
        for key in section.fields().keys() {
            let shown = shortened(key);
            if let Some(wrong) = names::label_key(key).first() {
                section.refuse(&shown, format!("no name of a label: {wrong}"), problems);
            } else if OWN_LABELS.iter().any(|own| key.starts_with(own)) {
                section.refuse(&shown, "Pathline writes this label itself", problems);
            }
            let Some(value) = section.text(key, problems) else {
                continue;
            };
            match names::label_value(value).first() {
                Some(wrong) => {
                    section.refuse(&shown, format!("no value of a label: {wrong}"), problems);
                }
                None => drop(labels.insert(key.clone(), value.to_owned())),
            }
        }
        labels
    }
}
