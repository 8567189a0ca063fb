//! Silent clients, full disks, closed terminals and directories that others can read.

use std::fs::{self, File, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{ListParams, PostParams, WatchEvent, WatchParams};
use kube::{Api, Client};
use pathline_testkit::Leash;
use rustix::fs::OFlags;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit, test_kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};

use crate::program::{Ended, Running, pathline};
use crate::story::objects::objects;
use crate::up::{UP, client, start};

/// Far longer than anything here takes; only a hang is cut off by it.
const TIMEOUT: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(50);

/// Starts `up` after a line of shell, such as one that sets limits.
fn start_after(line: &str) -> (Running, Value) {
    let mut command = Command::new("sh");
    let script = format!(r#"{line}; exec "$0" "$@""#);
    command.args(["-c", &script, env!("CARGO_BIN_EXE_pathline")]);
    command.args(UP).stdin(Stdio::null());
    for (variable, _) in pathline().get_envs() {
        command.env_remove(variable);
    }
    let leash = Leash::new("pathline-holes-").expect("a scratch directory");
    let mut up = Running::spawn(leash, command);
    let ready = up.json();
    (up, ready)
}

/// Returns `HOST:PORT` of a server.
fn address<'a>(ready: &'a Value, server: &str) -> &'a str {
    let url = ready[server].as_str().expect("`ready` names the servers");
    url.split_once("://").expect("it is a URL").1
}

/// Returns the admin secret of the REST API.
fn token(ready: &Value) -> String {
    let data_dir = Path::new(ready["dataDir"].as_str().expect("`ready` names it"));
    let secret = fs::read_to_string(data_dir.join("rest.token")).expect("there is a token");
    secret.trim().to_owned()
}

/// Sends a request to the REST API and returns the connection.
fn ask(ready: &Value, request: &str, token: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address(ready, "url")).expect("it listens");
    stream.set_read_timeout(Some(TIMEOUT)).expect("a socket");
    let head = format!("{request} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n");
    stream.write_all(head.as_bytes()).expect("it is taken");
    stream
}

/// Asks with a token and returns the whole answer.
fn answer(ready: &Value, request: &str, token: &str) -> String {
    let mut stream = ask(ready, request, token);
    stream
        .write_all(b"Connection: close\r\n\r\n")
        .expect("it is taken");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

/// Waits until something holds.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = std::time::Instant::now();
    while !holds() {
        assert!(began.elapsed() < TIMEOUT, "never: {what}");
        std::thread::sleep(PAUSE);
    }
}

fn mk_config_map(name: &str, bytes: usize) -> ConfigMap {
    let map = json!({"metadata": {"name": name}, "data": {"a": "x".repeat(bytes)}});
    serde_json::from_value(map).expect("it is one")
}

/// Makes a ConfigMap of about so many bytes.
async fn create(client: &Client, name: &str, bytes: usize) -> Result<ConfigMap, kube::Error> {
    let maps = Api::<ConfigMap>::default_namespaced(client.clone());
    let map = mk_config_map(name, bytes);
    maps.create(&PostParams::default(), &map).await
}

#[tokio::test]
async fn hole_5_more_silent_sockets_than_descriptors_keep_nobody_out() {
    let (_up, ready) = start_after("ulimit -n 256");
    let token = token(&ready);
    let watcher = Api::<ConfigMap>::default_namespaced(client(&ready).await);
    let watch = watcher.watch(&WatchParams::default(), "0").await.unwrap();
    let mut added = Box::pin(watch.try_filter_map(async |event| match event {
        WatchEvent::Added(map) => Ok(map.metadata.name),
        _ => Ok(None),
    }));
    let mut follower = ask(&ready, "GET /stream", &token);
    follower.write_all(b"\r\n").unwrap();
    let mut piece = [0; 4096];
    while !String::from_utf8_lossy(&piece).contains("event: begin") {
        assert!(follower.read(&mut piece).unwrap() > 0, "the stream ended");
    }

    let mut silent = Vec::new();
    for number in 0..300 {
        for server in ["url", "kubernetes"] {
            let mut socket = TcpStream::connect(address(&ready, server)).unwrap();
            if number % 2 == 0 {
                // It may have had to make room already.
                let _ = socket.write_all(b"GET /healthz HTTP/1.1\r\n");
            }
            silent.push(socket);
        }
    }

    let answered = answer(&ready, "GET /tokens", &token);
    assert!(answered.starts_with("HTTP/1.1 200 "), "{answered}");
    let other = client(&ready).await;
    let namespaces = Api::<Namespace>::all(other.clone());
    namespaces.list(&ListParams::default()).await.unwrap();
    create(&other, "news", 1).await.unwrap();
    while added.next().await.unwrap().unwrap() != "news" {}
    // A word comes every ten seconds. A read with a time-out is not taken up again after a signal.
    let read = loop {
        match follower.read(&mut piece) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => break read.unwrap(),
        }
    };
    assert!(read > 0, "the stream ended");
}

