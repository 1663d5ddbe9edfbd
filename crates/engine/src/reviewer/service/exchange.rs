//! One question and its reply over HTTP: sent, sent again where that may help, and read as it comes. Also the probe,
//! whether a service is there and takes its key, without a question that costs anything.

use super::sse::{Events, Unreadable};
use super::{Api, Key, Question, Service, chat, messages, refusal};
use crate::http::retry::{self, Failed, GivenUp};
use crate::http::{ServiceHost, chain, client, secret};
use crate::programs::{Kind, ParsedOutput, Problem, ReplyBody, Usage};
use crate::reviewer::Brief;
use crate::reviewer::brief::NOT_UTF_8;
use countersign_core::strict_json;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, LOCATION};
use reqwest::{RequestBuilder, Response};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// What may stand around a piece of a reply in one event.
const AROUND_BYTES: usize = 64 * 1024;
/// Every few bytes of a reply come in an event of their own, which is many times longer.
const STREAM_FACTOR: usize = 100;
const REFUSAL_BYTES: usize = 64 * 1024;
/// After the last event the connection is free for the next question, if its end is seen.
const LAST_BYTES: Duration = Duration::from_millis(100);

/// How long a service may say nothing at all.
#[derive(Clone, Copy, Debug)]
pub struct Silence {
    /// Before its first byte: models that think and small machines with a long question are silent at first.
    pub at_first: Duration,
    pub between: Duration,
}

impl Silence {
    pub fn usual() -> Self {
        Self { at_first: Duration::from_secs(120), between: Duration::from_secs(60) }
    }
}

pub struct Exchange<'a> {
    pub service: &'a Service,
    pub place: &'a ServiceHost,
    pub key: Option<&'a Key>,
    pub question: &'a Question<'a>,
    pub brief: &'a Brief,
    pub silence: Silence,
}

/// What came of one try: what was heard, or that it was turned away or never got there.
type Tried = Result<ParsedOutput, Failed<Refused>>;

struct Refused {
    problem: Problem,
    about_schema: bool,
}

/// Servers that take no schema: address and model. Learned once in a process.
static WITHOUT_SCHEMA: LazyLock<Mutex<HashSet<(String, String)>>> = LazyLock::new(Mutex::default);

