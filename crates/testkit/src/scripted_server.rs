//! A server that says whatever a test wants it to say, as long as somebody listens. It knows some of git's protocol.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A request: its first line, and its content.
#[derive(Debug)]
pub struct Request {
    /// The method, the target and the version.
    pub line: String,
    /// The headers, in lower case.
    pub headers: String,
    /// The content.
    pub body: Vec<u8>,
}

/// An answer that is being written; each part of it is a chunk.
#[derive(Debug)]
pub struct Answer(TcpStream);

impl Answer {
    /// Begins an answer of a service, such as `upload-pack-result`.
    pub fn begin(&mut self, kind: &str) -> io::Result<()> {
        self.head(&format!("200 OK\r\nContent-Type: application/x-git-{kind}"))
    }

    /// Begins an answer with this status, and with headers behind it.
    pub fn head(&mut self, status_and_headers: &str) -> io::Result<()> {
        write!(
            self.0,
            "HTTP/1.1 {status_and_headers}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        )
    }

    /// Sends bytes as they are: what comes before an answer, or no answer at all.
    pub fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    /// Sends a part of the content.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        write!(self.0, "{:x}\r\n", bytes.len())?;
        self.0.write_all(bytes)?;
        self.0.write_all(b"\r\n")
    }

    /// Sends a packet line.
    pub fn packet(&mut self, content: &[u8]) -> io::Result<()> {
        self.send(&packet(content))
    }

    /// Sends the packet that ends a section.
    pub fn flush_packet(&mut self) -> io::Result<()> {
        self.send(b"0000")
    }

    /// Sends the same for ever.
    pub fn repeat(&mut self, bytes: &[u8]) -> io::Result<()> {
        loop {
            self.send(bytes)?;
        }
    }

    /// Ends the answer.
    pub fn end(&mut self) -> io::Result<()> {
        self.0.write_all(b"0\r\n\r\n")
    }

    /// Says nothing until the other side hangs up.
    pub fn wait(&mut self) -> io::Result<()> {
        self.0.read_to_end(&mut Vec::new()).map(drop)
    }
}

/// Returns a packet line.
pub fn packet(content: &[u8]) -> Vec<u8> {
    let mut packet = format!("{:04x}", content.len() + 4).into_bytes();
    packet.extend_from_slice(content);
    packet
}

/// A server that runs until the test program ends.
#[derive(Debug)]
pub struct Server {
    /// The address at which it listens.
    pub address: SocketAddr,
    open: Arc<AtomicUsize>,
}

impl Server {
    /// Answers every request as `script` does.
    ///
    /// # Panics
    ///
    /// If there is no free port.
    pub fn start(
        script: impl Fn(&Request, &mut Answer) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let open = Arc::new(AtomicUsize::new(0));
        let counted = open.clone();
        let script = Arc::new(script);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (counted, script) = (counted.clone(), script.clone());
                counted.fetch_add(1, Ordering::SeqCst);
                std::thread::spawn(move || {
                    // It always ends with an error: the client hangs up.
                    let _ = answer(stream, &*script);
                    counted.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Self { address, open }
    }

    /// Returns the URL of a repository.
    pub fn url(&self) -> String {
        format!("http://{}/a.git", self.address)
    }

    /// Asserts that nobody is connected any more, or soon will not be.
    ///
    /// # Panics
    ///
    /// If somebody is.
    pub fn assert_left(&self) {
        let end = Instant::now() + Duration::from_secs(30);
        while self.open.load(Ordering::SeqCst) > 0 {
            assert!(Instant::now() < end, "the client is still connected");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn answer(
    stream: TcpStream,
    script: &dyn Fn(&Request, &mut Answer) -> io::Result<()>,
) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let (mut headers, mut length) = (String::new(), 0);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let header = header.to_ascii_lowercase();
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
        headers.push_str(&header);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let request = Request {
        line,
        headers,
        body,
    };
    script(&request, &mut Answer(stream))
}

/// Answers as version 2 of the protocol does, up to the request for `command`, which `script` answers.
pub fn version_2(
    command: &'static str,
    script: impl Fn(&mut Answer) -> io::Result<()> + Send + Sync + 'static,
) -> Server {
    version_2_at(&"1".repeat(40), command, script)
}

fn version_2_at(
    tip: &str,
    command: &'static str,
    script: impl Fn(&mut Answer) -> io::Result<()> + Send + Sync + 'static,
) -> Server {
    let tip = tip.to_owned();
    Server::start(move |request, answer| {
        if request.line.starts_with("GET") {
            answer.begin("upload-pack-advertisement")?;
            for line in ["version 2\n", "ls-refs\n", "fetch=shallow\n"] {
                answer.packet(line.as_bytes())?;
            }
            answer.flush_packet()?;
            return answer.end();
        }
        answer.begin("upload-pack-result")?;
        let asked = String::from_utf8_lossy(&request.body);
        if asked.contains(&format!("command={command}")) {
            return script(answer);
        }
        answer.packet(format!("{tip} refs/heads/main\n").as_bytes())?;
        answer.flush_packet()?;
        answer.end()
    })
}

/// Answers the request for objects with that pack.
pub fn with_pack(pack: Vec<u8>) -> Server {
    version_2("fetch", move |answer| send_pack(answer, &pack))
}

/// Has a commit on `main`, and that pack for it.
pub fn with_commit(commit: &str, pack: Vec<u8>) -> Server {
    version_2_at(commit, "fetch", move |answer| send_pack(answer, &pack))
}

fn send_pack(answer: &mut Answer, pack: &[u8]) -> io::Result<()> {
    answer.packet(b"packfile\n")?;
    for piece in pack.chunks(60_000) {
        answer.packet(&[b"\x01", piece].concat())?;
    }
    answer.flush_packet()?;
    answer.end()
}
