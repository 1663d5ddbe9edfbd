//! Signed decisions, with the real `ssh-keygen`: who may sign what, and where the signature comes from.

use crate::people::typed;
use crate::{COMPLETE, project};
use countersign_testkit::{Judge, Project, Repository, Running};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A repository whose only decisions are signed ones, a stopped review in it, and the keys of two people.
struct Signing {
    project: Project,
    repository: Repository,
    judge: Judge,
    review: String,
}

const CONFIG: &str = "version: 1
policy: {decisions: signed, max_attempts: 1}
rules: [{name: r, for: ['*.md'], criteria: [{name: Complete, ask: 'Is it?'}]}]
";
const NAMED: &str = "namespaces=\"countersign\"";

impl Signing {
    /// `options` stands before the key of ann in the committed file of allowed signers.
    fn new(options: &str) -> Self {
        let project = project();
        let repository = Repository::at(project.root());
        for name in ["ann", "bob"] {
            let key = project.home().join(name);
            let mut made = Command::new("ssh-keygen");
            made.args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"]).arg(key);
            assert!(made.status().unwrap().success());
        }
        let line = format!("{options} {}\n", public(&project, "ann"));
        project.write("countersign.yml", CONFIG);
        project.write("countersign.signers", line).write("a.md", "BAD");
        let judge = Judge::by_word(&project, "Complete");
        repository.commit("first");
        let args = [
            "review",
            "a.md",
            "--criterion",
            COMPLETE,
            "--reviewer",
            judge.name(),
            "--subject",
            "x",
            "--json",
        ];
        let review = project.run(&args).exits(6).json()["review"]["id"].as_str().unwrap().to_owned();
        Self { project, repository, judge, review }
    }

    fn key(&self, name: &str) -> PathBuf {
        self.project.home().join(name)
    }

    /// Writes what is to be signed for a decision.
    fn write_out(&self, verb: &str, reason: &str) {
        let args = [verb, &self.review, "--reason", reason, "--out", "statement"];
        let said = self.project.run(&args).exits(0).stdout;
        assert!(said.contains("ssh-keygen -Y sign -n countersign"), "{said}");
    }

    /// Signs a file elsewhere.
    fn sign(&self, name: &str, namespace: &str) {
        let _ = std::fs::remove_file(self.project.path("statement.sig"));
        let mut sign = Command::new("ssh-keygen");
        sign.args(["-q", "-Y", "sign", "-n", namespace, "-f"]).arg(self.key(name)).arg("statement");
        let sign = sign.current_dir(self.project.root()).stderr(Stdio::null()).status();
        assert!(sign.unwrap().success());
    }

    /// Decides with the signature, as any program could: what counts is who signed.
    fn decide(&self, verb: &str, reason: &str, from: &str) -> countersign_testkit::Ran {
        self.project.run(&[verb, &self.review, "--reason", reason, "--signature", from])
    }

    fn is_decided(&self) -> bool {
        let json = self.project.run(&["show", &self.review, "--json"]).exits(0).json();
        !json["review"]["decisions"].as_array().unwrap().is_empty()
            || !json["review"]["lifts"].as_array().unwrap().is_empty()
    }
}

