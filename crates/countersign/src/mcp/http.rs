//! The transport over streamable HTTP, on loopback only.

use super::handler::Handler;
use super::server::Server;
use crate::loopback::{self, Gate, Listener, MESSAGE_LIMIT_BYTES, Refused};
use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::WWW_AUTHENTICATE;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use countersign_app::Failure;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;
use std::time::Duration;

const PATH: &str = "/mcp";
const TOKEN_FILE: &str = "mcp-token";
/// How long a client of an older version may be silent before its session ends: agents think for long.
const SESSION_TIMEOUT: Duration = Duration::from_secs(60 * 60);

#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// 0 takes a free port.
    pub port: u16,
    pub token: bool,
}

type Service = StreamableHttpService<Handler, LocalSessionManager>;

pub async fn serve(server: &Server, options: &HttpOptions) -> Result<(), Failure> {
    let listener = Listener::bind(server.name(), options.port).await?;
    let port = listener.port;
    let token = match options.token {
        true => Some(loopback::provide_token(server.name(), &server.project()?.ledger_dir(), TOKEN_FILE)?),
        false => None,
    };
    eprintln!("{}: http://127.0.0.1:{port}{PATH}", server.name());
    let gate = Arc::new(Gate::new(port, token));
    let admit = middleware::from_fn(move |request: Request, next: Next| admit(gate.clone(), request, next));
    let router = Router::new()
        .route_service(PATH, service(server, port))
        .route_layer(admit)
        .fallback(async || (StatusCode::NOT_FOUND, "the server is at /mcp\n"));
    listener.serve(server.tasks(), server.stopping(), router).await;
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
    // A client that cancels must not end the calls of another client.
    let handler = move || {
        let gone = server.stopping().child_token();
        Ok(Handler { server: server.clone(), gone, receipts: None })
    };
    StreamableHttpService::new(handler, Arc::new(sessions), config)
}

async fn admit(gate: Arc<Gate>, request: Request, next: Next) -> Response {
    match gate.admits(request.uri(), request.headers(), false) {
        Ok(()) => next.run(request).await,
        Err(Refused::NoHost) => {
            (StatusCode::BAD_REQUEST, "a request needs a `Host` header\n").into_response()
        }
        Err(Refused::Foreign) => {
            (StatusCode::FORBIDDEN, "the host or the origin is not this server\n").into_response()
        }
        Err(Refused::NoToken) => {
            let words = "a token is needed: Authorization: Bearer TOKEN\n";
            (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")], words).into_response()
        }
    }
}
