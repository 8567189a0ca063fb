//! Polls through the proxy that the environment names.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use parking_lot::Mutex;

use super::registry;
use super::repository::Repository;
use super::world::{Config, World};

const SUITE: &str = "polls through a proxy";
/// A registry that only the proxy knows how to reach.
const NAME: &str = "registry.test:5000";
const PASSWORD: &str = "proxySENTINELpassword";

/// A proxy that notes the first request of each connection, and passes everything on to one server.
struct ForwardProxy {
    address: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl ForwardProxy {
    fn start(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound").to_string();
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let (notes, target) = (Arc::clone(&seen), target.to_owned());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (notes, target) = (Arc::clone(&notes), target.clone());
                // Whoever hangs up is no failure of the test.
                thread::spawn(move || forward(stream, &target, &notes));
            }
        });
        Self { address, seen }
    }
}

fn forward(mut client: TcpStream, target: &str, notes: &Mutex<Vec<String>>) -> io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head)? > 0 {}
    notes.lock().push(head.clone());
    let mut server = TcpStream::connect(target)?;
    server.write_all(head.as_bytes())?;
    let mut to = server.try_clone()?;
    let forth = thread::spawn(move || io::copy(&mut reader, &mut to));
    io::copy(&mut server, &mut client)?;
    client.shutdown(std::net::Shutdown::Both)?;
    let _ = forth.join();
    Ok(())
}

#[test]
fn registry_is_asked_through_the_proxy_of_the_environment_and_no_proxy_is_heeded() {
    let Some((registry, crane)) = registry(SUITE) else {
        return;
    };
    crane.push(&format!("{}/proxied/web:latest", registry.host()), &[]);
    let file = format!(
        "proxied: {{group: {{repository: {{image: {{domain: '{NAME}'}}}}}}, web: {{version: latest}}}}"
    );
    let repository = Repository::with(&file);
    let proxy = ForwardProxy::start(registry.host());
    let url = format!("http://user:{PASSWORD}@{}", proxy.address);
    let environment = [("http_proxy", url.as_str()), ("no_proxy", "127.0.0.1")];
    let config = Config::of(&[&repository], &[NAME]);
    let mut world = World::start_with(&config, &["--log", "trace"], &environment);
    world.follow("proxied.web", &repository);
    let release = world.until_released("proxied.web", 1);
    assert_eq!(release["image"]["tag"], "latest");

    let seen = proxy.seen.lock().clone();
    assert!(!seen.is_empty());
    for head in &seen {
        let line = head.lines().next().unwrap_or_default();
        assert!(line.contains(&format!(" http://{NAME}/v2/")), "{line}");
        let head = head.to_ascii_lowercase();
        assert!(head.contains("proxy-authorization: basic "), "{head}");
    }
    let said = world.stop().stderr;
    assert!(said.contains("TRACE"), "there is a log of everything");
    assert!(!said.contains(PASSWORD), "the password is in the log");
}
