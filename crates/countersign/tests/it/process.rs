//! Outside programs under their guard: whatever they do, we come back and nothing of them is left.

use countersign_engine::process::{Call, Ended, GuardProgram, ProcessEnd, run};
use rustix::process::{Pid, test_kill_process};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The guard is our binary again.
fn guard_program() -> GuardProgram {
    GuardProgram(env!("CARGO_BIN_EXE_countersign").into())
}

fn sh(script: &str) -> Call {
    let mut call = Call::new("sh");
    call.args = vec!["-c".into(), script.into()];
    call.grace = Duration::from_millis(200);
    call.timeout = Duration::from_secs(60);
    call
}

async fn ended(call: Call) -> Ended {
    run(&guard_program(), call, &CancellationToken::new()).await.unwrap()
}

/// Waits for a process to be gone. A zombie of another parent is as good as gone.
fn assert_gone(pid: Pid) {
    let deadline = Instant::now() + Duration::from_secs(20);
    let state = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().next().map(str::to_owned)
    };
    while test_kill_process(pid).is_ok() && state().is_some_and(|state| state != "Z") {
        assert!(Instant::now() < deadline, "process {pid:?} lives on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn pid(text: &str) -> Pid {
    Pid::from_raw(text.trim().parse().unwrap()).unwrap()
}

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    (folder, file)
}

#[tokio::test]
async fn a_program_ends_by_itself() {
    let mut call = sh("cat; echo err >&2; exit 7");
    call.stdin = b"hello".to_vec();
    let ended = ended(call).await;
    assert_eq!(
        (ended.how, ended.stdout.as_slice(), ended.stderr_tail.as_str()),
        (ProcessEnd::Exited(7), &b"hello"[..], "err\n")
    );
}

#[tokio::test]
async fn a_program_ends_by_a_signal_or_does_not_begin() {
    assert_eq!(ended(sh("kill -SEGV $$")).await.how, ProcessEnd::Signalled(11));
    assert_eq!(ended(sh("kill -TERM 0")).await.how, ProcessEnd::Signalled(15), "its group is its own");
    let missing = ended(Call::new("/nowhere/at/all")).await.how;
    assert_eq!(missing, ProcessEnd::NotStarted { reason: "no such program".into() });
    let forbidden = ended(Call::new("/etc/passwd")).await.how;
    assert_eq!(forbidden, ProcessEnd::NotStarted { reason: "it may not be executed".into() });
}

#[tokio::test]
async fn a_timeout_ends_the_whole_tree() {
    let (_folder, file) = scratch();
    // The grandchild has its own session and ignores TERM.
    let script = format!(
        "setsid sh -c 'trap \"\" TERM; echo $$ >{0}.new; mv {0}.new {0}; while :; do sleep 1; done' & wait",
        file.display()
    );
    let mut call = sh(&script);
    call.timeout = Duration::from_millis(700);
    assert_eq!(ended(call).await.how, ProcessEnd::TimedOut);
    assert_gone(pid(&std::fs::read_to_string(file).unwrap()));
}

#[tokio::test]
async fn what_a_program_leaves_behind_is_ended_with_it() {
    let script = "(setsid sh -c 'echo $$; exec sleep 1000' &) | { read pid; echo $pid; }";
    let ended = ended(sh(script)).await;
    assert_eq!(ended.how, ProcessEnd::Exited(0));
    assert_gone(pid(&String::from_utf8(ended.stdout).unwrap()));
}

#[tokio::test]
async fn endless_output_is_stopped_at_the_limit() {
    let mut call = sh("yes");
    call.stdout_limit_bytes = 100_000;
    let ended = ended(call).await;
    assert_eq!(ended.how, ProcessEnd::TooMuchOutput { limit_bytes: 100_000 });
    assert_eq!(ended.stdout.len(), 100_000);
}

#[tokio::test]
async fn a_program_that_reads_nothing_gets_its_megabytes_all_the_same() {
    let mut call = sh("head -c 20000000 /dev/zero; exit 3");
    call.stdin = vec![b'x'; 20_000_000];
    call.stdout_limit_bytes = 30_000_000;
    let ended = ended(call).await;
    assert_eq!((ended.how, ended.stdout.len()), (ProcessEnd::Exited(3), 20_000_000));
}

#[tokio::test]
async fn the_end_of_the_error_output_is_kept() {
    let mut call = sh("i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done");
    call.stderr_tail_bytes = "line 2998\nline 2999\n".len();
    assert_eq!(ended(call).await.stderr_tail, "line 2998\nline 2999\n");
}

#[tokio::test]
async fn an_environment_can_be_all_there_is() {
    let mut call = sh("unset PWD SHLVL _ OLDPWD; env");
    call.env = vec![("PATH".into(), "/usr/bin:/bin".into()), ("OURS".into(), "1".into())];
    call.only_env = true;
    let stdout = String::from_utf8(ended(call).await.stdout).unwrap();
    let mut lines: Vec<_> = stdout.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["OURS=1", "PATH=/usr/bin:/bin"]);
}

