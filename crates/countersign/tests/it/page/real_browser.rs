//! The page in Chromium, by `browser.mjs`: every screen, keys, live updates, decisions, themes and widths, hostile texts.

use super::{Page, sent_back};
use std::env;
use std::path::Path;
use std::process::Command;

#[test]
fn real_browser_issue_21_a_person_sees_and_decides() {
    let folder = env::var("COUNTERSIGN_BROWSER")
        .expect("`cargo xtask test` installs what drives the browser and names it");
    let (project, id) = sent_back();
    let page = Page::open(&project);
    let link = format!("{}/open?code={}", page.origin(), page.code);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/page/browser.mjs");
    // Modules are found from where the script is.
    let copied = Path::new(&folder).join(format!("browser-{}.mjs", std::process::id()));
    std::fs::copy(script, &copied).unwrap();
    let again = project.command(&["review", "--subject", "guide <u>"]);
    let agents =
        env::var("COUNTERSIGN_AGENTS").expect("`cargo xtask test` installs node and names its folder");
    let mut node = Command::new(Path::new(&agents).join("bin/node"));
    node.arg(&copied).args([&link, &id]).arg(project.root()).current_dir(&folder);
    node.env("REVIEW_AGAIN", again.get_program());
    for (name, value) in again.get_envs() {
        match value {
            Some(value) => node.env(format!("AGAIN_{}", name.to_string_lossy()), value),
            None => &mut node,
        };
    }
    let ran = node.output().unwrap();
    let _ = std::fs::remove_file(&copied);
    let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && said.contains("all screens seen"), "{said}");
    let review = project.run(&["show", &id, "--json"]).exits(0).json();
    assert_eq!(review["review"]["decisions"][0]["channel"], "page", "{review}");
}
