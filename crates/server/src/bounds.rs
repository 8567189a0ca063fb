//! How much one client may ask of us at once, and for how long.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::refusal::Refusal;

/// The most bytes of a body; no request needs more.
pub(crate) const LARGEST_BODY: usize = 16 * 1024;
/// How many requests are worked on at once; more wait.
const AT_ONCE: usize = 64;
/// How long a request may take, waiting included.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bounds the requests that are worked on.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    room: Arc<Semaphore>,
    patience: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            room: Arc::new(Semaphore::new(AT_ONCE)),
            patience: PATIENCE,
        }
    }
}

/// Answers within the bounds, or says that it could not.
pub(crate) async fn keep(
    State(bounds): State<Bounds>,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    let answer = async {
        let permit = bounds.room.acquire().await;
        let _permit = permit.expect("the semaphore is never closed");
        next.run(request).await
    };
    timeout(bounds.patience, answer)
        .await
        .map_err(|_| Refusal::unavailable("this took too long"))
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

    fn impatient() -> Bounds {
        Bounds {
            patience: Duration::from_millis(20),
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
        let answer = router(impatient()).oneshot(request).await.unwrap();
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(answer.headers().contains_key("retry-after"));
    }

    #[tokio::test]
    async fn request_that_finds_no_room_is_told_so() {
        let bounds = impatient();
        let room = Arc::clone(&bounds.room);
        let all = room.acquire_many(u32::try_from(AT_ONCE).unwrap()).await;
        let request = Request::get("/stuck").body(Body::empty()).unwrap();
        let answer = router(bounds).oneshot(request).await.unwrap();
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        drop(all);
    }
}
