use std::net::SocketAddr;

use pathline_server::{listen, reachable};

#[tokio::test]
async fn port_in_use_names_the_flag_to_change() {
    let taken = listen("127.0.0.1:0", "--listen").await.unwrap();
    let address = taken.local_addr().unwrap().to_string();

    let error = listen(&address, "--listen").await.unwrap_err();

    assert_eq!(
        error.to_string(),
        format!("cannot listen on {address} (`--listen`)")
    );
    assert!(
        error.hint().contains("`--listen 127.0.0.1:0`"),
        "{}",
        error.hint()
    );
}

#[test]
fn listener_on_all_addresses_is_reached_through_loopback() {
    let address = |text: &str| text.parse::<SocketAddr>().unwrap();
    assert_eq!(reachable(address("0.0.0.0:80")), address("127.0.0.1:80"));
    assert_eq!(reachable(address("[::]:80")), address("[::1]:80"));
    assert_eq!(reachable(address("10.1.2.3:80")), address("10.1.2.3:80"));
}