fn public(project: &Project, name: &str) -> String {
    let text = std::fs::read_to_string(project.home().join(format!("{name}.pub"))).unwrap();
    text.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

#[test]
fn attack_17_where_decisions_are_signed_a_terminal_is_not_enough() {
    let at = Signing::new(&format!("ann@x {NAMED}"));
    for verb in ["approve", "skip", "unblock"] {
        let said = typed(&at.project, &[verb, &at.review, "--reason", "mine"], None);
        assert!(
            said.contains("this project accepts only signed decisions") && said.contains("--sign"),
            "{said}"
        );
    }
    assert!(!at.is_decided());
    let key = at.key("ann");
    let args = ["approve", &at.review, "--reason", "read it", "--sign", key.to_str().unwrap()];
    let said = typed(&at.project, &args, None);
    assert!(
        said.contains("reason: \"read it\"") && said.contains("approve by ann@x (signed with SHA256:"),
        "{said}"
    );
    let json = at.project.run(&["show", &at.review, "--json"]).exits(0).json();
    let decision = &json["review"]["decisions"][0];
    assert_eq!(
        (&decision["by"], &decision["channel"], &decision["person"]),
        (&"ann@x".into(), &"signed".into(), &true.into())
    );
    assert!(decision["signers"].as_str().unwrap().starts_with("countersign.signers (as of "), "{decision}");
    countersign_testkit::attack_row(
        "a terminal where decisions are signed",
        "approve and others",
        "refused",
        "the message",
    );
}

/// An agent has no signature made here, also with a key that asks nothing.
#[test]
fn attack_17_an_agent_does_not_sign() {
    let at = Signing::new(&format!("ann@x {NAMED}"));
    let key = at.key("ann");
    let args = ["approve", &at.review, "--reason", "r", "--sign", key.to_str().unwrap()];
    for said in [typed(&at.project, &args, Some("CLAUDECODE")), at.project.run(&args).exits(2).stderr] {
        assert!(said.contains("only a person may sign a decision here"), "{said}");
    }
    assert!(!at.is_decided());
    countersign_testkit::attack_row("--sign by an agent", "approve", "refused", "the message names the mark");
}

#[test]
fn attack_17_a_signature_of_something_else_is_refused_and_says_why() {
    let at = Signing::new(&format!("ann@x {NAMED}"));
    at.write_out("approve", "read it");
    for (name, namespace, verb, reason, why) in [
        ("ann", "git", "approve", "read it", "namespace does not match"),
        ("bob", "countersign", "approve", "read it", "No principal matched"),
        ("ann", "countersign", "skip", "read it", "incorrect signature"),
        ("ann", "countersign", "unblock", "read it", "incorrect signature"),
        ("ann", "countersign", "approve", "another reason", "incorrect signature"),
    ] {
        at.sign(name, namespace);
        let said = at.decide(verb, reason, "statement.sig").exits(2).stderr;
        assert!(said.contains("the signature does not count") && said.contains(why), "{why}: {said}");
    }
    at.project.write("junk", "junk");
    assert!(at.decide("approve", "read it", "junk").exits(2).stderr.contains("does not count"));
    at.decide("approve", "read it", "missing").exits(2);
    assert!(!at.is_decided());
    // Signed elsewhere, and handed in by a program: what counts is who signed.
    at.sign("ann", "countersign");
    let mut command =
        at.project.command(&["approve", &at.review, "--reason", "read it", "--signature", "statement.sig"]);
    let ran = Running::start(command.env("CLAUDECODE", "1")).wait().exits(0);
    assert!(ran.stdout.contains("approve by ann@x (signed with SHA256:"), "{}", ran.stdout);
    countersign_testkit::attack_row(
        "a signature of another review, digest or action",
        "approve --signature",
        "refused",
        "the message",
    );
}

/// After the review went on, the same signature is of another state.
#[test]
fn attack_17_a_signature_holds_once() {
    let at = Signing::new(&format!("ann@x {NAMED}"));
    at.write_out("unblock", "once");
    at.sign("ann", "countersign");
    at.decide("unblock", "once", "statement.sig").exits(0);
    let args = ["review", "a.md", "--criterion", COMPLETE, "--reviewer", at.judge.name(), "--subject", "x"];
    at.project.run(&args).exits(6);
    let said = at.decide("unblock", "once", "statement.sig").exits(2).stderr;
    assert!(said.contains("incorrect signature"), "{said}");
    countersign_testkit::attack_row(
        "a signature used again",
        "approve --signature",
        "refused",
        "the message",
    );
}

#[test]
fn attack_17_lines_that_allow_anybody_or_any_use_do_not_count() {
    for (options, why) in [
        ("ann@x".to_owned(), "line 1: it lacks namespaces="),
        ("ann@x namespaces=\"git\"".to_owned(), "line 1: it lacks namespaces="),
        (format!("* {NAMED}"), "line 1: its principal is a pattern"),
        (format!("ann@x {NAMED},valid-before=\"20200101\""), "key has expired"),
        (format!("ann@x {NAMED},valid-after=\"20990101\""), "key is not yet valid"),
    ] {
        let at = Signing::new(&options);
        at.write_out("approve", "r");
        at.sign("ann", "countersign");
        let said = at.decide("approve", "r", "statement.sig").exits(2).stderr;
        assert!(said.contains(why), "{options}: {said}");
        assert!(!at.is_decided(), "{options}");
    }
    countersign_testkit::attack_row(
        "allowed signers with * or without our namespace",
        "approve --signature",
        "refused",
        "the message",
    );
}

/// The judged work does not choose who may sign: neither by its own file, nor by `HOME`.
#[test]
fn attack_17_the_work_does_not_choose_its_signers() {
    let at = Signing::new(&format!("ann@x {NAMED}"));
    let own = format!("bob@x {NAMED} {}\n", public(&at.project, "bob"));
    at.project.write("countersign.signers", &own);
    at.write_out("approve", "r");
    at.sign("bob", "countersign");
    let said = at.decide("approve", "r", "statement.sig").exits(2).stderr;
    assert!(said.contains("No principal matched"), "{said}");
    // Without a committed file the user's own counts, found by the account.
    std::fs::remove_file(at.project.path("countersign.signers")).unwrap();
    at.repository.commit("no signers");
    let elsewhere = at.project.path("home");
    std::fs::create_dir_all(elsewhere.join(".config/countersign")).unwrap();
    std::fs::write(elsewhere.join(".config/countersign/allowed_signers"), &own).unwrap();
    let args = ["approve", &at.review, "--reason", "r", "--signature", "statement.sig"];
    let mut command = at.project.command(&args);
    let ran =
        Running::start(command.env("HOME", &elsewhere).env("XDG_CONFIG_HOME", elsewhere.join(".config")))
            .wait();
    assert!(ran.exits(2).stderr.contains("there is no file of allowed signers"));
    let folder = at.project.home().join(".config/countersign");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("allowed_signers"), own).unwrap();
    at.project.run(&args).exits(0);
    countersign_testkit::attack_row(
        "a key added to countersign.signers in the working tree",
        "approve --signature",
        "refused",
        "the message",
    );
}