impl Exchange<'_> {
    /// Asks, as often as makes sense, for no longer than the question may take.
    pub async fn within_time(&self) -> ParsedOutput {
        let heard_bytes = AtomicUsize::new(0);
        let deadline = Instant::now() + self.brief.timeout;
        timeout(self.brief.timeout, self.ask(deadline, &heard_bytes)).await.unwrap_or_else(|_| {
            let words = match heard_bytes.load(Ordering::Relaxed) {
                0 => "it did not begin to answer",
                _ => "it was still answering",
            };
            failed(Problem::new(Kind::TimedOut, words))
        })
    }

    async fn ask(&self, deadline: Instant, heard_bytes: &AtomicUsize) -> ParsedOutput {
        let once = || self.with_or_without_schema(heard_bytes);
        match retry::HTTP.run(deadline, self.brief.call.as_str(), once).await {
            Ok(heard) => heard,
            Err(GivenUp { last, left_alone: None, .. }) => failed(last.why.problem),
            Err(GivenUp { last, left_alone: Some(wait), .. }) => {
                failed(last.why.problem.asking_to_wait(wait))
            }
        }
    }

    /// A server that does not take the schema is asked once more without it, and then always so.
    async fn with_or_without_schema(&self, heard_bytes: &AtomicUsize) -> Tried {
        let server = (self.service.base_url.clone(), self.service.model.clone());
        let known = || WITHOUT_SCHEMA.lock().unwrap_or_else(PoisonError::into_inner);
        let with_schema = !known().contains(&server);
        let tried = self.once(with_schema, heard_bytes).await;
        if !with_schema || !tried.as_ref().is_err_and(|refused| refused.why.about_schema) {
            return tried;
        }
        let tried = self.once(false, heard_bytes).await;
        if tried.is_ok() {
            known().insert(server);
        }
        tried
    }

    async fn once(&self, with_schema: bool, heard_bytes: &AtomicUsize) -> Tried {
        let request = match self.request(with_schema) {
            Ok(request) => request,
            Err(words) => return Ok(failed(Problem::new(Kind::NotStarted, &words))),
        };
        let response = match timeout(self.silence.at_first, request.send()).await {
            Err(_) => return Ok(failed(silent(self.silence.at_first))),
            Ok(Err(error)) => return unreached(&error),
            Ok(Ok(response)) => response,
        };
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        let form = match form(&response) {
            Ok(form) => form,
            Err(other) => return Ok(failed(other)),
        };
        let mut reply: Box<dyn StreamReply> = match self.service.api {
            Api::Anthropic => Box::<messages::Reply>::default(),
            Api::OpenAi => Box::<chat::Reply>::default(),
        };
        let read = match form {
            ReplyForm::Stream => self.read(response, reply.as_mut(), heard_bytes).await,
            ReplyForm::Whole => self.read_whole(response, reply.as_mut(), heard_bytes).await,
        };
        let said = read.and_then(|()| reply.said()).map(ReplyBody::Text);
        Ok(ParsedOutput { said, usage: reply.usage() })
    }

    fn request(&self, with_schema: bool) -> Result<RequestBuilder, String> {
        let (path, body) = match self.service.api {
            Api::Anthropic => ("messages", messages::body(self.question)),
            Api::OpenAi => ("chat/completions", chat::body(self.question, with_schema)),
        };
        let url = format!("{}/{path}", self.service.base_url);
        let request = client(self.place)?.post(url);
        let request = request.header(CONTENT_TYPE, "application/json").body(Value::to_string(&body));
        signed(request, self.service.api, self.key)
    }

    /// Reads the stream into the reply until one of them is over.
    async fn read(
        &self,
        mut response: Response,
        reply: &mut dyn StreamReply,
        heard_bytes: &AtomicUsize,
    ) -> Result<(), Problem> {
        let limit = self.brief.reply_bytes;
        let mut events = Events::new(limit.saturating_add(AROUND_BYTES));
        let stream_limit = limit.saturating_mul(STREAM_FACTOR).saturating_add(AROUND_BYTES);
        loop {
            let silence = match heard_bytes.load(Ordering::Relaxed) {
                0 => self.silence.at_first,
                _ => self.silence.between,
            };
            let chunk = timeout(silence, response.chunk()).await.map_err(|_| silent(silence))?;
            let chunk = chunk.map_err(|error| {
                Problem::new(Kind::Connection, &format!("its reply ended early: {}", chain(&error)))
            })?;
            let Some(chunk) = chunk else { return Ok(()) };
            let so_far = heard_bytes.fetch_add(chunk.len(), Ordering::Relaxed) + chunk.len();
            let whole = events.push(&chunk).map_err(|unreadable| match unreadable {
                Unreadable::TooLong => too_long(limit),
                Unreadable::NotText => Problem::new(Kind::Garbled, NOT_UTF_8),
            })?;
            for data in whole {
                if take(reply, &self.hide(&data))? {
                    let _ = timeout(LAST_BYTES, response.chunk()).await;
                    return Ok(());
                }
            }
            if reply.bytes() > limit || so_far > stream_limit {
                return Err(too_long(limit));
            }
        }
    }

    /// Reads a reply that comes at once, from a server that does not stream.
    async fn read_whole(
        &self,
        mut response: Response,
        reply: &mut dyn StreamReply,
        heard_bytes: &AtomicUsize,
    ) -> Result<(), Problem> {
        let limit = self.brief.reply_bytes;
        let mut body = vec![];
        loop {
            // What does not stream is silent until it has its whole reply, however long the question may take.
            let chunk = response.chunk().await.map_err(|error| {
                Problem::new(Kind::Connection, &format!("its reply ended early: {}", chain(&error)))
            })?;
            let Some(chunk) = chunk else { break };
            heard_bytes.fetch_add(chunk.len(), Ordering::Relaxed);
            body.extend_from_slice(&chunk);
            if body.len() > limit.saturating_add(AROUND_BYTES) {
                return Err(too_long(limit));
            }
        }
        let text = String::from_utf8(body).map_err(|_| Problem::new(Kind::Garbled, NOT_UTF_8))?;
        // A double key is no reply: which of the two counts would be a guess.
        let whole = strict_json::parse(&self.hide(&text)).ok().filter(Value::is_object);
        let whole =
            whole.ok_or_else(|| Problem::new(Kind::Connection, "its reply is not one JSON object"))?;
        reply.whole(&whole)?;
        if reply.bytes() > limit { Err(too_long(limit)) } else { Ok(()) }
    }

    /// A text without the key, before it is cut or changed in any way.
    fn hide(&self, text: &str) -> String {
        self.key.map_or_else(|| text.to_owned(), |key| key.hide_in(text))
    }

    async fn refused(&self, mut response: Response) -> Failed<Refused> {
        let status = response.status();
        if status.is_redirection() {
            let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("nowhere");
            let words = format!("it redirects to {to}, and redirects are not followed");
            let problem = Problem::new(Kind::Rejected, &self.hide(&words));
            return Failed::for_good(Refused { problem, about_schema: false });
        }
        let asked_for = retry::asked_for(response.headers());
        let mut body = vec![];
        while let Ok(Ok(Some(chunk))) = timeout(self.silence.between, response.chunk()).await {
            body.extend_from_slice(&chunk);
            if body.len() > REFUSAL_BYTES {
                break;
            }
        }
        let body = self.hide(&String::from_utf8_lossy(&body));
        let status = status.as_u16();
        let problem = refusal::problem(status, &body);
        let about_schema = self.service.api == Api::OpenAi && refusal::is_about_schema(status, &body);
        let may_pass = retry::may_pass(status) && !refusal::is_final(&body);
        Failed { why: Refused { problem, about_schema }, may_pass, asked_for }
    }
}

