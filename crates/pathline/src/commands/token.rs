//! `pathline token`: who may ask a running Pathline.

use std::io::{self, Write};

use jiff::Timestamp;
use pathline_client::api::{CreatedToken, NewToken, Token, TokenList};
use pathline_clock::Clock;

use crate::cli::{CreateTokenArgs, ListTokensArgs, RevokeTokenArgs, TokenCommand};
use crate::terminal::client::Client;
use crate::terminal::output::{print_data, say};
use crate::terminal::report::{CommandError, Exit};

pub(crate) async fn run(command: &TokenCommand) -> Result<Exit, CommandError> {
    match command {
        TokenCommand::Create(args) => create(args).await,
        TokenCommand::List(args) => list(args).await,
        TokenCommand::Revoke(args) => revoke(args).await,
    }
}

async fn create(args: &CreateTokenArgs) -> Result<Exit, CommandError> {
    let seconds = args.expires.map(|time| u32::try_from(time.as_secs()));
    let wanted = NewToken {
        name: args.name.clone(),
        scope: args.scope,
        expires_in_seconds: seconds.transpose().map_err(|_| {
            CommandError::new("`--expires` is too long; ten years are the most")
                .with_exit(Exit::Usage)
        })?,
    };
    let client = Client::find(&args.server.options())?;
    let made: CreatedToken = client.post(&["tokens"], &wanted).await?;
    print_data(args.output.format, &made, |out| {
        writeln!(out, "{}", made.secret)
    })?;
    say("This secret is shown once; send it as `Authorization: Bearer SECRET`.");
    Ok(Exit::Yes)
}

async fn list(args: &ListTokensArgs) -> Result<Exit, CommandError> {
    let client = Client::find(&args.server.options())?;
    let tokens: TokenList = client.get(&["tokens"], &[]).await?;
    print_data(args.output.format, &tokens, |out| {
        write_table(out, &tokens.items, Clock::system().now())
    })?;
    Ok(Exit::Yes)
}

async fn revoke(args: &RevokeTokenArgs) -> Result<Exit, CommandError> {
    let client = Client::find(&args.server.options())?;
    let revoked: Token = client.delete(&["tokens", &args.name]).await?;
    print_data(args.output.format, &revoked, |out| {
        writeln!(out, "revoked {}", revoked.name)
    })?;
    Ok(Exit::Yes)
}

fn write_table(out: &mut dyn Write, tokens: &[Token], now: Timestamp) -> io::Result<()> {
    let longest = tokens.iter().map(|token| token.name.len()).max();
    let width = longest.unwrap_or_default().max("NAME".len());
    writeln!(
        out,
        "{:width$}  SCOPE  MADE                  LAST USED             STATE",
        "NAME"
    )?;
    for token in tokens {
        let used = token.last_used.map(|time| format!("{time:.0}"));
        let (name, scope, made) = (&token.name, token.scope.as_str(), token.created);
        let used = used.as_deref().unwrap_or("never");
        writeln!(
            out,
            "{name:width$}  {scope:5}  {made:.0}  {used:20}  {}",
            state(token, now)
        )?;
    }
    Ok(())
}

fn state(token: &Token, now: Timestamp) -> String {
    match (token.revoked, token.expires) {
        (Some(time), _) => format!("revoked {time:.0}"),
        (None, Some(time)) if time <= now => format!("ended {time:.0}"),
        (None, Some(time)) => format!("ends {time:.0}"),
        (None, None) => "lasts".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_says_who_may_what_and_for_how_long() {
        let at = |second: i64| Timestamp::from_millisecond(second * 1000 + 123).unwrap();
        let token = |name: &str, scope: &str| Token {
            name: name.to_owned(),
            scope: scope.to_owned(),
            created: at(1_800_000_000),
            expires: None,
            last_used: None,
            revoked: None,
        };
        let tokens = [
            token("admin", "admin"),
            Token {
                expires: Some(at(1_807_776_000)),
                last_used: Some(at(1_800_000_060)),
                ..token("continuous-integration", "read")
            },
            Token {
                expires: Some(at(1_800_000_180)),
                ..token("short", "read")
            },
            Token {
                revoked: Some(at(1_800_000_120)),
                ..token("old", "write")
            },
        ];
        let mut text = Vec::new();
        write_table(&mut text, &tokens, at(1_800_000_200)).unwrap();
        insta::assert_snapshot!(String::from_utf8(text).unwrap(), @"
        NAME                    SCOPE  MADE                  LAST USED             STATE
        admin                   admin  2027-01-15T08:00:00Z  never                 lasts
        continuous-integration  read   2027-01-15T08:00:00Z  2027-01-15T08:01:00Z  ends 2027-04-15T08:00:00Z
        short                   read   2027-01-15T08:00:00Z  never                 ended 2027-01-15T08:03:00Z
        old                     write  2027-01-15T08:00:00Z  never                 revoked 2027-01-15T08:02:00Z
        ");
    }
}
