//! The end of a demo: what arrived, where it is, and what to try next.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::scene::Commit;
use super::stage::Stage;

/// The data that `demo` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    pub(super) site: String,
    pub(super) pathline: String,
    pub(super) kubernetes: String,
    pub(super) kubeconfig: PathBuf,
    pub(super) data_dir: PathBuf,
    pub(super) app: PathBuf,
    pub(super) manifests: PathBuf,
    pub(super) log: PathBuf,
    pub(super) commits: Vec<Arrival>,
}

/// A commit that arrived.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Arrival {
    pub(super) commit: String,
    pub(super) subject: String,
    pub(super) stages: Vec<Reached>,
}

/// The time at which a commit reached a station, in seconds after it was made.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Reached {
    pub(super) stage: Stage,
    pub(super) seconds: f64,
}

impl Reached {
    /// Takes down that a commit has come this far.
    pub(super) fn now(commit: &Commit, stage: Stage) -> Self {
        let seconds = commit.made_at.elapsed().unwrap_or_default().as_secs_f64();
        Self { stage, seconds }
    }
}

impl Summary {
    /// Writes which commits arrived, for people.
    pub(crate) fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out)?;
        for Arrival {
            commit,
            subject,
            stages,
        } in &self.commits
        {
            let seconds = stages.last().map_or(0.0, |reached| reached.seconds);
            writeln!(
                out,
                "{commit} is running, {seconds:.1}s after it was made: {subject}"
            )?;
        }
        Ok(())
    }

    /// Writes what arrived, and what to do with it while it runs.
    pub(crate) fn write_invitation(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_text(out)?;
        writeln!(out)?;
        writeln!(out, "  the site    {}", self.site)?;
        writeln!(out, "  Pathline    {}", self.pathline)?;
        writeln!(out, "  Kubernetes  {}", self.kubernetes)?;
        writeln!(out, "  the log     {}", self.log.display())?;
        writeln!(out, "\nTry next, in another terminal:")?;
        writeln!(out, "  curl {}", self.site)?;
        writeln!(
            out,
            "  kubectl --kubeconfig {} get workloads,deliverables,gitrepositories,tasks,gitcommits,processes",
            self.kubeconfig.display()
        )?;
        writeln!(
            out,
            "  pathline lineage workload/hello --data-dir {}",
            self.data_dir.display()
        )?;
        writeln!(out, "  git -C {} log", self.manifests.display())?;
        writeln!(
            out,
            "  cd {} && echo 'Hello from me' > message.txt && git commit -am 'Say it myself'",
            self.app.display()
        )
    }
}
