//! Serves repositories over http through `git http-backend`, one thread a connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Serves everything below `root`, to those who send `authorization` if one is given.
pub(crate) fn serve(root: &Path, authorization: Option<&'static str>) -> SocketAddr {
    listen(root, authorization, true)
}

/// Serves everything below `root`, as a server does that only knows version 0 of the protocol.
pub(crate) fn serve_version_0(root: &Path) -> SocketAddr {
    listen(root, None, false)
}

fn listen(root: &Path, authorization: Option<&'static str>, knows_version_2: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let root = root.to_owned();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let root = root.clone();
            // A client that hangs up is no failure of the test.
            std::thread::spawn(move || answer(stream, &root, authorization, knows_version_2));
        }
    });
    address
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

fn answer(
    stream: TcpStream,
    root: &PathBuf,
    authorization: Option<&str>,
    knows_version_2: bool,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    let request = read_request(&mut reader)?;
    if authorization.is_some() && request.header("authorization") != authorization {
        return stream.write_all(
            b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        );
    }
    let mut backend = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
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
                .filter(|_| knows_version_2)
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
