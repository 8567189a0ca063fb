//! Formats of strings and numbers.
