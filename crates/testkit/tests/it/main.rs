//! The test kit's own tests: what it starts works, and is gone afterwards.

mod kubelets;
mod real_cluster;
