//! Verdicts of lineage, and what the server knows besides, as the answer of a wait.

use pathline_client::api::{
    AtWork, Impossible, MissingProof, Progress, ReplacedBy, WaitResult, WaitState,
};
use pathline_lineage::wait::{self, Verdict};

/// Returns what a verdict says.
pub(super) fn of_verdict(
    verdict: Verdict,
    generation: i64,
    id: String,
    notes: Vec<String>,
) -> WaitResult {
    let mut waited = WaitResult {
        state: WaitState::Waiting,
        generation,
        id,
        progress: Vec::new(),
        impossible: None,
        missing_proof: Vec::new(),
        notes,
        running: Vec::new(),
    };
    match verdict {
        Verdict::Holds(progress) => {
            waited.state = WaitState::Holds;
            waited.progress = progress.into_iter().map(progress_of).collect();
        }
        Verdict::Waiting(progress) => {
            waited.progress = progress.into_iter().map(progress_of).collect();
        }
        Verdict::Impossible(impossible) => {
            waited.state = WaitState::Impossible;
            waited.impossible = Some(impossible_of(&impossible));
        }
        Verdict::Unproven(missing_proof) => {
            waited.state = WaitState::Unproven;
            waited.missing_proof = missing_proof.into_iter().map(missing_proof_of).collect();
        }
    }
    waited
}

/// Says that the owner was not looked at with all that it should have been.
pub(super) fn not_seen(
    asked: impl Iterator<Item = String>,
    id: String,
    generation: i64,
    missing: &[String],
) -> WaitResult {
    WaitResult {
        generation,
        ..not_there(asked, id, &missing.join("; "))
    }
}

/// Says that the owner is not there yet.
pub(super) fn not_there(
    asked: impl Iterator<Item = String>,
    id: String,
    missing: &str,
) -> WaitResult {
    let progress = |wait_for: String| Progress {
        wait_for,
        input: String::new(),
        value: String::new(),
        reached: Vec::new(),
        at_work: None,
        deliverables: Vec::new(),
        missing: vec![missing.to_owned()],
    };
    WaitResult {
        state: WaitState::Waiting,
        generation: 0,
        id,
        progress: asked.map(progress).collect(),
        impossible: None,
        missing_proof: Vec::new(),
        notes: Vec::new(),
        running: Vec::new(),
    }
}

/// Says that the owner was deleted.
pub(super) fn gone(generation: i64, id: String, owner: &str) -> WaitResult {
    let message = format!("the {owner} was deleted; apply it again and wait again");
    superseded(generation, id, impossible("gone", message))
}

/// Says that it can't happen any more.
pub(super) fn superseded(generation: i64, id: String, impossible: Impossible) -> WaitResult {
    WaitResult {
        state: WaitState::Impossible,
        generation,
        id,
        progress: Vec::new(),
        impossible: Some(impossible),
        missing_proof: Vec::new(),
        notes: Vec::new(),
        running: Vec::new(),
    }
}

/// Returns the input of the owner whose value was superseded, if that is the answer.
pub(super) fn superseded_input(waited: &WaitResult) -> Option<&str> {
    waited.impossible.as_ref()?.input.as_deref()
}

/// Adds who has superseded it.
pub(super) fn name_who(waited: &mut WaitResult, by: ReplacedBy) {
    if let Some(impossible) = &mut waited.impossible {
        impossible.message = format!("{} ({by})", impossible.message);
        impossible.by = Some(by);
    }
}

/// Returns a reason that is all that can be said.
pub(super) fn impossible(reason: &str, message: String) -> Impossible {
    Impossible {
        reason: reason.to_owned(),
        message,
        resource: None,
        input: None,
        by: None,
    }
}

fn progress_of(progress: wait::Progress) -> Progress {
    let wait::Progress {
        wait_for,
        input,
        value,
        reached,
        at_work,
        missing,
        deliverables,
    } = progress;
    Progress {
        wait_for,
        input,
        value,
        reached,
        at_work: at_work.map(|wait::AtWork { resource, since }| AtWork { resource, since }),
        missing,
        deliverables,
    }
}

fn impossible_of(why: &wait::Impossible) -> Impossible {
    let reason = match why {
        wait::Impossible::Failed { .. } => "failed",
        wait::Impossible::Superseded { .. } => "superseded",
        wait::Impossible::NotARevision { .. } => "notARevision",
        wait::Impossible::Contradiction { .. } => "contradiction",
        wait::Impossible::NotOnPath { .. } => "notOnPath",
        wait::Impossible::Unused { .. } => "unused",
        wait::Impossible::Fixed { .. } => "fixed",
    };
    let input = match why {
        wait::Impossible::Superseded { input, .. } => Some(input.clone()),
        _ => None,
    };
    let resource = match why {
        wait::Impossible::Failed { resource, .. } => Some(resource.clone()),
        _ => None,
    };
    Impossible {
        resource,
        input,
        ..impossible(reason, why.to_string())
    }
}

fn missing_proof_of(missing_proof: wait::MissingProof) -> MissingProof {
    let wait::MissingProof {
        resource,
        template,
        why,
        assumed,
    } = missing_proof;
    MissingProof {
        resource,
        template,
        why,
        assumed,
    }
}
