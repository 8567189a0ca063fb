//! Plays the demo: makes commits and follows each to where it runs.

mod waiting;

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
use crate::terminal::report::{CommandError, Exit};
use crate::wiring::instance::Instance;

/// The pause before a page is asked for again.
const PAGE_INTERVAL: Duration = Duration::from_millis(200);
/// The time that a process which says it is ready may take to show its page.
const PAGE_TIMEOUT: Duration = Duration::from_secs(15);

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
        Self {
            scene,
            display,
            client,
            sights,
            story: Story::default(),
            arrivals: Vec::new(),
        }
    }

    /// Shows two commits arrive, or says within `timeout` why one does not.
    pub(crate) async fn play(&mut self, timeout: Duration) -> Result<(), CommandError> {
        match tokio::time::timeout(timeout, self.two_commits(timeout)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(self.late(timeout)),
        }
    }

    /// Follows whatever the user commits, for as long as it is polled and can see.
    pub(crate) async fn encore(&mut self) -> CommandError {
        let mut shown = self.story.fetched().map(str::to_owned);
        loop {
            let newer = self
                .story
                .fetched()
                .filter(|fetched| Some(*fetched) != shown.as_deref());
            let Some(id) = newer.map(str::to_owned) else {
                if let Err(failure) = self.look().await {
                    return failure;
                }
                continue;
            };
            if let Ok(commit) = self.scene.look_up(&id).await {
                // One that does not arrive has been shown; the next one may do better.
                let _ = self.follow(&commit).await;
                self.display.rest();
            }
            shown = Some(id);
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
            data_dir: instance.data_dir().to_owned(),
            app: self.scene.app(),
            manifests: self.scene.manifests(),
            log: self.scene.log_path(),
            commits: self.arrivals.clone(),
        }
    }

    async fn two_commits(&mut self, timeout: Duration) -> Result<(), CommandError> {
        self.scene.set_up().await?;
        let first = self.scene.commit("Say hello").await?;
        for object in sample::objects(&self.scene.targets())? {
            watch::apply(&self.client, &object).await?;
        }
        self.follow(&first).await?;
        let second = self
            .scene
            .change_message("Hello again", "Say hello again")
            .await?;
        self.wait_for(&second, timeout).await
    }

    /// Tells how the commit comes along until its page is there, or until it cannot get there.
    async fn follow(&mut self, commit: &Commit) -> Result<(), CommandError> {
        self.display.made(commit);
        self.story.follow(&commit.id);
        let mut stages = Vec::new();
        loop {
            for news in self.story.news() {
                stages.extend(self.tell(commit, news).await?);
            }
            let Some(stage) = self.story.next() else {
                break;
            };
            self.display.next(commit, stage);
            self.look().await?;
        }
        self.display.rest();
        self.arrived(commit, stages);
        Ok(())
    }

    fn arrived(&mut self, commit: &Commit, stages: Vec<Reached>) {
        let Commit { id, subject, .. } = commit.clone();
        self.arrivals.push(Arrival {
            commit: id,
            subject,
            stages,
        });
    }

    /// Waits for the next change in the cluster.
    async fn look(&mut self) -> Result<(), CommandError> {
        let sight = self.sights.next().await.context("the watches have ended")?;
        self.story.see(sight);
        Ok(())
    }

    async fn tell(&self, commit: &Commit, news: News) -> Result<Option<Reached>, CommandError> {
        match news {
            News::Reached { stage, detail } => {
                let detail = match stage {
                    Stage::Running => self.see_page(commit).await?,
                    _ => detail,
                };
                self.display.reached(commit, stage, &detail);
                Ok(Some(Reached::now(commit, stage)))
            }
            News::Failed { stage, trouble } => {
                self.display.failed(commit, stage, &trouble);
                let (
                    id,
                    Trouble {
                        object, message, ..
                    },
                ) = (short(&commit.id), trouble);
                let done = stage.done();
                Err(CommandError::new(format!(
                    "{id} was not {done}: {object} says {message}"
                )))
            }
            News::Overtaken { by } => {
                let message = format!("{} was overtaken by {}", short(&commit.id), short(&by));
                self.display.line(&message);
                Err(CommandError::new(message))
            }
        }
    }

    /// A commit is running when its page says so, and not before.
    async fn see_page(&self, commit: &Commit) -> Result<String, CommandError> {
        let (host, port) = self.scene.site();
        let looking = async {
            loop {
                match page::fetch((host, port)).await {
                    Ok(page) if page.contains(&commit.id) => break,
                    Ok(_) => tracing::info!("the page does not show {} yet", commit.id),
                    Err(error) => tracing::info!("the page is not there yet: {error}"),
                }
                tokio::time::sleep(PAGE_INTERVAL).await;
            }
        };
        let id = short(&commit.id);
        match tokio::time::timeout(PAGE_TIMEOUT, looking).await {
            Ok(()) => Ok(format!("http://{host}:{port} shows {id}")),
            Err(_) => Err(CommandError::new(format!(
                "http://{host}:{port} does not show {id}"
            ))),
        }
    }

    fn late(&self, timeout: Duration) -> CommandError {
        let stage = self.story.next().unwrap_or(Stage::Running);
        let trouble = self.story.trouble(stage);
        self.display.rest();
        self.display.trouble(&trouble);
        let (commit, object, done) = (self.story.subject(), trouble.object, stage.done());
        let log = trouble
            .log_path
            .unwrap_or_else(|| self.scene.log_path().display().to_string());
        CommandError::new(format!(
            "after {timeout:?}, {commit} is still not {done} ({object})"
        ))
        .with_hint(format!("the log is {log}; `--timeout` allows more time"))
        .with_exit(Exit::TimedOut)
    }
}
