//! Git and archives, held against the real `git` and `tar` programs.

mod archives;
mod cgi;
mod forge;
mod forged_packs;
mod git_ancestry;
mod git_http;
mod git_read;
mod git_write;
mod half;
mod hostile;
mod large_packs;
mod local_read;
mod repository;
mod server;
mod time_outs;
