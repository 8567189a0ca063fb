//! Request bodies that are known to be on their way.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::activity::Activity;

/// The body of a request as it arrives.
pub struct Arriving {
    body: Incoming,
    /// Where it is counted, for as long as there is more to come.
    expected_by: Option<Activity>,
}

impl Arriving {
    pub(super) fn new(body: Incoming, activity: &Activity) -> Self {
        let more = !body.is_end_stream();
        Self {
            body,
            expected_by: more.then(|| {
                activity.expect();
                activity.clone()
            }),
        }
    }

    fn end(&mut self, is_whole: bool) {
        if let Some(activity) = self.expected_by.take() {
            activity.expected(is_whole);
        }
    }
}

impl Body for Arriving {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        let is_last = !matches!(frame, Some(Ok(_))) || self.body.is_end_stream();
        if is_last {
            self.end(true);
        }
        Poll::Ready(frame)
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
