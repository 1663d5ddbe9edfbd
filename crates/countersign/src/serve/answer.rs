//! From a request to its answer: the router made from the tables, the gate, parameters and body.

use super::call::{Call, json};
use super::parameter::{ParameterIn, Parameters};
use super::refusal::Refusal;
use super::route::{Route, all};
use crate::loopback::{Gate, MESSAGE_LIMIT_BYTES, Refused};
use crate::web::{self, Web};
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Request};
use axum::http::StatusCode;
use axum::http::header::{CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use axum::response::Response;
use axum::routing::on;
use axum::{RequestExt, Router};
use countersign_app::author::{Account, NotAPerson};
use countersign_app::server_state::ServerState;
use countersign_app::{Code, Failure};
use countersign_core::review::{Actor, ActorKind, Channel, Evidence};
use countersign_core::strict_json;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

const BODY_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub struct Served {
    pub resident: ServerState,
    pub gate: Arc<Gate>,
    /// Why there is no token of a person, where there is none.
    pub no_person: Option<NotAPerson>,
    /// The page for that person.
    pub page: Option<Web>,
    /// The slots of event streams.
    pub streams: Arc<Semaphore>,
}

/// Answers every request. Unknown paths are reported only to clients that the gate admits.
pub fn router(served: &Served) -> Router {
    let mut router = Router::new();
    for route in all() {
        let own = served.clone();
        let handler = move |request: Request| async move { own.answer(Some(route), request).await };
        router = router.route(route.path, on(route.method.1, handler));
    }
    if let Some(page) = &served.page {
        router = router.merge(web::router(page));
    }
    let (own, other) = (served.clone(), served.clone());
    router
        .method_not_allowed_fallback(|request: Request| async move { own.no_method(request).await })
        .fallback(|request: Request| async move { other.answer(None, request).await })
        .layer(DefaultBodyLimit::max(MESSAGE_LIMIT_BYTES))
}

impl Served {
    async fn answer(&self, route: Option<&'static Route>, request: Request) -> Response {
        if let Some(page) = self.page.as_ref().filter(|page| page.is_host(request.headers())) {
            return page.no_such_page();
        }
        let admitted =
            self.gate.admits(request.uri(), request.headers(), route.is_some_and(|route| route.open));
        let ended = match (admitted, route) {
            (Err(refused), _) => return not_admitted(refused, route),
            (Ok(()), Some(route)) => self.run(route, request).await,
            (Ok(()), None) => Err(Refusal::new(StatusCode::NOT_FOUND, Code::NotFound, "unknown path")
                .hint("/openapi.json lists all paths")),
        };
        ended.unwrap_or_else(|refusal| {
            let mut response = json(refusal.status, &refusal.json(route));
            if refusal.status == StatusCode::SERVICE_UNAVAILABLE {
                // Others need its connection.
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            response
        })
    }

    async fn no_method(&self, request: Request) -> Response {
        if let Err(refused) = self.gate.admits(request.uri(), request.headers(), false) {
            return not_admitted(refused, None);
        }
        let words = format!(
            "this path does not support {}; the `Allow` header lists the methods it supports",
            request.method()
        );
        let refusal = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, Code::Method, words);
        json(refusal.status, &refusal.json(None))
    }

    async fn run(&self, route: &'static Route, mut request: Request) -> Result<Response, Refusal> {
        let id = match route.path.contains('{') {
            true => request.extract_parts::<Path<String>>().await.map(|Path(id)| id),
            false => Ok(String::new()),
        };
        let id = id.map_err(|_| Refusal::malformed("the path is not percent-encoded UTF-8"))?;
        let mut parameters = Parameters::read(route.parameters, request.uri().query())?;
        from_headers(route, request.headers(), &mut parameters)?;
        let headers = request.headers().clone();
        let body = match route.body {
            Some(_) => Some(read(request).await?),
            None => None,
        };
        let by = self.actor(&headers);
        let resident = self.resident.clone();
        let gone = resident.stopping().child_token();
        let streams = self.streams.clone();
        let call = Call { resident, route, parameters, gone: gone.clone(), id, body, by, streams };
        // A client that hangs up ends the waiting; the work that began is finished.
        let _hung_up = gone.drop_guard();
        match self.resident.tasks().spawn((route.run)(call)).await {
            Ok(ended) => ended,
            Err(error) => Err(Failure::internal(format!("the request failed: {error}")).into()),
        }
    }
}

impl Served {
    /// Who sends a request: the person who started the server, by the token shown at the terminal, or else a client, with
    /// the reason why it is no person.
    fn actor(&self, headers: &HeaderMap) -> (Actor, Option<String>) {
        let account = Account::own().words();
        let Some(token) = self.gate.person(headers) else {
            let why = match &self.no_person {
                Some(why) => format!("no person started this server at a terminal: {}", why.words()),
                None => {
                    "send the token that the server showed at the terminal where it was started; the one in \
                         the file `serve-token` beside the ledger is for clients that do not decide"
                        .to_owned()
                }
            };
            return (
                Actor::new(format!("a client of {account}"), ActorKind::Unknown, Channel::Http),
                Some(why),
            );
        };
        let (token, terminal) = (Some(token.name.clone()), token.terminal.clone());
        let evidence = Evidence { terminal, token, signature: None };
        (Actor { evidence, ..Actor::new(account, ActorKind::Person, Channel::Http) }, None)
    }
}

fn not_admitted(refused: Refused, route: Option<&Route>) -> Response {
    let refusal = match refused {
        Refused::NoHost => Refusal::malformed("a request needs exactly one `Host` header"),
        Refused::Foreign => Refusal::new(
            StatusCode::FORBIDDEN,
            Code::Foreign,
            "`Host`, `Origin` or the target is not this server",
        )
        .hint("pages of other sites are refused; send requests to 127.0.0.1 and this port"),
        Refused::NoToken => Refusal::new(
            StatusCode::UNAUTHORIZED,
            Code::Token,
            "the token is missing or wrong",
        )
        .hint(
            "send `Authorization: Bearer TOKEN`, with the token in the file `serve-token` beside the ledger",
        ),
    };
    let mut response = json(refusal.status, &refusal.json(route));
    if refused == Refused::NoToken {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

fn from_headers(route: &Route, headers: &HeaderMap, into: &mut Parameters) -> Result<(), Refusal> {
    for parameter in route.parameters.iter().filter(|parameter| parameter.place == ParameterIn::Header) {
        for value in headers.get_all(parameter.name) {
            let value = value.to_str().unwrap_or_default().to_owned();
            into.take(parameter, value)?;
        }
    }
    Ok(())
}

/// The body of a request, an object of strict JSON.
async fn read(request: Request) -> Result<Value, Refusal> {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let words = "the body must be `Content-Type: application/json`";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::ContentType, words));
    }
    let bytes = match tokio::time::timeout(BODY_TIMEOUT, request.extract::<Bytes, _>()).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) if error.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            let words = format!("the body has more than {MESSAGE_LIMIT_BYTES} bytes");
            return Err(Refusal::new(error.status(), Code::TooLarge, words));
        }
        Ok(Err(_)) => return Err(Refusal::malformed("the body ended early")),
        Err(_) => {
            let words = format!("the body took longer than {} seconds", BODY_TIMEOUT.as_secs());
            return Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, Code::Timeout, words));
        }
    };
    let text = std::str::from_utf8(&bytes).map_err(|_| Refusal::malformed("the body is not UTF-8"))?;
    let body = strict_json::parse(text);
    let body = body.map_err(|error| Refusal::malformed(format!("the body is not JSON: {error}")))?;
    match body.is_object() {
        true => Ok(body),
        false => Err(Refusal::malformed("the body must be a JSON object")),
    }
}
