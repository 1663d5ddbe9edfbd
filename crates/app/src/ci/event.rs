//! What a CI service says it runs for: which commits, and the default branch. Read from variables and the file of the event,
//! which the job's environment has; a field that is not there is never guessed.

use crate::Failure;
use countersign_core::text::visible_line;
use serde_json::Value;
use std::path::Path;

/// No service writes longer events.
const EVENT_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// What a push has as the commit before a branch that is new.
const NO_COMMIT: &str = "0000000000000000000000000000000000000000";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    Github,
    Gitlab,
    /// None that is known: plain git.
    Git,
}

/// What a job runs for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub service: Service,
    /// As the service calls it; `git` without one.
    pub name: String,
    pub work: Work,
    pub default_branch: Option<String>,
}

/// Which commits an event is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// A branch is to be merged: `head` into a branch that was at `base`. What is checked out may be their merge.
    Merge { base: String, head: String },
    /// A group of a merge queue: exactly these two.
    Queue { base: String, head: String },
    /// Commits were pushed to the default branch.
    Push { before: String, head: String },
    /// The event names no base: all work since the default branch.
    Branch { head: Option<String> },
}

impl Work {
    pub fn head(&self) -> Option<&str> {
        match self {
            Self::Merge { head, .. } | Self::Queue { head, .. } | Self::Push { head, .. } => Some(head),
            Self::Branch { head } => head.as_deref(),
        }
    }
}

type Variable<'v> = &'v dyn Fn(&str) -> Option<String>;

