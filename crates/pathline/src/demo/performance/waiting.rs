//! Waits for a commit as anybody would: with `pathline wait`.

use std::io;
use std::time::Duration;

use pathline_client::Options;
use pathline_clock::instant;
use pathline_lineage::wait::WaitFor;

use super::Performance;
use crate::commands::wait::{self, Ending, Request};
use crate::demo::scene::Commit;
use crate::demo::stage::Stage;
use crate::demo::story::{News, short};
use crate::demo::summary::Reached;
use crate::demo::watch::NAMESPACE;
use crate::terminal::client::Client;
use crate::terminal::report::CommandError;

impl Performance<'_> {
    /// Waits on the workload until it runs with the commit, through the manifest repository into
    /// the delivery, and shows what `pathline wait` shows meanwhile.
    pub(super) async fn wait_for(
        &mut self,
        commit: &Commit,
        timeout: Duration,
    ) -> Result<(), CommandError> {
        self.display.made(commit);
        self.display.line(&format!(
            "$ pathline wait workload/hello --for source={} --live",
            short(&commit.id)
        ));
        self.story.follow(&commit.id);
        let client = Client::find(&Options {
            data_dir: Some(self.scene.data_dir()),
            ..Options::default()
        })?;
        let request = request(commit, timeout);
        let (ending, mut stages) = self.watch_while(commit, &client, &request).await?;
        let said = said(&ending, &request)?;
        if let Some(failure) = ending.failure(&request) {
            return Err(failure);
        }
        self.display.line(&said);
        let shown = self.see_page(commit).await?;
        self.display.reached(commit, Stage::Running, &shown);
        stages.push(Reached::now(commit, Stage::Running));
        self.arrived(commit, stages);
        Ok(())
    }

    /// Keeps an eye on the cluster until the waiting is over, and notes the stations on the way.
    async fn watch_while(
        &mut self,
        commit: &Commit,
        client: &Client,
        request: &Request,
    ) -> Result<(Ending, Vec<Reached>), CommandError> {
        let deadline = instant() + request.timeout;
        let mut waiting = std::pin::pin!(wait::follow(client, request, deadline));
        let mut ending: Option<Ending> = None;
        let mut stages = Vec::new();
        loop {
            tokio::select! {
                ended = &mut waiting, if ending.is_none() => ending = Some(ended?),
                looked = self.look() => looked?,
            }
            stages.extend(self.stations(commit));
            let is_there = self.story.next().is_none();
            if let Some(ending) = ending.take_if(|it| is_there || !it.holds()) {
                return Ok((ending, stages));
            }
        }
    }

    /// Returns the stations that the commit has come to since the last call, but for the last.
    fn stations(&mut self, commit: &Commit) -> Vec<Reached> {
        let reached = |news: &News| match news {
            News::Reached { stage, .. } => Some(*stage),
            News::Failed { .. } | News::Overtaken { .. } => None,
        };
        let news = self.story.news();
        let stages = news.iter().filter_map(reached);
        stages
            .filter(|stage| *stage != Stage::Running)
            .map(|stage| Reached::now(commit, stage))
            .collect()
    }
}

fn request(commit: &Commit, timeout: Duration) -> Request {
    Request {
        owner: "workload/hello".parse().expect("it names a workload"),
        namespace: NAMESPACE.to_owned(),
        awaited: vec![WaitFor::Source(short(&commit.id).to_owned())],
        changes: None,
        seen: Vec::new(),
        live: true,
        accept_assumed: false,
        timeout,
    }
}

/// Returns what `pathline wait` prints at its end.
fn said(ending: &Ending, request: &Request) -> io::Result<String> {
    let mut text = Vec::new();
    ending.write(request, &mut text)?;
    Ok(String::from_utf8_lossy(&text).trim_end().to_owned())
}
