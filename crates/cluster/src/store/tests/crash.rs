//! `kill -9` at any moment loses nothing that was acknowledged, and leaves nothing half done.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use pathline_testkit::{Dice, child_of, tell_parent};
use tokio::runtime::Runtime;

use super::*;

const RUNS: u64 = 200;
const WRITERS: u64 = 4;
/// The most writes of each writer in one run, so that a run fits into the window.
const WRITES: u64 = 100;
const LIMITS: Limits = Limits {
    events: 500,
    bytes: 16 << 20,
};

/// Makes content that can be recognised as whole: a text of random length and its hash. It is
/// never the same twice, since a write that changes nothing makes no event.
fn mk_content(dice: &mut Dice) -> Value {
    let length = usize::try_from(dice.below(6000)).unwrap();
    let text = char::from(b'a' + u8::try_from(dice.below(26)).unwrap())
        .to_string()
        .repeat(length);
    let hash = hash_of(&text);
    json!({"text": text, "hash": hash, "unique": dice.roll()})
}

fn hash_of(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

fn is_whole(content: &Value) -> bool {
    content["text"]
        .as_str()
        .is_some_and(|text| content["hash"] == hash_of(text))
}

/// Writes at random, saying what was acknowledged.
async fn write_until_killed() {
    let store = open(Path::new("."), LIMITS).await;
    let seed = store.revision();
    tell_parent("open");
    let writers = (0..WRITERS).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut dice = Dice::new(seed * WRITERS + writer);
            for _ in 0..WRITES {
                write_at_random(&store, &mut dice).await;
            }
        })
    });
    futures::future::try_join_all(writers).await.unwrap();
    tell_parent("done");
    std::future::pending::<()>().await;
}

async fn write_at_random(store: &Store, dice: &mut Dice) {
    let key = mk_key("", &format!("w{}", dice.below(12)));
    let current = store.get(&key);
    let expect = current.map_or(Expect::Absent, |stored| Expect::Revision(stored.revision));
    let content = mk_content(dice);
    let hash = content["hash"].as_str().unwrap().to_owned();
    let (write, hash) = if dice.below(4) == 0 && expect != Expect::Absent {
        (remove(&key, expect), "removed".to_owned())
    } else {
        (put(&key, expect, content), hash)
    };
    match store.write(write).await {
        Ok(stored) => tell_parent(&format!("ack {} {} {hash}", stored.revision, key.name)),
        Err(Refused::Conflict { .. }) => {}
        Err(refused) => panic!("{refused}"),
    }
}

/// The writes that the killed child was told had happened.
#[derive(Debug)]
struct Acknowledged {
    revision: u64,
    name: String,
    hash: String,
}

fn parse(line: &str) -> Option<Acknowledged> {
    let mut words = line.strip_prefix("ack ")?.strip_suffix('\n')?.split(' ');
    let (revision, name, hash) = (words.next()?, words.next()?, words.next()?);
    Some(Acknowledged {
        revision: revision.parse().ok()?,
        name: name.into(),
        hash: hash.into(),
    })
}

/// Runs the child, kills it at a random moment and returns what it got acknowledged.
fn run_and_kill(child: &mut Command, dice: &mut Dice) -> Vec<Acknowledged> {
    let mut child = child.spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut acknowledged = Vec::new();
    let mut lines_left = dice.below(40);
    let mut line = String::new();
    // Some runs are killed before the store is open, some while it is busy, some when it rests.
    while lines_left > 0 && output.read_line(&mut line).unwrap() > 0 && line != "done\n" {
        acknowledged.extend(parse(&line));
        line.clear();
        lines_left -= 1;
    }
    std::thread::sleep(Duration::from_micros(dice.below(20_000)));
    child.kill().unwrap();
    child.wait().unwrap();
    line.clear();
    while output.read_line(&mut line).unwrap() > 0 {
        acknowledged.extend(parse(&line));
        line.clear();
    }
    acknowledged
}

/// Opens the store again and compares it with what was known before the run, as a watcher that
/// resumes sees it, and with what was acknowledged since. Returns what is known then.
async fn check(
    directory: &Path,
    mut known: Contents,
    from: u64,
    acks: &[Acknowledged],
) -> (u64, Contents) {
    let store = open(directory, LIMITS).await;
    let mut watch = store
        .watch_everything(from)
        .expect("a run fits into the window");
    let events = drain(&mut watch).unwrap();
    for (event, revision) in events.iter().zip(from + 1..) {
        assert_eq!(event.revision(), revision, "no revision is missing");
        follow(&mut known, event);
        let content = &event.current.object()["content"];
        assert!(
            event.kind == EventKind::Deleted || is_whole(content),
            "half-written: {content}"
        );
    }
    for ack in acks {
        let index = usize::try_from(ack.revision - from - 1).unwrap();
        let event = events
            .get(index)
            .unwrap_or_else(|| panic!("{ack:?} is lost"));
        assert_eq!(*event.current.key.name, *ack.name, "{ack:?}");
        match event.kind {
            EventKind::Deleted => assert_eq!(ack.hash, "removed"),
            _ => assert_eq!(event.current.object()["content"]["hash"], ack.hash),
        }
    }
    assert_eq!(
        contents(&store.everything().items),
        known,
        "history and state agree"
    );
    let revision = store.revision();
    assert_eq!(revision, from + events.len() as u64);
    store.close().await;
    (revision, known)
}

#[test]
fn nothing_acknowledged_is_lost_in_200_kills() {
    let test = "store::tests::crash::nothing_acknowledged_is_lost_in_200_kills";
    let runtime = Runtime::new().unwrap();
    let Some(mut child) = child_of(test) else {
        return runtime.block_on(write_until_killed());
    };
    let directory = tempfile::tempdir().unwrap();
    child.current_dir(directory.path());
    child.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut dice = Dice::new(u64::from(std::process::id()));
    let (mut revision, mut known) = (0, Contents::new());
    let (mut acknowledged, mut unacknowledged) = (0, 0);
    for _ in 0..RUNS {
        let acks = run_and_kill(&mut child, &mut dice);
        let before = revision;
        (revision, known) = runtime.block_on(check(directory.path(), known, before, &acks));
        acknowledged += acks.len() as u64;
        unacknowledged += revision - before - acks.len() as u64;
    }
    println!("{RUNS} kills: {acknowledged} writes acknowledged, {unacknowledged} more on disk");
    assert!(acknowledged > RUNS, "the runs must have written something");
}
