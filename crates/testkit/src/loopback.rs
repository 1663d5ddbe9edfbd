//! Loopback services that stand in for paid models: every way to answer and every way to fail. A script says
//! what a service does with each question, or a function of the question does; every question is kept. What it
//! speaks is a [`Dialect`].

use crate::wire::{self, Asked};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Longer than any test waits.
const FOREVER: Duration = Duration::from_secs(600);

/// What the service does with a question.
#[derive(Clone, Debug)]
pub enum Act {
    /// The model uses a tool, where the service has some.
    Use {
        /// The tool's name.
        tool: &'static str,
        /// Its input.
        input: Value,
    },
    /// The model answers in the form that was asked for, as far as the service has one, and writes this.
    Raw(String),
    /// The same, and the model stops for a reason, for services of agent programs that can tell it.
    Stopped {
        /// What it writes.
        raw: String,
        /// Why it stops, as the service calls it.
        stop: &'static str,
    },
    /// The model says something, and stops for a reason.
    Say {
        /// The text.
        text: &'static str,
        /// Why it stops: `end_turn`, `refusal`, `max_tokens`.
        stop: &'static str,
    },
    /// An error of the service.
    Error {
        /// The HTTP status.
        status: u16,
        /// The type of the error.
        kind: &'static str,
        /// Its words.
        message: &'static str,
        /// Seconds to wait.
        retry_after: Option<u32>,
    },
    /// The stream ends in the middle.
    Cut,
    /// Something that is no stream at all.
    Page,
    /// Nothing, for ever.
    Hang,
}

impl Act {
    /// A structured answer.
    pub fn answer(input: Value) -> Self {
        Self::Raw(input.to_string())
    }

    /// An answer about one criterion.
    pub fn ruling(criterion: &str, passed: bool, feedback: &str) -> Self {
        Self::answer(json!({
            "passed": passed,
            "feedback": feedback,
            "criteria_results": [{ "criterion": criterion, "passed": passed, "feedback": feedback }],
        }))
    }

    /// A pass of one criterion, after which the model stops for a reason.
    pub fn pass_stopped(criterion: &str, stop: &'static str) -> Self {
        match Self::ruling(criterion, true, "") {
            Self::Raw(raw) => Self::Stopped { raw, stop },
            other => other,
        }
    }

    /// An error without a time to wait.
    pub fn error(status: u16, kind: &'static str, message: &'static str) -> Self {
        Self::Error { status, kind, message, retry_after: None }
    }
}

/// What a service speaks.
pub trait Dialect: Default + Send + Sync + 'static {
    /// Whether a request is a question to the model, and not something else that programs look for.
    fn is_question(&self, asked: &Asked) -> bool;

    /// What a question is refused for, before the script is looked at: status and body.
    fn refusal(&self, _asked: &Asked) -> Option<(u16, Value)> {
        None
    }

    /// The `n`-th question gets a reply, or a tool is used, or the reply stops for a reason.
    fn reply(&self, connection: &mut TcpStream, asked: &Asked, act: &Act, n: usize) -> io::Result<()>;

    /// The body of an error.
    fn error(&self, status: u16, kind: &str, message: &str) -> Value;

    /// The beginning of a streamed reply, which then breaks off.
    fn beginning(&self) -> String;

    /// Whatever else programs look for.
    fn aside(&self, connection: &mut TcpStream, _asked: &Asked) -> io::Result<()> {
        wire::turn_away(connection)
    }
}

/// The service. It lives as long as this value, and its open connections as long as the test.
pub struct Loopback<D> {
    address: SocketAddr,
    state: Arc<State<D>>,
}

/// What a service does with a question, once it is asked.
type Mind = Box<dyn FnMut(&Asked) -> Act + Send>;

struct State<D> {
    dialect: D,
    mind: Mutex<Mind>,
    /// How long every answer takes.
    delay: Duration,
    asked: Mutex<Vec<Asked>>,
}

impl<D: Dialect> Loopback<D> {
    /// A service that does the same with every question.
    pub fn always(act: Act) -> Self {
        Self::scripted(vec![], act)
    }

    /// A service that does one thing after the other, and then the last for ever.
    pub fn scripted(first: Vec<Act>, last: Act) -> Self {
        let mut script = VecDeque::from(first);
        Self::minded(move |_| script.pop_front().unwrap_or_else(|| last.clone()))
    }

    /// A service that does the same with every question, after a while.
    pub fn slow(delay: Duration, act: Act) -> Self {
        Self::start(Box::new(move |_| act.clone()), delay)
    }

    /// A service that makes up its mind when it is asked: what to do may depend on the question, and on what
    /// became of what it did before.
    pub fn minded(mind: impl FnMut(&Asked) -> Act + Send + 'static) -> Self {
        Self::start(Box::new(mind), Duration::ZERO)
    }

    fn start(mind: Mind, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mind = Mutex::new(mind);
        let state = Arc::new(State { dialect: D::default(), mind, delay, asked: Mutex::new(vec![]) });
        let shared = state.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let state = shared.clone();
                std::thread::spawn(move || state.serve(connection));
            }
        });
        Self { address, state }
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The questions to the model, in order.
    pub fn asked(&self) -> Vec<Asked> {
        self.state.asked.lock().unwrap().clone()
    }
}

impl<D: Dialect> State<D> {
    /// One connection: question after question, until one side has had enough.
    fn serve(&self, mut connection: TcpStream) {
        // What is written in pieces must not wait for the client to acknowledge the first: that is no model's time.
        let _ = connection.set_nodelay(true);
        while let Some(asked) = wire::read(&mut connection) {
            let done = match self.dialect.is_question(&asked) {
                true => self.act(asked, &mut connection),
                false => self.dialect.aside(&mut connection, &asked),
            };
            if done.is_err() {
                return;
            }
        }
    }

    fn act(&self, asked: Asked, connection: &mut TcpStream) -> io::Result<()> {
        let n = {
            let mut all = self.asked.lock().unwrap();
            all.push(asked.clone());
            all.len()
        };
        if let Some((status, body)) = self.dialect.refusal(&asked) {
            return wire::answer(connection, status, &[], &body);
        }
        let act = (self.mind.lock().unwrap())(&asked);
        // A model takes its time: that is what is being simulated.
        std::thread::sleep(self.delay);
        match &act {
            Act::Error { status, kind, message, retry_after } => {
                let error = self.dialect.error(*status, kind, message);
                let wait = retry_after.map(|seconds| ("retry-after", seconds.to_string()));
                wire::answer(connection, *status, wait.as_slice(), &error)
            }
            Act::Cut => wire::cut(connection, &self.dialect.beginning()),
            Act::Page => {
                wire::head(connection, 200, "text/html", 12)?;
                connection.write_all(b"<html>hello<")
            }
            Act::Hang => {
                std::thread::sleep(FOREVER);
                wire::cut(connection, &self.dialect.beginning())
            }
            Act::Use { .. } | Act::Raw(_) | Act::Stopped { .. } | Act::Say { .. } => {
                self.dialect.reply(connection, &asked, &act, n)
            }
        }
    }
}
