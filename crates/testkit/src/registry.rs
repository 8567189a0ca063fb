//! Real registries of images: Debian's `docker-registry`, which is an old one, and distribution, which is not.
//!
//! [`Crane`] pushes to them and says what they have; [`Pusher`] pushes many images.

mod crane;
mod pusher;
mod token_service;

use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub use self::crane::Crane;
pub use self::pusher::Pusher;
pub use self::token_service::TokenService;

use crate::{Leash, free_port, go_tool, skip};

/// The user of a registry that wants a password.
pub const USER: &str = "bot";
/// The password of that user.
pub const PASSWORD: &str = "s3cret";
/// More users, with passwords that are found wherever they do not belong.
pub const MORE_USERS: [(&str, &str); 4] = [
    ("config", "configSENTINELpassword02"),
    ("group", "groupSENTINELpassword03"),
    ("docker", "dockerSENTINELpassword07"),
    ("helper", "helperSENTINELpassword08"),
];
/// The same as a file of `htpasswd` has it.
const HTPASSWD: &str = "\
bot:$2b$05$abcdefghijklmnopqrstuuLK7U1u6pVRmL7L1BBM2aS35PSZnDXlK
config:$2b$05$abcdefghijklmnopqrstuuL.28dwz1u8iCCLLGjr0N9k8t5gjMffS
group:$2b$05$abcdefghijklmnopqrstuuN04b9Aa7y2V81BvzxEWxp5mlke15I3.
docker:$2b$05$abcdefghijklmnopqrstuubra3Aom.IBYhGwRgeTIiAHdtvkibWB2
helper:$2b$05$abcdefghijklmnopqrstuuIs2iox7Zu5PMdwj6Yo7OxWfMpxfS7d.
";
/// The time in which a registry must have started.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// The program of a registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Debian's `docker-registry` 2.8: it does not page, and lists tags in any order.
    Debian,
    /// distribution v3, built by `scripts/go-tools`: it pages and sorts.
    Distribution,
}

/// The way into a registry.
#[derive(Clone, Debug, Default)]
pub enum Auth {
    /// Everybody is let in.
    #[default]
    Open,
    /// With [`USER`] and [`PASSWORD`], or as one of [`MORE_USERS`].
    Basic,
    /// With a token of a [`TokenService`]: its URL, and its certificate as PEM.
    Bearer {
        /// The URL.
        realm: String,
        /// The certificate.
        certificate: String,
    },
}

/// The settings of a registry.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The way in.
    pub auth: Auth,
    /// The most tags in a page; only distribution has pages.
    pub max_tags: Option<usize>,
    /// The URL that is told of every push.
    pub notifications: Option<String>,
    /// A certificate and its key, as PEM, with which it speaks TLS.
    pub tls: Option<(String, String)>,
}

/// A registry that runs until this is dropped.
#[derive(Debug)]
pub struct RealRegistry {
    leash: Leash,
    host: String,
}

impl RealRegistry {
    /// Starts a registry. Skips `suite` and returns nothing where the program cannot be had.
    ///
    /// # Panics
    ///
    /// If the program does not start to listen.
    pub fn start(suite: &str, program: Program, options: &Options) -> Option<Self> {
        let program = match program {
            Program::Debian => debian(suite)?,
            Program::Distribution => go_tool(suite, "registry")?,
        };
        let leash = Leash::new("pathline-registry-").expect("a scratch directory");
        let port = free_port();
        let host = format!("127.0.0.1:{port}");
        let config = leash.directory().join("config.yml");
        let written = options.write(leash.directory(), &host);
        written
            .and_then(|it| fs::write(&config, it))
            .expect("a scratch directory is writable");
        let log = fs::File::create(leash.directory().join("log")).expect("it is writable");
        let mut command = Command::new(program);
        command
            .arg("serve")
            .arg(&config)
            .env("OTEL_TRACES_EXPORTER", "none")
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a file can be shared"))
            .stderr(log);
        let child = leash.spawn(&mut command).expect("the program starts");
        wait_for(child, port, &leash.directory().join("log"));
        Some(Self { leash, host })
    }

    /// Returns its host and port.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the size of what it has said so far.
    pub fn log_size(&self) -> u64 {
        let log = fs::metadata(self.leash.directory().join("log"));
        log.map_or(0, |it| it.len())
    }

    /// Returns what it has said since the log had a size.
    pub fn log_after(&self, size: u64) -> String {
        let read = || {
            let mut log = fs::File::open(self.leash.directory().join("log"))?;
            log.seek(SeekFrom::Start(size))?;
            let mut said = Vec::new();
            log.read_to_end(&mut said)?;
            io::Result::Ok(String::from_utf8_lossy(&said).into_owned())
        };
        read().unwrap_or_default()
    }

    /// Returns what it has said so far.
    pub fn log(&self) -> String {
        self.log_after(0)
    }
}

impl Options {
    /// Writes the files that a configuration names, and returns it.
    fn write(&self, directory: &Path, host: &str) -> io::Result<String> {
        let file = |name: &str, content: &str| {
            let path = directory.join(name);
            fs::write(&path, content).map(|()| path.display().to_string())
        };
        let storage = directory.join("storage");
        let storage = storage.display();
        let mut config = format!(
            "version: 0.1\nlog: {{level: info}}\nstorage: {{filesystem: {{rootdirectory: {storage}}}}}\n"
        );
        let tls = match &self.tls {
            Some((certificate, key)) => format!(
                ", tls: {{certificate: {}, key: {}}}",
                file("tls.crt", certificate)?,
                file("tls.key", key)?
            ),
            None => String::new(),
        };
        config += &format!("http: {{addr: \"{host}\", secret: x{tls}}}\n");
        match &self.auth {
            Auth::Open => {}
            Auth::Basic => {
                let path = file("htpasswd", HTPASSWD)?;
                config += &format!("auth: {{htpasswd: {{realm: x, path: {path}}}}}\n");
            }
            Auth::Bearer { realm, certificate } => {
                let bundle = file("bundle.pem", certificate)?;
                let (service, issuer) = (token_service::SERVICE, token_service::ISSUER);
                config += &format!(
                    "auth: {{token: {{realm: \"{realm}\", service: {service}, issuer: {issuer}, rootcertbundle: {bundle}}}}}\n"
                );
            }
        }
        if let Some(count) = self.max_tags {
            config += &format!("tags: {{maxtags: {count}}}\n");
        }
        if let Some(url) = &self.notifications {
            config += &format!(
                "notifications: {{endpoints: [{{name: test, url: \"{url}\", timeout: 5s, threshold: 1, backoff: 1s}}]}}\n"
            );
        }
        Ok(config)
    }
}

fn debian(suite: &str) -> Option<PathBuf> {
    let program = Path::new("/usr/bin/docker-registry");
    if program.exists() {
        return Some(program.to_owned());
    }
    skip(suite, "no docker-registry; install Debian's package");
    None
}

/// Waits until a program listens.
fn wait_for(mut child: Child, port: u16, log: &Path) {
    let end = Instant::now() + START_TIMEOUT;
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        let said = || fs::read_to_string(log).unwrap_or_default();
        let ended = child.try_wait().expect("it is a child");
        assert!(ended.is_none(), "the registry ends: {}", said());
        assert!(Instant::now() < end, "it does not listen: {}", said());
        std::thread::sleep(Duration::from_millis(20));
    }
}
