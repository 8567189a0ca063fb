//! Simulates what a tracker does, step by step, for people who wonder and for tests.
//!
//! A case has `steps`, and may have `options` and an `id`:
//!
//! ```
//! use serde_json::json;
//!
//! let case = json!({"steps": ["p r=latest:D1 g=C1@latest", "t dev", "k dev"]});
//! let answer = pathline_release::simulate::simulate(&case)?;
//! assert_eq!(answer.releases, "1:C1/latest@D1:initial");
//! assert_eq!(answer.environments, "dev.1=deployed ha.1=queued");
//! # Ok::<(), pathline_release::simulate::InvalidCase>(())
//! ```
//!
//! | step | what happens |
//! | --- | --- |
//! | `p r=TAG:DIGEST,… g=CONFIG@LABEL` | a cycle: all tags of the image, and the configuration. Absent or `=`: as before; `!`: an error; `0`: not found; of `g` also `?`: not valid |
//! | `t ENVIRONMENT…` | ticks, all at the same instant |
//! | `k ENVIRONMENT`, `x ENVIRONMENT` | what is deploying there is ready, or has failed |
//! | `promote [ENVIRONMENT] [NUMBER]` | what is held, or has failed, is queued |
//! | `del`, `restart` | the tracker is deleted; Pathline ends and starts again |
//!
//! Options are `omit` (a list of environments), `autoDeploy` (false: releases are held), `accepts` (a level by
//! environment) and `environments` (their names, in order; `dev`, `ha`, `preprod` and `prod` unless said).

mod case;
mod run;
mod step;

use serde::Serialize;
use serde_json::Value;

use self::run::Run;

/// The largest number of steps of a case.
pub const MAX_STEPS: usize = 100_000;

/// The state after the last step, in the notation of the steps; `-` where there is nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The id of the case, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The releases, as `NUMBER:CONFIG/TAG@DIGEST:CAUSE`.
    pub releases: String,
    /// The configuration that waits.
    pub pending: String,
    /// The conditions after the last cycle, by name.
    pub conditions: String,
    /// The entries, as `ENVIRONMENT.NUMBER=STATE`.
    pub environments: String,
}

/// A case that can't be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct InvalidCase {
    /// The part that is wrong, such as `steps[3]`.
    pub path: String,
    /// The complaint, and what would be right.
    pub problem: String,
}

impl InvalidCase {
    fn new(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            problem: problem.into(),
        }
    }
}

/// Runs the steps of a case, and tells what there is after the last one.
///
/// # Errors
/// If it is no case, with the part that is wrong.
pub fn simulate(case: &Value) -> Result<Answer, InvalidCase> {
    let case = case::read(case)?;
    let mut run = Run::new(&case)?;
    for (index, step) in case.steps.iter().enumerate() {
        let path = || format!("steps[{index}]");
        let step = step::read(step).map_err(|problem| InvalidCase::new(path(), problem))?;
        run.take(step)
            .map_err(|problem| InvalidCase::new(path(), problem))?;
    }
    Ok(run.answer(case.id))
}
