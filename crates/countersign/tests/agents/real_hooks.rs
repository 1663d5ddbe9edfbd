//! Hooks of the real programs: an agent stops, is held with a finding, mends it, stops again and passes; another one comes
//! to the limit and is let go.

use crate::bench::Bench;
use crate::real_codex::{CODEX, settings_for};
use crate::real_gemini::GEMINI;
use countersign_engine::ledger::Ledger;
use countersign_testkit::{
    Act, Asked, Dialect, Gemini, Judge, Loopback, Messages, Ran, Repository, Responses, Running,
};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// The page an agent writes: how often it was wrong before, and then always right.
const PAGE: &str = "page.md";

/// A project under git with a judge that fails what has the word BAD in it, and the hook installed.
pub struct Hooked<D: Dialect> {
    pub bench: Bench<D>,
    repository: Repository,
}

impl<D: Dialect> Hooked<D> {
    /// `write` is the tool that gives the page a content.
    pub fn new(mut bench: Bench<D>, service: Loopback<D>, policy: &str) -> Self {
        bench.service = service;
        let name = bench.driven.name;
        let project = &bench.project;
        Judge::by_word(project, "Complete");
        let config = format!(
            "version: 1\nreviewers: [{{name: judge, use: command, command: [./judge.sh]}}]\npolicy: {{{policy}}}\n\
             rules: [{{name: r, for: ['*.md'], criteria: [{{name: Complete, ask: 'Is it?'}}]}}]\n"
        );
        project.write("countersign.yml", config).write(".gitignore", ".tmp\n.asked*\n");
        // Programs find us on the PATH; what they say to us and we to them is kept.
        let home = bench.project.home().display().to_string();
        let (own, folder) = (env!("CARGO_BIN_EXE_countersign"), format!("{home}/bin"));
        let script = format!(
            "#!/bin/sh\ncat >{home}/in.$$\n{own} \"$@\" <{home}/in.$$ >{home}/out.$$\ncode=$?\n\
             {{ cat {home}/in.$$; echo; }} >>{home}/inputs\ncat {home}/out.$$ >>{home}/outputs\ncat {home}/out.$$\nexit $code\n"
        );
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(format!("{folder}/countersign"), script).unwrap();
        std::fs::set_permissions(format!("{folder}/countersign"), PermissionsExt::from_mode(0o755)).unwrap();
        bench.path = format!("{folder}:{}", bench.path);
        let repository = Repository::at(bench.project.root());
        repository.commit("begin");
        Running::start(&mut bench.command(&["init", "--agent", name, "--hook"])).wait().exits(0);
        // It was called once to see that it works.
        for kept in ["inputs", "outputs"] {
            std::fs::remove_file(format!("{home}/{kept}")).unwrap();
        }
        repository.commit("the hook");
        bench.trust();
        Self { bench, repository }
    }

    /// Runs the program with a prompt.
    pub fn works(&self, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command: Command = self.bench.program();
        command.args(args).envs(variables.iter().copied());
        Running::fed(&mut command, b"Write a page about the weather.").wait()
    }

