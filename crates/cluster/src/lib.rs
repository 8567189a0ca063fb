//! The ground: an embedded Kubernetes API on SQLite.
