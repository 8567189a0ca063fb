//! Arguments of `pathline template`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::OutputArgs;

pub(super) const EXAMPLES: &str = "\
Examples:
  pathline template test tests/templates
  pathline template test tests/templates/kpack -o json";

const TEST_EXAMPLES: &str = "\
A test is a directory without directories in it. What it does not have itself it takes from those above it:
  template.yaml       the template
  workload.yaml       the Workload or Deliverable
  expected.yaml       the object that must come out
  supply-chain*.yaml  the blueprint, if the template is rendered as a resource of it
  template-ytt-values.yaml, supply-chain-ytt-values.yaml
                      with which ytt makes the files above first
  info.yaml           everything else:
    given:
      template: {path: other-template.yaml}
      workload: other-workload.yaml
      mockSupplyChain:
        blueprintInputs:
          sources: {source: {url: some-url, revision: some-revision}}
        blueprintParams: [{name: port, value: 8080}]
      supplyChain:
        targetResourceName: deploy
        previousOutputs: {build: {image: some-image}}
    expected: other-expected.yaml
    compareOptions: {ignoreMetadata: true}

Exit codes: 0 all pass, 1 some fail, 2 wrong usage, 3 a test cannot be read.";

/// Arguments of `template`.
#[derive(Args, Debug)]
pub(crate) struct TemplateArgs {
    #[command(subcommand)]
    pub(crate) command: TemplateCommand,
}

/// Subcommands of `pathline template`.
#[derive(Debug, Subcommand)]
pub(crate) enum TemplateCommand {
    /// Render templates and compare what comes out, without a cluster
    ///
    /// Runs every test in a directory and below it, in the format of Cartographer's `cartotest`.
    #[command(after_help = TEST_EXAMPLES)]
    Test(TemplateTestArgs),
}

/// Arguments of `template test`.
#[derive(Args, Debug)]
pub(crate) struct TemplateTestArgs {
    /// The directory of the tests
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,

    /// The ytt program, for templates written in it [default: the one on the PATH]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::ExecutablePath)]
    pub(crate) ytt: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
