//! Response bodies that notice when nobody takes them any further.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use parking_lot::Mutex;
use pathline_clock::instant;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::BoxError;
use super::activity::UnderWay;

/// The most bytes handed to the connection at a time, so that no answer sits whole in its buffers.
const PIECE: usize = 64 << 10;

/// The answers of one connection that are being read.
#[derive(Clone)]
pub(super) struct Readers {
    open: Arc<Mutex<Vec<Weak<Progress>>>>,
    timeout: Duration,
    shutdown: CancellationToken,
    start: Instant,
}

/// The time at which a piece was handed out, in milliseconds since the connection began; 0 while
/// the connection waits for the answer rather than the answer for the connection.
#[derive(Default)]
struct Progress(AtomicU64);

impl Readers {
    /// Watches over answers whose readers may pause this long.
    pub(super) fn new(timeout: Duration, shutdown: CancellationToken) -> Self {
        Self {
            open: Arc::default(),
            timeout,
            shutdown,
            start: instant(),
        }
    }

    /// Returns whether, at `now`, some answer has not been taken any further for too long.
    pub(super) fn any_stalled(&self, now: Instant) -> bool {
        let latest = self.since_start(now).saturating_sub(millis(self.timeout));
        let mut stalled = false;
        self.open.lock().retain(|progress| {
            let Some(progress) = progress.upgrade() else {
                return false;
            };
            let handed_out = progress.0.load(Ordering::Relaxed);
            stalled |= handed_out != 0 && handed_out <= latest;
            true
        });
        stalled
    }

    fn add(&self) -> Arc<Progress> {
        let progress = Arc::default();
        let mut open = self.open.lock();
        if open.len() == open.capacity() {
            open.retain(|progress| progress.strong_count() > 0);
        }
        open.push(Arc::downgrade(&progress));
        progress
    }

    fn since_start(&self, now: Instant) -> u64 {
        millis(now.duration_since(self.start)) + 1
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A response body that goes out in pieces, is missed when it is not taken, and, if it is a stream
/// without end, ends when the server stops and it has nothing to say.
pub(super) struct Answer<B> {
    body: Pin<Box<B>>,
    rest: Bytes,
    progress: Arc<Progress>,
    readers: Readers,
    stop: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// Its request is under way for as long as it is.
    _under_way: UnderWay,
}

impl<B: Body> Answer<B> {
    pub(super) fn new(body: B, readers: &Readers, under_way: UnderWay) -> Self {
        let endless = body.size_hint().exact().is_none();
        let stop = endless.then(|| Box::pin(readers.shutdown.clone().cancelled_owned()));
        Self {
            body: Box::pin(body),
            rest: Bytes::new(),
            progress: readers.add(),
            readers: readers.clone(),
            stop,
            _under_way: under_way,
        }
    }
}

impl<B> Answer<B> {
    /// Ends a stream that has nothing to say when the server stops.
    fn poll_stop<T>(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        match &mut self.stop {
            Some(stop) => stop.as_mut().poll(context).map(|()| None),
            None => Poll::Pending,
        }
    }
}

impl<B> Body for Answer<B>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.progress.0.store(0, Ordering::Relaxed);
        if self.rest.is_empty() {
            let Poll::Ready(next) = self.body.as_mut().poll_frame(context) else {
                return self.poll_stop(context);
            };
            match next {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                end => return Poll::Ready(end.map(|error| error.map_err(Into::into))),
            }
        }
        let piece = self.rest.len().min(PIECE);
        let piece = self.rest.split_to(piece);
        self.progress
            .0
            .store(self.readers.since_start(instant()), Ordering::Relaxed);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        let inner = self.body.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + rest);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt, Full, StreamBody};

    use super::*;
    use crate::serve::activity::Activity;

    const READ_TIMEOUT: Duration = Duration::from_secs(30);

    fn mk_readers() -> Readers {
        Readers::new(READ_TIMEOUT, CancellationToken::new())
    }

    fn mk_answer<B: Body>(body: B, readers: &Readers) -> Answer<B> {
        Answer::new(body, readers, Activity::new().begin())
    }

    fn endless() -> impl Body<Data = Bytes, Error = BoxError> {
        StreamBody::new(futures::stream::pending::<Result<Frame<Bytes>, BoxError>>())
    }

    #[tokio::test]
    async fn a_long_answer_goes_out_in_pieces_and_arrives_whole() {
        let text: Vec<u8> = (0..200_000_u32).map(|byte| byte.to_le_bytes()[0]).collect();
        let readers = mk_readers();
        let mut answer = mk_answer(Full::new(Bytes::from(text.clone())), &readers);
        assert_eq!(answer.size_hint().exact(), Some(200_000));
        let mut arrived = Vec::new();
        while let Some(frame) = answer.frame().await {
            let piece = frame.unwrap().into_data().unwrap();
            assert!(piece.len() <= PIECE);
            arrived.extend_from_slice(&piece);
            assert_eq!(
                answer.size_hint().exact(),
                Some(200_000 - arrived.len() as u64)
            );
        }
        assert_eq!(arrived, text);
    }

    #[tokio::test]
    async fn an_answer_that_is_not_taken_further_is_stalled() {
        let readers = mk_readers();
        let mut answer = mk_answer(Full::new(Bytes::from(vec![0; 200_000])), &readers);
        let before = Instant::now();
        answer.frame().await.unwrap().unwrap();
        assert!(
            !readers.any_stalled(before + READ_TIMEOUT / 2),
            "it still has some time"
        );
        let late = Instant::now() + READ_TIMEOUT;
        assert!(readers.any_stalled(late));
        drop(answer);
        assert!(
            !readers.any_stalled(late),
            "an answer that is gone cannot stall"
        );
    }

    #[tokio::test]
    async fn a_watch_without_events_is_not_stalled() {
        let readers = mk_readers();
        let mut answer = mk_answer(endless(), &readers);
        assert!(futures::poll!(answer.frame()).is_pending());
        assert!(!readers.any_stalled(Instant::now() + READ_TIMEOUT * 10));
    }

    #[tokio::test]
    async fn shutdown_ends_a_stream_but_not_an_answer_of_known_length() {
        let readers = mk_readers();
        let mut stream = mk_answer(endless(), &readers);
        let mut list = mk_answer(Full::new(Bytes::from_static(b"[]")), &readers);
        readers.shutdown.cancel();
        assert!(stream.frame().await.is_none());
        assert_eq!(
            list.frame().await.unwrap().unwrap().into_data().unwrap(),
            "[]"
        );
    }

    #[tokio::test]
    async fn finished_answers_are_forgotten() {
        let readers = mk_readers();
        for _ in 0..10_000 {
            drop(mk_answer(Full::new(Bytes::new()), &readers));
        }
        assert!(
            readers.open.lock().capacity() < 64,
            "the list holds only what is open"
        );
    }
}
