//! kill -9 at every write: the file is the old one or the new one, and saying it again does it once.

use super::{FILE, args, decomposed, plain_items, project};
use countersign_testkit::{Project, Running};

/// A project in which two items wait and one has failed.
fn prepared(words: &[&str]) -> Project {
    if words[0] == "decompose" {
        let project = project();
        project.write("items.json", plain_items(3).to_string());
        return project;
    }
    let project = decomposed(&plain_items(3));
    project.run(&args(&["record", "plan-001", "FAIL", "--finding", "x"])).exits(0);
    project
}

fn file(project: &Project) -> Option<String> {
    std::fs::read_to_string(project.path(FILE)).ok()
}

/// The unfinished files in the state directory.
fn parts(project: &Project) -> Vec<String> {
    let names = std::fs::read_dir(project.path("state")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(".countersign-part-")).collect()
}

/// QR-11. Issue 19: no unfinished file stays.
#[test]
fn slow_qr_11_dying_at_every_write_leaves_the_old_file_or_the_new_one() {
    let commands: [&[&str]; 4] = [
        &["decompose", "--items", "items.json"],
        &["record", "plan-002", "PASS"],
        &["record", "plan-001", "FAIL", "--finding", "another"],
        &["fixed"],
    ];
    for words in commands {
        let whole = prepared(words);
        let old = file(&whole);
        whole.run(&args(words)).exits(0);
        let new = file(&whole);
        assert_ne!(old, new);
        let mut deaths = 0;
        'writes: for write in 1.. {
            for moment in [format!("{write}"), format!("{write}!")] {
                let project = prepared(words);
                let mut command = project.command(&args(words));
                let ran = Running::start(command.env("COUNTERSIGN_TEST_DIE_AT_WRITE", &moment)).wait();
                if ran.code != -1 {
                    assert_eq!(ran.code, 0, "{ran:?}");
                    break 'writes;
                }
                deaths += 1;
                let left = file(&project);
                assert!(left == old || left == new, "{words:?} {moment}: {left:?}");
                // The next command that looks removes what is left of a file.
                project.run(&args(&["gate"]));
                assert_eq!(parts(&project), [""; 0], "{words:?} {moment}");
                let again = project.run(&args(words));
                // Items that are there already are not made again.
                let done = words[0] == "decompose" && left == new;
                assert_eq!(again.code, if done { 2 } else { 0 }, "{again:?}");
                assert_eq!(file(&project), new, "{words:?} {moment}");
                assert_eq!(parts(&project), [""; 0], "{words:?} {moment}");
                project.run(&["log", "--verify"]).exits(0);
            }
        }
        // The file and the ledger, before and after each.
        assert!(deaths >= 4, "{words:?}: {deaths}");
    }
}
