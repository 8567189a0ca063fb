//! Topics: the kinds of subjects that changes are about.

use std::fmt;

/// The kind of subject that a change is about.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Topic {
    /// The lineage of owners; the subject is the uid of one.
    Lineage,
    /// Tokens that were made or revoked; the subject is the name of one.
    Access,
    /// Trackers that were made, replaced, deleted or observed; the subject is the uid of one.
    Trackers,
    /// Releases that were formed; the subject is the id of one.
    Releases,
}

impl Topic {
    /// All topics.
    pub const ALL: [Self; 4] = [Self::Lineage, Self::Access, Self::Trackers, Self::Releases];

    /// Returns the word for it, as it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lineage => "lineage",
            Self::Access => "access",
            Self::Trackers => "trackers",
            Self::Releases => "releases",
        }
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_listed_in_their_order_and_have_words_of_their_own() {
        // `Subscribers` keeps one sender for each, in this order.
        for (index, topic) in Topic::ALL.into_iter().enumerate() {
            assert_eq!(topic as usize, index, "{topic}");
        }
        assert_ne!(Topic::Lineage.as_str(), Topic::Access.as_str());
    }
}