/// Returns what the REST API and the cluster's say about being ready.
async fn readiness(ready: &Value, client: &Client) -> (String, Result<String, kube::Error>) {
    let rest = crate::site::get(address(ready, "url"), "/readyz");
    let request = http_of("/readyz");
    (rest, client.request_text(request).await)
}

fn http_of(path: &str) -> axum::http::Request<Vec<u8>> {
    let request = axum::http::Request::get(path).body(Vec::new());
    request.expect("a well-formed request")
}

#[tokio::test]
async fn hole_11_not_ready_while_nothing_can_be_written_and_ready_again_by_itself() {
    // No file may grow beyond so many blocks, and the signal that says so is ignored, so that a
    // write fails as it does on a full disk.
    let (up, ready) = start_after("ulimit -S -f 8192");
    let client = client(&ready).await;
    let mut number = 0;
    for bytes in [1_000_000, 100_000, 10_000, 1000, 10] {
        loop {
            number += 1;
            assert!(number < 10_000, "the disk is never full");
            if create(&client, &format!("map-{number}"), bytes)
                .await
                .is_err()
            {
                break;
            }
        }
    }

    let (rest, cluster) = readiness(&ready, &client).await;
    assert!(rest.starts_with("HTTP/1.0 503 "), "{rest}");
    assert!(rest.contains(r#""cluster""#), "it names the part: {rest}");
    assert!(cluster.is_err(), "the cluster says so itself: {cluster:?}");

    let pid = Pid::from_raw(up.pid().try_into().unwrap());
    let unlimited = Rlimit {
        current: None,
        maximum: None,
    };
    prlimit(pid, Resource::Fsize, unlimited).unwrap();
    until("it is ready again", || {
        crate::site::get(address(&ready, "url"), "/readyz").starts_with("HTTP/1.0 200 ")
    });
    create(&client, "room-again", 1_000_000).await.unwrap();
    assert_eq!(readiness(&ready, &client).await.1.unwrap(), "ok");
}

/// A Process that runs until it is ended, and does not go when it is asked to.
const STUBBORN: &str = r#"
apiVersion: pathline.dev/v1alpha1
kind: Process
metadata: {name: stubborn, namespace: default}
spec:
  command: [sh, -c, "trap '' TERM HUP; while :; do sleep 1; done"]
  stopTimeout: 1s
"#;

/// Makes the stubborn Process and returns its pid.
async fn start_stubborn(ready: &Value) -> Pid {
    let client = client(ready).await;
    let path = "/apis/pathline.dev/v1alpha1/namespaces/default/processes";
    let body = serde_saphyr::from_str::<Value>(STUBBORN).expect("it is YAML");
    let post = axum::http::Request::post(path).header("content-type", "application/json");
    let post = post.body(body.to_string().into_bytes()).expect("a request");
    client.request::<Value>(post).await.expect("it is made");
    loop {
        let path = format!("{path}/stubborn");
        let process = client
            .request::<Value>(http_of(&path))
            .await
            .expect("it is there");
        if let Some(pid) = process["status"]["pid"].as_i64() {
            let pid = pid.try_into().expect("process ids are positive i32");
            return Pid::from_raw(pid).expect("a process id");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

#[tokio::test]
async fn hole_11_ready_is_said_when_nothing_of_the_run_before_is_left() {
    let (up, ready) = start();
    let pid = start_stubborn(&ready).await;
    up.signal(Signal::KILL);
    let mut up = Running::start_in(up.wait().leash, &UP);
    let ready = up.json();
    assert!(test_kill_process(pid).is_err(), "it was ended before");
    let readyz = crate::site::get(address(&ready, "url"), "/readyz");
    assert!(readyz.starts_with("HTTP/1.0 200 "), "{readyz}");
    up.signal(Signal::TERM);
    assert_eq!(up.wait().code, Some(0));
}

#[test]
fn hole_11_half_a_body_does_not_hold_up_a_stop() {
    let (up, ready) = start();
    let mut half = ask(&ready, "POST /tokens", &token(&ready));
    half.write_all(b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"name\":")
        .unwrap();
    // Its head has been read when a later request was answered.
    let readyz = crate::site::get(address(&ready, "url"), "/readyz");
    assert!(readyz.starts_with("HTTP/1.0 200 "), "{readyz}");
    up.signal(Signal::TERM);
    let Ended { code, stderr, .. } = up.wait();
    assert_eq!(code, Some(0), "{stderr}");
    assert!(!stderr.contains("gave up"), "{stderr}");
}

/// Accepts a connection, and says nothing.
#[tokio::test]
async fn hole_11_a_silent_git_server_does_not_hold_up_a_stop() {
    let (up, ready) = start();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let repository = json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository", "metadata": {"name": "silent"},
        "spec": {"interval": "1m", "url": format!("http://{}/a.git", silent.local_addr().expect("it is bound"))},
    });
    let kind = ("source.toolkit.fluxcd.io/v1", "GitRepository");
    let repositories = objects(&client(&ready).await, kind);
    let repository = serde_json::from_value(repository).expect("an object");
    let created = repositories
        .create(&PostParams::default(), &repository)
        .await;
    created.expect("it is created");
    let _connection = silent.accept().expect("it is asked");
    up.signal(Signal::TERM);
    let Ended { code, stderr, .. } = up.wait();
    assert_eq!(code, Some(0), "{stderr}");
}

#[tokio::test]
async fn hole_11_twelve_megabytes_are_told_that_they_are_too_many() {
    let (_up, ready) = start();
    let refused = create(&client(&ready).await, "large", 12 << 20).await;
    let Err(kube::Error::Api(status)) = refused else {
        panic!("no Status but {refused:?}")
    };
    assert_eq!(
        (status.code, status.reason.as_str()),
        (413, "RequestEntityTooLarge")
    );
}

#[test]
fn hole_11_a_data_directory_that_others_can_read_is_made_private() {
    let leash = Leash::new("pathline-holes-").unwrap();
    let data_dir = leash.directory().join(".pathline");
    let token = data_dir.join("rest.token");
    fs::create_dir(&data_dir).unwrap();
    fs::write(&token, "").unwrap();
    for path in [&data_dir, &token] {
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    let mut up = Running::start_in(leash, &UP);
    up.json();
    assert_eq!(data_dir.metadata().unwrap().mode() & 0o777, 0o700);
    assert_eq!(token.metadata().unwrap().mode() & 0o077, 0);
    up.wait_for_stderr("was open to other users (mode 0755)");
}

#[test]
fn hole_11_a_data_directory_of_somebody_else_is_refused() {
    for planted in [".pathline", ".pathline/admin.token"] {
        let leash = Leash::new("pathline-holes-").unwrap();
        let path = leash.directory().join(planted);
        fs::create_dir_all(leash.directory().join(".pathline")).unwrap();
        if planted.ends_with("token") {
            fs::write(&path, "known to somebody").unwrap();
        }
        match chown(&path, Some(54_321), None) {
            Ok(()) => {}
            // Only root can give away files.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return,
            Err(error) => panic!("{error}"),
        }
        let Ended { code, stderr, .. } = Running::start_in(leash, &UP).wait();
        assert_eq!(code, Some(1), "{stderr}");
        assert!(stderr.contains("belongs to another user"), "{stderr}");
        assert!(stderr.contains("chown"), "it says what to do: {stderr}");
    }
}

#[tokio::test]
async fn hole_11_a_closed_terminal_stops_it_and_what_it_runs() {
    let (up, ready) = start();
    let pid = start_stubborn(&ready).await;
    // A shell tells its children, and so does the system when the shell is gone.
    up.signal(Signal::HUP);
    up.signal(Signal::HUP);
    let Ended { code, stderr, .. } = up.wait();
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("SIGHUP: stopping"), "{stderr}");
    assert!(test_kill_process(pid).is_err(), "it runs on");
}

#[test]
fn hole_11_a_closed_terminal_does_not_stop_it_under_nohup() {
    let (up, ready) = start_after(r#"trap "" HUP"#);
    up.signal(Signal::HUP);
    let readyz = crate::site::get(address(&ready, "url"), "/readyz");
    assert!(readyz.starts_with("HTTP/1.0 200 "), "{readyz}");
    up.signal(Signal::TERM);
    let Ended { code, stderr, .. } = up.wait();
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("SIGTERM: stopping"), "{stderr}");
}

/// Starts `up` on a terminal that is closed at once.
fn start_on_a_closed_terminal(leash: &Leash) -> Child {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&ours).expect("it is ours");
    unlockpt(&ours).expect("it is ours");
    let name = ptsname(&ours, Vec::new()).expect("it has a name");
    let open = || {
        let mut options = File::options();
        // It must not become the terminal of the test itself.
        let flags = OFlags::NOCTTY.bits().cast_signed();
        options.read(true).write(true).custom_flags(flags);
        let path = Path::new(name.to_str().expect("a path"));
        options.open(path).expect("the other side")
    };
    let mut command = pathline();
    command.args(UP).current_dir(leash.directory());
    command.stdin(open()).stdout(open()).stderr(open());
    leash.spawn(&mut command).expect("the program starts")
}

#[test]
fn hole_11_writing_to_a_closed_terminal_ends_nothing() {
    let leash = Leash::new("pathline-holes-").unwrap();
    let mut up = start_on_a_closed_terminal(&leash);
    let server = leash.directory().join(".pathline/server.json");
    let is_ready = || {
        let text = fs::read_to_string(&server).unwrap_or_default();
        let url = serde_json::from_str::<Value>(&text).unwrap_or_default();
        let address = url["url"].as_str().and_then(|it| it.split_once("://"));
        address.is_some_and(|(_, address)| {
            crate::site::get(address, "/readyz").starts_with("HTTP/1.0 200 ")
        })
    };
    until("it is ready", is_ready);
    assert!(up.try_wait().unwrap().is_none(), "it has ended");
    let pid = Pid::from_raw(up.id().try_into().unwrap()).unwrap();
    kill_process(pid, Signal::HUP).unwrap();
    assert_eq!(up.wait().unwrap().code(), Some(0));
}