pub fn signed(request: RequestBuilder, api: Api, key: Option<&Key>) -> Result<RequestBuilder, String> {
    let secret = |text: &str| secret(text).ok_or_else(|| "its key cannot be sent".to_owned());
    let request = match api {
        Api::Anthropic => request.header("anthropic-version", "2023-06-01"),
        Api::OpenAi => request,
    };
    match (api, key) {
        (_, None) => Ok(request),
        (Api::Anthropic, Some(Key(key))) => Ok(request.header("x-api-key", secret(key)?)),
        (Api::OpenAi, Some(Key(key))) => Ok(request.header(AUTHORIZATION, secret(&format!("Bearer {key}"))?)),
    }
}

/// How a reply comes.
#[derive(Clone, Copy)]
enum ReplyForm {
    Stream,
    /// At once, as one object.
    Whole,
}

/// Something that is neither a stream nor an object is no reply, whatever it says.
fn form(response: &Response) -> Result<ReplyForm, Problem> {
    let Some(kind) = response.headers().get(CONTENT_TYPE) else { return Ok(ReplyForm::Stream) };
    let kind = kind.to_str().unwrap_or_default();
    match kind.to_ascii_lowercase() {
        stream if stream.starts_with("text/event-stream") => Ok(ReplyForm::Stream),
        json if json.starts_with("application/json") => Ok(ReplyForm::Whole),
        _ => {
            let words = format!("it answered with `{kind}` instead of a stream of events or JSON");
            Err(Problem::new(Kind::Connection, &words))
        }
    }
}

fn unreached(error: &reqwest::Error) -> Tried {
    if !error.is_connect() {
        return Ok(failed(Problem::new(Kind::Connection, &chain(error))));
    }
    let problem = Problem::new(Kind::NotStarted, &chain(error));
    Err(Failed { why: Refused { problem, about_schema: false }, may_pass: true, asked_for: None })
}

fn silent(silence: Duration) -> Problem {
    Problem::new(Kind::TimedOut, &format!("it sent nothing for {} s", silence.as_secs()))
}

fn too_long(limit: usize) -> Problem {
    Problem::new(Kind::ReplyTooLong, &format!("more than {limit} bytes"))
}

fn failed(problem: Problem) -> ParsedOutput {
    ParsedOutput { said: Err(problem), usage: None }
}

pub trait StreamReply: Send {
    fn event(&mut self, event: &Value) -> Result<(), Problem>;

    /// The whole reply of a server that does not stream.
    fn whole(&mut self, reply: &Value) -> Result<(), Problem>;

    /// Whether the last event was one that ends a reply.
    fn is_over(&self) -> bool {
        false
    }

    fn bytes(&self) -> usize;

    /// What it comes to, now that the stream has ended.
    fn said(&self) -> Result<String, Problem>;

    /// What it cost, as far as is known.
    fn usage(&self) -> Option<Usage>;
}

/// Takes the data of an event. True where it ends the stream.
pub fn take(reading: &mut dyn StreamReply, data: &str) -> Result<bool, Problem> {
    // This is how chat completions end, and no event.
    if data.trim() == "[DONE]" {
        return Ok(true);
    }
    match serde_json::from_str::<Value>(data) {
        Ok(event) if event.is_object() => {
            reading.event(&event)?;
            Ok(reading.is_over())
        }
        _ => {
            let words = format!("an event of its stream is not a JSON object: {data}");
            Err(Problem::new(Kind::Connection, &words))
        }
    }
}

pub fn broken_off() -> Problem {
    Problem::new(Kind::Connection, "its reply ended early")
}

/// How long it may take to say so.
const LIMIT: Duration = Duration::from_secs(3);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probed {
    /// It is there, and lists its models.
    Ready,
    /// It is there and says something else; many servers list nothing.
    Reached(u16),
    /// It does not take the key, or wants one.
    NoEntry(String),
    Unusable(String),
}

impl Service {
    /// Why it cannot be asked, such as a missing key. Nothing is sent.
    pub fn check_key(&self) -> Result<(), String> {
        self.place_and_key().map(drop)
    }

    /// Asks for the list of models, which is free.
    pub async fn probe(&self) -> Probed {
        self.try_probe().await.unwrap_or_else(Probed::Unusable)
    }

    async fn try_probe(&self) -> Result<Probed, String> {
        let (place, key) = self.place_and_key()?;
        let request = client(&place)?.get(format!("{}/models", self.base_url));
        let request = signed(request, self.api, key)?;
        let words = |kind, said: &str| place.words(&Problem::new(kind, said), key.is_some());
        let response = match tokio::time::timeout(LIMIT, request.send()).await {
            Err(_) => {
                return Err(words(Kind::NotStarted, &format!("no answer within {} s", LIMIT.as_secs())));
            }
            Ok(response) => response.map_err(|error| words(Kind::NotStarted, &chain(&error)))?,
        };
        Ok(match response.status().as_u16() {
            401 => Probed::NoEntry(words(Kind::KeyRejected, "")),
            // Some servers do not let every key list the models it may use.
            200..300 => Probed::Ready,
            status => Probed::Reached(status),
        })
    }
}
