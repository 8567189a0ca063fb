//! A stream whose writes must make progress, and which is closed so that the last answer arrives.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pathline_clock::instant;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::activity::Activity;

/// The bytes and the time for which input is discarded after the last answer if the client still
/// sends: closing at once would reset the connection, and the client would never see the answer.
/// Many clients look for one only when they have sent everything.
const MAX_IGNORED_BYTES: usize = 64 << 20;
const LINGER: Duration = Duration::from_secs(5);

/// Fails a write that the other side has not taken for a while, and closes slowly on a client that
/// still sends what nobody reads.
pub(super) struct Guarded<T> {
    stream: T,
    timeout: Duration,
    activity: Activity,
    /// Runs while a write is blocked, and while the connection is closing.
    blocked: Pin<Box<Sleep>>,
    is_blocked: bool,
    /// The bytes that are still discarded, once our side is closed.
    ignored: Option<usize>,
}

impl<T> Guarded<T> {
    /// Guards `stream`, on which this goes on.
    pub(super) fn new(stream: T, timeout: Duration, activity: Activity) -> Self {
        Self {
            stream,
            timeout,
            activity,
            blocked: Box::pin(sleep(timeout)),
            is_blocked: false,
            ignored: None,
        }
    }

    /// Passes a result on, but turns a wait that has lasted too long into an error.
    fn watch<R>(
        &mut self,
        context: &mut Context<'_>,
        result: Poll<io::Result<R>>,
    ) -> Poll<io::Result<R>> {
        if result.is_ready() {
            self.is_blocked = false;
            return result;
        }
        if !self.is_blocked {
            self.is_blocked = true;
            self.blocked.as_mut().reset(instant() + self.timeout);
        }
        ready!(self.blocked.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the client does not read",
        )))
    }
}

impl<T: AsyncRead + Unpin> Guarded<T> {
    /// Reads and ignores what the client still sends, until it has seen that we are done.
    fn poll_linger(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut scratch = [0; 16 << 10];
        while let Some(left) = self.ignored.filter(|left| *left > 0) {
            if self.blocked.as_mut().poll(context).is_ready() {
                break;
            }
            let mut buffer = ReadBuf::new(&mut scratch);
            let read = ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                break;
            }
            self.ignored = Some(left.saturating_sub(buffer.filled().len()));
        }
        Poll::Ready(())
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Guarded<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Guarded<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, buffer);
        self.watch(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, buffers);
        self.watch(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.watch(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.ignored.is_none() {
            let shut = Pin::new(&mut self.stream).poll_shutdown(context);
            ready!(self.watch(context, shut))?;
            let has_unread = self.activity.has_unread();
            self.ignored = Some(if has_unread { MAX_IGNORED_BYTES } else { 0 });
            self.blocked.as_mut().reset(instant() + LINGER);
        }
        self.poll_linger(context).map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn a_write_that_nobody_takes_fails() {
        let (near, _far) = duplex(16);
        let mut guarded = Guarded::new(near, Duration::from_millis(5), Activity::new());
        let error = guarded.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_write_that_is_taken_piece_by_piece_goes_through() {
        let (near, mut far) = duplex(16);
        let mut guarded = Guarded::new(near, Duration::from_secs(60), Activity::new());
        let reader = tokio::spawn(async move {
            let mut taken = [0; 64];
            far.read_exact(&mut taken).await.unwrap();
            taken
        });
        guarded.write_all(&[7; 64]).await.unwrap();
        assert_eq!(reader.await.unwrap(), [7; 64]);
    }
}
