//! Those who wait, as plain as HTTP can be.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// The question of a crowd.
pub(crate) const REVISION: &str = "ffffffffffffffffffffffffffffffffffffffff";
/// The number of those of a crowd that connect at once, so that nobody is turned away.
const TOGETHER: usize = 64;
/// The longest time that a crowd's questions take until they are being waited for.
const SETTLING: Duration = Duration::from_secs(3);

/// A way to wait.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum How {
    Poll,
    Stream,
}

/// Asks a server.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) how: How,
    address: SocketAddr,
    token: String,
}

/// A question that was not answered yet.
pub(crate) struct Waiting {
    stream: TcpStream,
    text: String,
}

impl Client {
    pub(crate) fn new(how: How, address: SocketAddr, token: &str) -> Self {
        Self {
            how,
            address,
            token: token.to_owned(),
        }
    }

    /// Asks for a revision; one that follows a stream has been told that it is not there yet.
    pub(crate) async fn ask(&self, revision: &str) -> Result<Waiting> {
        let accept = match self.how {
            How::Poll => "application/json",
            How::Stream => "text/event-stream",
        };
        let (address, token) = (self.address, &self.token);
        let question = format!(
            "GET /workloads/dev/web/wait?for=source%3D{revision}&timeout=600 HTTP/1.1\r\nHost: {address}\r\n\
             Authorization: Bearer {token}\r\nAccept: {accept}\r\nConnection: close\r\n\r\n"
        );
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        stream.write_all(question.as_bytes()).await?;
        let mut waiting = Waiting {
            stream,
            text: String::new(),
        };
        if self.how == How::Stream {
            waiting.until("\"state\":\"waiting\"").await?;
        }
        Ok(waiting)
    }

    /// Waits as many, and says when all do and when all were answered.
    pub(crate) async fn crowd(self, size: usize) -> Result<()> {
        let mut waiting = Vec::new();
        while waiting.len() < size {
            let mut asking = JoinSet::new();
            for _ in 0..TOGETHER.min(size - waiting.len()) {
                let client = self.clone();
                asking.spawn(async move { client.ask(REVISION).await });
            }
            while let Some(asked) = asking.join_next().await {
                waiting.push(asked??);
            }
        }
        if self.how == How::Poll {
            tokio::time::sleep(SETTLING).await;
        }
        println!("waiting");
        let mut answered = JoinSet::new();
        for mut waiting in waiting {
            answered.spawn(async move { waiting.answered().await });
        }
        while let Some(answered) = answered.join_next().await {
            answered??;
        }
        println!("answered");
        Ok(())
    }
}

impl Waiting {
    /// Waits for the answer that it has arrived.
    pub(crate) async fn answered(&mut self) -> Result<()> {
        self.until("\"state\":\"holds\"").await
    }

    async fn until(&mut self, text: &str) -> Result<()> {
        let mut bytes = [0; 4096];
        while !self.text.contains(text) {
            let read = self.stream.read(&mut bytes).await?;
            ensure!(read > 0, "the answer ends with {}", self.text);
            self.text += &String::from_utf8_lossy(&bytes[..read]);
        }
        Ok(())
    }
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Poll => "poll",
            Self::Stream => "stream",
        })
    }
}

impl FromStr for How {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "poll" => Ok(Self::Poll),
            "stream" => Ok(Self::Stream),
            other => bail!("{other} is no way to wait"),
        }
    }
}
