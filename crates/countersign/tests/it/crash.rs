//! Nothing acknowledged is lost, and no process is left behind: kill -9 in the middle.

use crate::{COMPLETE, project};
use countersign_testkit::{Judge, Project, Running, eventually};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

/// A reviewer that answers at once for the first files and then sleeps, with a grandchild in its own session.
/// `.go` lets everybody answer. Three sleepers leave one of the four places for the others.
fn sleepy(project: &Project) -> Judge {
    let body = r#"case "$file" in
  docs/[0-4].md) ;;
  *) if [ ! -e "ROOT/.go" ]; then
       setsid sh -c 'echo $$ >>"ROOT/.grandchildren"; exec sleep 1000' &
       echo $$ >>"ROOT/.children"
       wait
     fi ;;
esac
printf '{"passed": true, "feedback": "", "criteria_results": [{"criterion": "Complete", "passed": true}]}'"#;
    Judge::scripted(project, "judge.sh", &body.replace("ROOT", project.root().to_str().unwrap()))
}

fn eight() -> (Project, Judge) {
    let project = project();
    for i in 0..8 {
        project.write(&format!("docs/{i}.md"), format!("page {i}"));
    }
    let judge = sleepy(&project);
    (project, judge)
}

fn lines(project: &Project, file: &str) -> Vec<String> {
    std::fs::read_to_string(project.path(file)).unwrap_or_default().lines().map(str::to_owned).collect()
}

fn is_gone(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with('Z'))
}

/// Waits until five answers are on record and the other reviewers sleep.
fn until_asleep(project: &Project) {
    eventually("five answers, and sleeping reviewers", || {
        let log = project.run(&["log", "--json", "-n", "1"]);
        let newest =
            (log.code == 0).then(|| log.json()["reviews"][0]["id"].as_str().map(str::to_owned)).flatten();
        let answered = newest.is_some_and(|id| {
            let events = project.run(&["log", &id, "--json", "-n", "100"]).json();
            let answers = |entry: &&serde_json::Value| entry["event"]["kind"] == "answered";
            events["events"].as_array().unwrap().iter().filter(answers).count() == 5
        });
        answered && !lines(project, ".grandchildren").is_empty()
    });
}

#[test]
fn after_kill_9_given_rulings_stand_and_no_descendant_lives() {
    for subject in [&["--subject", "x"][..], &[]] {
        let (project, judge) = eight();
        let mut args =
            vec!["review", "docs", "--criterion", COMPLETE, "--each-file", "--reviewer", judge.name()];
        args.extend(subject);
        std::fs::create_dir(project.path(".tmp")).unwrap();
        let mut first = Running::start(project.command(&args).env("TMPDIR", project.path(".tmp")));
        until_asleep(&project);
        first.kill();
        first.wait();
        eventually("no descendant lives", || {
            let pids = [lines(&project, ".children"), lines(&project, ".grandchildren")].concat();
            pids.iter().all(|pid| is_gone(pid))
        });
        eventually("no copy of the work is left behind", || {
            std::fs::read_dir(project.path(".tmp")).unwrap().next().is_none()
        });
        let status = project.run(&["status", "--json"]).exits(0).json();
        match subject {
            // Work without a name is new work when it is submitted again, so nothing continues this review.
            [] => {
                assert_eq!((&status["open"], &status["ended"]["stopped/withdrawn"]), (&json!([]), &json!(1)));
                let listed = project.run(&["log", "--json"]).exits(0).json();
                assert_eq!(listed["reviews"][0]["outcome"], "stopped", "{listed}");
            }
            _ => assert_eq!(status["open"][0]["interrupted"], true),
        }
        project.write(".go", "");
        let json = project.run(&[&args[..], &["--json"]].concat()).exits(0).json();
        assert_eq!(json["assignments"].as_array().unwrap().len(), 8);
        let asked = judge.asked();
        for file in ["docs/0.md", "docs/1.md", "docs/2.md"] {
            assert_eq!(
                asked.iter().filter(|asked| *asked == file).count(),
                1,
                "{file} was asked again: {asked:?}"
            );
        }
        project.run(&["log", "--verify"]).exits(0);
    }
}

#[test]
fn an_interrupt_stops_cleanly_and_keeps_what_was_judged() {
    let (project, judge) = eight();
    let args = [
        "review",
        "docs",
        "--criterion",
        COMPLETE,
        "--each-file",
        "--reviewer",
        judge.name(),
        "--subject",
        "x",
    ];
    let running = project.start(&args);
    until_asleep(&project);
    signal(&running, rustix::process::Signal::INT);
    let ran = running.wait().exits(130);
    assert!(ran.stderr.contains("finished rulings are kept"), "{}", ran.stderr);
    eventually("no descendant lives", || lines(&project, ".grandchildren").iter().all(|pid| is_gone(pid)));
    project.write(".go", "");
    project.run(&args).exits(0);
    assert_eq!(judge.asked().iter().filter(|file| *file == "docs/0.md").count(), 1);
}

