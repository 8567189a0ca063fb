//! The test kit's own tests: what it starts works, and is gone afterwards; and the tests of the house as a whole.

mod architecture;
mod doubles;
mod house;
mod kubelets;
mod real_cluster;
mod words;
