//! Plays the demo: makes commits and follows each to where it runs.

use std::time::Duration;

use anyhow::Context;
use futures::StreamExt;
use kube::Client;

use super::display::Display;
use super::page;
use super::sample;
use super::scene::{Commit, Scene};
use super::stage::Stage;
use super::story::{News, Story, Trouble, short};
use super::summary::{Arrival, Reached, Summary};
use super::watch::{self, Sights};
use crate::instance::Instance;
use crate::report::{Exit, Failure};

/// How long to wait before a page is asked for again.
const PAGE_PAUSE: Duration = Duration::from_millis(200);

/// A demo under way.
pub(crate) struct Performance<'a> {
    scene: &'a Scene,
    display: &'a Display,
    client: Client,
    sights: Sights,
    story: Story,
    arrivals: Vec<Arrival>,
}

impl<'a> Performance<'a> {
    pub(crate) fn new(scene: &'a Scene, display: &'a Display, client: Client) -> Self {
        let sights = watch::sights(&client);
        Self { scene, display, client, sights, story: Story::default(), arrivals: Vec::new() }
    }

    /// Shows two commits arrive, or says within `timeout` why one does not.
    pub(crate) async fn play(&mut self, timeout: Duration) -> Result<(), Failure> {
        match tokio::time::timeout(timeout, self.two_commits()).await {
            Ok(outcome) => outcome,
            Err(_) => Err(self.late(timeout)),
        }
    }

    /// Follows whatever the user commits, for as long as it is polled.
    pub(crate) async fn encore(&mut self) -> Result<(), Failure> {
        let mut last = self.story.fetched().map(str::to_owned);
        loop {
            let Some(sight) = self.sights.next().await else { return Ok(()) };
            self.story.see(sight);
            let fetched = self.story.fetched().map(str::to_owned);
            if fetched == last {
                continue;
            }
            last.clone_from(&fetched);
            if let Some(id) = fetched {
                let commit = self.scene.look_up(&id).await?;
                // A commit that fails has been shown; the next one may do better.
                let _ = self.follow(&commit).await;
                last = self.story.fetched().map(str::to_owned);
            }
        }
    }

    /// Returns what to print at the end.
    pub(crate) fn summary(&self, instance: &Instance) -> Summary {
        let (host, port) = self.scene.site();
        Summary {
            site: format!("http://{host}:{port}"),
            pathline: format!("http://{}", instance.listen()),
            kubernetes: format!("https://{}", instance.kube_listen()),
            kubeconfig: instance.kubeconfig().to_owned(),
            app: self.scene.app(),
            manifests: self.scene.manifests(),
            log: self.scene.log_path(),
            commits: self.arrivals.clone(),
        }
    }

    async fn two_commits(&mut self) -> Result<(), Failure> {
        self.scene.set_up().await?;
        let first = self.scene.commit("Say hello").await?;
        for object in sample::objects(&self.scene.targets())? {
            watch::apply(&self.client, &object).await?;
        }
        self.follow(&first).await?;
        let second = self.scene.change_message("Hello again", "Say hello again").await?;
        self.follow(&second).await
    }

    /// Tells how the commit comes along until its page is there, or until it fails.
    async fn follow(&mut self, commit: &Commit) -> Result<(), Failure> {
        self.display.made(commit);
        self.story.follow(&commit.id);
        let mut stages = Vec::new();
        while let Some(stage) = self.story.next() {
            self.display.next(commit, stage);
            for news in self.story.news() {
                match news {
                    News::Reached { stage, detail } => {
                        let detail = self.arrive(commit, stage, detail).await;
                        self.display.reached(commit, stage, &detail);
                        let seconds = commit.made_at.elapsed().unwrap_or_default().as_secs_f64();
                        stages.push(Reached { stage, seconds });
                    }
                    News::Failed { stage, trouble } => {
                        self.display.failed(commit, stage, &trouble);
                        return Err(failed(commit, stage, &trouble));
                    }
                }
            }
            if self.story.next().is_some() {
                let sight = self.sights.next().await.context("the watches have ended")?;
                self.story.see(sight);
            }
        }
        self.display.rest();
        let Commit { id, subject, .. } = commit.clone();
        self.arrivals.push(Arrival { commit: id, subject, stages });
        Ok(())
    }

    /// A commit is running when its page says so, and not before.
    async fn arrive(&self, commit: &Commit, stage: Stage, detail: String) -> String {
        if stage != Stage::Running {
            return detail;
        }
        let (host, port) = self.scene.site();
        loop {
            match page::fetch((host, port)).await {
                Ok(page) if page.contains(&commit.id) => {
                    return format!("http://{host}:{port} shows {}", short(&commit.id));
                }
                Ok(_) => tracing::info!("the page does not show {} yet", commit.id),
                Err(error) => tracing::info!("the page is not there yet: {error}"),
            }
            tokio::time::sleep(PAGE_PAUSE).await;
        }
    }

    fn late(&self, timeout: Duration) -> Failure {
        let stage = self.story.next().unwrap_or(Stage::Running);
        let trouble = self.story.trouble(stage);
        self.display.rest();
        self.display.trouble(&trouble);
        let seconds = timeout.as_secs();
        Failure::new(format!("after {seconds} seconds, {} is still not {}", trouble.object, stage.done()))
            .with_hint(format!(
                "the log is {}; `--timeout` allows more time",
                trouble.log_path.unwrap_or_else(|| self.scene.log_path().display().to_string())
            ))
            .with_exit(Exit::TimedOut)
    }
}

fn failed(commit: &Commit, stage: Stage, trouble: &Trouble) -> Failure {
    let Trouble { object, message, .. } = trouble;
    Failure::new(format!("{} was not {}: {object} says {message}", short(&commit.id), stage.done()))
}