    pub fn lines(&self, file: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.bench.project.home().join(file)).unwrap_or_default();
        text.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// It was held once, mended what was found, and passed.
    fn passed(&self, ran: &Ran, event: &str, decision: &str) {
        let (inputs, outputs) = (self.lines("inputs"), self.lines("outputs"));
        let context = format!("{ran:?}\n{inputs:#?}\n{outputs:#?}");
        assert_eq!(ran.code, 0, "{context}");
        assert_eq!(self.bench.project.read(PAGE), "good\n", "{context}");
        assert_eq!(inputs.len(), 2, "{context}");
        // One of them forgets that it was held as soon as its agent uses a tool, and knows its prompt.
        match self.bench.driven.name {
            "gemini" => assert_eq!(inputs[0]["prompt"], inputs[1]["prompt"], "{context}"),
            _ => {
                let held: Vec<&Value> = inputs.iter().map(|input| &input["stop_hook_active"]).collect();
                assert_eq!(held, [&json!(false), &json!(true)], "{context}");
            }
        }
        assert!(inputs.iter().all(|input| input["hook_event_name"] == event), "{context}");
        assert_eq!(inputs[0]["session_id"], inputs[1]["session_id"], "{context}");
        assert_eq!(outputs.len(), 1, "{context}");
        assert_eq!(outputs[0]["decision"], decision);
        // The model was told what was found.
        let last = self.bench.service.asked().last().unwrap().text.clone();
        assert!(last.contains("there is a BAD word") && last.contains("attempt 1 of 3"), "{last}");
        let log = self.countersign(&["log"]);
        assert!(
            log.contains("passed") && log.contains(&format!("hook/{}/", self.bench.driven.name)),
            "{log}"
        );
        assert_eq!(self.repository.git(["for-each-ref", "refs/countersign/passed"]).lines().count(), 1);
        self.bench.assert_nothing_runs();
    }

    /// It was held once, came to the limit, and was let go.
    fn stopped(&self, ran: &Ran) {
        let outputs = self.lines("outputs");
        assert_eq!(ran.code, 0, "{ran:?}\n{outputs:#?}");
        assert_eq!(outputs.len(), 2, "{ran:?}\n{outputs:#?}");
        let told = outputs[1]["systemMessage"].as_str().unwrap();
        assert!(told.contains("attempts used up, attempt 2 of 2"), "{told}");
        assert!(self.countersign(&["log"]).contains("stopped"));
        let read = async {
            let folder = self.bench.project.ledger_dir();
            let ledger = Ledger::open_existing(&folder).await.unwrap().unwrap();
            ledger.notes("notifications").await.unwrap()
        };
        let notes = tokio::runtime::Runtime::new().unwrap().block_on(read);
        assert_eq!(notes.len(), 1, "{notes:?}");
        let title = format!("Review Failed: {} in ", self.bench.driven.name);
        assert!(
            notes[0].body.contains(&title) && notes[0].body.contains("attempts used up"),
            "SVC-15 {notes:?}"
        );
        self.bench.assert_nothing_runs();
    }

    pub fn countersign(&self, args: &[&str]) -> String {
        let mut command = self.bench.project.command(args);
        Running::start(&mut command).wait().exits(0).stdout
    }
}

/// A model that writes the page and says that it is done, again and again; wrong as often as said, and then right.
fn writes(
    wrong: usize,
    mut write: impl FnMut(&str) -> Act + Send + 'static,
) -> impl FnMut(&Asked) -> Act + Send + 'static {
    let mut turn = 0;
    move |asked: &Asked| {
        let has_tools = asked.body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
        if !has_tools {
            return Act::Say { text: "A page", stop: "end_turn" };
        }
        turn += 1;
        match (turn % 2, turn / 2 < wrong) {
            (1, true) => write(&format!("BAD {turn}\n")),
            (1, false) => write("good\n"),
            _ => Act::Say { text: "It is done.", stop: "end_turn" },
        }
    }
}

fn claude(wrong: usize, policy: &str) -> Hooked<countersign_testkit::MessagesApi> {
    let bench = Bench::new(Messages::always(Act::Hang));
    let file = bench.project.root().canonicalize().unwrap().join(PAGE);
    let service = Messages::minded(writes(wrong, move |content| {
        let command = format!("printf '{}' >{}", content.replace('\n', "\\n"), file.display());
        Act::Use { tool: "Bash", input: json!({ "command": command, "description": "write" }) }
    }));
    Hooked::new(bench, service, policy)
}

pub const CLAUDE: [&str; 7] =
    ["-p", "--output-format", "json", "--permission-mode", "acceptEdits", "--allowedTools", "Bash"];

