//! The outside: git, and later registries and forges.
