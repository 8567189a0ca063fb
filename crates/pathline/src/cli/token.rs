//! Arguments of `pathline token`.

use clap::{Args, Subcommand};
use jiff::SignedDuration;
use pathline_client::api::Scope;

use super::{OutputArgs, ServerArgs};

pub(super) const EXAMPLES: &str = "\
Examples:
  pathline token create ci --scope read --expires 90d
  pathline token create me --scope admin -o json | jq -r .secret
  pathline token list
  pathline token revoke ci

Scopes: `read` looks at everything, `write` also changes what Pathline works on, `admin` also makes and revokes tokens.

Exit codes: 0 done, 1 the name is taken or there is no such token, 2 wrong usage, 3 Pathline could not be asked.";

/// Arguments of `token`.
#[derive(Args, Debug)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    pub(crate) command: TokenCommand,
}

/// Subcommands of `pathline token`.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token and print its secret, this once
    ///
    /// The secret is kept nowhere: whoever loses it makes another token.
    Create(CreateTokenArgs),

    /// List all tokens, without their secrets
    List(ListTokensArgs),

    /// End a token at once, also where it is in use
    Revoke(RevokeTokenArgs),
}

/// Arguments of `token create`.
#[derive(Args, Debug)]
pub(crate) struct CreateTokenArgs {
    /// The name of whoever will use it, which is never given twice
    pub(crate) name: String,

    /// The scope: read, write or admin
    #[arg(long, default_value = "read")]
    pub(crate) scope: Scope,

    /// The time for which it lasts, such as 12h or 90d [default: until it is revoked]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) expires: Option<SignedDuration>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// Arguments of `token list`.
#[derive(Args, Debug)]
pub(crate) struct ListTokensArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// Arguments of `token revoke`.
#[derive(Args, Debug)]
pub(crate) struct RevokeTokenArgs {
    /// The name of the token
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// Reads a time span in which a day has 24 hours.
fn parse_time(text: &str) -> Result<SignedDuration, String> {
    let wrong = |error: jiff::Error| format!("{error}; write a number and a unit, such as 90d");
    let span: jiff::Span = text.parse().map_err(wrong)?;
    let whole = span.to_duration(jiff::SpanRelativeTo::days_are_24_hours());
    let whole = whole.map_err(wrong)?;
    if whole.as_secs() < 1 {
        return Err("a token lasts a second at least".to_owned());
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_numbers_with_units() {
        let seconds = |text| parse_time(text).map(|time| time.as_secs());
        assert_eq!(seconds("90d"), Ok(7_776_000));
        assert_eq!(seconds("12h30m"), Ok(45_000));
        assert_eq!(seconds("2w"), Ok(1_209_600));
        for bad in ["", "90", "d", "0s", "-1d", "1ms"] {
            assert!(parse_time(bad).is_err(), "{bad}");
        }
    }
}
