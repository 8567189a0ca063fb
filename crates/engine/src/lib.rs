//! The loops: reconcile owners, run the workers of the embedded cluster.
