//! Git and archives, held against the real `git` and `tar` programs.

mod archives;
mod cgi;
mod git_ancestry;
mod git_http;
mod git_read;
mod git_write;
mod hostile;
mod local_read;
mod repository;
