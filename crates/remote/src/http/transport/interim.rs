//! Interim responses (1xx): those before the answer, which say nothing that a poll wants to know.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use http::{Extensions, Request};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection, capture_connection};

/// The most interim responses before an answer; a host with something to hint at sends one or two.
pub(crate) const MAX_INTERIM: usize = 32;

/// The number of interim responses to one request.
#[derive(Clone, Debug, Default)]
pub(super) struct Interim(Arc<AtomicUsize>);

/// The switch by which a connection is cut.
#[derive(Clone, Debug, Default)]
struct Switch(Arc<AtomicBool>);

/// A connection that reads nothing any more once it is cut.
#[derive(Debug)]
pub(super) struct Cuttable<S> {
    stream: S,
    /// True if the other side is a proxy that wants whole URLs.
    is_proxied: bool,
    switch: Switch,
}

impl Interim {
    /// Counts the interim responses to a request, and cuts its connection when there are too many.
    pub(super) fn watch<B>(request: &mut Request<B>) -> Self {
        let counted = Self::default();
        let connection = capture_connection(request);
        let counter = counted.clone();
        hyper::ext::on_informational(request, move |_| {
            counter.0.fetch_add(1, Ordering::Relaxed);
            if counter.is_too_much() {
                let mut extras = Extensions::new();
                if let Some(connected) = connection.connection_metadata().as_ref() {
                    connected.get_extras(&mut extras);
                }
                if let Some(Switch(switch)) = extras.get() {
                    switch.store(true, Ordering::Relaxed);
                }
            }
        });
        counted
    }

    pub(super) fn is_too_much(&self) -> bool {
        self.0.load(Ordering::Relaxed) > MAX_INTERIM
    }
}

impl<S> Cuttable<S> {
    pub(super) fn new(stream: S, is_proxied: bool) -> Self {
        Self {
            stream,
            is_proxied,
            switch: Switch::default(),
        }
    }
}

impl<S: Connection> Connection for Cuttable<S> {
    fn connected(&self) -> Connected {
        let connected = self.stream.connected().proxy(self.is_proxied);
        connected.extra(self.switch.clone())
    }
}

impl<S: Read + Unpin> Read for Cuttable<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if self.switch.0.load(Ordering::Relaxed) {
            let why = format!("more than {MAX_INTERIM} interim responses");
            return Poll::Ready(Err(io::Error::other(why)));
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: Write + Unpin> Write for Cuttable<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, buffers)
    }
}