#[tokio::test]
async fn a_program_inherits_nothing_of_the_guard() {
    let list = "ls /proc/self/fd";
    // Whatever the tests themselves were started with is not ours to hide.
    let plain = Command::new("sh").args(["-c", list]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(ended(sh(list)).await.stdout, plain.stdout);
}

#[tokio::test]
async fn cancelling_ends_the_tree() {
    let (_folder, file) = scratch();
    let fifo = file.with_extension("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    let script = format!("echo $$ >{}; exec sleep 1000", fifo.display());
    let cancel = CancellationToken::new();
    let running = tokio::spawn({
        let cancel = cancel.clone();
        async move { run(&guard_program(), sh(&script), &cancel).await.unwrap().how }
    });
    let started = tokio::task::spawn_blocking(move || std::fs::read_to_string(fifo).unwrap()).await.unwrap();
    cancel.cancel();
    assert_eq!(running.await.unwrap(), ProcessEnd::Cancelled);
    assert_gone(pid(&started));
}

#[tokio::test]
async fn a_dropped_call_ends_the_tree() {
    let (_folder, file) = scratch();
    let fifo = file.with_extension("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let script = format!("echo $$ >{}; exec sleep 1000", fifo.display());
    let running =
        tokio::spawn(async move { run(&guard_program(), sh(&script), &CancellationToken::new()).await });
    let started = tokio::task::spawn_blocking(move || std::fs::read_to_string(fifo).unwrap()).await.unwrap();
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    assert_gone(pid(&started));
}

#[tokio::test]
async fn a_guard_that_is_killed_is_never_a_success() {
    let ended = ended(sh("sleep 1000 & echo $!; kill -KILL $PPID; wait")).await;
    assert_eq!(ended.how, ProcessEnd::GuardLost);
    assert_gone(pid(&String::from_utf8(ended.stdout).unwrap()));
}

/// Names the guard (`$g`), its watcher (`$w`) and us (`$m`), and begins something in a session of its own, whose number
/// is printed.
const TURNS: &str = "g=$PPID; w=$(cut -d' ' -f4 /proc/$g/stat); m=$(cut -d' ' -f4 /proc/$w/stat); \
                     (setsid sh -c 'trap \"\" TERM; echo $$; exec sleep 1000' &) | { read pid; echo $pid; }; ";

#[tokio::test]
async fn escape_a_session_of_its_own_does_not_outlive_the_guard_it_kills() {
    for deed in ["kill -KILL $g", "kill -STOP $g; kill -KILL $g", "kill -STOP $w; kill -KILL $w"] {
        let ended = ended(sh(&format!("{TURNS} {deed}; sleep 1000"))).await;
        assert_eq!(ended.how, ProcessEnd::GuardLost, "{deed}");
        assert_gone(pid(&String::from_utf8(ended.stdout).unwrap()));
    }
}

#[tokio::test]
async fn wait_a_program_that_stops_its_guards_ends_at_its_timeout() {
    let deeds = [
        "kill -STOP $g",
        "kill -STOP $w",
        "kill -STOP $w $g",
        "while :; do kill -STOP $g; done",
        "setsid sh -c \"trap '' TERM; while :; do kill -STOP $g; done\"",
        "kill -STOP $w; setsid sh -c \"trap '' TERM; while :; do kill -STOP $w $g; done\"",
    ];
    for deed in deeds {
        let mut call = sh(&format!("{TURNS} {deed}; sleep 1000"));
        call.timeout = Duration::from_secs(1);
        let ended = tokio::time::timeout(Duration::from_secs(40), ended(call)).await.expect(deed);
        assert!(matches!(ended.how, ProcessEnd::TimedOut | ProcessEnd::GuardLost), "{deed}: {:?}", ended.how);
        assert_gone(pid(&String::from_utf8(ended.stdout).unwrap()));
    }
}

#[tokio::test]
async fn a_guard_that_was_stopped_goes_on_and_its_program_is_heard() {
    for deed in ["kill -STOP $g", "kill -STOP $w", "kill -STOP $w $g; (sleep 0.1; kill -CONT $w) & true"] {
        let ended = ended(sh(&format!("{TURNS} {deed}; exit 7"))).await;
        assert_eq!(ended.how, ProcessEnd::Exited(7), "{deed}");
        assert_gone(pid(&String::from_utf8(ended.stdout).unwrap()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_do_not_hold_each_other() {
    let calls = (0..60).map(|i| {
        tokio::spawn(async move {
            let mut call = sh(&format!("cat; exit {}", i % 2));
            call.stdin = format!("{i}").into_bytes();
            (i, ended(call).await)
        })
    });
    for call in calls.collect::<Vec<_>>() {
        let (i, ended) = call.await.unwrap();
        assert_eq!((ended.how, ended.stdout), (ProcessEnd::Exited(i % 2), i.to_string().into_bytes()));
    }
}

#[test]
fn the_guard_says_that_it_is_not_for_people() {
    let output = Command::new(guard_program().0).arg("__guard").stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
