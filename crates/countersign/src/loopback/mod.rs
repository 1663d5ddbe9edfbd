//! A port on this machine alone: who is let in, and how many at once. Everything that is served over HTTP is served
//! through here.
//!
//! Whoever may use the port is asked for a token, and a page in a browser is not let in whatever it has: `Host` and
//! `Origin` must be ours, so that a name that is made to lead here does not help.

mod gate;
mod token;

pub use gate::{Gate, Refused, hosts, origins};
pub use token::{Token, provide as provide_token};

use countersign_app::Failure;
use hyper::body::{Body, Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
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

/// How many connections are served at once; more wait. Some clients keep one open for as long as they are there, so it
/// must be more than there are clients, and less than a process may have files.
const CONNECTIONS_MAX: usize = 400;
/// How long a client may take for the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long answers that are being given may take when the server stops.
const ENDING: Duration = Duration::from_secs(2);

/// A port that nobody else has.
pub struct Listener {
    tcp: TcpListener,
    /// Its number.
    pub port: u16,
    server: &'static str,
}

impl Listener {
    /// Takes a port on 127.0.0.1; 0 takes a free one.
    pub async fn bind(server: &'static str, port: u16) -> Result<Self, Failure> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let unusable =
            |error| Failure::usage(format!("{address} cannot be used: {error}")).hint("take another --port");
        let tcp = TcpListener::bind(address).await.map_err(unusable)?;
        let port = tcp.local_addr().map_err(unusable)?.port();
        Ok(Self { tcp, port, server })
    }

    /// Answers any number of clients until the server stops. Answers that are being given then are finished.
    pub async fn serve<A, F, B>(&self, tasks: &TaskTracker, stopping: &CancellationToken, answer: A)
    where
        A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
        F: Future<Output = Response<B>> + Send + 'static,
        B: Body<Data = Bytes, Error = Infallible> + Send + 'static,
    {
        let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        loop {
            let (stream, slot) = tokio::select! {
                () = stopping.cancelled() => return,
                accepted = self.accept(&slots) => match accepted {
                    Some(accepted) => accepted,
                    None => continue,
                },
            };
            let (answer, stopping) = (answer.clone(), stopping.clone());
            tasks.spawn(async move {
                connection(stream, answer, &stopping).await;
                drop(slot);
            });
        }
    }

    async fn accept(&self, slots: &Arc<Semaphore>) -> Option<(TcpStream, OwnedSemaphorePermit)> {
        let slot = slots.clone().acquire_owned().await.ok()?;
        match self.tcp.accept().await {
            Ok((stream, _)) => Some((stream, slot)),
            Err(error) => {
                // Such as no file descriptors: it passes, and must not be asked for without pause.
                eprintln!("{}: a connection could not be taken: {error}", self.server);
                tokio::time::sleep(Duration::from_millis(100)).await;
                None
            }
        }
    }
}

async fn connection<A, F, B>(stream: TcpStream, answer: A, stopping: &CancellationToken)
where
    A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes, Error = Infallible> + Send + 'static,
{
    let service = service_fn(move |request| {
        let answer = answer(request);
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    // A connection that breaks off concerns nobody else.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = tokio::time::timeout(ENDING, connection).await;
        }
    }
}
