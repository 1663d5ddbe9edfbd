//! Over streamable HTTP, on loopback only.

use super::handler::Handler;
use super::server::Server;
use crate::loopback::{self, Gate, Listener, MESSAGE_LIMIT_BYTES, Refused};
use countersign_app::Failure;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderValue, WWW_AUTHENTICATE};
use hyper::{Request, Response, StatusCode};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

const PATH: &str = "/mcp";
const TOKEN_FILE: &str = "mcp-token";
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
    let listener = Listener::bind(server.name(), options.port).await?;
    let port = listener.port;
    let token = match options.token {
        true => Some(loopback::provide_token(server.name(), &server.project()?.ledger_dir(), TOKEN_FILE)?),
        false => None,
    };
    eprintln!("{}: http://127.0.0.1:{port}{PATH}", server.name());
    let (service, gate) = (service(server, port), Arc::new(Gate::new(port, token)));
    let answer = move |request| {
        let (service, gate) = (service.clone(), gate.clone());
        async move { answer(&service, &gate, request).await }
    };
    listener.serve(server.tasks(), server.stopping(), answer).await;
    Ok(())
}

fn service(server: &Server, port: u16) -> Service {
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(loopback::hosts(port))
        .with_allowed_origins(loopback::origins(port))
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

async fn answer(service: &Service, gate: &Gate, request: Request<Incoming>) -> Answer {
    if request.uri().path() != PATH {
        return refuse(StatusCode::NOT_FOUND, "the server is at /mcp\n");
    }
    match gate.admits(request.headers(), false) {
        Ok(()) => service.handle(request).await,
        Err(Refused::NoHost) => refuse(StatusCode::BAD_REQUEST, "a request names its host\n"),
        Err(Refused::Foreign) => refuse(StatusCode::FORBIDDEN, "the host or the origin is not this server\n"),
        Err(Refused::NoToken) => {
            let mut refused =
                refuse(StatusCode::UNAUTHORIZED, "a token is needed: Authorization: Bearer TOKEN\n");
            refused.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            refused
        }
    }
}

fn refuse(status: StatusCode, words: &'static str) -> Answer {
    let mut response = Response::new(Full::new(Bytes::from_static(words.as_bytes())).boxed());
    *response.status_mut() = status;
    response
}
