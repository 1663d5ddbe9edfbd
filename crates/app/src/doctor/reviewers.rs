//! The checks of reviewers: installed, which version, ready. A new kind of reviewer gets an arm in [`Asking::look`] and a
//! function of its own.

use super::{Asking, ask, surroundings};
use crate::Failure;
use crate::answer::v1::{Check, CheckState};
use crate::authority::started;
use countersign_engine::engine::{Judge, Panelist};
use countersign_engine::installed;
use countersign_engine::programs::{Facts, PROGRAMS};
use countersign_engine::reviewer::service::Probed;
use countersign_engine::reviewer::{Agent, Command, Service};
use countersign_engine::worker::Worker;
use std::path::{Path, PathBuf};

const SCRIPTS: [&str; 6] = ["js", "mjs", "py", "rb", "sh", "ts"];

impl Asking<'_> {
    pub(super) async fn look(
        &self,
        name: &str,
        panelist: Result<Option<Panelist>, Failure>,
        wanted: bool,
    ) -> Result<Vec<Check>, Failure> {
        let what = format!("reviewer {name}");
        let panelist = match panelist {
            Ok(Some(panelist)) => panelist,
            Ok(None) => return Ok(vec![Check::ok(what, "checks: built in")]),
            Err(failure) => return Ok(vec![unreadable(what, failure)]),
        };
        let line = match &panelist.judge {
            Judge::Command(command) => self.command(what, command).await,
            Judge::Marked(marked) => {
                let argv = match &marked.worker {
                    Worker::Command { argv, .. } => argv.clone(),
                    Worker::Program { path, .. } => vec![path.clone()],
                };
                self.command(what, &Command { argv, model: None }).await
            }
            Judge::Agent(agent) => self.agent(what, agent).await,
            Judge::Service(service) => self.service(what, service).await,
            Judge::Replay { recording, .. } => {
                Check::ok(what, format!("recorded rulings: {}", recording.rows.len()))
            }
            // Only for the reviews of tasks; made of the reviewers above.
            Judge::TwoCall(_) => {
                Check::ok(what, "reviews in two calls: one writes the review, one reads its result")
            }
            Judge::Library(_) => Check::ok(what, "in this process"),
            Judge::SelfReview => Check::ok(what, "the author: answers with `countersign rule`"),
        };
        let ready = line.outcome.is_none();
        let line = self.at_gate(line, &panelist.judge);
        let mut lines = vec![line];
        if wanted
            && ready
            && matches!(panelist.judge, Judge::Command(_) | Judge::Agent(_) | Judge::Service(_))
        {
            lines.push(ask::ask(self, panelist).await?);
        }
        Ok(lines)
    }

    /// The line with the program that gates start, where that is another one, or with the reason why they start none.
    fn at_gate(&self, line: Check, judge: &Judge) -> Check {
        let Some(gate) = &self.gate else { return line };
        let kept = gate.gate.as_ref().and_then(|gate| gate.scripts.clone());
        let named = match judge {
            Judge::Agent(agent) => Some(agent.program.name),
            Judge::Command(command) => command.argv.first().map(String::as_str),
            _ => None,
        };
        match started(judge, gate, self.project.root.path()) {
            Some(Err(why)) if line.state == CheckState::Ok => {
                Check::warn(line.what, format!("{}; gates do not start it: {why}", line.detail))
            }
            Some(Ok(file))
                if named.and_then(|name| self.installed(name)).is_some_and(|found| found != file)
                    && kept.is_none_or(|kept| !file.starts_with(kept)) =>
            {
                Check { detail: format!("{}; gates start {}", line.detail, file.display()), ..line }
            }
            _ => line,
        }
    }

    /// An agent program: on the PATH, with a version and a sign-in. Only `--ask` shows whether it works.
    async fn agent(&self, what: String, agent: &Agent) -> Check {
        let facts = agent.program;
        let name = facts.name;
        let Some(found) = self.installed(name) else { return absent(what, facts) };
        let words = format!("`{name}`: {}", found.display());
        match self.versioned(&found, name, &words).await {
            Ok(words) => signed_in(what, words, agent),
            Err((words, hint)) => Check::unavailable(what, words).hint(hint),
        }
    }

    /// A service: it has a key, can be reached and accepts the key. This costs nothing.
    async fn service(&self, what: String, service: &Service) -> Check {
        let words = format!("`{}` at {}", service.model, service.base_url);
        let probed = tokio::select! {
            () = self.cancel.cancelled() => return Check::warn(what, words),
            probed = service.probe() => probed,
        };
        match probed {
            Probed::Ready => Check::ok(what, format!("{words}: reachable")),
            Probed::Reached(404 | 405) => Check::ok(what, format!("{words}: reachable; no model list")),
            Probed::Reached(status) => Check::warn(what, format!("{words}: reachable; it answers {status}"))
                .hint("`countersign doctor --ask` shows whether it works"),
            Probed::NoEntry(why) => {
                Check::unavailable(what, format!("{words}: {why}")).hint(match &service.key {
                    Ok(Some(_)) => "replace the key in the variable or the file that holds it",
                    _ => "set the key, or name where it is in `key_env` or `key_file`",
                })
            }
            Probed::Unusable(why) => Check::unavailable(what, format!("{words}: {why}"))
                .hint("check `base_url`, `key_env` and `key_file` of this reviewer"),
        }
    }

    /// A program of the user, which is not started. Known agent programs are asked for their version.
    async fn command(&self, what: String, command: &Command) -> Check {
        let program = command.argv.first().map_or("", String::as_str);
        let Some(found) = self.installed(program) else {
            return missing(what, program, self.project.root.path());
        };
        let words = format!("`{}`: {}", command.argv.join(" "), found.display());
        if let Some(script) = absent_script(command, self.project.root.path()) {
            return Check::warn(what, format!("{words}: there is no `{script}` in the project"))
                .hint("paths in arguments are relative to the project root");
        }
        let name = found.file_name().and_then(|name| name.to_str());
        if name.and_then(|name| PROGRAMS.reviewer(name)).is_none() {
            return Check::ok(what, words);
        }
        match self.versioned(&found, program, &words).await {
            Ok(words) => Check::ok(what, words),
            Err((words, hint)) => Check::unavailable(what, words).hint(hint),
        }
    }

    fn installed(&self, program: &str) -> Option<PathBuf> {
        installed::find(program, self.project.root.path(), std::env::var_os("PATH").as_deref())
    }

    /// The words with the version of a program, or with the lack of one and a hint.
    async fn versioned(&self, found: &Path, name: &str, words: &str) -> Result<String, (String, String)> {
        let version = surroundings::version(found, self.guard, self.cancel).await;
        version.map(|version| format!("{words}: {version}")).ok_or_else(|| {
            let hint = format!("run `{name} --version`; the installation may be broken");
            (format!("{words}: it does not report its version"), hint)
        })
    }
}

