//! The README shows what happens: the commands of its tour are run in order, as a reader would, and the output must be
//! what it shows. `UPDATE_GOLDEN=1` writes the output into it.

use crate::project;
use countersign_testkit::Project;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Ends the output of a command; no output has it.
const END: &str = "\u{1}";
/// The folder of the reader in the pages.
const HOME: &str = "/home/ada";

/// The section that is played.
const TOUR: &str = "## Five minutes";

fn readme() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")
}

/// Ids, digests and times differ from run to run.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_inclusive([' ', '\n', '`', ',', ';', ':', ')', '/', '"']) {
        let (body, end) =
            word.split_at(word.trim_end_matches([' ', '\n', '`', ',', ';', ':', ')', '/', '"']).len());
        let id = ["rv-", "fi-"].iter().any(|prefix| body.starts_with(prefix) && body.len() == 15);
        let digest = body.len() == 12 && body.chars().all(|c| c.is_ascii_hexdigit());
        let subject = body.len() == 12
            && body.chars().all(|c| c.is_ascii_alphanumeric())
            && body.chars().any(|c| c.is_ascii_digit());
        let number = body.contains('.') && body.trim_end_matches('s').parse::<f32>().is_ok();
        let time = body.len() >= 8 && body.chars().all(|c| c.is_ascii_digit() || "-T:.Z".contains(c));
        out.push_str(if id || digest || subject || number || time { "…" } else { body });
        out.push_str(end);
    }
    out
}

/// The page, and the page with the output of its commands, run in one shell.
fn played(project: &Project) -> (String, String) {
    let text = fs::read_to_string(readme()).unwrap();
    let (mut script, mut parts, mut inside, mut is_tour) = (String::new(), vec![], None::<&str>, false);
    for line in text.lines() {
        if inside.is_none() && line.starts_with("## ") {
            is_tour = line == TOUR;
        }
        match (line, inside) {
            _ if !is_tour => parts.push((line.to_owned(), false)),
            ("```console" | "```sh", None) => {
                inside = Some(line);
                parts.push((line.to_owned(), false));
            }
            ("```", Some(_)) => {
                inside = None;
                parts.push((line.to_owned(), false));
            }
            (_, Some("```console")) => {
                if let Some(command) = line.strip_prefix("$ ") {
                    parts.push((line.to_owned(), true));
                    script.push_str(&format!("(exit $status)\n{command}\nstatus=$?\nprintf '\\001'\n"));
                }
            }
            (_, Some("```sh")) => {
                parts.push((line.to_owned(), false));
                script.push_str(&format!("{line}\n"));
            }
            _ => parts.push((line.to_owned(), false)),
        }
    }
    let home = project.root().join("home/ada");
    fs::create_dir_all(&home).unwrap();
    let shell = project.path("shell.sh");
    fs::write(&shell, format!("exec 2>&1\ncd '{}'\nstatus=0\n{script}", home.display())).unwrap();
    let command = project.command(&[]);
    let binary = Path::new(env!("CARGO_BIN_EXE_countersign")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => bash.env(name, value),
            None => bash.env_remove(name),
        };
    }
    let ran = bash.arg(&shell).env("PATH", path).env("COLUMNS", "200").stdin(Stdio::null()).output().unwrap();
    let out = String::from_utf8(ran.stdout).unwrap();
    let real = home.canonicalize().unwrap();
    let out = out.replace(real.to_str().unwrap(), HOME).replace(home.to_str().unwrap(), HOME);
    let mut outputs = out.split(END);
    let mut after = String::new();
    for (line, is_command) in parts {
        after.push_str(&line);
        after.push('\n');
        if is_command {
            after.push_str(outputs.next().unwrap_or_default());
        }
    }
    (text, after)
}

#[test]
fn issue_16_4_the_readme_shows_what_happens() {
    let project = project();
    let (shown, happened) = played(&project);
    if plain(&shown) == plain(&happened) {
        return;
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        return fs::write(readme(), happened).unwrap();
    }
    let differs = shown.lines().zip(happened.lines()).find(|(a, b)| plain(a) != plain(b));
    panic!("the README shows something else: {differs:?}\n{happened}");
}

/// The Markdown pages of the project, with their text.
fn markdown(folder: &Path, into: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() && !["target", "node_modules", ".git"].iter().any(|left_out| name == *left_out) {
            markdown(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let text = fs::read_to_string(&path).unwrap();
            into.push((path, text));
        }
    }
}

#[test]
fn issue_15_source_files_that_pages_name_exist() {
    let root = readme().parent().unwrap().to_owned();
    let (mut sources, mut folders) = (vec![], vec![root.join("crates"), root.join("xtask/src")]);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let list = if path.is_dir() { &mut folders } else { &mut sources };
            list.push(path);
        }
    }
    let mut pages = vec![];
    markdown(&root, &mut pages);
    let mut missing = vec![];
    for (page, text) in &pages {
        // Every second part stands between backticks.
        for named in text.split('`').skip(1).step_by(2).filter(|name| name.ends_with(".rs")) {
            let plain = !named.contains([' ', '{', '*', '\n']);
            // Pages leave out `src/`: `engine/drive.rs` is a file of `crates/engine/src/engine`.
            let exists = sources.iter().any(|file| file.ends_with(named));
            if plain && !exists && !root.join(named).exists() {
                missing.push(format!("{}: {named}", page.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(pages.len() > 40 && sources.len() > 400, "{} pages, {} sources", pages.len(), sources.len());
}
