//! The ways in which built-in kinds differ from each other.

/// The treatment of a kind's objects where kinds differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rules {
    /// Whether an update may leave out the resourceVersion.
    pub(crate) unconditional_update: bool,
    /// Whether an update creates what is not there.
    pub(crate) creates_on_update: bool,
    /// Whether a delete answers with the object instead of a `Status`.
    pub(crate) answers_deletes_with_object: bool,
    /// Whether dependents stay when a delete does not say what becomes of them.
    pub(crate) orphans_by_default: bool,
    /// Whether this is the second face of events, stored as the first.
    pub(crate) is_converted_event: bool,
}

impl Rules {
    /// The rules of custom resources.
    pub(crate) const CUSTOM: Self = Self {
        unconditional_update: false,
        creates_on_update: false,
        answers_deletes_with_object: false,
        orphans_by_default: false,
        is_converted_event: false,
    };

    const PLAIN: Self = Self {
        unconditional_update: true,
        ..Self::CUSTOM
    };

    /// Returns the rules of a built-in kind.
    pub(crate) fn built_in(group: &str, plural: &str) -> Self {
        match (group, plural) {
            ("", "pods" | "serviceaccounts" | "persistentvolumes" | "persistentvolumeclaims") => {
                Self {
                    answers_deletes_with_object: true,
                    ..Self::PLAIN
                }
            }
            ("", "events" | "services") | ("rbac.authorization.k8s.io", _) => Self {
                creates_on_update: true,
                ..Self::PLAIN
            },
            ("events.k8s.io", "events") => Self {
                creates_on_update: true,
                is_converted_event: true,
                ..Self::PLAIN
            },
            ("coordination.k8s.io", "leases") => Self {
                unconditional_update: false,
                creates_on_update: true,
                ..Self::PLAIN
            },
            ("apiextensions.k8s.io", _) => Self::CUSTOM,
            ("batch", "jobs") => Self {
                orphans_by_default: true,
                ..Self::PLAIN
            },
            _ => Self::PLAIN,
        }
    }
}
