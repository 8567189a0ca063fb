//! `pathline release rollback`.

use pathline_client::api::{Release, RollbackRequest};

use crate::cli::RollbackArgs;
use crate::commands::tracker::server::short_digests;
use crate::terminal::client::Client;
use crate::terminal::output::print_data;
use crate::terminal::report::{CommandError, Exit};

pub(super) async fn rollback(args: &RollbackArgs) -> Result<Exit, CommandError> {
    let client = Client::find(&args.server.options())?;
    let body = RollbackRequest {
        tracker: args.tracker.clone(),
        release: args.release,
        reason: args.reason.reason.clone(),
    };
    let environment = args.environment.as_str();
    let path = ["environments", environment, "rollback"];
    let formed: Release = client.post(&path, &body).await?;
    print_data(args.output.format, &formed, |out| {
        let (tracker, number) = (&formed.tracker, formed.number);
        let tag = short_digests(&formed.image.tag);
        writeln!(
            out,
            "{tracker}: release {number}, with {tag}, is being deployed in {environment}"
        )?;
        writeln!(
            out,
            "{environment} takes nothing else of it until `pathline release resume {environment} {tracker}`"
        )
    })?;
    Ok(Exit::Yes)
}
