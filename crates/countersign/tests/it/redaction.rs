//! Secrets stay where they are: not in a question, a private folder, the ledger, an answer or a report.

use crate::{COMPLETE, project};
use countersign_testkit::{Judge, Project, Ran};

/// Made up, and put together here so that no scanner takes this file for a leak.
fn secret(n: u8) -> String {
    format!("sk-{}{n}xY7aB3dE5gH7jK9mN1pQ2rS4tU6vW8", "proj-")
}

const PASS: &str = r#"printf '{"passed": true, "feedback": "", "criteria_results": [{"criterion": "Complete", "passed": true}]}'"#;

/// A reviewer that keeps its brief, and every file it was given, in `.seen`.
fn witness(project: &Project) -> Judge {
    let seen = project.path(".seen").display().to_string();
    let body =
        format!("{{ printf '%s\\n' \"$brief\"; find . -type f | sort | xargs -r cat; }} >>'{seen}'; {PASS}");
    Judge::scripted(project, "judge.sh", &body)
}

/// Everything Countersign wrote down.
fn kept(project: &Project) -> Vec<u8> {
    let folder = std::fs::read_dir(project.ledger_dir()).unwrap();
    let files = folder.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    files.flat_map(|path| std::fs::read(path).unwrap()).collect()
}

#[track_caller]
fn nowhere(project: &Project, secret: &str, ran: &[&Ran]) {
    let needle = &secret.as_bytes()[8..];
    assert!(!kept(project).windows(needle.len()).any(|window| window == needle), "in the ledger");
    let shown = project.run(&["show", "--json"]).exits(0);
    let log = project.run(&["log", "--json"]).exits(0);
    for ran in ran.iter().copied().chain([&shown, &log]) {
        for text in [&ran.stdout, &ran.stderr] {
            assert!(!text.contains(&secret[8..]), "{text}");
        }
    }
}

#[test]
fn a_key_in_a_file_notes_or_guidance_reaches_nobody() {
    let project = project();
    let judge = witness(&project);
    let ordinary =
        "Ordinary text,\tüñí — byte for byte, commit 8978142f0c5b1d6a7e3c9b2a4d5e6f708192a3b4.\r\n";
    project.write("a.md", format!("one\nkey = {}\nthree\n", secret(1))).write("b.md", ordinary);
    project.write("notes", format!("I used {} for it", secret(2)));
    let guidance = format!("call it with {}", secret(3));
    let criterion = format!("Complete=Is it complete without {}?", secret(4));
    let mut args = vec!["review", "a.md", "b.md", "--criterion", &criterion, "--reviewer", judge.name()];
    args.extend(["--notes", "notes", "--guidance", &guidance, "--json"]);
    let dry: Vec<&str> = args.iter().copied().chain(["--dry-run"]).collect();
    let dry = project.run(&dry).exits(0);
    let ran = project.run(&args).exits(0);
    let seen = project.read(".seen");
    for n in 1..=4 {
        assert!(!seen.contains(&secret(n)), "{n}: {seen}");
        nowhere(&project, &secret(n), &[&dry, &ran]);
    }
    assert!(seen.contains("one\\nkey = [redacted: openai-key]\\nthree\\n"), "{seen}");
    assert!(seen.contains("[2 secrets replaced by [redacted: NAME]: openai-key 2]"), "{seen}");
    assert!(seen.contains("byte for byte, commit 8978142f0c5b1d6a7e3c9b2a4d5e6f708192a3b4.\\r\\n"));
    let payload = dry.json()["assignments"][0]["payload"].as_str().unwrap().to_owned();
    assert!(payload.contains(ordinary) && payload.starts_with("[2 secrets replaced"), "{payload}");
    let json = ran.json();
    assert_eq!((&json["redacted"], &json["assignments"][0]["redacted"]), (&2.into(), &2.into()));
    let text = project.run(&["show"]).exits(0);
    assert!(text.stdout.contains("2 secrets replaced"), "{}", text.stdout);
}

#[test]
fn a_key_in_a_listed_file_is_not_in_the_private_folder() {
    let project = project();
    let judge = witness(&project);
    let plain = "nothing here\r\nbut ordinary text, ü\n";
    project.write("docs/a.md", format!("one\n{}\nthree\n", secret(1))).write("docs/b.md", plain);
    let args =
        ["review", "docs", "--criterion", COMPLETE, "--reviewer", judge.name(), "--max-inline-files", "0"];
    let ran = project.run(&args).exits(0);
    let seen = project.read(".seen");
    assert!(!seen.contains(&secret(1)), "{seen}");
    assert!(seen.ends_with(&format!("one\n[redacted: openai-key]\nthree\n{plain}")), "{seen}");
    assert!(seen.contains("[1 secret replaced by [redacted: NAME]: openai-key 1]"), "{seen}");
    assert!(ran.stdout.contains("1 secret replaced"), "{}", ran.stdout);
    nowhere(&project, &secret(1), &[&ran]);
}

