//! Repositories over http, through `git http-backend`, one thread a connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use parking_lot::Mutex;

/// Serves everything below `root`, to those who send `authorization` if one is given.
pub fn serve(root: &Path, authorization: Option<&str>) -> SocketAddr {
    let options = Options {
        authorization: authorization.map(str::to_owned),
        ..Options::default()
    };
    GitServer::start(root, options).address
}

/// Serves everything below `root`, as a server does that only knows version 0 of the protocol.
pub fn serve_version_0(root: &Path) -> SocketAddr {
    let options = Options {
        is_version_0: true,
        ..Options::default()
    };
    GitServer::start(root, options).address
}

/// The ways in which repositories can be served.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The header `Authorization` without which nobody is let in.
    pub authorization: Option<String>,
    /// Says whether only version 0 of the protocol is known.
    pub is_version_0: bool,
    /// A path that is answered with a redirect: its beginning, and the beginning of the URL that replaces it.
    pub moved: Option<(String, String)>,
}

/// A server that runs until the test program ends.
#[derive(Clone, Debug)]
pub struct GitServer {
    /// The address at which it listens.
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl GitServer {
    /// Serves everything below `root`.
    ///
    /// # Panics
    ///
    /// If there is no free port.
    pub fn start(root: &Path, options: Options) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let server = Self {
            address,
            requests: requests.clone(),
        };
        let served = Arc::new(Served {
            root: root.to_owned(),
            options,
            requests,
        });
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let served = served.clone();
                // A client that hangs up is no failure of the test.
                std::thread::spawn(move || served.answer(stream));
            }
        });
        server
    }

    /// Returns the URL of a repository.
    pub fn url(&self, repository: &str) -> String {
        format!("http://{}/{repository}", self.address)
    }

    /// Returns the methods and paths of all requests since it was asked last.
    pub fn take_requests(&self) -> Vec<String> {
        std::mem::take(&mut self.requests.lock())
    }
}

struct Served {
    root: PathBuf,
    options: Options,
    requests: Arc<Mutex<Vec<String>>>,
}

struct Request {
    method: String,
    path: String,
    query: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

impl Served {
    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let request = read_request(&mut reader)?;
        let Options {
            authorization,
            is_version_0,
            moved,
        } = &self.options;
        self.requests
            .lock()
            .push(format!("{} {}", request.method, request.path));
        if let Some((from, to)) = moved
            && let Some(rest) = request.path.strip_prefix(from.as_str())
        {
            let query = match request.query.as_str() {
                "" => String::new(),
                query => format!("?{query}"),
            };
            return write!(
                stream,
                "HTTP/1.1 301 Moved Permanently\r\nLocation: {to}{rest}{query}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
        }
        if authorization.is_some() && request.header("authorization") != authorization.as_deref() {
            return stream.write_all(
            b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        );
        }
        let mut backend = Command::new("git")
            .arg("http-backend")
            .env("GIT_PROJECT_ROOT", &self.root)
            .env("GIT_HTTP_EXPORT_ALL", "1")
            .env("REMOTE_USER", "tester")
            .env("REQUEST_METHOD", &request.method)
            .env("PATH_INFO", &request.path)
            .env("QUERY_STRING", &request.query)
            .env(
                "CONTENT_TYPE",
                request.header("content-type").unwrap_or_default(),
            )
            .env("CONTENT_LENGTH", request.body.len().to_string())
            .env(
                "HTTP_CONTENT_ENCODING",
                request.header("content-encoding").unwrap_or_default(),
            )
            .env(
                "GIT_PROTOCOL",
                request
                    .header("git-protocol")
                    .filter(|_| !is_version_0)
                    .unwrap_or_default(),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut input = backend.stdin.take().expect("it is piped");
        let body = request.body;
        let feeder = std::thread::spawn(move || input.write_all(&body));
        let mut output = BufReader::new(backend.stdout.take().expect("it is piped"));
        let mut status = "200 OK".to_owned();
        let mut headers = String::new();
        for line in output.by_ref().lines() {
            let line = line?;
            if line.trim().is_empty() {
                break;
            }
            match line.strip_prefix("Status: ") {
                Some(found) => found.trim().clone_into(&mut status),
                None => headers.push_str(&format!("{}\r\n", line.trim())),
            }
        }
        write!(
            stream,
            "HTTP/1.1 {status}\r\n{headers}Connection: close\r\n\r\n"
        )?;
        std::io::copy(&mut output, &mut stream)?;
        feeder.join().expect("writing does not panic")?;
        backend.wait()?;
        Ok(())
    }
}

fn read_request(reader: &mut impl BufRead) -> std::io::Result<Request> {
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut words = first.split_whitespace();
    let (method, target) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim().split_once(':') else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request {
        method: method.into(),
        path: path.into(),
        query: query.into(),
        headers,
        body: Vec::new(),
    };
    if request.header("transfer-encoding").is_some() {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size)?;
            let size = u64::from_str_radix(size.trim(), 16).map_err(std::io::Error::other)?;
            reader.take(size).read_to_end(&mut request.body)?;
            reader.read_line(&mut String::new())?;
            if size == 0 {
                break;
            }
        }
    } else if let Some(length) = request.header("content-length").map(str::parse) {
        let length = length.map_err(std::io::Error::other)?;
        reader.take(length).read_to_end(&mut request.body)?;
    }
    Ok(request)
}
