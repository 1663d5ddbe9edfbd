//! Stories of a session, and any order of calls.

use super::*;
use crate::jobs::job::StepOutput;
use countersign_core::submission::OutputKind;
use proptest::prelude::*;

fn step(id: &str, outputs: &[&str]) -> Step {
    let output = |name: &&str| StepOutput {
        name: (*name).to_owned(),
        kind: OutputKind::File,
        description: String::new(),
        required: true,
    };
    Step {
        id: id.to_owned(),
        name: id.to_owned(),
        description: String::new(),
        instructions: String::new(),
        outputs: outputs.iter().map(output).collect(),
        reviews: vec![],
    }
}

/// Three entries: `a`, then `b` and `c` in any order, then `d`.
fn job() -> Job {
    let entry = |steps: &[&str]| steps.iter().map(|step| (*step).to_owned()).collect();
    Job {
        name: "job".to_owned(),
        version: "1.0.0".to_owned(),
        summary: String::new(),
        common_info: String::new(),
        dir: "/jobs/job".into(),
        steps: vec![step("a", &["x"]), step("b", &["y"]), step("c", &["y", "z"]), step("d", &["x"])],
        workflows: vec![Workflow {
            name: "flow".to_owned(),
            summary: String::new(),
            entries: vec![entry(&["a"]), entry(&["b", "c"]), entry(&["d"])],
            agent: None,
        }],
    }
}

fn outputs(names: &[&str]) -> Outputs {
    names.iter().map(|name| ((*name).to_owned(), vec![format!("{name}.md")])).collect()
}

/// What the files of a call hold, by their version.
fn held(version: u8) -> Digest {
    Digest::of(&[version])
}

struct Story(Session);

impl Story {
    fn begun() -> Self {
        let mut story = Self(Session::default());
        story.start("main");
        story
    }

    fn start(&mut self, agent: &str) {
        let (agent, goal) = (agent.to_owned(), "done".to_owned());
        self.0.apply(&Happened::WorkflowStarted {
            agent,
            goal,
            job: Box::new(job()),
            workflow: "flow".to_owned(),
        });
    }

    fn about(&self, named: Option<&str>, names: &[&str]) -> Result<About, NotTaken> {
        let given = outputs(names);
        self.0.about("main", named, &given, (&arguments(&given, None), Some(&held(1))))
    }

    fn opens(&self, named: Option<&str>, names: &[&str], step: &str) {
        let frame = self.0.current("main").unwrap().number;
        assert_eq!(self.about(named, names), Ok(About { frame, step: step.to_owned(), again: false }));
    }

    fn finish(&mut self, step: &str, names: &[&str]) -> bool {
        let frame = self.0.current("main").unwrap().number;
        let given = outputs(names);
        let call = (arguments(&given, None), held(1));
        let done = self.0.finish(frame, step, given.clone(), call, Gate::NoReviews);
        done.iter().for_each(|event| self.0.apply(event));
        done.is_some()
    }

    fn deliver(&mut self, step: &str) {
        let frame = self.0.frames.last().unwrap().number;
        self.0.apply(&Happened::AnswerDelivered { frame, step: step.to_owned() });
    }

    fn open(&self) -> Vec<&str> {
        self.0.current("main").unwrap().open_steps().into_iter().map(|step| step.id.as_str()).collect()
    }
}

#[test]
fn a_workflow_goes_from_entry_to_entry_and_every_step_of_one_is_needed() {
    let mut story = Story::begun();
    assert_eq!(story.open(), ["a"]);
    assert!(!story.finish("b", &["y"]), "not before its turn");
    assert!(story.finish("a", &["x"]));
    assert!(!story.finish("a", &["x"]), "not twice");
    assert_eq!(story.open(), ["b", "c"]);
    assert!(story.finish("c", &["y", "z"]));
    assert_eq!(story.open(), ["b"]);
    assert!(story.finish("b", &["y"]) && story.finish("d", &["x"]));
    assert!(story.0.current("main").is_err() && story.0.frame(1).unwrap().entry().is_none());
    assert!(!story.0.is_active());
}

