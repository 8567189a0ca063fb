//! The smart protocol, as far as it is needed to read and write references and objects.
//!
//! A remote may say whatever it likes, for as long as it likes: what it says is read piece by piece,
//! what was not asked for is not kept, each answer has a limit, and a [`Guard`] ends the operation at
//! its deadline, with the socket or the program at the other end.

pub(super) mod advertisement;
pub(super) mod fetch;
pub(super) mod guard;
mod http;
pub(super) mod packet;
mod process;

use std::io::{self, Read};
use std::rc::Rc;

use gix::url::Scheme;

use super::Remote;
use guard::Guard;
use http::Http;
use packet::{Packets, write_flush};
use process::Process;

/// The service that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    UploadPack,
    ReceivePack,
}

impl Service {
    fn name(self) -> &'static str {
        match self {
            Self::UploadPack => "git-upload-pack",
            Self::ReceivePack => "git-receive-pack",
        }
    }

    /// Returns the command of git.
    fn command(self) -> &'static str {
        match self {
            Self::UploadPack => "upload-pack",
            Self::ReceivePack => "receive-pack",
        }
    }
}

/// The version of the protocol that is asked for; servers may answer in an older one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// Pushing has no other one.
    V0,
    V2,
}

/// A way to a remote.
pub(super) enum Connection {
    Http(Box<Http>),
    Process(Box<Process>),
}

/// The packets of one answer.
pub(super) type Answer<'a> = Packets<Box<dyn Read + 'a>>;

impl Connection {
    pub(super) fn open(
        remote: &Remote,
        service: Service,
        version: Version,
        guard: Rc<Guard>,
    ) -> io::Result<Self> {
        let url = remote.url().as_gix();
        Ok(match url.scheme {
            Scheme::Http | Scheme::Https => {
                let http = Http::new(remote, service, version, guard)?;
                Self::Http(Box::new(http))
            }
            _ => {
                let process = Process::start(url, service, version, guard)?;
                Self::Process(Box::new(process))
            }
        })
    }

    /// Returns what the remote says first.
    pub(super) fn handshake(&mut self) -> io::Result<Answer<'_>> {
        Ok(Packets::new(match self {
            Self::Http(http) => Box::new(http.handshake()?),
            Self::Process(process) => Box::new(process),
        }))
    }

    /// Sends a request and returns the answer.
    pub(super) fn request(&mut self, request: Vec<u8>) -> io::Result<Answer<'_>> {
        Ok(Packets::new(match self {
            Self::Http(http) => Box::new(http.request(request)?),
            Self::Process(process) => {
                process.send(&request)?;
                Box::new(process)
            }
        }))
    }

    /// Tells the remote that nothing more is asked of it.
    pub(super) fn finish(mut self) {
        if let Self::Process(process) = &mut self {
            let mut request = Vec::new();
            write_flush(&mut request);
            // It may be gone already.
            let _ = process.send(&request);
        }
        self.close();
    }

    /// Lets the remote end by itself: it was told everything, and has told everything.
    pub(super) fn close(self) {
        if let Self::Process(process) = self {
            process.finish();
        }
    }
}
