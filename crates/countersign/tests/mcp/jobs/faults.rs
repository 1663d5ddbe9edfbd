//! A server that dies at any write of the ledger: nothing that was answered is lost, nothing is done twice.

use super::*;

/// What a whole workflow takes, call by call, with another server after each death.
fn survive(project: &Project, die_at: &str) -> (usize, bool) {
    let runner = runner(project);
    let args = ["mcp", "--external-runner", runner.as_str()];
    let mut client = Client::of(&mut {
        let mut command = project.command(&args);
        command.env("COUNTERSIGN_TEST_DIE_AT_WRITE", die_at);
        command
    });
    client.initialize("2025-11-25");
    let mut died = false;
    let session = "the-session";
    let begin = json!({ "goal": "g", "job_name": "guide", "workflow_name": "write", "session_id": session });
    let calls = [
        ("start_workflow", begin),
        ("finished_step", plan(session)),
        ("finished_step", pages(session, &["a.md", "b.md"])),
    ];
    let mut answers = 0;
    for (name, arguments) in calls {
        let answer = client.try_call(name, arguments.clone());
        let answer = match answer {
            Some(answer) => answer,
            None => {
                assert!(!died, "it dies once");
                died = true;
                client = external(project, &[]);
                // What was begun is not begun again by whoever looks first.
                match name == "start_workflow" && count(project, "workflow_started") == 1 {
                    true => json!({}),
                    false => client.call(name, arguments),
                }
            }
        };
        assert_ne!(answer["isError"], true, "{die_at} {name}: {answer}");
        answers += 1;
    }
    (answers, died)
}

#[test]
fn slow_dying_at_every_write_loses_and_doubles_nothing() {
    let mut deaths = 0;
    for write in 1.. {
        let mut died = false;
        for moment in [format!("{write}"), format!("{write}!")] {
            let (project, judge) = guide();
            let (answers, one) = survive(&project, &moment);
            assert_eq!(answers, 3);
            let recorded = (count(&project, "workflow_started"), count(&project, "step_finished"));
            assert_eq!(recorded, (1, 2), "{moment}");
            project.run(&["log", "--verify"]).exits(0);
            // A question whose answer died with the server is asked again; none is asked a third time.
            assert!(judge.asked().len() <= 4 + 3, "{moment}: {:?}", judge.asked());
            died |= one;
            deaths += usize::from(one);
        }
        if !died {
            break;
        }
    }
    assert!(deaths > 10, "{deaths}");
}
