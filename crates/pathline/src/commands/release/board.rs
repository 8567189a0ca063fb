//! `pathline release board`.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use pathline_client::api::{Board, BoardCell};
use tokio::time::{sleep, timeout};

use super::table;
use super::why::earliest;
use crate::cli::BoardArgs;
use crate::terminal::client::{Client, ClientError};
use crate::terminal::output::{Format, print_data, say};
use crate::terminal::report::{CommandError, Exit};

/// The largest page that is asked for.
const PAGE: &str = "500";
/// The time in which changes that follow each other are drawn once.
const SETTLE: Duration = Duration::from_millis(300);
/// The time after which it is drawn again although nothing was told: freezes end by themselves.
const REFRESH: Duration = Duration::from_secs(30);
/// Clears a terminal, and begins at its top.
const CLEAR: &str = "\u{1b}[H\u{1b}[2J\u{1b}[3J";

pub(super) async fn board(args: &BoardArgs) -> Result<Exit, CommandError> {
    let client = Client::find(&args.server.options())?;
    let board = read(&client, args).await?;
    print(args, &board)?;
    if args.watch {
        watch(&client, args, board).await?;
    }
    Ok(Exit::Yes)
}

/// Draws the board again whenever something has changed.
async fn watch(client: &Client, args: &BoardArgs, mut shown: Board) -> Result<(), CommandError> {
    let mut events = client.events(&["stream"], &[]);
    let mut trouble = String::new();
    loop {
        let broken = |error: &ClientError| {
            let text = format!("{error}; trying again");
            if text != trouble {
                say(&text);
                trouble = text;
            }
        };
        match timeout(REFRESH, events.next(broken)).await {
            Ok(Ok(event)) if !matters(&event.name) => continue,
            Ok(event) => drop(event?),
            Err(_) => {}
        }
        trouble.clear();
        sleep(SETTLE).await;
        // What has come meanwhile is in what is read now.
        while let Ok(event) = timeout(Duration::ZERO, events.next(|_| ())).await {
            event?;
        }
        let board = match read(client, args).await {
            // It is being started again; the stream says so.
            Err(error) if error.exit() == Exit::Unknown => continue,
            board => board?,
        };
        if board != shown {
            print(args, &board)?;
            shown = board;
        }
    }
}

/// Tells whether an event may change the board.
fn matters(event: &str) -> bool {
    matches!(event, "begin" | "release" | "move" | "hold" | "tracker")
}

/// Reads all pages.
async fn read(client: &Client, args: &BoardArgs) -> Result<Board, CommandError> {
    let mut board: Option<Board> = None;
    loop {
        let after = board.as_mut().and_then(|it| it.next.take());
        if board.is_some() && after.is_none() {
            break;
        }
        let mut query = vec![("limit", PAGE)];
        query.extend(args.tracker.as_deref().map(|it| ("tracker", it)));
        query.extend(args.environment.as_deref().map(|it| ("environment", it)));
        query.extend(after.as_deref().map(|it| ("continue", it)));
        let page: Board = client.get(&["releases", "board"], &query).await?;
        match &mut board {
            None => board = Some(page),
            Some(board) => {
                board.items.extend(page.items);
                board.next = page.next;
            }
        }
    }
    board.ok_or_else(|| CommandError::new("nothing was answered"))
}

fn print(args: &BoardArgs, board: &Board) -> Result<(), CommandError> {
    let format = args.output.format;
    print_data(format, board, |out| {
        if args.watch && format == Format::Text && io::stdout().is_terminal() {
            write!(out, "{CLEAR}")?;
        }
        match &args.environment {
            Some(_) => write_one(out, board),
            None => write_all(out, board),
        }
    })?;
    Ok(())
}

/// Writes a line for each tracker, and a column for each environment.
fn write_all(out: &mut dyn Write, board: &Board) -> io::Result<()> {
    if board.items.is_empty() {
        return writeln!(
            out,
            "nothing is tracked; `pathline tracker add --help` shows how to begin"
        );
    }
    let columns: Vec<String> = board
        .environments
        .iter()
        .map(|it| it.to_uppercase())
        .collect();
    let header: Vec<&str> = std::iter::once("TRACKER")
        .chain(columns.iter().map(String::as_str))
        .collect();
    let rows = board.items.iter().map(|row| {
        let cells = board.environments.iter().map(|name| {
            let found = row.environments.iter().find(|it| it.environment == *name);
            found.map_or_else(|| "-".to_owned(), cell)
        });
        std::iter::once(row.tracker.clone()).chain(cells).collect()
    });
    table::write(out, &header, &rows.collect::<Vec<Vec<String>>>())?;
    if board.environments.is_empty() {
        writeln!(
            out,
            "there is no environment, so releases go nowhere; docs/releases.md shows one"
        )?;
    }
    Ok(())
}

