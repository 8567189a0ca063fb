//! kubectl, as a platform engineer uses it.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use pathline_testkit::kube::Binaries;
use pathline_testkit::skip;

use crate::program::{run, stderr, stdout};

pub(crate) const SUITE: &str = "kinds, admission and installation with kubectl";

/// The message of Cartographer about [`BAD_CHAIN`].
pub(crate) const REFUSAL: &str = "admission webhook \"admission.pathline.dev\" denied the request: \
    error validating clustersupplychain [bad]: invalid sources for resource [build]: \
    [source] is provided by unknown resource [nobody]";

pub(crate) const BAD_CHAIN: &str = "
apiVersion: carto.run/v1alpha1
kind: ClusterSupplyChain
metadata: {name: bad}
spec:
  selector: {type: web}
  resources:
    - name: build
      templateRef: {kind: ClusterImageTemplate, name: build}
      sources: [{name: source, resource: nobody}]
";

/// kubectl with a kubeconfig.
pub(crate) struct Kubectl<'a> {
    pub(crate) binaries: &'a Binaries,
    pub(crate) kubeconfig: &'a Path,
}

impl Kubectl<'_> {
    pub(crate) fn run(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = Command::new(self.binaries.program("kubectl"))
            .arg("--kubeconfig")
            .arg(self.kubeconfig)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("kubectl starts");
        let mut stdin = child.stdin.take().expect("stdin was asked to be a pipe");
        stdin.write_all(input.as_bytes()).expect("kubectl reads");
        drop(stdin);
        child.wait_with_output().expect("kubectl ends")
    }

    pub(crate) fn assert_installs_the_kinds(&self) {
        let kinds = stdout(&run(&["crds"]));
        let applied = self.run(
            &["apply", "--server-side", "--force-conflicts", "-f", "-"],
            &kinds,
        );
        assert!(applied.status.success(), "{}", stderr(&applied));
        assert_eq!(stdout(&applied).lines().count(), 13, "{}", stdout(&applied));
    }

    pub(crate) fn apply(&self, object: &str) -> Output {
        self.run(&["apply", "--server-side", "-f", "-"], object)
    }

    pub(crate) fn assert_refuses(&self, object: &str) {
        let refused = self.apply(object);
        assert!(!refused.status.success(), "{}", stdout(&refused));
        assert!(stderr(&refused).contains(REFUSAL), "{}", stderr(&refused));
        assert!(
            stderr(&refused).contains("(Forbidden)"),
            "{}",
            stderr(&refused)
        );
    }

    pub(crate) fn assert_warns(&self, object: &str) {
        let stored = self.apply(object);
        assert!(stored.status.success(), "{}", stderr(&stored));
        assert!(
            stderr(&stored).contains("Warning: error validating clustersupplychain [bad]: "),
            "{}",
            stderr(&stored)
        );
    }
}

/// Finds the binaries of Kubernetes, or skips.
pub(crate) fn binaries() -> Option<Binaries> {
    Binaries::find()
        .map_err(|missing| skip(SUITE, &missing.to_string()))
        .ok()
}
