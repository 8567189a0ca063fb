//! Clauses of rules by name, of which a model can drop one at a time.
//!
//! A crate of rules lists its clauses in an enum, and asks each condition through [`Clauses::holds`], which is the
//! condition itself. Its model, with the feature `dropping`, drops one clause at a time and shows that
//! something goes wrong without it.

#[cfg(not(feature = "dropping"))]
use std::marker::PhantomData;

/// The clauses that are asked: all of them, unless a model drops one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clauses<C> {
    #[cfg(feature = "dropping")]
    dropped: Option<C>,
    #[cfg(not(feature = "dropping"))]
    of: PhantomData<C>,
}

impl<C> Default for Clauses<C> {
    fn default() -> Self {
        Self {
            #[cfg(feature = "dropping")]
            dropped: None,
            #[cfg(not(feature = "dropping"))]
            of: PhantomData,
        }
    }
}

impl<C: PartialEq> Clauses<C> {
    /// Returns whether a condition holds; that of a dropped clause always does.
    pub fn holds(self, clause: C, condition: bool) -> bool {
        condition || self.is_dropped(clause)
    }

    /// Tells whether a clause is not asked: never, but in a model.
    #[cfg(not(feature = "dropping"))]
    pub fn is_dropped(self, _: C) -> bool {
        false
    }

    /// Tells whether a clause is not asked.
    #[cfg(feature = "dropping")]
    pub fn is_dropped(self, clause: C) -> bool {
        self.dropped == Some(clause)
    }

    /// Returns all clauses but one, or all of them.
    #[cfg(feature = "dropping")]
    pub fn without(dropped: Option<C>) -> Self {
        Self { dropped }
    }
}
