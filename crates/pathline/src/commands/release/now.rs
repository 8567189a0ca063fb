//! `pathline release now`.

use pathline_client::api::{Release, ReleaseRequest};

use crate::cli::NowArgs;
use crate::commands::tracker::server::short_digests;
use crate::terminal::client::Client;
use crate::terminal::output::print_data;
use crate::terminal::report::{CommandError, Exit};

pub(super) async fn now(args: &NowArgs) -> Result<Exit, CommandError> {
    let client = Client::find(&args.server.options())?;
    let body = ReleaseRequest {
        reason: args.reason.reason.clone(),
    };
    let path = ["trackers", args.tracker.as_str(), "release"];
    let formed: Release = client.post(&path, &body).await?;
    print_data(args.output.format, &formed, |out| {
        let (tracker, number) = (&formed.tracker, formed.number);
        let tag = short_digests(&formed.image.tag);
        writeln!(out, "{tracker}: release {number} was formed, with {tag}")?;
        writeln!(
            out,
            "`pathline release why {tracker}` says where it goes, and when"
        )
    })?;
    Ok(Exit::Yes)
}
