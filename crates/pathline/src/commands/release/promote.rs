//! `pathline release promote`.

use std::io::{self, Write};

use pathline_client::api::{PromoteRequest, Promoted, ReleaseTransition};

use crate::cli::PromoteArgs;
use crate::terminal::client::Client;
use crate::terminal::output::print_data;
use crate::terminal::report::{CommandError, Exit};

pub(super) async fn promote(args: &PromoteArgs) -> Result<Exit, CommandError> {
    let client = Client::find(&args.server.options())?;
    let body = PromoteRequest {
        tracker: args.tracker.clone(),
        release: args.release,
        now: args.now,
        reason: args.reason.reason.clone(),
    };
    let path = ["environments", args.environment.as_str(), "promote"];
    let promoted: Promoted = client.post(&path, &body).await?;
    print_data(args.output.format, &promoted, |out| {
        write_promoted(out, &args.tracker, &promoted)
    })?;
    Ok(Exit::Yes)
}

fn write_promoted(out: &mut dyn Write, tracker: &str, promoted: &Promoted) -> io::Result<()> {
    let line = |it: &ReleaseTransition| {
        let (release, to, environment) = (it.release, &it.to, &it.environment);
        format!("{tracker}: release {release} is {to} in {environment}")
    };
    let mut transitions = promoted.transitions.iter();
    transitions.try_for_each(|it| writeln!(out, "{}", line(it)))?;
    writeln!(out, "`pathline release why {tracker}` says what follows")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_told() {
        let promoted = Promoted {
            transitions: vec![ReleaseTransition {
                environment: "prod".to_owned(),
                release: 41,
                from: Some("held".to_owned()),
                to: "queued".to_owned(),
            }],
        };
        let mut out = Vec::new();
        write_promoted(&mut out, "shop.web", &promoted).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "shop.web: release 41 is queued in prod\n`pathline release why shop.web` says what \
             follows\n"
        );
    }
}