/// A reviewer may have read a secret elsewhere: what it says is searched too, in whatever form it says it.
#[test]
fn a_key_in_a_reply_is_not_recorded() {
    let escaped = secret(1).replacen('s', "\\\\u0073", 1);
    let reply = |feedback: &str| {
        format!(
            r#"{{"passed": false, "feedback": "{feedback}", "criteria_results": [{{"criterion": "Complete", "passed": false, "feedback": "see {feedback}"}}]}}"#
        )
    };
    let print = |text: &str| format!("printf '{text}'");
    let ways = [
        (print(&reply(&secret(1))), 1),
        (print(&reply(&escaped)), 1),
        (print(&reply(&format!("\\\\n{}", secret(1)))), 1),
        (print(&format!("garbled {}", secret(1))), 4),
        (print(&reply("x").replace("Complete", &secret(1))), 4),
        (format!("echo 'broken {}' >&2; exit 3", secret(1)), 4),
    ];
    for (body, code) in ways {
        let project = project();
        let judge = Judge::scripted(&project, "judge.sh", &body);
        project.write("a.md", "text");
        let ran =
            project.run(&["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name()]).exits(code);
        let said = format!("{}{}{}", ran.stdout, ran.stderr, String::from_utf8_lossy(&kept(&project)));
        assert!(said.contains("[redacted: openai-key]"), "{body}\n{said}");
        nowhere(&project, &secret(1), &[&ran]);
    }
}

/// Our own checks see the truth; what they quote of it is redacted.
#[test]
fn a_check_sees_the_truth_and_does_not_repeat_it() {
    let project = project();
    let config = "version: 1\nrules:\n  - name: docs\n    for: ['*.md']\n    criteria:\n      - {name: Keys, check: {forbidden_pattern: 'sk-proj-[A-Za-z0-9]+'}}\n      - {name: Run, check: {run: 'cat a.md; exit 1'}}\n";
    project.write("countersign.yml", config).write("a.md", secret(1));
    let ran = project.run(&["review", "--json"]).exits(1);
    let findings = ran.json()["findings"].as_array().unwrap().clone();
    assert_eq!(findings.len(), 2);
    for finding in findings {
        assert!(finding["feedback"].as_str().unwrap().contains("[redacted: openai-key]"), "{finding}");
    }
    nowhere(&project, &secret(1), &[&ran]);
}

#[test]
fn a_key_in_a_self_review_or_a_reason_is_not_recorded() {
    let project = project();
    let config = "version: 1\npolicy: {overrides: allow}\nrules:\n  - {name: docs, for: [a.md], criteria: [{name: Complete, ask: ok?}]}\n";
    project.write("countersign.yml", config).write("a.md", "draft").write("notes", secret(1));
    let review = ["review", "a.md", "--reviewer", "self", "--subject", "x", "--notes", "notes", "--json"];
    let waiting = project.run(&review).exits(3);
    let id = waiting.json()["review"]["id"].as_str().unwrap().to_owned();
    let text = project.read_own(&format!("self_review_{id}.md"));
    assert!(text.contains("> [redacted: openai-key]"), "{text}");
    let token = text.split("\"token\": \"").nth(1).unwrap().split('"').next().unwrap();
    let row = format!(r#"{{"criterion": "Complete", "passed": false, "feedback": "has {}"}}"#, secret(1));
    project.write("results.json", format!(r#"{{"token": "{token}", "results": [{row}]}}"#));
    let ruled = project.run(&["rule", &id, "--from", "results.json"]).exits(1);
    assert!(ruled.stdout.contains("has [redacted: openai-key]"), "{}", ruled.stdout);
    let reason = format!("it only has {}", secret(1));
    let approved = project.run(&["approve", &id, "--reason", &reason]).exits(0);
    assert!(approved.stdout.contains("it only has [redacted: openai-key]"), "{}", approved.stdout);
    nowhere(&project, &secret(1), &[&waiting, &ruled, &approved]);
}

#[test]
fn own_patterns_and_the_switch_are_part_of_the_question() {
    let project = project();
    let judge = witness(&project);
    project.write("a.md", format!("{} and corp-abcdefghij0123456789\n", secret(1)));
    let ask = |redaction: &str| {
        let rules = "rules:\n  - {name: docs, for: [a.md], criteria: [{name: Complete, ask: ok?}]}\n";
        project.write("countersign.yml", format!("version: 1\n{rules}{redaction}")).write(".seen", "");
        project.run(&["review", "--reviewer", judge.name()]).exits(0);
        project.read(".seen")
    };
    let own = "redaction: {patterns: [{name: internal, pattern: 'corp-[a-z0-9]{20}'}]}\n";
    assert!(ask("").contains("[redacted: openai-key] and corp-abcdefghij0123456789\\n"));
    assert!(ask(own).contains("[redacted: openai-key] and [redacted: internal]\\n"));
    assert!(ask("redaction: {enabled: false}\n").contains(&secret(1)), "switched off, it is sent");
    assert_eq!(judge.asked().len(), 3);
    assert_eq!(ask(own), "", "the same patterns: the ruling stands");
}

/// The end of what a program wrote is shown from a whole word on: half a key is not recognised as one.
#[test]
fn half_a_key_is_not_shown() {
    let project = project();
    let key = secret(1);
    let filler = "x ".repeat((2048 - 20) / 2);
    let body = format!("printf '%s' '{key} {filler}' >&2; exit 3");
    let judge = Judge::scripted(&project, "judge.sh", &body);
    project.write("a.md", "text");
    let ran = project.run(&["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name()]).exits(4);
    assert!(ran.stdout.contains("x x x") && !ran.stdout.contains(&key[key.len() - 8..]), "{}", ran.stdout);
    nowhere(&project, &key[key.len() - 16..], &[&ran]);
}

/// Made up when the test runs. The corpus of all formats is in the core; here are some that used to get through.
#[test]
fn issue_23_new_formats_reach_nobody() {
    let project = project();
    let judge = witness(&project);
    let value = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA";
    let rows = [
        ("hugging", format!("hf_{value}ab"), value.to_owned()),
        ("sendgrid", format!("SG.{}.{value}", &value[..22]), value.to_owned()),
        ("vault", format!("hvs.{value}{value}"), value.to_owned()),
        ("netrc", format!("machine x.example login me password {}", &value[..20]), value[..20].to_owned()),
        (
            "docker",
            "{\"auths\": {\"x\": {\"auth\": \"bWU6YUIzZEU1Z0g3aks5bU4x\"}}}".into(),
            "YUIzZEU1Z0g3".into(),
        ),
        ("kube", format!("client-key-data: {value}{value}"), value.to_owned()),
        ("google", format!("ya29.{value}"), value.to_owned()),
        ("encoded", "v: Z2hwX2FCM2RFNWdIN2pLOW1OMXBRMnJTNHRVNnZXOHhZMHpBYkNkRWY=".into(), "dE5gH7jK9".into()),
        (
            "split",
            format!("t = (\"ghp_{}\"\n     \"{}abcd\")", &value[..16], &value[16..]),
            value[16..].to_owned(),
        ),
    ];
    for (name, text, _) in &rows {
        project.write(&format!("{name}.md"), format!("one\n{text}\nthree\n"));
    }
    let names: Vec<String> = rows.iter().map(|(name, ..)| format!("{name}.md")).collect();
    let mut args = vec!["review", "--criterion", COMPLETE, "--reviewer", judge.name(), "--json"];
    args.extend(names.iter().map(String::as_str));
    let ran = project.run(&args).exits(0);
    let seen = project.read(".seen");
    for (name, _, secret) in &rows {
        assert!(!seen.contains(secret.as_str()), "{name}: {seen}");
        nowhere(&project, &format!("12345678{secret}"), &[&ran]);
    }
    assert_eq!(ran.json()["redacted"], rows.len());
}

/// 200 files of this project, with everything that ordinary work has: hashes, versions, names, code and prose.
#[test]
fn issue_23_ordinary_files_stay_as_they_are() {
    let project = project();
    let judge = witness(&project);
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut folders, mut files) = (vec![root.join("docs"), root.join("crates"), root.join("xtask")], vec![]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
            // Tests have made-up secrets in them.
            let is_left_out =
                ["tests", "tests.rs", "redact", "target", "node_modules"].contains(&name.as_str());
            match path.is_dir() {
                _ if is_left_out => {}
                true => folders.push(path),
                false if std::fs::read_to_string(&path).is_ok() => files.push(path),
                false => {}
            }
        }
    }
    files.sort();
    let step = files.len() / 200;
    for (n, file) in files.iter().step_by(step).take(200).enumerate() {
        project.write(&format!("files/{n:03}.txt"), std::fs::read_to_string(file).unwrap());
    }
    let args = [
        "review",
        "files",
        "--criterion",
        COMPLETE,
        "--reviewer",
        judge.name(),
        "--max-inline-files",
        "0",
        "--json",
    ];
    let json = project.run(&args).exits(0).json();
    assert!(json["redacted"].as_u64().unwrap() <= 2, "{}", json["redacted"]);
    assert_eq!(json["review"]["files"].as_u64().unwrap_or(200), 200);
}

/// What a reviewer or a file name says does not reach a terminal raw, also not inside JSON.
#[test]
fn issue_23_json_has_no_raw_control_or_bidi_characters() {
    let project = project();
    let judge = Judge::replying(
        &project,
        "{\"passed\": false, \"feedback\": \"a\u{202e}b\u{9b}31m\u{7f}\", \"criteria_results\": [{\"criterion\": \"Complete\", \
         \"passed\": false, \"feedback\": \"c\u{2066}d\u{e0041}\"}]}",
    );
    project.write("a.md", "x\n");
    let args =
        ["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--subject", "x", "--json"];
    let reviewed = project.run(&args).exits(1);
    let raw = |c: char| {
        c.is_control() && c != '\n'
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
    };
    for ran in [reviewed, project.run(&["show", "--json"]).exits(0), project.run(&["log", "--json"]).exits(0)]
    {
        assert!(!ran.stdout.contains(raw), "{:?}", ran.stdout);
    }
}