impl Event {
    /// The event of this job.
    pub fn of_job() -> Result<Self, Failure> {
        Self::read(&|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn read(variable: Variable<'_>) -> Result<Self, Failure> {
        let is = |name: &str| variable(name).is_some_and(|value| value == "true");
        match (is("GITHUB_ACTIONS"), is("GITLAB_CI")) {
            (true, _) => Self::of_github(variable),
            (false, true) => Self::of_gitlab(variable),
            (false, false) => Ok(Self {
                service: Service::Git,
                name: "git".to_owned(),
                work: Work::Branch { head: None },
                default_branch: None,
            }),
        }
    }

    fn of_github(variable: Variable<'_>) -> Result<Self, Failure> {
        let name = needed(variable, "GITHUB_EVENT_NAME")?;
        let path = needed(variable, "GITHUB_EVENT_PATH")?;
        let event = event_file(Path::new(&path))?;
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let commit = |pointer: &str| {
            let found = text(pointer).filter(|found| is_commit(found));
            found.ok_or_else(|| {
                Failure::usage(format!(
                    "the event `{}` in `{path}` has no commit at `{pointer}`",
                    visible_line(&name)
                ))
                .hint("GITHUB_EVENT_NAME and GITHUB_EVENT_PATH come from the runner; leave them as they are")
            })
        };
        let default_branch = text("/repository/default_branch");
        let work = match name.as_str() {
            "pull_request" | "pull_request_target" => Work::Merge {
                base: commit("/pull_request/base/sha")?,
                head: commit("/pull_request/head/sha")?,
            },
            "merge_group" => {
                Work::Queue { base: commit("/merge_group/base_sha")?, head: commit("/merge_group/head_sha")? }
            }
            "push" => {
                let (before, head) = (commit("/before")?, commit("/after")?);
                let reference = text("/ref").unwrap_or_default();
                let branch = reference.strip_prefix("refs/heads/").map(str::to_owned);
                pushed(before, head, branch.is_some() && branch == default_branch)?
            }
            _ => Work::Branch { head: variable("GITHUB_SHA") },
        };
        Ok(Self { service: Service::Github, name, work, default_branch })
    }

    fn of_gitlab(variable: Variable<'_>) -> Result<Self, Failure> {
        let name = needed(variable, "CI_PIPELINE_SOURCE")?;
        let head = needed(variable, "CI_COMMIT_SHA")?;
        let default_branch = variable("CI_DEFAULT_BRANCH");
        let work = match name.as_str() {
            "merge_request_event" => Work::Merge {
                base: needed(variable, "CI_MERGE_REQUEST_DIFF_BASE_SHA")?,
                // In a pipeline for merged results, what is checked out is a merge of this.
                head: variable("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA").unwrap_or(head),
            },
            "push" => {
                let branch = variable("CI_COMMIT_BRANCH");
                let is_default = branch.is_some() && branch == default_branch;
                pushed(needed(variable, "CI_COMMIT_BEFORE_SHA")?, head, is_default)?
            }
            _ => Work::Branch { head: Some(head) },
        };
        Ok(Self { service: Service::Gitlab, name, work, default_branch })
    }
}

/// The default branch, as the event of this job says; none without an event.
pub fn default_branch() -> Option<String> {
    Event::of_job().ok()?.default_branch
}

/// On another branch all its work counts, not only what was pushed last: a failed push and a later one are one work.
fn pushed(before: String, head: String, is_default: bool) -> Result<Work, Failure> {
    if head == NO_COMMIT {
        return Err(Failure::usage("this push deleted a branch: there is nothing to check out")
            .hint("run countersign ci only where the push has a commit"));
    }
    Ok(match is_default && before != NO_COMMIT {
        true => Work::Push { before, head },
        false => Work::Branch { head: Some(head) },
    })
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn needed(variable: Variable<'_>, name: &str) -> Result<String, Failure> {
    variable(name).ok_or_else(|| {
        Failure::usage(format!("the variable {name} is not set, so it is not known what this job runs for"))
            .hint("the CI service sets it; in a container of your own, pass it on")
    })
}

fn event_file(path: &Path) -> Result<Value, Failure> {
    let unusable = |why: String| {
        Failure::usage(format!("the event in `{}` cannot be used: {why}", path.display()))
            .hint("GITHUB_EVENT_PATH comes from the runner; in a container of your own, pass the file on")
    };
    let found = path.metadata().map_err(|error| unusable(error.to_string()))?;
    if found.len() > EVENT_BYTES_MAX {
        return Err(unusable(format!("it is longer than {EVENT_BYTES_MAX} bytes")));
    }
    let bytes = std::fs::read(path).map_err(|error| unusable(error.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|error| unusable(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

    fn of(variables: &[(&str, &str)]) -> Result<Event, Failure> {
        Event::read(&|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    fn on_github(name: &str, event: &str) -> Result<Event, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("event.json");
        std::fs::write(&path, event.replace("AAA", A).replace("BBB", B).replace("NONE", NO_COMMIT)).unwrap();
        let path = path.to_str().unwrap();
        of(&[("GITHUB_ACTIONS", "true"), ("GITHUB_EVENT_NAME", name), ("GITHUB_EVENT_PATH", path)])
    }

    #[test]
    fn issue_20_events_of_github_say_what_is_judged() {
        let (base, head) = (A.to_owned(), B.to_owned());
        let branch = |head: Option<&str>| Work::Branch { head: head.map(str::to_owned) };
        let rows = [
            (
                "pull_request",
                r#"{"pull_request":{"base":{"sha":"AAA"},"head":{"sha":"BBB"}}}"#,
                Work::Merge { base: base.clone(), head: head.clone() },
            ),
            (
                "merge_group",
                r#"{"merge_group":{"base_sha":"AAA","head_sha":"BBB"}}"#,
                Work::Queue { base: base.clone(), head: head.clone() },
            ),
            (
                "push",
                r#"{"before":"AAA","after":"BBB","ref":"refs/heads/trunk","repository":{"default_branch":"trunk"}}"#,
                Work::Push { before: base, head },
            ),
            (
                "push",
                r#"{"before":"AAA","after":"BBB","ref":"refs/heads/topic","repository":{"default_branch":"trunk"}}"#,
                branch(Some(B)),
            ),
            (
                "push",
                r#"{"before":"NONE","after":"BBB","ref":"refs/heads/trunk","repository":{"default_branch":"trunk"}}"#,
                branch(Some(B)),
            ),
            ("push", r#"{"before":"AAA","after":"BBB","ref":"refs/tags/v1"}"#, branch(Some(B))),
            ("schedule", "{}", branch(None)),
        ];
        for (name, event, work) in rows {
            let found = on_github(name, event).unwrap();
            assert_eq!(found.work, work, "{name} {event}");
        }
        for (name, event) in [
            ("pull_request", "{}"),
            ("pull_request", r#"{"pull_request":{"base":{"sha":"main"},"head":{"sha":"BBB"}}}"#),
            ("merge_group", r#"{"merge_group":{"base_sha":"--all","head_sha":"BBB"}}"#),
            ("push", r#"{"before":"AAA","after":"NONE"}"#),
            ("push", "not JSON"),
        ] {
            assert!(on_github(name, event).is_err(), "{name} {event}");
        }
        assert!(of(&[("GITHUB_ACTIONS", "true"), ("GITHUB_EVENT_NAME", "push")]).is_err());
    }

    #[test]
    fn issue_20_events_of_gitlab_say_what_is_judged() {
        let gitlab = [("GITLAB_CI", "true"), ("CI_COMMIT_SHA", B), ("CI_DEFAULT_BRANCH", "trunk")];
        let with = |more: &[(&str, &str)]| of(&[&gitlab[..], more].concat());
        let merge =
            with(&[("CI_PIPELINE_SOURCE", "merge_request_event"), ("CI_MERGE_REQUEST_DIFF_BASE_SHA", A)]);
        let merge = merge.unwrap();
        assert_eq!(merge.work, Work::Merge { base: A.to_owned(), head: B.to_owned() });
        assert_eq!(merge.default_branch.as_deref(), Some("trunk"));
        let push =
            [("CI_PIPELINE_SOURCE", "push"), ("CI_COMMIT_BEFORE_SHA", A), ("CI_COMMIT_BRANCH", "trunk")];
        assert_eq!(with(&push).unwrap().work, Work::Push { before: A.to_owned(), head: B.to_owned() });
        let topic =
            [("CI_PIPELINE_SOURCE", "push"), ("CI_COMMIT_BEFORE_SHA", A), ("CI_COMMIT_BRANCH", "topic")];
        assert!(matches!(with(&topic).unwrap().work, Work::Branch { .. }));
        assert!(with(&[("CI_PIPELINE_SOURCE", "merge_request_event")]).is_err());
        assert!(with(&[]).is_err());
        assert_eq!(of(&[]).unwrap().work, Work::Branch { head: None });
    }
}
