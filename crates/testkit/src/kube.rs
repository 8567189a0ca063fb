//! A real Kubernetes API server, and the real kubectl.

mod binaries;
mod kubectl;
mod kubelets;
mod namespace;
mod pki;
mod real;

pub use binaries::Binaries;
pub use kubectl::{Kubectl, Outcome};
pub use kubelets::{Crash, Kubelets};
pub use namespace::with_temp_ns;
pub(crate) use real::install;
pub use real::{Options, RealCluster};
