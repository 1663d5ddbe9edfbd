//! Over streamable HTTP, on loopback only. Whoever may use the port is asked for a token, and a page in a browser
//! is not let in whatever it has: `Host` and `Origin` must be ours, so that a name that is made to lead here
//! does not help.

mod token;

use super::handler::Handler;
use super::server::Server;
use super::stdio::MESSAGE_LIMIT_BYTES;
use crate::cli::Failure;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use token::Token;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

const PATH: &str = "/mcp";
/// How many connections are served at once; more wait. Clients of older versions keep one open for as long as they are
/// there, so it must be more than there are clients, and less than a process may have files.
const CONNECTIONS_MAX: usize = 400;
/// How long a client may take for the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a client of an older version may be silent before it has to begin anew: agents think for long.
const SESSION_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// How the port is opened.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// The port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// Whether clients must bring a token.
    pub token: bool,
}

type Service = StreamableHttpService<Handler, LocalSessionManager>;
type Answer = Response<http_body_util::combinators::BoxBody<Bytes, Infallible>>;

/// Serves any number of clients until the server stops.
pub async fn serve(server: &Server, options: &HttpOptions) -> Result<(), Failure> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
    let unusable =
        |error| Failure::usage(format!("{address} cannot be used: {error}")).hint("take another --port");
    let listener = TcpListener::bind(address).await.map_err(unusable)?;
    let port = listener.local_addr().map_err(unusable)?.port();
    let token = match options.token {
        true => Some(Arc::new(token::provide(&server.project()?.ledger_dir())?)),
        false => None,
    };
    eprintln!("countersign mcp: http://127.0.0.1:{port}{PATH}");
    let service = service(server, port);
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let (stream, slot) = tokio::select! {
            () = server.stopping().cancelled() => return Ok(()),
            accepted = accept(&listener, &slots) => match accepted {
                Some(accepted) => accepted,
                None => continue,
            },
        };
        let (service, token, stopping) = (service.clone(), token.clone(), server.stopping().clone());
        server.spawn(async move {
            tokio::select! {
                () = connection(stream, service, token) => {}
                () = stopping.cancelled() => {}
            }
            drop(slot);
        });
    }
}

async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let slot = slots.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, slot)),
        Err(error) => {
            // Such as no file descriptors: it passes, and must not be asked for without pause.
            eprintln!("countersign mcp: a connection could not be taken: {error}");
            tokio::time::sleep(Duration::from_millis(100)).await;
            None
        }
    }
}

fn service(server: &Server, port: u16) -> Service {
    let names = ["127.0.0.1", "localhost", "[::1]"];
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(names.map(|name| format!("{name}:{port}")))
        .with_allowed_origins(names.map(|name| format!("http://{name}:{port}")))
        .enforce_origin_validation()
        .with_cancellation_token(server.stopping().clone())
        .with_max_request_body_bytes(MESSAGE_LIMIT_BYTES);
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(SESSION_TIMEOUT);
    let server = server.clone();
    // What one client cancels must not end another's calls; that a client is gone shows in its own request.
    let handler = move || Ok(Handler::new(server.clone(), server.stopping().child_token(), None));
    StreamableHttpService::new(handler, Arc::new(sessions), config)
}

async fn connection(stream: TcpStream, service: Service, token: Option<Arc<Token>>) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let (service, token) = (service.clone(), token.clone());
        async move { Ok::<_, Infallible>(answer(&service, token.as_deref(), request).await) }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    // A connection that breaks off concerns nobody else.
    let _ = http.serve_connection(TokioIo::new(stream), answer).await;
}

async fn answer(service: &Service, token: Option<&Token>, request: Request<Incoming>) -> Answer {
    if request.uri().path() != PATH {
        return refuse(StatusCode::NOT_FOUND, "the server is at /mcp\n");
    }
    let given = request.headers().get(AUTHORIZATION).map(|value| value.as_bytes());
    if let Some(token) = token
        && !token.admits(given)
    {
        let mut refused =
            refuse(StatusCode::UNAUTHORIZED, "a token is needed: Authorization: Bearer TOKEN\n");
        refused.headers_mut().insert(WWW_AUTHENTICATE, hyper::header::HeaderValue::from_static("Bearer"));
        return refused;
    }
    service.handle(request).await
}

fn refuse(status: StatusCode, words: &'static str) -> Answer {
    let mut response = Response::new(Full::new(Bytes::from_static(words.as_bytes())).boxed());
    *response.status_mut() = status;
    response
}
