//! The model: what it does next depends on what the program tells it, as with any other.

use super::agents::Agent;
use countersign_testkit::{Act, Asked};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How it ends.
pub const LAST_WORDS: &str = "The guide is written.";

/// A way to work, and what comes of it.
pub struct Mode {
    /// What the server is started with, as `init` takes it.
    pub server: &'static [&'static str],
    /// The arguments that the steps are handed in with, one after the other: in this folder, after these words.
    hand_in: fn(usize, &Path, &str) -> Option<Value>,
    /// What the program is told of every step it handed in.
    pub heard: &'static [&'static str],
    /// Who ruled on each step, and how it ended.
    pub rulings: [(&'static str, &'static str); 2],
    /// What the reviewer was asked about.
    pub asked: &'static [&'static str],
}

/// The reviewer, whose real name has the path of its program.
pub const JUDGE: &str = "command:JUDGE";

/// Somebody else judges: the plan is sent back, improved, and passes.
pub const WITH_A_REVIEWER: Mode = Mode {
    server: &["--external-runner", JUDGE],
    hand_in: |n, root, _| match n {
        1 => Some(plan()),
        2 => {
            std::fs::write(root.join("plan.md"), "a good plan\n").unwrap();
            Some(plan())
        }
        3 => Some(page()),
        _ => None,
    },
    heard: &["needs_work", "next_step", "workflow_complete"],
    rulings: [(JUDGE, "passed"); 2],
    asked: &["plan.md", "plan.md", "page.md"],
};

/// The author judges: one step by the instructions it is given, and one by its word alone.
pub const BY_ITSELF: Mode = Mode {
    server: &[],
    hand_in: |n, _, words| match n {
        1 => Some(plan()),
        2 => Some(reviewed(plan(), &token(words).unwrap_or_default())),
        3 => Some(with_reason(page())),
        _ => None,
    },
    heard: &["needs_work", "next_step", "workflow_complete"],
    rulings: [("self", "passed"), ("agent", "overridden")],
    asked: &[],
};

/// Starts the workflow, hands steps in, and ends; whatever else a program asks for gets a few words.
pub fn mind(
    agent: &'static Agent,
    mode: &'static Mode,
    root: PathBuf,
) -> impl FnMut(&Asked) -> Act + Send + 'static {
    let mut n = 0;
    move |asked| {
        if !offers(agent, &asked.body) {
            return look_for(agent, &asked.body);
        }
        let [_, start, finished, ..] = agent.tools;
        let act = match n {
            0 => Act::Use {
                tool: start,
                input: json!({ "goal": "a guide", "job_name": "guide", "workflow_name": "write" }),
            },
            _ => match (mode.hand_in)(n, &root, &asked.text) {
                Some(input) => Act::Use { tool: finished, input },
                None => Act::Say { text: LAST_WORDS, stop: "end_turn" },
            },
        };
        n += 1;
        act
    }
}

/// Without our tools in sight: looks for them, where there is something to look with.
fn look_for(agent: &Agent, body: &Value) -> Act {
    match agent.search.filter(|tool| described(body).contains(tool)) {
        Some(tool) => {
            Act::Use { tool, input: json!({ "query": format!("select:{}", agent.tools.join(",")) }) }
        }
        None => Act::Say { text: "A title", stop: "end_turn" },
    }
}

/// Whether all our tools are offered, each with a description of what to do.
pub fn offers(agent: &Agent, body: &Value) -> bool {
    let known = described(body);
    agent.tools.iter().all(|tool| known.contains(tool))
}

/// The names of everything that has a name and a description, wherever an API has its tools.
fn described(value: &Value) -> Vec<&str> {
    let own = value["name"]
        .as_str()
        .filter(|_| value["description"].as_str().is_some_and(|words| words.len() > 100));
    let inner: Vec<_> = match value {
        Value::Array(inner) => inner.iter().flat_map(described).collect(),
        Value::Object(inner) => inner.values().flat_map(described).collect(),
        _ => vec![],
    };
    own.into_iter().chain(inner).collect()
}

fn plan() -> Value {
    json!({ "outputs": { "plan": "plan.md" } })
}

fn page() -> Value {
    json!({ "outputs": { "page": "page.md" } })
}

fn with_reason(mut step: Value) -> Value {
    step["quality_review_override_reason"] = json!("I looked at it");
    step
}

fn reviewed(step: Value, token: &str) -> Value {
    let mut step = with_reason(step);
    let result = json!({ "criterion": "Complete", "passed": true, "feedback": "looked at" });
    step["self_review"] = json!({ "token": token, "results": [result] });
    step
}

/// The token in the file that the words name.
fn token(words: &str) -> Option<String> {
    let (before, after) = words.split_once("/.deepwork/tmp/quality_review_")?;
    let start = before.rfind(char::is_whitespace)? + 1;
    let (name, _) = after.split_once(".md")?;
    let file = format!("{}/.deepwork/tmp/quality_review_{name}.md", &before[start..]);
    let text = std::fs::read_to_string(file).ok()?;
    let (_, token) = text.split_once("\"token\": \"")?;
    Some(token.split('"').next()?.to_owned())
}