/// SVC-11.
#[test]
fn svc_11_claude_is_held_mends_and_passes() {
    let hooked = claude(1, "");
    let ran = hooked.works(&CLAUDE, &[]);
    hooked.passed(&ran, "Stop", "block");
}

/// SVC-11.
#[test]
fn svc_11_claude_comes_to_the_limit_and_is_let_go() {
    let hooked = claude(9, "max_attempts: 2");
    let ran = hooked.works(&CLAUDE, &[]);
    hooked.stopped(&ran);
}

fn codex(wrong: usize, policy: &str) -> Hooked<countersign_testkit::ResponsesApi> {
    let bench = Bench::of(CODEX, Responses::always(Act::Hang));
    let service = Responses::minded(writes(wrong, |content| {
        let command = format!("printf '{}' >{PAGE}", content.replace('\n', "\\n"));
        Act::Use { tool: "exec_command", input: json!({ "cmd": command }) }
    }));
    codex_by(bench, service, policy)
}

/// Codex with a model that does as given, in a project that it trusts.
pub fn codex_by(
    bench: Bench<countersign_testkit::ResponsesApi>,
    service: Responses,
    policy: &str,
) -> Hooked<countersign_testkit::ResponsesApi> {
    let hooked = Hooked::new(bench, service, policy);
    let (url, root) = (hooked.bench.service.url(), hooked.bench.project.root().canonicalize().unwrap());
    let settings = settings_for(&url) + &format!("[projects.{root:?}]\ntrust_level = 'trusted'\n");
    let home = hooked.bench.project.home().join(".codex");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("config.toml"), settings).unwrap();
    hooked
}

pub const CODEX_EXEC: [&str; 6] =
    ["exec", "--json", "-s", "workspace-write", "--dangerously-bypass-hook-trust", "-"];

/// SVC-11.
#[test]
fn svc_11_codex_is_held_mends_and_passes() {
    let hooked = codex(1, "");
    let ran = hooked.works(&CODEX_EXEC, &[]);
    hooked.passed(&ran, "Stop", "block");
}

/// SVC-11.
#[test]
fn svc_11_codex_comes_to_the_limit_and_is_let_go() {
    let hooked = codex(9, "max_attempts: 2");
    let ran = hooked.works(&CODEX_EXEC, &[]);
    hooked.stopped(&ran);
}

fn gemini(wrong: usize, policy: &str) -> Hooked<countersign_testkit::GeminiApi> {
    let bench = Bench::of(GEMINI, Gemini::always(Act::Hang));
    let file = bench.project.root().canonicalize().unwrap().join(PAGE);
    let service = Gemini::minded(writes(wrong, move |content| Act::Use {
        tool: "write_file",
        input: json!({ "file_path": file, "content": content }),
    }));
    let hooked = Hooked::new(bench, service, policy);
    let sign_in = json!({ "security": { "auth": { "selectedType": "gemini-api-key" } } });
    let home = hooked.bench.project.home().join(".gemini");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("settings.json"), sign_in.to_string()).unwrap();
    hooked
}

const GEMINI_YOLO: [&str; 6] = ["--output-format", "json", "--approval-mode", "yolo", "-m", "gemini-test"];
const TRUSTED: [(&str, &str); 2] =
    [("GEMINI_CLI_TRUST_WORKSPACE", "true"), ("GEMINI_CLI_NO_RELAUNCH", "true")];

/// SVC-11.
#[test]
fn svc_11_gemini_is_held_mends_and_passes() {
    let hooked = gemini(1, "");
    let ran = hooked.works(&GEMINI_YOLO, &TRUSTED);
    hooked.passed(&ran, "AfterAgent", "deny");
}

/// SVC-11.
#[test]
fn svc_11_gemini_comes_to_the_limit_and_is_let_go() {
    let hooked = gemini(9, "max_attempts: 2");
    let ran = hooked.works(&GEMINI_YOLO, &TRUSTED);
    hooked.stopped(&ran);
}
