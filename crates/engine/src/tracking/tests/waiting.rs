//! Hosts that do not answer, and those who wait for others.

use std::time::Duration;

use pathline_ledger::trackers::StoredTracker;
use tokio_util::sync::CancellationToken;

use super::*;

/// More trackers than there are rounds at once.
const MANY: usize = 600;
/// Far longer than anything here takes, and far shorter than the time-outs of so many rounds.
const TIMEOUT: Duration = Duration::from_secs(240);
const PAUSE: Duration = Duration::from_millis(10);

/// Waits until something is so.
async fn until<T>(mut is_so: impl AsyncFnMut() -> Option<T>) -> T {
    let waiting = async {
        loop {
            match is_so().await {
                Some(found) => return found,
                None => tokio::time::sleep(PAUSE).await,
            }
        }
    };
    let waited = tokio::time::timeout(TIMEOUT, waiting).await;
    waited.expect("it never was so")
}

/// Returns all trackers, once they are so.
async fn until_all(ledger: &Ledger, is_so: impl Fn(&StoredTracker) -> bool) -> Vec<StoredTracker> {
    until(async || {
        let all = ledger.trackers().all_active().await.unwrap();
        all.iter().all(&is_so).then_some(all)
    })
    .await
}

/// Follows `shop.web` of one registry, and many others of another one, each with a file of its own.
struct Crowd {
    home: TempDir,
    ledger: Ledger,
    tracking: Tracking,
    well: Registry,
    hung: Registry,
    _github: GitHub,
}

impl Crowd {
    async fn new() -> Self {
        let home = TempDir::new().unwrap();
        let location = Location::File(home.path().join("ledger.db"));
        let ledger = Ledger::open(&location).await.unwrap();
        let [well, hung] = [(), ()].map(|()| Registry::start(Behaviour::default()));
        let github = GitHub::start();
        let settings = settings(&[&well, &hung], &github);
        github.add("shop/web", &[]);
        well.push("shop/web", "latest", &[("number", "1")]);
        let commit = "0123456789012345678901234567890123456789";
        let text = |registry: &Registry, name: &str| {
            let domain = registry.host();
            let group = format!("{{repository: {{image: {{domain: '{domain}'}}}}}}");
            format!("shop: {{group: {group}, {name}: {{version: latest}}}}")
        };
        let mut files = vec![("web/fathomable.yaml".to_owned(), text(&well, "web"))];
        let names = (0..MANY).map(|it| format!("w{it}"));
        files.extend(names.map(|it| (format!("{it}/fathomable.yaml"), text(&hung, &it))));
        let contents = files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_bytes()));
        let contents: Vec<_> = contents.collect();
        github.commit("shop/web", &["HEAD"], commit, &contents);
        for (path, _) in &files {
            let name = path.split('/').next().unwrap();
            create(&ledger, &settings, &github, &format!("shop.{name}"), name).await;
        }
        let tracking = Tracking {
            settings: Arc::new(settings),
            ..Tracking::default()
        };
        Self {
            home,
            ledger,
            tracking,
            well,
            hung,
            _github: github,
        }
    }

    /// Tracks until somebody stops it.
    async fn track(&self, stop: CancellationToken) {
        let (clock, git) = (Clock::system(), Git::new(self.home.path().join("git")));
        let looker =
            Looker::new(&self.ledger, &clock, &self.tracking, git, mk_environments()).unwrap();
        let tracker = Tracker::new(self.ledger.clone(), clock, self.tracking.clone(), looker);
        Box::pin(tracker.run(stop)).await;
    }

    async fn poll_now(&self, uid: &str) {
        let wanted = self
            .ledger
            .trackers()
            .poll_now(uid, "ci", Timestamp::UNIX_EPOCH);
        wanted.await.unwrap();
    }

    async fn story(&self) {
        // Until all of them know which registry they ask.
        let is_read = |it: &StoredTracker| it.state.source().is_some();
        let all = until_all(&self.ledger, is_read).await;
        let (own, others): (Vec<_>, Vec<_>) =
            all.iter().partition(|it| it.name.to_string() == "shop.web");
        let own = &own[0].uid;
        self.hung.server.take_requests();
        self.hung.change(|it| it.hangs = true);
        for other in others {
            self.poll_now(&other.uid).await;
        }
        // Until it is asked, as often as it may be at once.
        let mut asked = 0;
        until(async || {
            asked += self.hung.server.take_requests().len();
            (asked >= 4).then_some(())
        })
        .await;
        self.well.push("shop/web", "latest", &[("number", "2")]);
        self.poll_now(own).await;
        until(async || {
            let found = self.ledger.trackers().by_uid(own).await.unwrap()?;
            let last = found.state.last_release()?;
            (last.number == 2).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn registry_that_does_not_answer_keeps_only_its_own_trackers_waiting() {
    let crowd = Crowd::new().await;
    let stop = CancellationToken::new();
    tokio::select! {
        () = crowd.track(stop) => panic!("nobody has stopped it"),
        () = crowd.story() => {}
    }
}
