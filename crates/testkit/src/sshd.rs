//! A real ssh server on a free port, and the client's configuration for it.

use std::fs;
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Leash, free_port, skip};

/// The time in which the server must have started.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// An OpenSSH server that lets the user of this process in with a key of its own.
#[derive(Debug)]
pub struct Sshd {
    leash: Leash,
    port: u16,
}

impl Sshd {
    /// Starts a server. Skips `suite` and returns nothing where there is none, or this user may not start it.
    ///
    /// # Panics
    ///
    /// If the server does not start to listen.
    pub fn start(suite: &str) -> Option<Self> {
        let program = Path::new("/usr/sbin/sshd");
        if !program.exists() || !Path::new("/usr/bin/ssh-keygen").exists() {
            skip(suite, "no sshd; install Debian's openssh-server");
            return None;
        }
        let leash = Leash::new("pathline-sshd-").expect("a scratch directory");
        let directory = leash.directory();
        // Where the server goes when it has given up its rights.
        let _ = fs::create_dir_all("/run/sshd");
        for key in ["host", "user"] {
            let made = Command::new("/usr/bin/ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(directory.join(key))
                .status();
            assert!(made.is_ok_and(|it| it.success()), "a key can be made");
        }
        let port = free_port();
        let at = directory.display();
        let config = format!(
            "ListenAddress 127.0.0.1:{port}\nHostKey {at}/host\nAuthorizedKeysFile {at}/user.pub\nStrictModes no\n\
             UsePAM no\nPidFile none\nPasswordAuthentication no\nPermitRootLogin prohibit-password\nAcceptEnv GIT_PROTOCOL\n"
        );
        let client = format!(
            "Host *\n  IdentityFile {at}/user\n  IdentitiesOnly yes\n  UserKnownHostsFile {at}/known\n  StrictHostKeyChecking no\n  BatchMode yes\n"
        );
        fs::write(directory.join("sshd_config"), config)
            .and_then(|()| fs::write(directory.join("ssh_config"), client))
            .expect("it is writable");
        let log = fs::File::create(directory.join("log")).expect("it is writable");
        let mut command = Command::new(program);
        command
            .args(["-D", "-e", "-f"])
            .arg(directory.join("sshd_config"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        let child = leash.spawn(&mut command).expect("sshd starts");
        if !listens(child, port) {
            let said = fs::read_to_string(directory.join("log")).unwrap_or_default();
            skip(suite, &format!("sshd does not run here: {}", said.trim()));
            return None;
        }
        Some(Self { leash, port })
    }

    /// Returns the URL of a repository on this machine, for its user.
    pub fn url(&self, user: &str, repository: &Path) -> String {
        let (port, path) = (self.port, repository.display());
        format!("ssh://{user}@127.0.0.1:{port}{path}")
    }

    /// Writes a program `ssh` that is configured for this server, and returns its directory.
    ///
    /// # Panics
    ///
    /// If the scratch directory is not writable.
    pub fn client(&self) -> PathBuf {
        let directory = self.leash.directory().join("bin");
        let config = self.leash.directory().join("ssh_config");
        let script = format!(
            "#!/bin/sh\nexec /usr/bin/ssh -F {} \"$@\"\n",
            config.display()
        );
        let program = directory.join("ssh");
        fs::create_dir_all(&directory)
            .and_then(|()| fs::write(&program, script))
            .and_then(|()| fs::set_permissions(&program, fs::Permissions::from_mode(0o755)))
            .expect("it is writable");
        directory
    }
}

/// Waits until a program listens, or has ended.
fn listens(mut child: Child, port: u16) -> bool {
    let end = Instant::now() + START_TIMEOUT;
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        if child.try_wait().expect("it is a child").is_some() {
            return false;
        }
        assert!(Instant::now() < end, "sshd does not listen");
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}
