//! Who acts on a review: what it is, and the way by which it acts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Recorded", into = "Recorded")]
pub struct Actor {
    pub name: String,
    pub kind: ActorKind,
    /// Whether it is an agent that the user's own configuration lets decide like a person.
    pub deputy: bool,
    pub channel: Channel,
    pub evidence: Evidence,
}

/// What is on record about the channel of an actor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The terminal: where a command was typed, or where the token of a request was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<String>,
    /// The public name of the token of a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

/// A signature that was verified when it was recorded, with everything that is needed to verify it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// The fingerprint of the key.
    pub key: String,
    /// The file of allowed signers that has the key.
    pub signers: String,
    /// What was signed.
    pub statement: String,
    /// The signature itself, as `ssh-keygen` writes it.
    pub armored: String,
}

/// What acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum ActorKind {
    /// A person.
    Person,
    /// An agent.
    #[default]
    Agent,
    /// A reviewer, or a check: a program that the gate itself started.
    Program,
    /// The session of an agent: its program says that its user wrote to it, and nothing shows who did.
    Session,
    /// A caller without a terminal: a script, or an agent that leaves no mark.
    Unknown,
}

/// The way by which an actor acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Channel {
    /// A signature by the key of a person.
    Signed,
    /// A terminal: a command that was typed, the screen of a run, the question of a run.
    Terminal,
    /// A command without a terminal.
    Command,
    /// A request over HTTP, with the token.
    Http,
    /// The page in a browser, opened by a link that was shown at a terminal.
    Page,
    /// A tool of the MCP server.
    Mcp,
    /// A hook of an agent program.
    Session,
    /// The gate itself.
    Gate,
    /// Not recorded: ledgers of earlier versions.
    #[default]
    Unknown,
}

impl ActorKind {
    pub fn words(self) -> &'static str {
        match self {
            Self::Person => "a person",
            Self::Agent => "an agent",
            Self::Program => "a program",
            Self::Session => "the session of an agent",
            Self::Unknown => "a caller without a terminal",
        }
    }
}

impl Actor {
    pub fn new(name: impl Into<String>, kind: ActorKind, channel: Channel) -> Self {
        Self { name: name.into(), kind, deputy: false, channel, evidence: Evidence::default() }
    }

    /// A person who signed.
    pub fn signer(principal: impl Into<String>, signature: Signature) -> Self {
        let evidence = Evidence { signature: Some(signature), ..Evidence::default() };
        Self { evidence, ..Self::new(principal, ActorKind::Person, Channel::Signed) }
    }

    /// An agent that the user's own configuration lets decide.
    pub fn deputy(name: impl Into<String>, channel: Channel) -> Self {
        Self { deputy: true, ..Self::new(name, ActorKind::Agent, channel) }
    }

    pub fn is_person(&self) -> bool {
        self.kind == ActorKind::Person
    }

    /// Whether it may do what is for people.
    pub fn may_decide(&self) -> bool {
        self.is_person() || self.deputy
    }

    pub fn words(&self) -> String {
        format!("{} ({})", self.name, self.channel_words())
    }

    /// What acted, and by which channel. Only a signature shows who a person is.
    fn channel_words(&self) -> String {
        let Evidence { terminal, token, signature } = &self.evidence;
        match (self.kind, self.channel) {
            _ if self.deputy => "an agent, allowed by the user's own file".to_owned(),
            (ActorKind::Person, Channel::Signed) => {
                let key = signature.as_ref().map_or("an unknown key", |signature| &signature.key);
                format!("signed with {key}")
            }
            (ActorKind::Person, Channel::Terminal) => "at a terminal, not verified".to_owned(),
            (ActorKind::Person, Channel::Http) => {
                let token = token.as_ref().map_or(String::new(), |token| format!(" with token {token}"));
                let made = terminal.as_ref().map_or(String::new(), |name| format!(" made at {name}"));
                format!("over HTTP{token}{made}, not verified")
            }
            (ActorKind::Person, Channel::Page) => {
                let shown = terminal.as_ref().map_or(String::new(), |name| format!(" shown at {name}"));
                format!("in a browser by a link{shown}, not verified")
            }
            (kind, _) => kind.words().to_owned(),
        }
    }
}

/// An actor as the ledger keeps it. Earlier versions wrote neither a channel nor, for persons and agents, a kind.
#[derive(Serialize, Deserialize)]
struct Recorded {
    name: String,
    person: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    deputy: bool,
    #[serde(default, skip_serializing_if = "crate::is_default")]
    no_person: ActorKind,
    #[serde(default, skip_serializing_if = "crate::is_default")]
    channel: Channel,
    #[serde(flatten)]
    evidence: Evidence,
}

impl From<Recorded> for Actor {
    fn from(Recorded { name, person, deputy, no_person, channel, evidence }: Recorded) -> Self {
        let kind = match (person, no_person) {
            (true, _) => ActorKind::Person,
            // No version writes this, and it must not make a person.
            (false, ActorKind::Person) => ActorKind::Unknown,
            (false, kind) => kind,
        };
        Self { name, kind, deputy, channel, evidence }
    }
}

impl From<Actor> for Recorded {
    fn from(Actor { name, kind, deputy, channel, evidence }: Actor) -> Self {
        let person = kind == ActorKind::Person;
        let no_person = if person { ActorKind::Agent } else { kind };
        Self { name, person, deputy, no_person, channel, evidence }
    }
}
