//! The doors: health, readiness and metrics over HTTP.
