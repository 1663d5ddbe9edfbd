//! A port on loopback: which requests are admitted, and how many at once. `serve` and MCP over HTTP use it.
//!
//! A client needs the token, and a page of another site is never admitted: `Host` and `Origin` must be ours, which also
//! stops a foreign name that resolves to this machine.

mod gate;
mod token;

pub use gate::{Gate, Refused, hosts, origins};
pub use token::{PersonToken, Token, provide as provide_token};

use axum::Router;
use countersign_app::Failure;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The largest body of a request, and the largest message of any way in.
pub const MESSAGE_LIMIT_BYTES: usize = 16 * 1024 * 1024;

/// How many connections are served at once; more wait. Some clients keep one open all the time, so it must be more
/// than there are clients, and less than a process may have files.
const CONNECTIONS_MAX: usize = 400;
/// How long a client may take for the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long answers under way may take when the server stops.
const ENDING: Duration = Duration::from_secs(2);

pub struct Listener {
    tcp: TcpListener,
    pub port: u16,
    server: &'static str,
}

impl Listener {
    /// Takes a port on 127.0.0.1; 0 takes a free one.
    pub async fn bind(server: &'static str, port: u16) -> Result<Self, Failure> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let unusable =
            |error| Failure::usage(format!("{address} cannot be used: {error}")).hint("use another --port");
        let tcp = TcpListener::bind(address).await.map_err(unusable)?;
        let port = tcp.local_addr().map_err(unusable)?.port();
        Ok(Self { tcp, port, server })
    }

    /// Serves any number of clients until the server stops. Answers under way are finished.
    pub async fn serve(&self, tasks: &TaskTracker, stopping: &CancellationToken, router: Router) {
        let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        loop {
            let (stream, slot) = tokio::select! {
                () = stopping.cancelled() => return,
                accepted = self.accept(&slots) => match accepted {
                    Some(accepted) => accepted,
                    None => continue,
                },
            };
            let (router, stopping) = (router.clone(), stopping.clone());
            tasks.spawn(async move {
                connection(stream, router, &stopping).await;
                drop(slot);
            });
        }
    }

    async fn accept(&self, slots: &Arc<Semaphore>) -> Option<(TcpStream, OwnedSemaphorePermit)> {
        let slot = slots.clone().acquire_owned().await.ok()?;
        match self.tcp.accept().await {
            Ok((stream, _)) => Some((stream, slot)),
            Err(error) => {
                // Such as no file descriptors: temporary, and must not be retried without a pause.
                eprintln!("{}: a connection could not be accepted: {error}", self.server);
                tokio::time::sleep(Duration::from_millis(100)).await;
                None
            }
        }
    }
}

async fn connection(stream: TcpStream, router: Router, stopping: &CancellationToken) {
    let service = TowerToHyperService::new(router);
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    // An error on one connection concerns no other client.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = tokio::time::timeout(ENDING, connection).await;
        }
    }
}
