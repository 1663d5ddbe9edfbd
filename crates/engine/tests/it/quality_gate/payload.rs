//! 004.3 and 004.4: what a reviewer is shown of the outputs.

use super::*;
use countersign_engine::quality_gate::{MAX_PROMPT_BYTES, QualityGateError};
use std::future::Future;
use std::os::unix::fs::symlink;
use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};

async fn payload(project: &Project) -> String {
    blind_gate().build_payload(&project.work).await.unwrap()
}

#[tokio::test]
async fn req_004_3_contents_up_to_the_limit_paths_beyond() {
    // 004.3.1 contents, 004.3.5 file headers, 004.3.6 markers, 004.3.7 notes.
    let inline = payload(&Project::typical().notes("note")).await;
    assert!(inline.starts_with("==================== BEGIN OUTPUTS ====================\n"));
    assert!(inline.contains("\n-------------------- docs/a.md --------------------\naaa\n"));
    assert!(inline.contains("\n==================== END OUTPUTS ====================\n"));
    assert!(inline.contains("\n==================== AUTHOR NOTES ====================\nnote\n"));
    // 004.3.2 paths only, 004.3.3 path and output, 004.3.4 the count and what to do.
    let listed = payload(&Project::many(6)).await;
    assert!(!listed.contains("--------------------"));
    assert!(listed.contains("\n- f1.md  (output: docs)\n"));
    assert!(listed.contains("[6 files:") && listed.contains("Read the files below as needed"));
    // 004.3.8
    assert_eq!(payload(&Project::empty()).await, "[No files provided]");
}

/// Made up, and put together here so that no scanner takes this file for a leak.
#[tokio::test]
async fn issue_23_no_secret_is_shown_or_comes_back() {
    let secret = format!("hf_{}", "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAbC");
    let project = Project::empty().file("plan", "plan.md", format!("one\nkey = {secret}\n")).notes(&secret);
    let shown = payload(&project).await;
    assert!(
        !shown.contains(&secret[3..]) && shown.contains("one\nkey = [redacted: vendor-token]\n"),
        "{shown}"
    );
    let mut reply = fail();
    reply["feedback"] = json!(format!("see {secret}"));
    let cli = Scripted::always(reply);
    let result = gate(&cli).evaluate(&criteria(), &project.work, None).await.unwrap();
    assert_eq!(result.feedback, "see [redacted: vendor-token]");
    let heard = cli.heard();
    assert!(
        !heard[0].payload.contains(&secret[3..]) && heard[0].payload.contains("[redacted: "),
        "{heard:?}"
    );
}

#[tokio::test]
async fn too_much_text_is_listed_and_binaries_do_not_count() {
    let half = usize::try_from(MAX_PROMPT_BYTES / 2).unwrap();
    let two = |second: usize| {
        Project::empty().file("a", "a.md", "x".repeat(half)).file("b", "b.md", "y".repeat(second))
    };
    assert!(payload(&two(half)).await.contains("xxxx"));
    let listed = payload(&two(half + 1)).await;
    assert!(!listed.contains("xxxx") && listed.contains("- a.md  (output: a)"), "{listed}");
    let picture = two(1).file("c", "c.png", vec![0xff; half * 3]);
    assert!(payload(&picture).await.contains("xxxx"));
}

/// 004.4.1: resolving the path, looking at the file and reading it each wait for the pool of blocking work. That
/// has one thread, which the test gives free for one step at a time; what ran on the runtime would need fewer.
#[test]
fn req_004_4_1_files_are_read_off_the_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let project = Project::empty().file("plan", "plan.md", "the plan");
        let gate = blind_gate();
        let mut building = pin!(gate.build_payload(&project.work));
        let mut waits = 0;
        let mut occupied = occupy();
        let payload = loop {
            occupied.started.recv().unwrap();
            match building.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(payload) => break payload.unwrap(),
                Poll::Pending => waits += 1,
            }
            // In line behind what the gate asked for, before the thread is given free for that.
            occupied = occupy();
        };
        assert!(payload.contains("the plan"));
        assert_eq!(waits, 3);
    });
}

