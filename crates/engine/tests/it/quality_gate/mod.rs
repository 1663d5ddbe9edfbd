//! The quality gate as its source document has it, through its public API. The reviewer is a stand-in for a paid
//! model: it runs in this process and says what the test scripted.

mod evaluate;
mod held;
mod instructions;
mod payload;
mod reviews;
mod start;

use countersign_engine::quality_gate::{
    Asked, CliError, CliQuestion, OutputKind, OutputValue, QualityGate, ReviewerCli, StepReview, StepWork,
};
use countersign_engine::workspace::Root;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

/// A question as the reviewer got it.
#[derive(Clone, Debug)]
struct ParsedOutput {
    system_prompt: String,
    payload: String,
    schema: Value,
    timeout: Duration,
}

impl From<CliQuestion<'_>> for ParsedOutput {
    fn from(question: CliQuestion<'_>) -> Self {
        Self {
            system_prompt: question.system_prompt.to_owned(),
            payload: question.payload.to_owned(),
            schema: question.schema.clone(),
            timeout: question.timeout,
        }
    }
}

type Script = dyn Fn(usize, &ParsedOutput) -> Result<Value, CliError> + Send + Sync;

/// Answers by a script that knows the number of the question, from 0.
struct Scripted {
    script: Box<Script>,
    heard: Mutex<Vec<ParsedOutput>>,
}

impl Scripted {
    fn new(
        script: impl Fn(usize, &ParsedOutput) -> Result<Value, CliError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { script: Box::new(script), heard: Mutex::default() })
    }

    fn always(reply: Value) -> Arc<Self> {
        Self::new(move |_, _| Ok(reply.clone()))
    }

    fn heard(&self) -> Vec<ParsedOutput> {
        self.heard.lock().unwrap().clone()
    }
}

impl ReviewerCli for Scripted {
    fn ask<'a>(&'a self, question: CliQuestion<'a>) -> Asked<'a> {
        let mut heard = self.heard.lock().unwrap();
        let question = ParsedOutput::from(question);
        let reply = (self.script)(heard.len(), &question);
        heard.push(question);
        Box::pin(async move { reply })
    }
}

fn gate(cli: &Arc<Scripted>) -> QualityGate {
    QualityGate::new(Some(cli.clone()), None)
}

fn blind_gate() -> QualityGate {
    QualityGate::new(None, None)
}

/// Two criteria, and the replies that rule on them.
fn criteria() -> Vec<(String, String)> {
    [("Complete", "Is it complete?"), ("Clear", "Can it be read?")]
        .map(|(a, b)| (a.into(), b.into()))
        .to_vec()
}

fn ruled(passed: bool, complete: bool, clear: bool) -> Value {
    json!({ "passed": passed, "feedback": "said", "criteria_results": [
        { "criterion": "Complete", "passed": complete, "feedback": null },
        { "criterion": "Clear", "passed": clear, "feedback": "hm" },
    ]})
}

fn pass() -> Value {
    ruled(true, true, true)
}

fn fail() -> Value {
    ruled(false, true, false)
}

fn review(run_each: &str, guidance: Option<&str>) -> StepReview {
    StepReview {
        run_each: run_each.into(),
        quality_criteria: criteria(),
        additional_review_guidance: guidance.map(Into::into),
    }
}

/// A project with files, and the work that hands them in.
struct Project {
    folder: TempDir,
    work: StepWork,
}

impl Project {
    fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path()).unwrap();
        let work =
            StepWork { root, outputs: Default::default(), output_specs: Default::default(), notes: None };
        Self { folder, work }
    }

    /// `plan` is one file, `docs` is a list of two.
    fn typical() -> Self {
        Self::empty()
            .file("plan", "plan.md", "the plan\n")
            .files("docs", &[("docs/a.md", "aaa"), ("docs/b.md", "bbb")])
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn file(self, output: &str, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.write(path, content);
        self.named(output, OutputKind::File, OutputValue::File(path.into()))
    }

    fn files(self, output: &str, files: &[(&str, &str)]) -> Self {
        files.iter().for_each(|(path, content)| self.write(path, content));
        let paths = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        self.named(output, OutputKind::Files, OutputValue::Files(paths))
    }

    /// A `files` output of this many small files.
    fn many(count: usize) -> Self {
        let names: Vec<String> = (1..=count).map(|n| format!("f{n}.md")).collect();
        let files: Vec<_> = names.iter().map(|name| (name.as_str(), "x")).collect();
        Self::empty().files("docs", &files)
    }

    fn named(mut self, output: &str, kind: OutputKind, value: OutputValue) -> Self {
        self.work.outputs.insert(output.into(), value);
        self.work.output_specs.insert(output.into(), kind);
        self
    }

    fn notes(mut self, notes: &str) -> Self {
        self.work.notes = Some(notes.into());
        self
    }
}