#[test]
fn a_call_is_about_the_first_open_step_that_declares_its_outputs() {
    let mut story = Story::begun();
    story.opens(None, &["x"], "a");
    story.opens(None, &["whatever"], "a");
    story.finish("a", &["x"]);
    story.deliver("a");
    story.opens(None, &["y"], "b");
    story.opens(None, &["z"], "c");
    story.opens(Some("c"), &["y"], "c");
    assert!(story.about(None, &["whatever"]).unwrap_err().0.contains("b, c"));
    assert!(story.about(Some("d"), &["x"]).unwrap_err().0.contains("not open"));
    assert!(story.about(Some("a"), &["y"]).unwrap_err().0.contains("go_to_step"));
}

#[test]
fn a_call_whose_answer_was_lost_gets_it_again() {
    let mut story = Story::begun();
    story.finish("a", &["x"]);
    let again = |frame, step: &str| Ok(About { frame, step: step.to_owned(), again: true });
    assert_eq!(story.about(None, &["x"]), again(1, "a"));
    // The answer arrived; but no open step takes an `x`, so it still is the same call.
    story.deliver("a");
    assert_eq!(story.about(None, &["x"]), again(1, "a"));
    assert_eq!(story.about(Some("a"), &["x"]), again(1, "a"));
    story.finish("b", &["y"]);
    story.finish("c", &["z"]);
    story.deliver("c");
    // Now one does, and the answer to the earlier call arrived: it is a new call.
    story.opens(None, &["x"], "d");
    story.finish("d", &["x"]);
    assert_eq!(story.about(None, &["x"]), again(1, "d"), "also when the workflow is over");
    story.deliver("d");
    assert_eq!(story.about(Some("d"), &["x"]), again(1, "d"));
    assert!(story.about(None, &["y"]).is_err());
}

/// Concurrent steps are handed in by concurrent calls: each call may lose its answer.
#[test]
fn a_lost_answer_is_given_again_also_to_a_sibling_and_below_a_parent() {
    let mut story = Story::begun();
    story.finish("a", &["x"]);
    story.deliver("a");
    story.finish("b", &["y"]);
    story.finish("c", &["z"]);
    let again = |frame, step: &str| Ok(About { frame, step: step.to_owned(), again: true });
    assert_eq!((story.about(None, &["y"]), story.about(None, &["z"])), (again(1, "b"), again(1, "c")));
    // A workflow on top is over, and its last step is named.
    story.start("main");
    for (step, names) in [("a", ["x"]), ("b", ["y"]), ("c", ["z"]), ("d", ["x"])] {
        story.finish(step, &names);
    }
    assert_eq!(story.open(), ["d"], "of the parent");
    assert_eq!(story.about(Some("d"), &["x"]), again(2, "d"));
    story.deliver("d");
    story.opens(Some("d"), &["x"], "d");
}

/// Two steps in a row with one output name: a lost answer is repeated only for the same files.
#[test]
fn issue_19_other_contents_are_no_repeated_call() {
    let mut twice = job();
    twice.workflows[0].entries = vec![vec!["a".to_owned()], vec!["d".to_owned()]];
    let mut story = Story(Session::default());
    let (agent, goal, workflow) = ("main".to_owned(), "done".to_owned(), "flow".to_owned());
    story.0.apply(&Happened::WorkflowStarted { agent, goal, job: Box::new(twice), workflow });
    story.finish("a", &["x"]);
    let (given, again) =
        (outputs(&["x"]), |step: &str| About { frame: 1, step: step.to_owned(), again: true });
    let about = |story: &Story, named, now| {
        story.0.about("main", named, &given, (&arguments(&given, None), Some(&held(now)))).unwrap()
    };
    let d = About { again: false, ..again("d") };
    let table =
        [(None, 1, again("a")), (None, 2, d.clone()), (Some("a"), 2, again("a")), (Some("d"), 2, d.clone())];
    for (named, now, expected) in table {
        assert_eq!(about(&story, named, now), expected, "{named:?} {now}");
    }
    // Nothing open takes these outputs: the caller gets the answer that there is.
    story.finish("d", &["x"]);
    assert_eq!(about(&story, None, 3), again("d"));
}

