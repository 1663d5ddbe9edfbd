//! The addresses of the page, and what every request has to show before it is answered.

use super::form::Fields;
use super::sign_in::Session;
use super::{Web, assets, decision, errors, history, inbox, insights, layout, review, tasks};
use axum::Router;
use axum::extract::{Path, Request};
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{RequestExt, http::header::HeaderMap};
use countersign_app::Failure;
use countersign_app::feed::Feed;
use countersign_app::page::Scope;
use countersign_app::project::Project;
use countersign_engine::ledger::Ledger;
use futures_util::{StreamExt, stream};
use maud::html;
use std::convert::Infallible;
use std::time::Duration;

/// How often a silent stream sends a comment.
const BEAT: Duration = Duration::from_secs(15);

/// The routes of the page. They answer only under its own name.
pub fn router(web: &Web) -> Router {
    let paths = [
        "/",
        "/open",
        "/tasks",
        "/history",
        "/insights",
        "/events",
        "/r/{id}",
        "/r/{id}/decision",
        "/assets/{name}",
    ];
    let mut router = Router::new();
    for path in paths {
        let web = web.clone();
        let handler = move |request: Request| async move { web.answer(path, request).await };
        router = router.route(path, any(handler));
    }
    router
}

/// A request of the person who has a session.
pub struct Visit {
    pub web: Web,
    pub session: Session,
    pub project: Project,
    pub ledger: Option<Ledger>,
    pub fields: Fields,
    /// The `{id}` of the path.
    pub id: String,
}

impl Web {
    /// Whether a request is for the page and not for the API.
    pub fn is_host(&self, headers: &HeaderMap) -> bool {
        self.0.sign_in.is_host(headers)
    }

    pub fn no_such_page(&self) -> Response {
        errors::not_found()
    }

    async fn answer(&self, path: &'static str, request: Request) -> Response {
        if !self.is_host(request.headers()) {
            return errors::not_found();
        }
        let is_post = *request.method() == Method::POST;
        if !is_post && *request.method() != Method::GET && *request.method() != Method::HEAD {
            return StatusCode::METHOD_NOT_ALLOWED.into_response();
        }
        match (path, is_post) {
            ("/assets/{name}", false) => {
                assets::at(request.uri().path()).map_or_else(errors::not_found, assets::Asset::response)
            }
            ("/open", false) => self.link_page(&Fields::of_query(&request)),
            ("/open", true) => self.sign_in(request).await,
            ("/r/{id}/decision", true) => self.decision(request).await,
            (_, true) | ("/r/{id}/decision", false) => StatusCode::METHOD_NOT_ALLOWED.into_response(),
            (path, false) => self.page(path, request).await,
        }
    }

    /// The link leads to a button: what looks at links before a person opens them does not use it up.
    fn link_page(&self, fields: &Fields) -> Response {
        let code = fields.get("code").unwrap_or_default();
        if !self.0.sign_in.is_good(code) {
            let body = html! {
                div .lead { h1 { "This link is no longer good" } }
                div .card.pad {
                    p { "A link is good once and for two minutes. Press Enter in the terminal where the server runs for a new one." }
                }
            };
            return layout::page(
                StatusCode::GONE,
                &layout::Head { title: "Link", ..Default::default() },
                body,
            );
        }
        let body = html! {
            div .lead { h1 { "Open Countersign" } }
            div .card.pad {
                p { "Decisions on this page are recorded as yours. It stays open for 12 hours in this browser." }
                form method="post" action="/open" {
                    input type="hidden" name="code" value=(code);
                    button .btn.pri autofocus { "Open the inbox" }
                }
            }
        };
        layout::page(StatusCode::OK, &layout::Head { title: "Open", ..Default::default() }, body)
    }

    async fn sign_in(&self, request: Request) -> Response {
        if !self.0.sign_in.is_own_form(request.headers()) {
            return errors::foreign();
        }
        let fields = Fields::of_body(request).await.unwrap_or_default();
        match self.0.sign_in.begin(fields.get("code").unwrap_or_default()) {
            Ok(Some(cookie)) => {
                let mut response = see_other("/");
                if let Ok(cookie) = HeaderValue::from_str(&cookie) {
                    response.headers_mut().insert(SET_COOKIE, cookie);
                }
                response
            }
            Ok(None) => self.link_page(&Fields::default()),
            Err(failure) => errors::failed(&failure),
        }
    }

