//! What shows that an ancestor process is an agent program, or was started by one.

use super::OWN_CALL;
use countersign_core::text::visible_line;
use countersign_engine::process::Ancestor;
use countersign_engine::programs::{Program, Programs};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Programs that run a script named as an argument.
const INTERPRETERS: [&str; 11] =
    ["node", "nodejs", "bun", "deno", "python", "python3", "sh", "bash", "dash", "zsh", "ksh"];
/// How many words of an interpreter's command line may name its script: the first may belong to an option.
const SCRIPT_WORDS: usize = 2;

/// The mark of an agent among variables, in words.
pub(super) fn marked(programs: Programs, variables: &[(OsString, OsString)]) -> Option<String> {
    let ours = || variables.iter().any(|(name, _)| name == OWN_CALL);
    match programs.marked(variables).next() {
        Some((mark, program)) => Some(format!(
            "{} (a variable that {} sets)",
            mark.name,
            program.map_or("an agent", |program| program.name)
        )),
        None => {
            ours().then(|| format!("{OWN_CALL} (a variable that countersign sets for programs it starts)"))
        }
    }
}

/// The evidence that an ancestor is an agent, or was started by one.
pub(super) fn mark_of(programs: Programs, ancestor: &Ancestor) -> Option<String> {
    let pid = ancestor.pid;
    if let Some((program, seen)) = agent(programs, ancestor) {
        let seen = visible_line(&seen);
        return Some(format!("process {pid}, an ancestor of this one, is {} ({seen})", program.name));
    }
    let words = marked(programs, ancestor.variables.as_deref().unwrap_or_default())?;
    Some(format!("{words} is set in process {pid}, an ancestor of this one"))
}