/// A dispute of a stopped review is a person's too, so it is signed.
#[test]
fn attack_17_a_dispute_is_signed_with_its_evidence() {
    let at = Signing::new(&format!("ann@x {NAMED}"));
    let json = at.project.run(&["show", &at.review, "--json"]).exits(0).json();
    let finding = json["findings"][0]["id"].as_str().unwrap().to_owned();
    let said = typed(&at.project, &["dispute", &finding, "--evidence", "e"], None);
    assert!(said.contains("only a person can dispute findings of a stopped review"), "{said}");
    at.project.run(&["dispute", &finding, "--evidence", "e", "--out", "statement"]).exits(0);
    at.sign("ann", "countersign");
    let other = ["dispute", &finding, "--evidence", "other", "--signature", "statement.sig"];
    assert!(at.project.run(&other).exits(2).stderr.contains("incorrect signature"));
    let args = [
        "dispute",
        &finding,
        "--evidence",
        "e",
        "--signature",
        "statement.sig",
        "--reviewer",
        at.judge.name(),
    ];
    let ran = at.project.run(&args);
    assert!(ran.code == 0 || ran.code == 1, "{ran:?}");
    let json = at.project.run(&["show", &at.review, "--json"]).exits(0).json();
    assert_eq!(json["review"]["disputes"][0]["channel"], "signed", "{json}");
    countersign_testkit::attack_row(
        "another evidence under a signed dispute",
        "dispute --signature",
        "refused",
        "the message",
    );
}

/// A signature can come with a pull request, as a ref.
#[test]
fn attack_17_a_signature_in_a_ref_counts_like_a_file() {
    let at = Signing::new(&format!("ann@x {NAMED}"));
    at.write_out("approve", "r");
    let said = at.decide("approve", "r", "ref").exits(2).stderr;
    assert!(said.contains("there is no signature in refs/countersign/decisions/rv-"), "{said}");
    for (name, exit) in [("bob", 2), ("ann", 0)] {
        at.sign(name, "countersign");
        let blob = at.repository.git(["hash-object", "-w", "statement.sig"]);
        at.repository.git(["update-ref", &format!("refs/countersign/decisions/{}", at.review), blob.trim()]);
        at.decide("approve", "r", "ref").exits(exit);
    }
    countersign_testkit::attack_row(
        "a forged signature in a ref",
        "approve --signature",
        "refused",
        "the message",
    );
}