/// Returns what is deployed, and what is to come.
fn cell(cell: &BoardCell) -> String {
    let coming = match (cell.deployed, cell.state.as_deref()) {
        (Some(deployed), _) if deployed == cell.release => String::new(),
        (_, Some("queued")) if cell.earliest.is_none() => format!("{} stopped", cell.release),
        (_, Some(state)) => format!("{} {state}", cell.release),
        (_, None) if cell.never => format!("{} never", cell.release),
        (_, None) if cell.earliest.is_none() => format!("{} stopped before", cell.release),
        (_, None) => format!("{} to come", cell.release),
    };
    match (cell.deployed, coming.as_str()) {
        (Some(deployed), "") if cell.live == Some(false) => format!("{deployed} not live"),
        (Some(deployed), "") => deployed.to_string(),
        (Some(deployed), _) => format!("{deployed}, {coming}"),
        (None, _) => coming,
    }
}

/// Writes a line for each tracker, with why its release is not in the environment yet.
fn write_one(out: &mut dyn Write, board: &Board) -> io::Result<()> {
    let header = ["TRACKER", "DEPLOYED", "RELEASE", "STATE", "EARLIEST", "WHY"];
    let rows = board.items.iter().map(|row| {
        let Some(cell) = row.environments.first() else {
            let mut cells = vec![row.tracker.clone()];
            cells.extend(["-", "-", "-", "-", "there is no release"].map(str::to_owned));
            return cells;
        };
        let dash = || "-".to_owned();
        vec![
            row.tracker.clone(),
            cell.deployed.map_or_else(dash, |it| it.to_string()),
            cell.release.to_string(),
            cell.state.clone().unwrap_or_else(dash),
            earliest(cell.earliest, cell.never),
            cell.sentence.clone(),
        ]
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        return writeln!(out, "nothing is tracked");
    }
    table::write(out, &header, &rows)
}

#[cfg(test)]
mod tests {
    use pathline_client::api::BoardRow;

    use super::*;

    fn mk_cell(
        environment: &str,
        deployed: Option<u64>,
        release: u64,
        state: Option<&str>,
    ) -> BoardCell {
        BoardCell {
            environment: environment.to_owned(),
            deployed,
            release,
            tag: "1.0.0".to_owned(),
            state: state.map(str::to_owned),
            since: None,
            sentence: format!("release {release} is on its way"),
            earliest: None,
            never: false,
            live: None,
        }
    }

    fn mk_board() -> Board {
        let row = |tracker: &str, environments| BoardRow {
            tracker: tracker.to_owned(),
            environments,
        };
        Board {
            environments: ["dev", "prod"].map(str::to_owned).to_vec(),
            items: vec![
                row(
                    "shop.web",
                    vec![
                        mk_cell("dev", Some(41), 41, Some("deployed")),
                        mk_cell("prod", Some(40), 41, Some("held")),
                    ],
                ),
                row(
                    "shop.api",
                    vec![
                        mk_cell("dev", None, 1, Some("failed")),
                        mk_cell("prod", None, 1, None),
                    ],
                ),
                row("a.b", Vec::new()),
            ],
            next: None,
        }
    }

    fn written(write: fn(&mut dyn Write, &Board) -> io::Result<()>, board: &Board) -> String {
        let mut out = Vec::new();
        write(&mut out, board).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_tracker_has_a_line_and_each_environment_a_column() {
        insta::assert_snapshot!(written(write_all, &mk_board()), @r"
        TRACKER   DEV       PROD
        shop.web  41        40, 41 held
        shop.api  1 failed  1 stopped before
        a.b       -         -
        ");
    }

    #[test]
    fn one_environment_is_told_with_its_sentences() {
        let mut board = mk_board();
        for row in &mut board.items {
            row.environments.truncate(1);
        }
        insta::assert_snapshot!(written(write_one, &board), @r"
        TRACKER   DEPLOYED  RELEASE  STATE     EARLIEST  WHY
        shop.web  41        41       deployed  -         release 41 is on its way
        shop.api  -         1        failed    -         release 1 is on its way
        a.b       -         -        -         -         there is no release
        ");
    }

    #[test]
    fn board_without_environments_or_trackers_says_so() {
        let mut board = mk_board();
        board.environments.clear();
        assert!(written(write_all, &board).contains("there is no environment"));
        board.items.clear();
        assert!(written(write_all, &board).contains("pathline tracker add"));
        assert_eq!(written(write_one, &board), "nothing is tracked\n");
    }
}