#[test]
fn two_processes_ask_once_and_get_the_same_answer() {
    let (project, judge) = eight();
    let args = [
        "review",
        "docs",
        "--criterion",
        COMPLETE,
        "--each-file",
        "--reviewer",
        judge.name(),
        "--subject",
        "x",
        "--json",
    ];
    let one = project.start(&args);
    until_asleep(&project);
    let two = project.start(&args);
    project.write(".go", "");
    wake(&project);
    let answers = [one, two].map(|running| running.wait().exits(0).json());
    assert_eq!(answers[0]["review"]["id"], answers[1]["review"]["id"]);
    assert_eq!(answers[0]["assignments"], answers[1]["assignments"]);
    assert_eq!(judge.asked().len(), 8, "{:?}", judge.asked());
}

#[test]
fn when_the_one_that_asks_is_killed_the_other_takes_over() {
    let (project, judge) = eight();
    let args = [
        "review",
        "docs",
        "--criterion",
        COMPLETE,
        "--each-file",
        "--reviewer",
        judge.name(),
        "--subject",
        "x",
        "--json",
    ];
    let mut one = project.start(&args);
    until_asleep(&project);
    let progress = std::fs::File::create(project.path(".progress")).unwrap();
    let mut two =
        project.command(&args).stdout(std::process::Stdio::piped()).stderr(progress).spawn().unwrap();
    eventually("the second process attaches", || project.read(".progress").contains("another process"));
    project.write(".go", "");
    one.kill();
    one.wait();
    let json: serde_json::Value = serde_json::from_reader(two.stdout.take().unwrap()).unwrap();
    assert_eq!(two.wait().unwrap().code(), Some(0));
    assert_eq!(json["outcome"], "passed");
    for file in ["docs/0.md", "docs/1.md", "docs/2.md"] {
        assert_eq!(judge.asked().iter().filter(|asked| *asked == file).count(), 1, "{file}");
    }
}

/// Ends the sleep of every reviewer that still sleeps, so that it answers.
fn wake(project: &Project) {
    eventually("everybody answers", || {
        for pid in lines(project, ".grandchildren") {
            if let Some(pid) = rustix::process::Pid::from_raw(pid.parse().unwrap()).filter(|_| !is_gone(&pid))
            {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            }
        }
        lines(project, ".grandchildren").iter().all(|pid| is_gone(pid))
    });
}

#[test]
fn other_work_supersedes_a_running_round() {
    let (project, judge) = eight();
    let args = [
        "review",
        "docs",
        "--criterion",
        COMPLETE,
        "--each-file",
        "--reviewer",
        judge.name(),
        "--subject",
        "x",
        "--json",
    ];
    let one = project.start(&args);
    until_asleep(&project);
    project.write("docs/7.md", "changed").write(".go", "");
    let two = project.run(&args).exits(0).json();
    assert_eq!(two["outcome"], "passed");
    let first = one.wait().exits(4).json();
    assert_eq!((first["outcome"].as_str(), first["reason"].as_str()), (Some("no_verdict"), Some("stale")));
    assert_eq!(
        (first["review"]["outcome"].as_str(), first["review"]["round"].as_u64()),
        (Some("no_verdict"), Some(1))
    );
    assert_eq!(
        judge.asked().iter().filter(|file| *file == "docs/0.md").count(),
        1,
        "rulings already given stay"
    );
}

