//! From a request to its answer: who is let in, which route it is, what it brings.

use super::body::Answered;
use super::call::{Call, Content, Reply};
use super::parameter::{Parameters, Place};
use super::refusal::Refusal;
use super::route::{Found, Route, find};
use crate::loopback::{Gate, MESSAGE_LIMIT_BYTES, Refused};
use countersign_app::resident::Resident;
use countersign_app::{Code, Failure};
use countersign_core::strict_json;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Request, Response, StatusCode};
use serde_json::Value;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long a client may take for a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Answers a request.
pub async fn answer(resident: &Resident, gate: &Gate, request: Request<Incoming>) -> Response<Answered> {
    let found = find(request.method(), request.uri().path());
    let route = match &found {
        Found::Route(route, _) => Some(*route),
        _ => None,
    };
    let allow = match &found {
        Found::OtherMethods(methods) => {
            Some(methods.iter().map(|method| method.as_str()).collect::<Vec<_>>().join(", "))
        }
        _ => None,
    };
    let admitted = gate.admits(request.headers(), route.is_some_and(|route| route.open));
    let (reply, denied) = match admitted {
        Ok(()) => (routed(resident, found, request).await, false),
        Err(refused) => (Err(not_let_in(refused)), refused == Refused::NoToken),
    };
    let mut response = match reply {
        Ok(reply) => given(resident, reply),
        Err(refusal) => whole(refusal.status, &refusal.json(route), None),
    };
    let headers = response.headers_mut();
    if denied {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if let Some(allow) = allow.and_then(|allow| HeaderValue::from_str(&allow).ok()) {
        headers.insert(ALLOW, allow);
    }
    response
}

fn not_let_in(refused: Refused) -> Refusal {
    match refused {
        Refused::NoHost => Refusal::malformed("a request names its host, once"),
        Refused::Foreign => {
            Refusal::new(StatusCode::FORBIDDEN, Code::Foreign, "`Host` or `Origin` is not this server")
                .hint("pages of others are not let in; ask 127.0.0.1 and the port itself")
        }
        Refused::NoToken => {
            Refusal::new(StatusCode::UNAUTHORIZED, Code::Token, "the token is missing or wrong").hint(
                "send `Authorization: Bearer TOKEN`, with the token that .countersign/serve-token holds",
            )
        }
    }
}

async fn routed(resident: &Resident, found: Found, request: Request<Incoming>) -> Result<Reply, Refusal> {
    let (route, parts) = match found {
        Found::Route(route, parts) => (route, parts),
        Found::OtherMethods(_) => {
            let words = format!("there is no {} here", request.method());
            return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, Code::Method, words));
        }
        Found::Nothing => {
            return Err(Refusal::new(StatusCode::NOT_FOUND, Code::NotFound, "there is nothing at this path")
                .hint("/openapi.json lists every path there is"));
        }
    };
    let mut parameters = Parameters::read(route.parameters, request.uri().query())?;
    from_headers(route, request.headers(), &mut parameters)?;
    let body = match route.body {
        Some(_) => Some(read(request).await?),
        None => None,
    };
    let gone = resident.stopping().child_token();
    let call = Call { resident: resident.clone(), route, parameters, gone: gone.clone(), parts, body };
    // Whoever hangs up ends the waiting; what was begun is finished all the same.
    let _hung_up = gone.drop_guard();
    let running = resident.tasks().spawn((route.run)(call));
    match running.await {
        Ok(ended) => ended,
        Err(error) => Err(Failure::internal(format!("the request broke off: {error}")).into()),
    }
}

fn from_headers(route: &Route, headers: &HeaderMap, into: &mut Parameters) -> Result<(), Refusal> {
    for parameter in route.parameters.iter().filter(|parameter| parameter.place == Place::Header) {
        for value in headers.get_all(parameter.name) {
            let value = value.to_str().unwrap_or_default().to_owned();
            into.take(parameter, value)?;
        }
    }
    Ok(())
}

/// The body of a request, as JSON that means one thing.
async fn read(request: Request<Incoming>) -> Result<Value, Refusal> {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let words = "the body must be `Content-Type: application/json`";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::ContentType, words));
    }
    let bytes =
        tokio::time::timeout(BODY_TIMEOUT, Limited::new(request, MESSAGE_LIMIT_BYTES).collect()).await;
    let bytes = match bytes {
        Ok(Ok(collected)) => collected.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let words = format!("the body has more than {MESSAGE_LIMIT_BYTES} bytes");
            return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, Code::TooLarge, words));
        }
        Ok(Err(_)) => return Err(Refusal::malformed("the body broke off")),
        Err(_) => {
            let words = format!("the body took longer than {} seconds", BODY_TIMEOUT.as_secs());
            return Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, Code::Timeout, words));
        }
    };
    let text = std::str::from_utf8(&bytes).map_err(|_| Refusal::malformed("the body is not UTF-8"))?;
    strict_json::parse(text).map_err(|error| Refusal::malformed(format!("the body is not JSON: {error}")))
}

fn given(resident: &Resident, reply: Reply) -> Response<Answered> {
    let Reply { status, content, location, afterwards } = reply;
    let taken = afterwards.map(|afterwards| {
        let (tell, told) = oneshot::channel();
        resident.spawn(async move {
            if told.await.is_ok() {
                afterwards.await;
            }
        });
        tell
    });
    let mut response = match content {
        Content::Json(json) => whole(status, &json, taken),
        Content::Events(events) => with_type(status, "text/event-stream", Answered::Pieces(events)),
    };
    if let Some(location) = location.and_then(|location| HeaderValue::from_str(&location).ok()) {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}

fn whole(status: StatusCode, json: &Value, taken: Option<oneshot::Sender<()>>) -> Response<Answered> {
    let bytes = Bytes::from(format!("{json}\n"));
    with_type(status, "application/json", Answered::Whole(Some(bytes), taken))
}

fn with_type(status: StatusCode, kind: &'static str, body: Answered) -> Response<Answered> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers: [(HeaderName, &'static str); 3] =
        [(CONTENT_TYPE, kind), (CACHE_CONTROL, "no-store"), (X_CONTENT_TYPE_OPTIONS, "nosniff")];
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
