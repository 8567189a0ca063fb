//! Variables, and variables with a sign.

use std::ops::Not;

/// Something that is true or false.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::reach) struct Variable(pub(super) u32);

/// A variable, or its negation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::reach) struct Literal(u32);

impl Variable {
    /// Returns the literal that is true when the variable has this value.
    pub(in crate::reach) fn literal(self, value: bool) -> Literal {
        Literal(self.0 << 1 | u32::from(!value))
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

impl Literal {
    /// Returns its variable.
    pub(in crate::reach) fn variable(self) -> Variable {
        Variable(self.0 >> 1)
    }

    /// Returns whether it is the variable itself, not its negation.
    pub(in crate::reach) fn is_positive(self) -> bool {
        self.0 & 1 == 0
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

impl Not for Literal {
    type Output = Self;

    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}