/// Sends a signal to a command that runs.
fn signal(running: &Running, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(running.id().cast_signed()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

#[test]
fn the_pass_of_later_work_is_not_the_answer_to_earlier_work() {
    let project = project();
    project.write("a.md", "BAD");
    let body = r#"case "$brief" in *BAD*) p=false; while [ ! -e "ROOT/.go" ]; do sleep 0.05; done;; *) p=true;; esac
printf '{"passed": %s, "feedback": "f", "criteria_results": [{"criterion": "Complete", "passed": %s}]}' $p $p"#;
    let judge =
        Judge::scripted(&project, "judge.sh", &body.replace("ROOT", project.root().to_str().unwrap()));
    let args =
        ["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--subject", "x", "--json"];
    let one = project.start(&args);
    eventually("the reviewer is asked", || judge.asked().len() == 1);
    let two = project.start(&args);
    let holders = || std::fs::read_dir(project.ledger_path("holders")).unwrap().count();
    eventually("the second waits along", || holders() == 2);
    std::thread::sleep(std::time::Duration::from_millis(500));
    signal(&two, rustix::process::Signal::STOP);
    project.write(".go", "");
    one.wait().exits(1);
    project.write("a.md", "fine");
    project.run(&args).exits(0);
    signal(&two, rustix::process::Signal::CONT);
    let answer = two.wait().exits(1).json();
    assert_eq!(answer["review"]["outcome"], "needs_work");
    assert_eq!(answer["findings"][0]["criterion"], "Complete");
}

#[test]
fn a_verdict_that_nobody_can_find_again_is_no_pass() {
    let project = project();
    project.write("a.md", "x");
    let body = r#"rm -rf 'ROOT/.countersign'
printf '{"passed": true, "feedback": "", "criteria_results": [{"criterion": "Complete", "passed": true}]}'"#;
    let judge =
        Judge::scripted(&project, "judge.sh", &body.replace("ROOT", project.root().to_str().unwrap()));
    let args = ["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name(), "--subject", "x"];
    project.run(&args).exits(7);
}

/// An answer that is shown is on record, also where the write after it fails.
#[test]
fn slow_no_answer_is_shown_before_it_is_on_record() {
    let mut deaths = 0;
    'writes: for write in 1.. {
        for moment in [format!("{write}"), format!("{write}!")] {
            let project = project();
            for i in 0..3 {
                project.write(&format!("docs/{i}.md"), "page");
            }
            let judge = Judge::by_word(&project, "Complete");
            let args = ["review", "docs", "--criterion", COMPLETE, "--each-file", "--reviewer", judge.name()];
            let mut command = project.command(&args);
            let ran = Running::start(command.env("COUNTERSIGN_TEST_DIE_AT_WRITE", &moment)).wait();
            if ran.code != -1 {
                assert_eq!(ran.code, 0, "{ran:?}");
                break 'writes;
            }
            deaths += 1;
            let shown = ran.stderr.lines().filter(|line| line.trim_end().ends_with("ok")).count();
            let log = project.run(&["log", "--json", "-n", "1"]).json();
            let answered = log["reviews"][0]["id"].as_str().map_or(0, |id| {
                let events = project.run(&["log", id, "--json", "-n", "100"]).exits(0).json();
                let events = events["events"].as_array().unwrap().clone();
                events.iter().filter(|entry| entry["event"]["kind"] == "answered").count()
            });
            assert!(shown <= answered, "{moment}: {shown} shown, {answered} on record\n{}", ran.stderr);
        }
    }
    assert!(deaths >= 6, "{deaths}");
}

/// A holder that is stopped, as by Ctrl-Z, is not waited for without end.
#[test]
fn slow_a_stopped_holder_is_named_and_not_waited_for() {
    let (project, judge) = eight();
    let args = ["review", "docs", "--criterion", COMPLETE, "--each-file", "--reviewer", judge.name()];
    let args = [&args[..], &["--subject", "x"]].concat();
    let first = project.start(&args);
    until_asleep(&project);
    let pid = Pid::from_raw(i32::try_from(first.id()).unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    let second = project.run(&args).exits(4);
    let words = format!("is being judged by process {}, which is paused", first.id());
    assert!(second.stderr.contains(&words), "{}", second.stderr);
    // It goes on where it was, and so does everybody who hands in the same.
    kill_process(pid, Signal::CONT).unwrap();
    project.write(".go", "");
    for sleeper in lines(&project, ".children").iter().chain(&lines(&project, ".grandchildren")) {
        let pid = Pid::from_raw(sleeper.parse().unwrap()).unwrap();
        let _ = kill_process(pid, Signal::TERM);
    }
    let first = first.wait();
    project.run(&args).exits(0);
    assert!([0, 4].contains(&first.code), "{first:?}");
}

/// Damage in the description of the tables makes the database library panic: it is told, and nothing hangs.
#[test]
fn a_damaged_description_of_the_tables_hangs_nothing() {
    let project = project();
    project.write("a.md", "fine");
    let judge = Judge::by_word(&project, "Complete");
    let review = ["review", "a.md", "--criterion", COMPLETE, "--reviewer", judge.name()];
    project.run(&review).exits(0);
    let path = project.ledger_path("ledger.db");
    // Everything into the one file first.
    project.run(&["log", "--verify"]).exits(0);
    let mut bytes = std::fs::read(&path).unwrap();
    let column = b"state      TEXT";
    let at = bytes.windows(column.len()).position(|window| window == column).unwrap();
    bytes[at + column.len() - 1] = 0xff;
    std::fs::write(&path, bytes).unwrap();
    for args in [&review[..], &["status"], &["log"], &["log", "--verify"], &["show"]] {
        let ran = project.run(args).exits(8);
        assert!(ran.stderr.contains("the ledger is damaged"), "{args:?}: {}", ran.stderr);
    }
}

/// A read that never ends keeps no process alive that was told to stop.
#[test]
fn slow_term_ends_a_command_whatever_it_waits_for() {
    let project = project();
    project.write("a.md", "fine");
    let pipe = project.path("notes");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let running = project.start(&["review", "a.md", "--criterion", COMPLETE, "--notes", "notes"]);
    // Both ends of the pipe are open once the command reads; nothing is ever written.
    let _writer = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    kill_process(Pid::from_raw(i32::try_from(running.id()).unwrap()).unwrap(), Signal::TERM).unwrap();
    running.wait().exits(130);
}

/// A reviewer that begins something in a session of its own, writes its number to `.escaped`, and turns on those above
/// it: its guard (`$g`), the watcher of that (`$w`) and us (`$m`).
fn turning(project: &Project, deed: &str) -> Judge {
    let body = r#"g=$PPID; w=$(cut -d' ' -f4 /proc/$g/stat); m=$(cut -d' ' -f4 /proc/$w/stat)
case "$file" in */b.md) while [ ! -e ROOT/.go ]; do sleep 0.05; done;; *)
(setsid sh -c 'trap "" TERM; echo $$ >ROOT/.new; mv ROOT/.new ROOT/.escaped; exec sleep 1000' </dev/null >/dev/null 2>&1 &)
while [ ! -e ROOT/.escaped ]; do sleep 0.01; done
DEED
sleep 1000 ;; esac
printf '{"passed": true, "feedback": "", "criteria_results": [{"criterion": "Complete", "passed": true}]}'"#;
    let body = body.replace("DEED", deed).replace("ROOT", project.root().to_str().unwrap());
    Judge::scripted(project, "judge.sh", &body)
}

fn escaped_is_gone(project: &Project, deed: &str) {
    eventually(deed, || lines(project, ".escaped").first().is_some_and(|pid| is_gone(pid)));
}

#[test]
fn escape_a_reviewer_that_kills_its_guards_leaves_nothing_and_disturbs_no_other() {
    for deed in ["kill -KILL $g", "kill -KILL $w $g", "kill -STOP $w $g; kill -KILL $w $g", "kill -KILL $w"] {
        let project = project();
        project.write("docs/a.md", "x").write("docs/b.md", "y");
        let judge = turning(&project, deed);
        let args =
            ["review", "docs", "--criterion", COMPLETE, "--each-file", "--reviewer", judge.name(), "--json"];
        let running = project.start(&args);
        // The other question is still out when this one is swept up.
        escaped_is_gone(&project, deed);
        project.write(".go", "");
        let json = running.wait().exits(4).json();
        assert_eq!(json["reason"], "unavailable", "{deed}");
        let answered: Vec<_> =
            json["assignments"].as_array().unwrap().iter().filter(|a| !a["answer"].is_null()).collect();
        let asked = judge.asked();
        assert!(asked.contains(&"docs/b.md".to_owned()), "{asked:?} {answered:?}");
        project.run(&args).exits(4);
        assert_eq!(judge.asked().iter().filter(|file| *file == "docs/b.md").count(), 1, "{deed}");
    }
}

#[test]
fn escape_a_reviewer_that_stops_its_guards_and_kills_us_leaves_nothing() {
    let deeds = [
        "kill -STOP $g; kill -KILL $m",
        "kill -STOP $w $g; kill -KILL $m",
        "kill -KILL $m; kill -STOP $g",
        "kill -KILL $m $g",
        "kill -KILL $m $w",
        "kill -STOP $g; kill -KILL $m $w",
    ];
    for deed in deeds {
        let project = project();
        project.write("docs/a.md", "x");
        std::fs::create_dir(project.path(".tmp")).unwrap();
        let judge = turning(&project, deed);
        let args = ["review", "docs", "--criterion", COMPLETE, "--reviewer", judge.name()];
        let ran = Running::start(project.command(&args).env("TMPDIR", project.path(".tmp"))).wait();
        assert_eq!(ran.code, -1, "{deed}");
        escaped_is_gone(&project, deed);
        eventually("no copy of the work is left behind", || {
            std::fs::read_dir(project.path(".tmp")).unwrap().next().is_none()
        });
    }
}

#[test]
fn escape_a_reviewer_that_kills_its_guards_when_it_is_told_to_end_leaves_nothing() {
    let project = project();
    project.write("docs/a.md", "x");
    let judge =
        turning(&project, "trap 'kill -KILL $w $g' TERM; : >ROOT/.ready; while :; do sleep 0.05; done");
    let args = ["review", "docs", "--criterion", COMPLETE, "--reviewer", judge.name()];
    let running = project.start(&args);
    eventually("the reviewer is ready", || project.path(".ready").exists());
    signal(&running, rustix::process::Signal::INT);
    running.wait().exits(130);
    assert!(lines(&project, ".escaped").first().is_some_and(|pid| is_gone(pid)));
}
