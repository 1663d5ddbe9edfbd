//! Programs and scripts at a gate, from the question to the ruling, with real processes under their guards.

use crate::project;
use countersign_core::check::{Check, RunCheck};
use countersign_core::cost::Budget;
use countersign_core::criterion::Criterion;
use countersign_core::digest::Digest;
use countersign_core::endpoint::Endpoint;
use countersign_core::ids::Subject;
use countersign_core::outcome::{NoVerdict, Outcome};
use countersign_core::policy::Policy;
use countersign_core::redact::Redaction;
use countersign_core::review::Event;
use countersign_core::rule::{Rule, Scope};
use countersign_core::submission::{Output, OutputKind};
use countersign_engine::engine::{
    Bounds, Engine, GateSurroundings, Judge, Panel, Panelist, Planner, Request, Surroundings,
};
use countersign_engine::installed::TrustedPlaces;
use countersign_engine::ledger::Ledger;
use countersign_engine::process::GuardProgram;
use countersign_engine::programs::{claude, gate_environment};
use countersign_engine::reviewer::{Agent, Command, Marked};
use countersign_engine::worker::Worker;
use countersign_engine::workspace::Root;
use countersign_testkit::Project;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

/// A judge that fails bad work, with its helper.
const JUDGE: &str = "import json, sys, helper\nbrief = json.load(sys.stdin)\n\
    print(json.dumps({'passed': helper.good(brief), 'feedback': 'f', 'criteria_results': [{'criterion': c['name'], 'passed': \
    helper.good(brief), 'feedback': 'bad'} for c in brief['assignment']['criteria']]}))\n";
const HELPER: &str = "def good(brief):\n    return 'bad' not in brief['payload']\n";
/// One that passes everything.
const EASY: &str = "def good(brief):\n    return True\n";
const CHECK: &str = "#!/bin/sh\n! grep -q bad work.md\n";
const REVIEW: &str = "#!/bin/sh\ncat >/dev/null\necho \"REVIEW_FAILED $COUNTERSIGN_CALL: bad\"\n";

struct Gate {
    project: Project,
    trusted: PathBuf,
    _outer: tempfile::TempDir,
    tools: PathBuf,
}

fn write(file: &Path, text: &str) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

impl Gate {
    /// A project with bad work, and the same scripts in the trusted commit.
    fn new() -> Self {
        let (project, outer) = (project(), tempfile::tempdir().unwrap());
        let folder = outer.path().canonicalize().unwrap();
        let (trusted, tools) = (folder.join("trusted"), folder.join("tools"));
        std::fs::create_dir(&tools).unwrap();
        for root in [project.root(), trusted.as_path()] {
            for (name, text) in
                [("judge.py", JUDGE), ("helper.py", HELPER), ("tools/check.sh", CHECK), ("review.sh", REVIEW)]
            {
                write(&root.join(name), text);
            }
        }
        project.write("work.md", "bad\n");
        Self { project, trusted, _outer: outer, tools }
    }

    fn surroundings(&self, more: &[(&str, OsString)]) -> Surroundings {
        let mut current: Vec<_> = std::env::vars_os().collect();
        current.retain(|(name, _)| !more.iter().any(|(other, _)| name == other));
        current.extend(more.iter().map(|(name, value)| (name.into(), value.clone())));
        let places = TrustedPlaces::new(self.project.root(), [self.tools.clone()]);
        let gate = GateSurroundings { places, scripts: Some(self.trusted.clone()), stamp: None };
        Surroundings { environment: gate_environment(&current, &[]).0, gate: Some(gate) }
    }

    /// How the gate judges the work; without a judge by the check.
    async fn judge(&self, judge: Option<Judge>, surroundings: &Surroundings) -> Judged {
        let root = Root::new(self.project.root()).unwrap();
        let criterion = match judge {
            Some(_) => Criterion::must("Good", "Is it good?"),
            None => {
                let run = RunCheck { command: "./tools/check.sh".into(), exit_code: 0, timeout_seconds: 20 };
                Criterion { check: Some(Check::Run(run)), ..Criterion::must("Good", "Is it good?") }
            }
        };
        let panelists = judge.map(panelist).into_iter().collect();
        let panel = Panel::new(panelists, root.path(), 2, surroundings);
        let planner = Planner {
            panel: panel.configured_by(Digest::of(b"rules")),
            root,
            bounds: Bounds { max_inline_files: Some(5), prompt_bytes: 100_000, reply_bytes: 100_000 },
            redaction: Redaction::off(),
            day_budget: Budget::default(),
            keep_contents_days: 0,
            rules_from: None,
            baseline: std::sync::Arc::default(),
        };
        let ledger = Ledger::in_memory();
        let guard = GuardProgram(env!("CARGO_BIN_EXE_countersign").into());
        let engine = Engine::new(planner, ledger, guard).unwrap();
        let rule = Rule::new("work", Scope::Whole, vec![criterion]);
        let request = Request {
            subject: Subject::new("cli", ["work"]),
            rules: vec![rule],
            policy: Policy::default(),
            outputs: vec![Output { name: "work".into(), kind: OutputKind::File }],
            files: vec![("work.md".into(), 0)],
            guidance_files: vec![],
            change: None,
            notes: None,
            fresh: false,
        };
        let prepared = engine.planner().prepare(request).await.unwrap();
        let ticket = engine.submit(prepared).await.unwrap();
        let stored = engine.wait(&ticket, &CancellationToken::new()).await.unwrap();
        let events = engine.ledger().events(&stored.review.id, 0, 100).await.unwrap();
        let place = events.into_iter().find_map(|entry| match entry.event {
            Event::Asked { place, .. } => Some(place),
            _ => None,
        });
        let round = stored.review.rounds.last().unwrap();
        let details = round.failures.values().flatten().map(|failure| failure.detail.clone()).collect();
        Judged { outcome: ticket.outcome(&stored), details, place: place.unwrap_or_default() }
    }
}

