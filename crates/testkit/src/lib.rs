//! For tests only: real servers on free ports, kubectl, scratch directories.
