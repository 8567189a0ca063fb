//! Arguments of `pathline blueprint`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::OutputArgs;

pub(super) const EXAMPLES: &str = "\
Examples:
  pathline blueprint lint -f supply-chain.yaml
  pathline blueprint path -f supply-chain.yaml -w workload.yaml
  pathline blueprint paths -f supply-chain.yaml -o yaml
  pathline blueprint graph -f supply-chain.yaml -w workload.yaml
  pathline blueprint graph -f supply-chain.yaml --format svg > supply-chain.svg
  pathline blueprint test examples/paths

Exit codes: 0 done, 1 a resource, a rule or a test failed, 2 wrong usage, 3 something cannot be read.";

const LINT_EXAMPLES: &str = "\
Examples:
  pathline blueprint lint -f supply-chain.yaml
  pathline blueprint lint -f blueprints/ -f templates.yaml -o sarif > blueprints.sarif

docs/blueprints.md says for each code what it means and what to do.";

const TEST_EXAMPLES: &str = "\
Examples:
  pathline blueprint test examples/paths
  pathline blueprint test . -o json

A test file is YAML and ends in `.test.yaml`:
  blueprint: blueprint.yaml          # relative to this file
  tests:
  - name: a repository with tests is tested
    owner:                           # or the name of a file
      metadata: {labels: {has-tests: 'true'}}
      spec: {source: {git: {url: https://example.com/app.git}}}
    matches: true                    # optional: the blueprint's own selector
    path:                            # only what is named is compared
      source-provider: 0             # the option, by its index
      source-tester: ok              # selected, whichever template
      image-builder: build-image     # selected, with this template
      image-provider: skipped        # or failed";

/// Arguments of `blueprint`.
#[derive(Args, Debug)]
pub(crate) struct BlueprintArgs {
    #[command(subcommand)]
    pub(crate) command: BlueprintCommand,
}

/// Subcommands of `pathline blueprint`.
#[derive(Debug, Subcommand)]
pub(crate) enum BlueprintCommand {
    /// Print the path an owner takes, with the reason for each choice
    ///
    /// Says for every resource whether it is selected, by which option, and why. The blueprint's own selector is not
    /// asked; `matches` says whether it would pick the owner up. Exits with 1 only if a resource fails.
    Path(PathArgs),

    /// Print every path through a blueprint, each with a smallest owner that takes it
    ///
    /// Two paths are the same if every resource has the same state and option. From an example, no label or field can
    /// be dropped without changing the path.
    Paths(PathsArgs),

    /// Check blueprints and templates before any owner exists
    ///
    /// Errors are what a cluster would refuse; warnings are what can never happen, or hardly be meant. Exits with 1 if
    /// there is an error.
    #[command(after_help = LINT_EXAMPLES)]
    Lint(LintArgs),

    /// Draw a blueprint, and the path of an owner through it
    Graph(GraphArgs),

    /// Run the path tests kept beside a blueprint
    #[command(after_help = TEST_EXAMPLES)]
    Test(TestArgs),
}

/// Arguments that locate the blueprint.
#[derive(Args, Debug)]
pub(crate) struct BlueprintFileArgs {
    /// The file with the blueprint, `-` for the standard input; other objects in it are left alone
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// The name of the blueprint, if the file holds several
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// Arguments of `blueprint path`.
#[derive(Args, Debug)]
pub(crate) struct PathArgs {
    #[command(flatten)]
    pub(crate) blueprint: BlueprintFileArgs,

    /// The file with the Workload or Deliverable, `-` for the standard input
    #[arg(short = 'w', long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) owner: PathBuf,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Arguments of `blueprint paths`.
#[derive(Args, Debug)]
pub(crate) struct PathsArgs {
    #[command(flatten)]
    pub(crate) blueprint: BlueprintFileArgs,

    /// Stop after this many paths
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Arguments of `blueprint lint`.
#[derive(Args, Debug)]
pub(crate) struct LintArgs {
    /// A file, a directory of YAML files, or `-` for the standard input; several are allowed
    #[arg(short, long = "file", value_name = "FILE", value_hint = ValueHint::AnyPath, required = true, num_args = 1..)]
    pub(crate) files: Vec<PathBuf>,

    /// The format of the findings; with `json` and `sarif`, stdout holds nothing else
    #[arg(
        short = 'o',
        long = "output",
        value_enum,
        default_value_t,
        value_name = "FORMAT"
    )]
    pub(crate) format: LintFormat,
}

/// The output format of findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LintFormat {
    /// For people, with the lines meant.
    #[default]
    Text,
    /// One JSON document.
    Json,
    /// One YAML document.
    Yaml,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
}

/// Arguments of `blueprint graph`.
#[derive(Args, Debug)]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    pub(crate) blueprint: BlueprintFileArgs,

    /// Show the path of this Workload or Deliverable
    #[arg(short = 'w', long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) owner: Option<PathBuf>,

    /// The language of the drawing
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: GraphFormat,
}

/// The language of a drawing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// For the terminal.
    #[default]
    Text,
    /// For Markdown.
    Mermaid,
    /// For Graphviz.
    Dot,
    /// For a browser.
    Svg,
}

/// Arguments of `blueprint test`.
#[derive(Args, Debug)]
pub(crate) struct TestArgs {
    /// The directory of the tests; those below are searched too
    #[arg(value_name = "DIR", value_hint = ValueHint::AnyPath)]
    pub(crate) dir: PathBuf,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