fn absent(what: String, facts: &Facts) -> Check {
    Check::unavailable(what, format!("`{}` is not on the PATH", facts.name))
        .hint(format!("install it ({}), or configure another reviewer", facts.called.install))
}

fn signed_in(what: String, words: String, agent: &Agent) -> Check {
    match agent.sign_in() {
        Some(how) => Check::ok(what, format!("{words}; signed in by {how}")),
        None => Check::warn(what, format!("{words}; no sign-in was found")).hint(format!(
            "{}; `countersign doctor --ask` shows whether it works",
            agent.program.called.sign_in
        )),
    }
}

/// An argument that names a missing script: the program would only report it when asked.
fn absent_script<'c>(command: &'c Command, root: &Path) -> Option<&'c str> {
    let is_script = |word: &&str| {
        let extension = Path::new(word).extension().and_then(|extension| extension.to_str());
        !word.starts_with('-') && extension.is_some_and(|extension| SCRIPTS.contains(&extension))
    };
    let words = command.argv.iter().skip(1).map(String::as_str);
    words.filter(is_script).find(|word| !root.join(word).is_file())
}

fn missing(what: String, program: &str, root: &Path) -> Check {
    if !program.contains('/') {
        return Check::unavailable(what, format!("`{program}` is not on the PATH"))
            .hint("install it, or give its full path in `command`");
    }
    let file = installed::join(root, program);
    match file.exists() {
        true => Check::unavailable(what, format!("`{}` is not executable", file.display()))
            .hint(format!("chmod +x {}", file.display())),
        false => Check::unavailable(what, format!("`{}` does not exist", file.display()))
            .hint("create it, or correct `command`; its paths are relative to the project root"),
    }
}

fn unreadable(what: String, failure: Failure) -> Check {
    Check::unavailable(what, failure.message)
        .hint(failure.hint.unwrap_or_else(|| "correct `file`, or record the rulings again".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::program::FACTS;

    #[test]
    fn issue_15_8_a_made_up_program_is_looked_at_in_its_own_words() {
        let line = absent("reviewer x".to_owned(), &FACTS);
        assert_eq!(
            line.hint.as_deref(),
            Some("install it (https://made-up.example), or configure another reviewer")
        );
        let line = signed_in("reviewer x".to_owned(), "there".to_owned(), &Agent::new(&FACTS, None, vec![]));
        assert_eq!(
            line.hint.as_deref(),
            Some("run `made-up login`; `countersign doctor --ask` shows whether it works")
        );
    }
}
