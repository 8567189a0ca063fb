use axum::http::Method;
use pathline_server::prometheus_client::metrics::counter::Counter;
use pathline_server::{AppState, app};

use crate::{get, send};

#[tokio::test]
async fn metrics_name_the_build_and_end_as_open_metrics_must() {
    let (_, text) = get(&app(AppState::new("1.2.3")), "/metrics").await;
    assert!(
        text.contains(r#"pathline_build_info{version="1.2.3"} 1"#),
        "{text}"
    );
    assert!(
        text.contains("# TYPE pathline_uptime_seconds gauge"),
        "{text}"
    );
    assert!(text.ends_with("# EOF\n"), "{text}");
}

#[tokio::test]
async fn requests_are_counted_by_route_and_status() {
    let router = app(AppState::new("1.2.3"));
    get(&router, "/healthz").await;
    get(&router, "/healthz").await;
    get(&router, "/readyz").await;

    let (_, text) = get(&router, "/metrics").await;

    for line in [
        r#"pathline_http_requests_total{method="GET",route="/healthz",status="200"} 2"#,
        r#"pathline_http_requests_total{method="GET",route="/readyz",status="503"} 1"#,
        r#"pathline_http_request_duration_seconds_count{method="GET",route="/healthz"} 2"#,
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

#[tokio::test]
async fn scanners_cannot_add_time_series() {
    let router = app(AppState::new("1.2.3"));
    for path in ["/a", "/b", "/c"] {
        get(&router, path).await;
        let method = Method::from_bytes(&path.as_bytes()[1..]).unwrap();
        send(&router, method, path).await;
    }

    let (_, text) = get(&router, "/metrics").await;

    let series = text
        .lines()
        .filter(|line| line.starts_with("pathline_http_requests_total{"));
    let mut series: Vec<_> = series.collect();
    series.sort_unstable();
    assert_eq!(
        series,
        [
            r#"pathline_http_requests_total{method="GET",route="none",status="404"} 3"#,
            r#"pathline_http_requests_total{method="other",route="none",status="404"} 3"#,
        ]
    );
}

#[tokio::test]
async fn another_part_registers_its_own_metrics() {
    let state = AppState::new("1.2.3");
    let reconciles: Counter = Counter::default();
    state.metrics().register(|registry| {
        registry.register("reconciles", "Owners reconciled", reconciles.clone());
    });
    reconciles.inc_by(7);

    let (_, text) = get(&app(state), "/metrics").await;

    assert!(text.contains("pathline_reconciles_total 7"), "{text}");
}
