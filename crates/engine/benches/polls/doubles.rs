//! The hosts that are asked, in a process of their own.

use std::io::{BufRead as _, Write as _};
use std::process::Stdio;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context, Result};
use pathline_testkit::doubles::git::GitHost;
use pathline_testkit::doubles::registry::{Behaviour, Registry};
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::fleet::{Addresses, HOSTS, Member};
use crate::tally::Tally;

/// The argument by which the bench runs as these hosts.
pub(crate) const ROLE: &str = "doubles";
/// The time after which requests are counted, so that they are not all kept.
const COUNTING: Duration = Duration::from_millis(250);

/// The process of the hosts, as the others see it. It ends with this value.
pub(crate) struct Doubles {
    pub(crate) addresses: Addresses,
    _process: Child,
    asks: ChildStdin,
    says: Lines<BufReader<ChildStdout>>,
}

impl Doubles {
    /// Starts the hosts of so many trackers.
    pub(crate) async fn start(trackers: usize) -> Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .args([ROLE, &trackers.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let asks = process.stdin.take().context("it listens to us")?;
        let says = process.stdout.take().context("it talks to us")?;
        let mut says = BufReader::new(says).lines();
        Ok(Self {
            addresses: read(&mut says).await?,
            _process: process,
            asks,
            says,
        })
    }

    /// Returns the requests since it was asked last.
    pub(crate) async fn take(&mut self) -> Result<Tally> {
        self.asks.write_all(b"take\n").await?;
        read(&mut self.says).await
    }
}

async fn read<T: DeserializeOwned>(says: &mut Lines<BufReader<ChildStdout>>) -> Result<T> {
    let line = says.next_line().await?.context("the doubles have ended")?;
    Ok(serde_json::from_str(&line)?)
}

/// Serves until nobody listens any more.
pub(crate) fn serve(trackers: usize) -> Result<()> {
    let git: Vec<_> = (0..HOSTS).map(|_| GitHost::start()).collect();
    let registries: Vec<_> = (0..HOSTS)
        .map(|_| Registry::start(Behaviour::default()))
        .collect();
    let addresses = Addresses {
        git: git.iter().map(GitHost::host).collect(),
        registries: registries.iter().map(Registry::host).collect(),
    };
    for member in Member::all(trackers) {
        fill(&git, &registries, &addresses, member);
    }
    say(&serde_json::to_string(&addresses)?)?;
    let servers = git.iter().map(|it| &it.server);
    let servers: Vec<_> = servers
        .chain(registries.iter().map(|it| &it.server))
        .collect();
    let asked = lines_of_input();
    let mut tally = Tally::default();
    loop {
        let line = asked.recv_timeout(COUNTING);
        for server in &servers {
            tally.count(&server.address.to_string(), &server.take_requests());
        }
        match line {
            Ok(()) => say(&serde_json::to_string(&std::mem::take(&mut tally))?)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

fn fill(git: &[GitHost], registries: &[Registry], addresses: &Addresses, member: Member) {
    let (name, file) = (member.repository(), member.application_file(addresses));
    let host = &git[member.host()];
    let commit = host.add(&name, "fathomable.yaml", file.as_bytes());
    let registry = &registries[member.host()];
    let tags = member.tags();
    let labels = [("org.opencontainers.image.revision", &*commit)];
    let digest = registry.push(&name, &tags[0], &labels);
    for tag in &tags {
        registry.tag(&name, tag, &digest);
    }
}

fn say(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

/// Tells of each line of the input, until it ends.
fn lines_of_input() -> mpsc::Receiver<()> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            if line.is_err() || sender.send(()).is_err() {
                break;
            }
        }
    });
    receiver
}
