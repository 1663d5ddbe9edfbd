//! A server of ours on loopback, and requests to it byte by byte.

use crate::Terminal;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

/// No answer takes longer; one that does has hung.
const LIMIT: Duration = Duration::from_secs(120);

/// A running server. It ends with this value.
pub struct Served {
    runs: Runs,
    /// Its port.
    pub port: u16,
    /// What it said until it said where it is.
    pub said: Vec<String>,
}

enum Runs {
    Alone(Child),
    At { _terminal: Mutex<Terminal> },
}

impl Served {
    /// Starts a server as a person would: at a terminal.
    pub fn at_terminal(command: &Command) -> Self {
        let terminal = Terminal::start(command, 200, 50);
        terminal.until_seen("it says where it is", |screen| port(screen).is_some());
        let written = terminal.written();
        let said = written.lines().map(|line| line.trim_end().to_owned()).collect();
        Self { runs: Runs::At { _terminal: Mutex::new(terminal) }, port: port(&written).unwrap(), said }
    }

    /// The token that stands for the person, as it was shown at the terminal.
    pub fn person_token(&self) -> String {
        let line = self.said.iter().find(|line| line.contains("kept nowhere: "));
        line.and_then(|line| line.split("kept nowhere: ").nth(1)).unwrap_or_default().to_owned()
    }

    /// The link to the page, as it was shown at the terminal.
    pub fn page_link(&self) -> String {
        let line = self.said.iter().find(|line| line.contains("/open?code="));
        line.and_then(|line| line.split("for 2 minutes: ").nth(1)).unwrap_or_default().to_owned()
    }

    /// Starts a server that says on standard error where it is.
    pub fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = vec![];
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let port = loop {
            let line = lines.next().unwrap_or_else(|| panic!("it says where it is: {said:?}")).unwrap();
            let port = port(&line);
            said.push(line);
            if let Some(port) = port {
                break port;
            }
        };
        std::thread::spawn(move || lines.for_each(drop));
        Self { runs: Runs::Alone(child), port, said }
    }

    fn child(&mut self) -> &mut Child {
        match &mut self.runs {
            Runs::Alone(child) => child,
            Runs::At { .. } => panic!("it runs at a terminal"),
        }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        match &self.runs {
            Runs::Alone(child) => child.id(),
            Runs::At { .. } => panic!("it runs at a terminal"),
        }
    }

    /// A connection to it.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream
    }

    /// Sends a request and reads the answer to its end. `Host` is the server unless given.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answered {
        let mut stream = self.connect();
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("Host")) {
            head.push_str(&format!("Host: 127.0.0.1:{}\r\n", self.port));
        }
        headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
        // One that is refused early does not read the rest.
        let _ = stream
            .write_all(format!("{head}\r\n").as_bytes())
            .and_then(|()| stream.write_all(body.as_bytes()));
        let mut bytes = vec![];
        let _ = stream.read_to_end(&mut bytes);
        Answered::of(&String::from_utf8_lossy(&bytes))
    }

    /// Ends it with a signal, as a terminal or a service manager would; it has said nothing on standard output.
    pub fn ends(mut self, signal: rustix::process::Signal) -> i32 {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
        let mut out = String::new();
        self.child().stdout.take().unwrap().read_to_string(&mut out).unwrap();
        assert_eq!(out, "");
        self.child().wait().unwrap().code().unwrap_or(-1)
    }

    /// Kills it at once.
    pub fn kill(mut self) {
        self.child().kill().unwrap();
        self.child().wait().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // A terminal ends its program itself.
        if let Runs::Alone(child) = &mut self.runs {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The port in what a server said.
fn port(said: &str) -> Option<u16> {
    let digits = |rest: &str| rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok();
    said.split("http://127.0.0.1:").nth(1).and_then(digits)
}

/// An answer.
#[derive(Debug)]
pub struct Answered {
    /// Its status; 0 where there was none.
    pub status: u16,
    /// Everything before its body.
    pub head: String,
    /// Its body.
    pub body: String,
}

impl Answered {
    fn of(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// A header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<String> {
        let line =
            self.head.lines().find(|line| line.to_ascii_lowercase().starts_with(&format!("{name}:")))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}
