//! The memory: what was made from what, when, and what has arrived; in SQLite or PostgreSQL.