    async fn page(&self, path: &'static str, mut request: Request) -> Response {
        let Some(session) = self.0.sign_in.session(request.headers()) else { return errors::no_session() };
        let id = match id_of(path, &mut request).await {
            Ok(id) => id,
            Err(response) => return response,
        };
        if path == "/events" {
            return self.events(request.headers()).await;
        }
        let fields = Fields::of_query(&request);
        let shown = match self.visit(session, fields, id).await {
            Ok(visit) => match path {
                "/" => inbox::page(&visit).await,
                "/tasks" => tasks::page(&visit).await,
                "/history" => history::page(&visit).await,
                "/insights" => insights::page(&visit).await,
                _ => review::page(&visit, StatusCode::OK, None).await,
            },
            Err(failure) => Err(failure),
        };
        shown.unwrap_or_else(|failure| errors::failed(&failure))
    }

    async fn visit(&self, session: Session, fields: Fields, id: String) -> Result<Visit, Failure> {
        let project = self.0.resident.project()?;
        let ledger = self.0.resident.ledger(&project).await?;
        Ok(Visit { web: self.clone(), session, project, ledger, fields, id })
    }

    async fn decision(&self, mut request: Request) -> Response {
        let Some(session) = self.0.sign_in.session(request.headers()) else { return errors::no_session() };
        if !self.0.sign_in.is_own_form(request.headers()) {
            return errors::foreign();
        }
        let id = match id_of("/r/{id}/decision", &mut request).await {
            Ok(id) => id,
            Err(response) => return response,
        };
        let fields = Fields::of_body(request).await.unwrap_or_default();
        if !session.has_sent(fields.get("form").unwrap_or_default()) {
            return errors::foreign();
        }
        match self.visit(session, fields, id).await {
            Ok(visit) => decision::decide(&visit).await,
            Err(failure) => errors::failed(&failure),
        }
    }

    /// Says that something has changed, with the number of the event to resume after. It says nothing about what it is.
    async fn events(&self, headers: &HeaderMap) -> Response {
        let Ok(slot) = self.0.streams.clone().try_acquire_owned() else { return errors::too_many() };
        let feed = match self.feed(headers).await {
            Ok(feed) => feed,
            Err(failure) => return errors::failed(&failure),
        };
        let stopping = self.0.resident.stopping().clone();
        let next = move |mut feed: Feed| {
            // Kept for as long as the stream is there.
            let _slot = &slot;
            let stopping = stopping.clone();
            async move {
                let event = tokio::select! {
                    () = stopping.cancelled() => return None,
                    event = feed.next() => event.ok()?,
                };
                let event = sse::Event::default().id(event.seq.to_string()).event("change").data("new");
                Some((Ok::<_, Infallible>(event), feed))
            }
        };
        let connected = stream::once(async { Ok(sse::Event::default().retry(Duration::from_secs(1))) });
        Sse::new(connected.chain(stream::unfold(feed, next)))
            .keep_alive(KeepAlive::new().interval(BEAT).text("still here"))
            .into_response()
    }

    async fn feed(&self, headers: &HeaderMap) -> Result<Feed, Failure> {
        let project = self.0.resident.project()?;
        let ledger = self.0.resident.ledger_to_write(&project).await?;
        let after = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        // A number that this ledger never had belongs to another one: begin with what is new.
        let last = ledger.last_seq().await?;
        Ok(Feed::after(ledger, after.filter(|after| *after <= last)).await?)
    }
}

impl Visit {
    /// The name of the project: its folder.
    pub fn name(&self) -> String {
        let root = self.project.root.path();
        root.file_name()
            .map_or_else(|| root.display().to_string(), |name| name.to_string_lossy().into_owned())
    }

    pub fn scope(&self) -> Scope {
        Scope {
            file: self.fields.filled("file").map(str::to_owned),
            all_rows: self.fields.get("rows") == Some("all"),
        }
    }
}

async fn id_of(path: &str, request: &mut Request) -> Result<String, Response> {
    match path.contains("{id}") {
        false => Ok(String::new()),
        true => match request.extract_parts::<Path<String>>().await {
            Ok(Path(id)) => Ok(id),
            Err(_) => Err(errors::not_found()),
        },
    }
}

pub fn see_other(path: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(LOCATION, path);
    }
    response
}
