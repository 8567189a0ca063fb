//! The ledger as its callers see it: every test here runs on SQLite and on a real PostgreSQL.

#![expect(
    clippy::disallowed_methods,
    reason = "the clock and the tasks of a test are the real ones"
)]
#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]
#![expect(clippy::print_stdout, reason = "how long things took is for people")]

/// Makes the named functions, `async fn(&Home) -> anyhow::Result<()>`, tests on both databases.
macro_rules! on_both {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test]
            async fn $name() -> anyhow::Result<()> {
                super::$name(&crate::home::Home::file()).await
            })+
        }
        mod postgres {
            $(#[tokio::test]
            async fn $name() -> anyhow::Result<()> {
                match crate::home::Home::postgres() {
                    Some(home) => super::$name(&home).await,
                    None => Ok(()),
                }
            })+
        }
    };
}

mod home;
mod story;

mod across_git;
mod bad_input;
mod clusters;
mod containing;
mod earlier;
mod following;
mod moving;
mod recording;
mod releasing;
mod small_disk;
mod together;
mod tokens;
mod tracking;