#[test]
fn going_back_undoes_what_rests_on_it() {
    let mut story = Story::begun();
    for (step, names) in [("a", ["x"]), ("b", ["y"]), ("c", ["z"])] {
        story.finish(step, &names);
    }
    assert!(story.0.go_to("main", "nowhere").unwrap_err().0.contains("a, b, c, d"));
    let invalidated = |event: &Happened| match event {
        Happened::WentBack { invalidated, .. } => invalidated.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(invalidated(&story.0.go_to("main", "d").unwrap()), Vec::<String>::new(), "where it is");
    let back = story.0.go_to("main", "b").unwrap();
    assert_eq!(invalidated(&back), ["b"], "its sibling stays done");
    story.0.apply(&back);
    assert_eq!(story.open(), ["b"]);
    assert!(story.0.go_to("main", "d").unwrap_err().0.contains("comes later"));
    story.0.apply(&story.0.go_to("main", "a").unwrap());
    assert_eq!(story.open(), ["a"]);
}

#[test]
fn workflows_nest_and_agents_have_stacks_of_their_own() {
    let mut story = Story::begun();
    story.finish("a", &["x"]);
    story.start("main");
    story.start("helper");
    assert_eq!(story.open(), ["a"], "the innermost");
    let titles = |agent: &str| story.0.stack(agent).map(|frame| frame.number).collect::<Vec<_>>();
    assert_eq!((titles("main"), titles("helper"), titles("stranger")), (vec![1, 2], vec![3], vec![]));
    story.0.apply(&story.0.abort("main", "no").unwrap());
    assert_eq!(story.open(), ["b", "c"], "the parent goes on");
    assert_eq!(story.0.frame(2).unwrap().aborted.as_deref(), Some("no"));
}

proptest! {
    /// Whatever is called in whatever order: a step is done once, in its turn, and the fold of what was recorded
    /// is the state.
    #[test]
    fn any_order_of_calls_keeps_the_order_of_the_workflow(calls in prop::collection::vec((0..6u8, 0..4usize), 0..40)) {
        let names = ["a", "b", "c", "d"];
        let mut session = Session::default();
        let mut events = vec![];
        for (call, which) in calls {
            let given = outputs(&["x"]);
            let event = match call {
                0 => Some(Happened::WorkflowStarted {
                    agent: "main".to_owned(), goal: String::new(), job: Box::new(job()), workflow: "flow".to_owned(),
                }),
                1 => session.abort("main", "why").ok(),
                2 => session.go_to("main", names[which]).ok(),
                _ => session.current("main").ok().map(|frame| frame.number).and_then(|frame| {
                    let call = (arguments(&given, None), held(1));
                    session.finish(frame, names[which], given.clone(), call, Gate::NoReviews)
                }),
            };
            let before = session.clone();
            if let Some(event) = event {
                session.apply(&event);
                if let Happened::StepFinished { frame, step, .. } = &event {
                    let frame = before.frame(*frame).unwrap();
                    prop_assert!(frame.open_steps().iter().any(|open| open.id == *step));
                }
                let json = serde_json::to_string(&event).unwrap();
                prop_assert_eq!(&serde_json::from_str::<Happened>(&json).unwrap(), &event);
                events.push(event);
            }
            for frame in &session.frames {
                let entry = frame.entry().unwrap_or(frame.workflow.entries.len());
                let later = frame.workflow.entries.iter().skip(entry + 1).flatten();
                prop_assert!(later.into_iter().all(|step| !frame.done.contains_key(step)));
            }
        }
        let mut again = Session::default();
        events.iter().for_each(|event| again.apply(event));
        prop_assert_eq!(again, session);
    }
}
