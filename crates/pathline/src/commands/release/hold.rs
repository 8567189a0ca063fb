//! `pathline release hold` and `pathline release resume`.

use pathline_client::api::{EnvironmentHold, HeldPlace, HoldRequest};

use crate::cli::HoldArgs;
use crate::terminal::client::Client;
use crate::terminal::output::print_data;
use crate::terminal::report::{CommandError, Exit};

pub(super) async fn hold(args: &HoldArgs) -> Result<Exit, CommandError> {
    let client = Client::find(&args.server.options())?;
    let body = HoldRequest {
        tracker: args.tracker.clone(),
        reason: args.reason.reason.clone(),
    };
    let path = ["environments", args.environment.as_str(), "hold"];
    let held: HeldPlace = client.post(&path, &body).await?;
    print_data(args.output.format, &held, |out| {
        let command = match &held.tracker {
            Some(tracker) => format!("{} {tracker}", held.environment),
            None => held.environment.clone(),
        };
        writeln!(out, "{} is held", place(&held))?;
        if let Some(before) = &held.replaced {
            writeln!(out, "{}", replaced(before))?;
        }
        writeln!(out, "`pathline release resume {command}` ends that")
    })?;
    Ok(Exit::Yes)
}

pub(super) async fn resume(args: &HoldArgs) -> Result<Exit, CommandError> {
    let client = Client::find(&args.server.options())?;
    let body = HoldRequest {
        tracker: args.tracker.clone(),
        reason: args.reason.reason.clone(),
    };
    let path = ["environments", args.environment.as_str(), "resume"];
    let resumed: HeldPlace = client.post(&path, &body).await?;
    print_data(args.output.format, &resumed, |out| {
        let hold = &resumed.hold;
        let (by, since) = (&hold.by, hold.since);
        let place = place(&resumed);
        writeln!(
            out,
            "{place} was held by {by} since {since:.0}, and goes on"
        )
    })?;
    Ok(Exit::Yes)
}

/// Says which hold was there before.
fn replaced(before: &EnvironmentHold) -> String {
    let reason = match before.reason.as_str() {
        "" => "without a reason".to_owned(),
        reason => format!("with the reason `{reason}`"),
    };
    let (by, since) = (&before.by, before.since);
    format!("it was held before by {by} since {since:.0}, {reason}, which this replaces")
}

/// Returns what is held: a whole environment, or a tracker in it.
fn place(held: &HeldPlace) -> String {
    match &held.tracker {
        Some(tracker) => format!("{tracker} in {}", held.environment),
        None => held.environment.clone(),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn hold_that_is_replaced_is_told_with_its_reason() {
        let mut before = EnvironmentHold {
            by: "ann".to_owned(),
            reason: "audit".to_owned(),
            since: Timestamp::UNIX_EPOCH,
        };
        assert_eq!(
            replaced(&before),
            "it was held before by ann since 1970-01-01T00:00:00Z, with the reason `audit`, which this replaces"
        );
        before.reason.clear();
        assert!(replaced(&before).contains("without a reason"));
    }
}
