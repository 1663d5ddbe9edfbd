//! A pull request that changes gate files: the message is all that a person needs, and only a signature of exactly this
//! change counts.

use super::{Done, Hosted, LAX, pull_request};
use std::process::Command;

/// A host with a person who may sign.
fn hosted() -> (Hosted, String) {
    let hosted = Hosted::new();
    for name in ["ann", "eve"] {
        let key = hosted.home.home().join(name);
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"])
            .arg(key)
            .status();
        assert!(made.unwrap().success());
    }
    let public = std::fs::read_to_string(hosted.home.home().join("ann.pub")).unwrap();
    hosted
        .origin
        .write("countersign.signers", format!("ann@example.org namespaces=\"countersign\" {public}"));
    let base = hosted.origin.commit("signers");
    (hosted, base)
}

fn judged(hosted: &Hosted, base: &str, head: &str) -> Done {
    let job = hosted.job(head);
    job.clone.git(["fetch", "-q", "origin", "+refs/countersign/decisions/*:refs/countersign/decisions/*"]);
    job.on_github("pull_request", &pull_request(base, head))
}

/// Types the commands of the message, with a key.
fn typed(hosted: &Hosted, said: &str, key: &str) {
    let clone = hosted.origin.cloned(&[]);
    let commands: Vec<&str> = said
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("printf") || line.starts_with("git push"))
        .collect();
    assert_eq!(commands.len(), 2, "{said}");
    let key = hosted.home.home().join(key);
    let script = commands
        .join("\n")
        .replace("~/.ssh/id_ed25519", key.to_str().unwrap())
        .replace("git push", "git push -qf");
    let ran = Command::new("sh").args(["-euc", &script]).current_dir(clone.root()).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn issue_20_a_change_of_gate_files_names_what_a_person_does() {
    let (hosted, base) = hosted();
    let head = hosted.branch("topic", &[("countersign.yml", LAX), ("new.md", "fine\n")]);
    let done = judged(&hosted, &base, &head).exits(3);
    for words in
        ["countersign.yml", "commit these files to the default branch on their own", "ssh-keygen -Y sign"]
    {
        assert!(done.ran.stderr.contains(words), "{words}: {}", done.ran.stderr);
    }
    assert!(done.summary.contains("awaiting") && done.outputs.contains("outcome=awaiting_person\n"));
    // Another person's key is refused.
    // From the summary of the job, as a person copies it.
    let message = done.summary.clone();
    typed(&hosted, &message, "eve");
    let refused = judged(&hosted, &base, &head);
    assert!(
        refused.ran.code == 2 && refused.said().contains("the signature does not count"),
        "{}",
        refused.said()
    );
    // The right one lets the work be judged: by the rules of the default branch.
    typed(&hosted, &message, "ann");
    let done = judged(&hosted, &base, &head).exits(0);
    assert!(done.said().contains("ann@example.org"), "{}", done.said());
    assert!(done.said().contains("agreed to the change of countersign.yml"), "{}", done.said());
    // It says nothing about other contents of the same file, and lets no bad work pass.
    let other = hosted.branch("other", &[("countersign.yml", "version: 1\n")]);
    judged(&hosted, &base, &other).exits(3);
    let bad = hosted.branch("bad", &[("countersign.yml", LAX), ("new.md", "TODO\n")]);
    judged(&hosted, &base, &bad).exits(1);
}

#[test]
fn issue_20_a_gate_file_alone_is_not_nothing_to_judge() {
    let (hosted, base) = hosted();
    let head = hosted.branch("topic", &[(".mcp.json", "{}\n")]);
    let done = judged(&hosted, &base, &head).exits(3);
    typed(&hosted, &done.ran.stderr, "ann");
    let done = judged(&hosted, &base, &head).exits(0);
    assert!(
        done.said().contains("nothing to judge") && done.said().contains("agreed to the change of .mcp.json")
    );
    // The other way: it is on the default branch already.
    hosted.origin.write(".mcp.json", "{}\n");
    let base = hosted.origin.commit("people agreed");
    hosted.origin.git(["checkout", "-q", "topic"]);
    hosted.origin.write("new.md", "fine\n");
    hosted.origin.commit("work");
    hosted.origin.git(["merge", "-q", "-m", "update", "main"]);
    let head = hosted.tip();
    hosted.origin.git(["checkout", "-q", "main"]);
    judged(&hosted, &base, &head).exits(0);
}