/// Blocking work that goes on until this is dropped.
struct Occupied {
    started: mpsc::Receiver<()>,
    _free: mpsc::Sender<()>,
}

fn occupy() -> Occupied {
    let (start, started) = mpsc::channel();
    let (free, taken) = mpsc::channel::<()>();
    tokio::task::spawn_blocking(move || {
        start.send(()).unwrap();
        let _ended_by_drop = taken.recv();
    });
    Occupied { started, _free: free }
}

#[tokio::test]
async fn req_004_4_2_to_5_each_state_of_a_file_is_shown() {
    // 004.4.2: the full text of valid UTF-8.
    let text = format!("{}\nend", "žluťoučký kůň ".repeat(5000));
    let shown = payload(&Project::empty().file("o", "a.md", &text)).await;
    assert!(shown.contains(&format!("-------------------- a.md --------------------\n{text}\n")));
    // 004.4.3: not UTF-8, with the absolute path.
    let binary = Project::empty().file("o", "a.bin", b"\xff\xfe\x00");
    let path = binary.work.root.join("a.bin");
    let words = format!("\n[Binary file - not included in review. Read from: {}]\n", path.display());
    assert!(payload(&binary).await.contains(&words));
    // 004.4.4: missing, also behind a link to nowhere.
    let missing = Project::empty().file("o", "a.md", "");
    std::fs::remove_file(missing.folder.path().join("a.md")).unwrap();
    assert!(
        payload(&missing)
            .await
            .contains("-------------------- a.md --------------------\n[File not found]\n")
    );
    symlink("nowhere", missing.folder.path().join("a.md")).unwrap();
    assert!(payload(&missing).await.contains("\n[File not found]\n"));
    // 004.4.5: any other read error: a folder, a path through a file.
    let folder = Project::empty().file("o", "a/b.md", "").file("o", "c.md", "");
    let mut folder = folder.named("o", OutputKind::File, OutputValue::File("a".into()));
    assert!(payload(&folder).await.contains("\n[Error reading file: it is a directory, not a file]\n"));
    folder = folder.named("o", OutputKind::File, OutputValue::File("c.md/d.md".into()));
    assert!(
        payload(&folder).await.contains("\n[Error reading file: Not a directory"),
        "{}",
        payload(&folder).await
    );
}

#[tokio::test]
async fn paths_stay_inside_the_root() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "secret").unwrap();
    let project = Project::typical();
    symlink(outside.path().join("secret"), project.folder.path().join("link")).unwrap();
    let absolute = outside.path().join("secret").to_string_lossy().into_owned();
    let mut project = project;
    for path in ["../secret", "link", &absolute, "docs/../../secret"] {
        project = project.named("plan", OutputKind::File, OutputValue::File(path.into()));
        let error = blind_gate().build_payload(&project.work).await.unwrap_err();
        assert!(matches!(error, QualityGateError::Path(_)), "{path}: {error}");
    }
    // An absolute path inside is shown relative to the root.
    let inside = project.work.root.join("docs/a.md").to_string_lossy().into_owned();
    let project = project.named("plan", OutputKind::File, OutputValue::File(inside));
    assert_eq!(payload(&project).await.matches("- docs/a.md -").count(), 2);
}

#[tokio::test]
async fn an_output_of_the_wrong_kind_is_an_error() {
    let list = Project::empty().named("plan", OutputKind::File, OutputValue::Files(vec!["a".into()]));
    let error = blind_gate().build_payload(&list.work).await.unwrap_err();
    assert_eq!(error.to_string(), "output 'plan' is declared as one file, and was given a list");
    let one = Project::empty().named("docs", OutputKind::Files, OutputValue::File("a".into()));
    let error = blind_gate().build_payload(&one.work).await.unwrap_err();
    assert_eq!(error.to_string(), "output 'docs' is declared as a list of files, and was given one path");
}