/// The evidence that a shell of an agent started this process, and not the program of the agent itself: a variable that the
/// program sets for shells only. One that the program has itself says nothing.
pub(super) fn shell_mark(
    programs: Programs,
    marks: &[&'static str],
    own: &[(OsString, OsString)],
    above: &[Ancestor],
) -> Option<String> {
    let program = above.iter().position(|process| agent(programs, process).is_some());
    let of = |process: &Ancestor| marked_by(marks, process.variables.as_deref().unwrap_or_default());
    if program.and_then(|at| of(above.get(at)?)).is_some() {
        return None;
    }
    let here = marked_by(marks, own).map(|mark| format!("{mark} is set"));
    let between = above.iter().take(program.unwrap_or(above.len()));
    here.or_else(|| {
        between
            .into_iter()
            .find_map(|process| Some(format!("{} is set in process {}", of(process)?, process.pid)))
    })
}

pub(super) fn is_agent(programs: Programs, process: &Ancestor) -> bool {
    agent(programs, process).is_some()
}

fn marked_by(marks: &[&'static str], variables: &[(OsString, OsString)]) -> Option<&'static str> {
    marks.iter().copied().find(|mark| variables.iter().any(|(name, _)| name == mark))
}

/// The agent program that a process is, and the name or file by which it is known: the name that the kernel has, the file
/// that it executes, its first argument, and the script of an interpreter.
fn agent(programs: Programs, process: &Ancestor) -> Option<(&'static Program, String)> {
    let shown = |word: &OsStr| word.to_string_lossy().into_owned();
    let by_name = |word: &OsStr| Some((programs.named(&base_name(word)?)?, shown(word)));
    let by_file = |file: &Path| Some((programs.installing(file)?, shown(file.as_os_str())));
    let first = process.args.first();
    let own = [process.name.as_ref().map(OsStr::new), process.program.as_deref().map(Path::as_os_str)];
    let own = own.into_iter().flatten().chain(first.map(OsString::as_os_str));
    let mut own_names = own.clone();
    let scripts = scripts(process);
    own_names
        .find_map(by_name)
        .or_else(|| process.program.as_deref().and_then(by_file))
        .or_else(|| first.map(Path::new).and_then(by_file))
        .or_else(|| scripts.first().and_then(|script| by_name(script.as_os_str())))
        .or_else(|| {
            scripts.iter().find_map(|script| by_file(script).or_else(|| by_file(&real(process, script))))
        })
}

/// The words of an interpreter's command line that may name its script; none where the process is no interpreter.
fn scripts(process: &Ancestor) -> Vec<PathBuf> {
    let words =
        [process.program.as_deref().map(Path::as_os_str), process.args.first().map(OsString::as_os_str)];
    let is_one = |word: &OsStr| base_name(word).is_some_and(|name| INTERPRETERS.contains(&name.as_str()));
    if !words.into_iter().flatten().any(is_one) {
        return vec![];
    }
    let mut rest = process.args.iter().skip(1);
    // What follows `-c`, or `-lc`, is the text of a program and no file.
    let is_text = |word: &[u8]| word.starts_with(b"-") && !word.starts_with(b"--") && word.ends_with(b"c");
    let words = rest.by_ref().take_while(|word| !is_text(word.as_encoded_bytes()));
    words
        .filter(|word| !word.as_encoded_bytes().starts_with(b"-"))
        .take(SCRIPT_WORDS)
        .map(PathBuf::from)
        .collect()
}

/// The file that a script's path leads to, from the folder of its process.
fn real(process: &Ancestor, script: &Path) -> PathBuf {
    let path = process.folder.as_ref().map_or_else(|| script.to_owned(), |folder| folder.join(script));
    path.canonicalize().unwrap_or(path)
}

/// The name of a program without its folder, the dash of a login shell, and the endings of scripts and replaced files.
fn base_name(word: &OsStr) -> Option<String> {
    let name = Path::new(word).file_name()?.to_str()?;
    let name = name.strip_prefix(['-', '.']).unwrap_or(name);
    let name = name.strip_suffix(" (deleted)").unwrap_or(name);
    let endings = [".js", ".mjs", ".cjs", ".exe"];
    Some(endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_engine::programs::{PROGRAMS, Vendor};

    fn variables(all: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        all.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect()
    }

    /// Each as measured in the shell of the real program; a single one is enough.
    #[test]
    fn every_measured_mark_of_an_agent_is_one() {
        for name in [
            "CLAUDECODE",
            "AI_AGENT",
            "CLAUDE_CODE_CHILD_SESSION",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_SESSION_ID",
            "CODEX_THREAD_ID",
            "CODEX_SESSION_ID",
            "CODEX_CI",
            "CODEX_TOOL_CALL_ID",
            "CODEX_SANDBOX_NETWORK_DISABLED",
            "CODEX_SANDBOX",
            "GEMINI_CLI",
            "QWEN_CODE",
            "OPENCODE",
            "OPENCODE_PID",
            "AGENT",
            "COPILOT_CLI",
            "COPILOT_AGENT_SESSION_ID",
            "COUNTERSIGN_CALL",
        ] {
            let found = marked(PROGRAMS, &variables(&[("HOME", "/h"), (name, "1")]));
            assert!(found.is_some_and(|words| words.starts_with(name)), "{name}");
        }
        // What people and the terminals of editors have.
        for (name, value) in [
            ("AGENT", "ssh"),
            ("GIT_CONFIG_COUNT", "1"),
            ("CODEX_HOME", "/h"),
            ("PATH", "/codex"),
            ("CLAUDE_CODE_SSE_PORT", "40123"),
            ("CLAUDE_CONFIG_DIR", "/h/.claude"),
            ("GEMINI_CLI_IDE_SERVER_PORT", "40124"),
            ("TERM_PROGRAM", "vscode"),
            ("VSCODE_INJECTION", "1"),
            ("CURSOR_TRACE_ID", "x"),
            ("ZED_TERM", "true"),
            ("TMUX", "/tmp/tmux-0/default,1,0"),
            ("SSH_CONNECTION", "127.0.0.1 1 127.0.0.1 22"),
            ("REMOTE_CONTAINERS", "true"),
        ] {
            assert_eq!(marked(PROGRAMS, &variables(&[(name, value)])), None, "{name}");
        }
    }

    fn process(line: &str) -> Ancestor {
        Ancestor { pid: 7, args: line.split(' ').map(OsString::from).collect(), ..Ancestor::default() }
    }

    #[test]
    fn agent_programs_are_known_by_their_files() {
        for (line, program) in [
            ("claude -p", Some("claude")),
            ("/opt/npm/bin/codex exec -", Some("codex")),
            ("node /opt/npm/bin/gemini -p x", Some("gemini")),
            ("node --no-warnings /opt/npm/bin/qwen", Some("qwen")),
            ("node /opt/copilot", Some("copilot")),
            ("bun /opt/opencode.js", Some("opencode")),
            ("sh /home/ann/bin/claude", Some("claude")),
            ("node /x/node_modules/@anthropic-ai/claude-code/cli.js", Some("claude")),
            ("/usr/bin/node --require /x.js /x/node_modules/@openai/codex/bin/run.js", Some("codex")),
            ("node --max-old-space-size=8192 /x/@google/gemini-cli/bundle/index.js", Some("gemini")),
            ("node /x/node_modules/@qwen-code/qwen-code/cli.js", Some("qwen")),
            ("node /x/node_modules/@github/copilot/index.js", Some("copilot")),
            ("/x/node_modules/opencode-ai/bin/.opencode", Some("opencode")),
            ("/home/ann/.local/share/claude/versions/2.1.0", Some("claude")),
            ("vim claude", None),
            ("ssh codex", None),
            ("bash -c codex", None),
            ("bash -lc claude", None),
            ("-bash", None),
            ("node server.js claude", None),
            ("node /opt/vscode/bootstrap-fork.js --type=ptyHost", None),
            ("/usr/share/code/code --type=utility", None),
            ("tmux new-session -s claude", None),
            ("sshd: ann@pts/0", None),
            ("less /x/node_modules/@openai/codex/README.md", None),
            ("", None),
        ] {
            let found = agent(PROGRAMS, &process(line)).map(|(program, _)| program.name);
            assert_eq!(found, program, "{line}");
        }
    }

    /// The first argument can be anything; the file that is executed and the kernel's name say what the process is.
    #[test]
    fn attack_17_a_renamed_agent_program_is_known_by_what_it_executes() {
        let renamed = process("bash");
        let executes = |file: &str| Ancestor { program: Some(file.into()), ..renamed.clone() };
        let named = |name: &str| Ancestor { name: Some(name.into()), ..renamed.clone() };
        let script =
            Ancestor { program: Some("/usr/bin/node".into()), ..process("worker /x/@openai/codex/c.js") };
        for (process, is_one) in [
            (executes("/opt/bin/claude"), true),
            (executes("/home/ann/.local/share/claude/versions/2.1.0"), true),
            (executes("/opt/bin/claude (deleted)"), true),
            (named("gemini"), true),
            (script, true),
            (executes("/usr/bin/bash"), false),
            (named("bash"), false),
            (renamed.clone(), false),
        ] {
            assert_eq!(agent(PROGRAMS, &process).is_some(), is_one, "{process:?}");
        }
    }

    #[test]
    fn attack_17_a_hook_is_called_by_the_program_and_not_by_a_shell_of_its_agent() {
        let with =
            |line: &str, set: &[(&str, &str)]| Ancestor { variables: Some(variables(set)), ..process(line) };
        let (mark, marks) = ([("CLAUDECODE", "1")], ["CLAUDECODE"]);
        let claude = || with("claude", &[]);
        for (own, above, is_one) in [
            (vec![], vec![with("sh -c x", &[]), claude()], false),
            (vec![], vec![claude(), with("bash", &mark)], false),
            // A program that was itself started in a shell of an agent.
            (variables(&mark), vec![with("claude", &mark), with("bash", &mark)], false),
            (variables(&mark), vec![with("bash", &mark), claude()], true),
            (vec![], vec![with("bash", &mark), claude()], true),
            (variables(&mark), vec![claude()], true),
            (variables(&mark), vec![], true),
            (vec![], vec![], false),
        ] {
            assert_eq!(shell_mark(PROGRAMS, &marks, &own, &above).is_some(), is_one, "{own:?} {above:?}");
        }
    }

    #[test]
    fn attack_17_a_script_is_known_by_where_its_link_leads() {
        let outer = tempfile::tempdir().unwrap();
        let package = outer.path().join("node_modules/@anthropic-ai/claude-code");
        std::fs::create_dir_all(&package).unwrap();
        std::fs::write(package.join("cli.js"), "").unwrap();
        std::os::unix::fs::symlink(package.join("cli.js"), outer.path().join("helper")).unwrap();
        for line in ["node helper", "node -r x helper"] {
            let process = Ancestor { folder: Some(outer.path().into()), ..process(line) };
            assert_eq!(agent(PROGRAMS, &process).map(|(program, _)| program.name), Some("claude"), "{line}");
        }
    }

    #[test]
    fn issue_15_8_a_made_up_program_is_an_agent_by_its_row() {
        let programs = crate::made_up::WITH_MADE_UP;
        let found = marked(programs, &variables(&[("MADE_UP_SESSION", "7")]));
        assert_eq!(found.as_deref(), Some("MADE_UP_SESSION (a variable that made-up sets)"));
        let found = agent(programs, &process("node /opt/made-up.js"));
        assert_eq!(found.map(|(program, _)| program.name), Some("made-up"));
        assert!(programs.authors().any(|author| author == ("made-up", Vendor::Google)));
        assert_eq!(marked(PROGRAMS, &variables(&[("MADE_UP_SESSION", "7")])), None);
    }
}
