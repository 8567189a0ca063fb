//! Git and archives, held against the real `git` and `tar` programs.

#![expect(
    clippy::disallowed_methods,
    reason = "the clock and the tasks of a test are the real ones"
)]

mod archives;
mod credential_helpers;
mod forge;
mod forged_packs;
mod git_ancestry;
mod git_edit;
mod git_failures;
mod git_history;
mod git_http;
mod git_read;
mod git_trailers;
mod git_write;
mod hostile;
mod http_client;
mod interim;
mod large_packs;
mod local_read;
mod measured_fetch;
mod paces;
mod polling;
mod registry_double;
mod registry_real;
mod repository;
mod secrecy;
mod source_git;
mod source_github;
mod time_outs;
