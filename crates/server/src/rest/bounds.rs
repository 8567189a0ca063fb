//! Bounds of requests: how many at once, how large, and for how long.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::error::ApiError;

/// The most bytes of a body; no request needs more.
pub(crate) const MAX_BODY_BYTES: usize = 16 * 1024;
/// The most requests that are worked on at once; more wait.
const MAX_CONCURRENT: usize = 64;
/// The time that a request may take, waiting included.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Bounds the requests that are worked on.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    room: Arc<Semaphore>,
    timeout: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            room: Arc::new(Semaphore::new(MAX_CONCURRENT)),
            timeout: REQUEST_TIMEOUT,
        }
    }
}

/// Answers within the bounds, or says that it could not.
pub(crate) async fn keep(
    State(bounds): State<Bounds>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let answer = async {
        let permit = bounds.room.acquire().await;
        let _permit = permit.expect("the semaphore is never closed");
        next.run(request).await
    };
    timeout(bounds.timeout, answer)
        .await
        .map_err(|_| ApiError::unavailable("this took too long"))
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::http::StatusCode;
    use axum::middleware::from_fn_with_state;
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;

    fn short_timeout() -> Bounds {
        Bounds {
            timeout: Duration::from_millis(20),
            ..Bounds::default()
        }
    }

    fn router(bounds: Bounds) -> Router {
        Router::new()
            .route("/stuck", get(std::future::pending::<()>))
            .layer(from_fn_with_state(bounds, keep))
    }

    #[tokio::test]
    async fn answer_that_never_comes_is_given_up() {
        let request = Request::get("/stuck").body(Body::empty()).unwrap();
        let answer = router(short_timeout()).oneshot(request).await.unwrap();
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(answer.headers().contains_key("retry-after"));
    }

    #[tokio::test]
    async fn request_that_finds_no_room_is_told_so() {
        let bounds = short_timeout();
        let room = Arc::clone(&bounds.room);
        let all = room
            .acquire_many(u32::try_from(MAX_CONCURRENT).unwrap())
            .await;
        let request = Request::get("/stuck").body(Body::empty()).unwrap();
        let answer = router(bounds).oneshot(request).await.unwrap();
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        drop(all);
    }
}