#[derive(Debug)]
struct Judged {
    outcome: Outcome,
    details: Vec<String>,
    place: Endpoint,
}

fn panelist(judge: Judge) -> Panelist {
    Panelist {
        name: "main".into(),
        sees_project: matches!(judge, Judge::Marked(_)),
        judge,
        timeout: None,
        concurrency: 1,
        window_tokens: None,
        price: None,
        question_microusd: None,
        vendor: None,
    }
}

fn command(words: &[&str]) -> Option<Judge> {
    let argv = words.iter().map(|word| (*word).to_owned()).collect();
    Some(Judge::Command(Command { argv, model: None }))
}

fn text_reviewer() -> Option<Judge> {
    let worker = Worker::Command { argv: vec!["./review.sh".into()], model: None };
    Some(Judge::Marked(Marked { worker, environment: std::env::vars_os().collect() }))
}

#[tokio::test(flavor = "multi_thread")]
async fn attack_17_edited_scripts_do_not_judge_at_a_gate() {
    let gate = Gate::new();
    let at_gate = gate.surroundings(&[]);
    let judges = || [command(&["python3", "judge.py"]), None, text_reviewer()];
    for judge in judges() {
        let judged = gate.judge(judge, &at_gate).await;
        assert_eq!(judged.outcome, Outcome::NeedsWork, "{judged:?}");
    }
    // The author of the work makes it easy for itself.
    write(&gate.project.path("helper.py"), EASY);
    write(&gate.project.path("tools/check.sh"), "#!/bin/sh\nexit 0\n");
    write(
        &gate.project.path("review.sh"),
        "#!/bin/sh\ncat >/dev/null\necho \"REVIEW_PASSED $COUNTERSIGN_CALL\"\n",
    );
    for judge in judges() {
        let judged = gate.judge(judge, &at_gate).await;
        assert_eq!(judged.outcome, Outcome::NeedsWork, "{judged:?}");
    }
    for judge in judges() {
        let judged = gate.judge(judge, &Surroundings::own()).await;
        assert_eq!(judged.outcome, Outcome::Passed, "a question takes them as they are: {judged:?}");
    }
    // The trusted commit does not have them.
    for name in ["judge.py", "tools/check.sh", "review.sh"] {
        std::fs::remove_file(gate.trusted.join(name)).unwrap();
    }
    for judge in judges() {
        let judged = gate.judge(judge, &at_gate).await;
        assert_eq!(judged.outcome, Outcome::NoVerdict(NoVerdict::Unavailable), "{judged:?}");
        assert!(judged.details.iter().all(|words| words.contains("trusted commit")), "{judged:?}");
    }
    countersign_testkit::attack_row(
        "check, helper module and review command edited",
        "gate",
        "the trusted scripts judge",
        "the findings",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn attack_17_programs_of_untrusted_folders_do_not_judge_at_a_gate() {
    let gate = Gate::new();
    let fakes = tempfile::tempdir().unwrap();
    let pass = "#!/bin/sh\ncat >/dev/null\necho '{\"passed\":true,\"feedback\":\"f\",\"criteria_results\":[{\"criterion\":\"Good\",\"passed\":true,\"feedback\":null}]}'\n";
    for name in ["python3", "claude", "judge"] {
        write(&fakes.path().join(name), pass);
    }
    let path = std::env::join_paths([fakes.path(), Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
    let surroundings = gate.surroundings(&[("PATH", path)]);
    // The real one further down is asked, and the fake one is named.
    let judged = gate.judge(command(&["python3", "judge.py"]), &surroundings).await;
    assert_eq!(judged.outcome, Outcome::NeedsWork, "{judged:?}");
    let fake = fakes.path().join("python3").display().to_string();
    assert!(judged.place.skipped.iter().any(|skipped| skipped.starts_with(&fake)), "{judged:?}");
    assert!(judged.place.programs[0].starts_with("/usr/") || judged.place.programs[0].starts_with("/bin/"));
    assert!(judged.place.files[0].digest.is_some(), "{judged:?}");
    assert_eq!(judged.place.configuration, Some(Digest::of(b"rules")));
    let agent = Judge::Agent(Agent::new(&claude::FACTS, None, std::env::vars_os().collect()));
    for judge in [command(&["judge"]), Some(agent)] {
        let judged = gate.judge(judge, &surroundings).await;
        assert_eq!(judged.outcome, Outcome::NoVerdict(NoVerdict::Unavailable), "{judged:?}");
        assert!(judged.details.iter().all(|words| words.contains("is not trusted to judge")), "{judged:?}");
    }
    countersign_testkit::attack_row(
        "programs in front of the PATH",
        "gate",
        "the trusted program, or no verdict",
        "the ledger names the skipped one",
    );
}
