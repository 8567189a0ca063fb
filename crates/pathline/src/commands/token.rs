//! `pathline token`: who may ask a running Pathline.

use std::io::{self, Write};

use pathline_server::api::{CreatedToken, NewToken, Token, TokenList};

use crate::cli::{CreateTokenArgs, ListTokensArgs, RevokeTokenArgs, TokenCommand};
use crate::client::Client;
use crate::output::{print_data, say};
use crate::report::{Exit, Failure};

pub(crate) async fn run(command: &TokenCommand) -> Result<Exit, Failure> {
    match command {
        TokenCommand::Create(args) => create(args).await,
        TokenCommand::List(args) => list(args).await,
        TokenCommand::Revoke(args) => revoke(args).await,
    }
}

async fn create(args: &CreateTokenArgs) -> Result<Exit, Failure> {
    let seconds = args.expires.map(|time| u32::try_from(time.as_secs()));
    let wanted = NewToken {
        name: args.name.clone(),
        scope: args.scope,
        expires_in_seconds: seconds.transpose().map_err(|_| {
            Failure::new("`--expires` is too long; ten years are the most").with_exit(Exit::Usage)
        })?,
    };
    let client = Client::find(&args.server)?;
    let made: CreatedToken = client.post(&["tokens"], &wanted).await?;
    print_data(args.output.format, &made, |out| {
        writeln!(out, "{}", made.secret)
    })?;
    say("This secret is shown once; send it as `Authorization: Bearer SECRET`.");
    Ok(Exit::Yes)
}

async fn list(args: &ListTokensArgs) -> Result<Exit, Failure> {
    let client = Client::find(&args.server)?;
    let tokens: TokenList = client.get(&["tokens"], &[]).await?;
    print_data(args.output.format, &tokens, |out| {
        write_table(out, &tokens.items)
    })?;
    Ok(Exit::Yes)
}

async fn revoke(args: &RevokeTokenArgs) -> Result<Exit, Failure> {
    let client = Client::find(&args.server)?;
    let revoked: Token = client.delete(&["tokens", &args.name]).await?;
    print_data(args.output.format, &revoked, |out| {
        writeln!(out, "revoked {}", revoked.name)
    })?;
    Ok(Exit::Yes)
}

fn write_table(out: &mut dyn Write, tokens: &[Token]) -> io::Result<()> {
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
            state(token)
        )?;
    }
    Ok(())
}

fn state(token: &Token) -> String {
    match (token.revoked, token.expires) {
        (Some(time), _) => format!("revoked {time:.0}"),
        (None, Some(time)) => format!("ends {time:.0}"),
        (None, None) => "lasts".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use pathline_ledger::Scope;

    use super::*;

    #[test]
    fn table_says_who_may_what_and_for_how_long() {
        let at = |second: i64| Timestamp::from_millisecond(second * 1000 + 123).unwrap();
        let token = |name: &str, scope| Token {
            name: name.to_owned(),
            scope,
            created: at(1_800_000_000),
            expires: None,
            last_used: None,
            revoked: None,
        };
        let tokens = [
            token("admin", Scope::Admin),
            Token {
                expires: Some(at(1_807_776_000)),
                last_used: Some(at(1_800_000_060)),
                ..token("continuous-integration", Scope::Read)
            },
            Token {
                revoked: Some(at(1_800_000_120)),
                ..token("old", Scope::Write)
            },
        ];
        let mut text = Vec::new();
        write_table(&mut text, &tokens).unwrap();
        insta::assert_snapshot!(String::from_utf8(text).unwrap(), @"
        NAME                    SCOPE  MADE                  LAST USED             STATE
        admin                   admin  2027-01-15T08:00:00Z  never                 lasts
        continuous-integration  read   2027-01-15T08:00:00Z  2027-01-15T08:01:00Z  ends 2027-04-15T08:00:00Z
        old                     write  2027-01-15T08:00:00Z  never                 revoked 2027-01-15T08:02:00Z
        ");
    }
}
