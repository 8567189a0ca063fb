//! A stream whose writes must make progress.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// Fails a write that the other side has not taken for a while.
pub(super) struct Guarded<T> {
    stream: T,
    patience: Duration,
    /// Runs while a write is blocked.
    blocked: Pin<Box<Sleep>>,
    is_blocked: bool,
}

impl<T> Guarded<T> {
    /// Guards the writes of `stream`.
    pub(super) fn new(stream: T, patience: Duration) -> Self {
        Self {
            stream,
            patience,
            blocked: Box::pin(sleep(patience)),
            is_blocked: false,
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
            self.blocked.as_mut().reset(Instant::now() + self.patience);
        }
        ready!(self.blocked.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the client does not read",
        )))
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

impl<T: AsyncWrite + Unpin> AsyncWrite for Guarded<T> {
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
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.watch(context, shut)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn a_write_that_nobody_takes_fails() {
        let (near, _far) = duplex(16);
        let mut guarded = Guarded::new(near, Duration::from_millis(5));
        let error = guarded.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_write_that_is_taken_piece_by_piece_goes_through() {
        let (near, mut far) = duplex(16);
        let mut guarded = Guarded::new(near, Duration::from_secs(60));
        let reader = tokio::spawn(async move {
            let mut taken = [0; 64];
            far.read_exact(&mut taken).await.unwrap();
            taken
        });
        guarded.write_all(&[7; 64]).await.unwrap();
        assert_eq!(reader.await.unwrap(), [7; 64]);
    }
}
