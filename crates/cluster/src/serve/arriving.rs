//! Request bodies that are known to be on their way.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Duration, Sleep, sleep};

use super::BoxError;
use super::activity::Activity;

/// The body of a request as it arrives. One that takes too long is an error.
pub struct Arriving {
    body: Incoming,
    /// Until when it has to have arrived, and where it is counted, for as long as there is more to
    /// come.
    expected: Option<(Pin<Box<Sleep>>, Activity)>,
}

impl Arriving {
    pub(super) fn new(body: Incoming, activity: &Activity, timeout: Duration) -> Self {
        let more = !body.is_end_stream();
        Self {
            body,
            expected: more.then(|| {
                activity.expect();
                (Box::pin(sleep(timeout)), activity.clone())
            }),
        }
    }

    fn end(&mut self, is_whole: bool) {
        if let Some((_, activity)) = self.expected.take() {
            activity.expected(is_whole);
        }
    }

    fn poll_late(&mut self, context: &mut Context<'_>) -> Poll<BoxError> {
        match &mut self.expected {
            Some((deadline, _)) => deadline.as_mut().poll(context).map(|()| {
                let late = io::Error::new(io::ErrorKind::TimedOut, "the body takes too long");
                late.into()
            }),
            None => Poll::Pending,
        }
    }
}

impl Body for Arriving {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
            return self.poll_late(context).map(|late| Some(Err(late)));
        };
        let is_last = !matches!(frame, Some(Ok(_))) || self.body.is_end_stream();
        if is_last {
            self.end(true);
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        self.end(false);
    }
}
