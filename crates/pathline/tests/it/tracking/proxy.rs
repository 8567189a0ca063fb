//! A way to a server that can be cut.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;

/// The time that a piece of an answer takes on a slow way.
const DELAY: Duration = Duration::from_millis(30);

/// The way that connections go.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// To a server.
    To(SocketAddr),
    /// To a server whose answers take their time.
    Slowly(SocketAddr),
    /// Nowhere: they are closed.
    Closed,
    /// Nowhere: half an answer is given.
    Half,
}

/// A listener that passes on what it is sent, until the test program ends.
pub(super) struct Proxy {
    address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
}

struct Shared {
    way: Way,
    /// The connections since the way was set.
    open: Vec<TcpStream>,
}

impl Proxy {
    pub(super) fn start(way: Way) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let open = Vec::new();
        let shared = Arc::new(Mutex::new(Shared { way, open }));
        let proxy = Self {
            address,
            shared: Arc::clone(&shared),
        };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut shared = shared.lock();
                shared.open.extend(stream.try_clone());
                let way = shared.way;
                // Whoever hangs up is no failure of the test.
                thread::spawn(move || pass(stream, way));
            }
        });
        proxy
    }

    pub(super) fn host(&self) -> String {
        self.address.to_string()
    }

    /// Sets another way, and cuts the connections that go the old one.
    pub(super) fn set(&self, way: Way) {
        let mut shared = self.shared.lock();
        shared.way = way;
        for stream in shared.open.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn pass(mut stream: TcpStream, way: Way) -> io::Result<()> {
    match way {
        Way::Closed => stream.shutdown(Shutdown::Both),
        Way::Half => {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request)?;
            stream
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4096\r\n\r\n{\"tags\": [\"1.0")?;
            stream.shutdown(Shutdown::Both)
        }
        Way::To(target) | Way::Slowly(target) => {
            let mut server = TcpStream::connect(target)?;
            let (mut from, mut to) = (stream.try_clone()?, server.try_clone()?);
            let forth = thread::spawn(move || {
                let copied = io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Write);
                copied
            });
            match way {
                Way::Slowly(_) => copy_slowly(&mut server, &mut stream)?,
                _ => drop(io::copy(&mut server, &mut stream)?),
            }
            stream.shutdown(Shutdown::Both)?;
            let _ = forth.join();
            Ok(())
        }
    }
}

fn copy_slowly(from: &mut TcpStream, to: &mut TcpStream) -> io::Result<()> {
    let mut piece = vec![0; 1 << 20];
    loop {
        let length = from.read(&mut piece)?;
        if length == 0 {
            return Ok(());
        }
        thread::sleep(DELAY);
        to.write_all(&piece[..length])?;
    }
}
