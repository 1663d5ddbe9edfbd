//! Where jobs are found, what of a job can be used, and the order in which it is shown.

use super::*;

/// A job of two workflows, each with one step; the outputs and criteria are not in the order of the alphabet.
const TWO: &str = r#"
name: two
version: "1.0.0"
summary: Two ways
common_job_info_provided_to_all_steps_at_runtime: None.
workflows:
  - {name: write, summary: Write it, steps: [plan]}
  - {name: other, summary: Another, steps: [pages], agent: writer}
steps:
  - id: plan
    name: Plan
    description: Plan it
    instructions_file: plan.md
    outputs:
      zebra: {type: file, description: First, required: true}
      apple: {type: files, description: Second, required: true}
    reviews:
      - run_each: step
        quality_criteria: {Zest: Is there enough of it in here?, Complete: Is it complete in every part?}
  - id: pages
    name: Pages
    description: Write them
    instructions_file: pages.md
    outputs: {pages: {type: file, description: Pages, required: true}}
    reviews: []
"#;

/// A server whose workflows nobody is asked about here.
fn silent(project: &Project, args: &[&str]) -> Client {
    let mut client = Client::silent(project, args);
    client.initialize("2025-11-25");
    client
}

#[test]
fn issue_19_jobs_below_a_git_root_are_found_by_the_path_of_the_server() {
    let project = project();
    let (folder, job) = ("packages/app", JOB.replace("name: guide", "name: below"));
    write_job(&project, "guide", JOB);
    for (path, text) in [("job.yml", job.as_str()), ("plan.md", "Make a plan."), ("pages.md", "Write pages.")]
    {
        project.write(&format!("{folder}/.deepwork/jobs/below/{path}"), text);
    }
    project.write(&format!("{folder}/plan.md"), "BAD").write(&format!("{folder}/a.md"), "page a");
    project.write("plan.md", "the plan of another project").write("b.md", "BAD");
    Judge::by_word(&project, "Complete");
    let mut client = external(&project, &["--path", folder]);
    let names = |listed: &Value| -> Vec<String> {
        listed["jobs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|job| job["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let listed = client.good("get_workflows", json!({}));
    assert_eq!(
        (names(&listed), &listed["note"]),
        (vec!["below".to_owned(), "guide".to_owned()], &json!(null))
    );
    let started = client.good("start_workflow", started_with("below"));
    let session = started["begin_step"]["session_id"].as_str().unwrap().to_owned();
    // Paths are those of the folder, and answers have them as they were given.
    let failed = client.good("finished_step", plan(&session));
    assert_eq!(failed["failed_reviews"][0]["target_file"], "plan.md", "{failed}");
    project.write(&format!("{folder}/plan.md"), "the plan");
    assert_eq!(client.good("finished_step", plan(&session))["status"], "next_step");
    let failed = client.good("finished_step", pages(&session, &["a.md", "../../b.md"]));
    assert_eq!(failed["failed_reviews"][0]["target_file"], "../../b.md", "{failed}");
    project.write("b.md", "page b");
    let done = client.good("finished_step", pages(&session, &["a.md", "../../b.md"]));
    assert_eq!(done["all_outputs"], json!({ "plan": "plan.md", "pages": ["a.md", "../../b.md"] }), "{done}");
    assert!(client.bad("finished_step", plan(&session))["message"].as_str().unwrap().contains("no workflow"));
    // The instructions of a self-review are where the job's project is.
    let mut own = silent(&project, &["--path", folder]);
    let started = own.good("start_workflow", started_with("below"));
    let session = started["begin_step"]["session_id"].as_str().unwrap().to_owned();
    own.good("finished_step", plan(&session));
    assert!(project.path(&format!("{folder}/.deepwork/tmp/quality_review_{session}_plan.md")).is_file());
    // `validate` looks where the server does.
    let ran =
        countersign_testkit::Running::start(project.command(&["validate"]).current_dir(project.path(folder)));
    assert!(ran.wait().exits(0).stdout.contains("packages/app/.deepwork/jobs: 2 jobs, 4 steps"));
}

#[test]
fn issue_19_an_empty_list_says_where_jobs_were_looked_for() {
    let project = project();
    std::fs::create_dir_all(project.path("packages/app")).unwrap();
    let mut client = silent(&project, &["--path", "packages/app"]);
    let listed = client.good("get_workflows", json!({}));
    assert_eq!((&listed["jobs"], &listed["errors"]), (&json!([]), &json!([])));
    let root = project.root().canonicalize().unwrap();
    let refused = client.bad("start_workflow", started_with("guide"));
    for folder in [root.join("packages/app/.deepwork/jobs"), root.join(".deepwork/jobs")] {
        let folder = folder.display().to_string();
        for words in [&listed["note"], &refused["message"]] {
            assert!(words.as_str().unwrap().contains(&folder), "{folder}: {words}");
        }
    }
}

#[test]
fn issue_19_a_missing_file_takes_only_its_own_workflows_away() {
    let project = project();
    write_job(&project, "two", TWO);
    std::fs::remove_file(project.path(".deepwork/jobs/two/pages.md")).unwrap();
    let mut client = silent(&project, &[]);
    let listed = client.good("get_workflows", json!({}));
    let workflows = listed["jobs"][0]["workflows"].as_array().unwrap();
    assert_eq!((workflows.len(), &workflows[0]["name"]), (1, &json!("write")), "{listed}");
    let error = listed["errors"][0]["error"].as_str().unwrap();
    for words in ["`pages.md` does not exist", "job.yml:23:24", "cannot be started because of this: other"] {
        assert!(error.contains(words), "{words}: {error}");
    }
    // A job with one workflow takes any name, but not that of one that it lost.
    for name in ["other", "any"] {
        let call = json!({ "goal": "g", "job_name": "two", "workflow_name": name });
        let error = client.bad("start_workflow", call)["message"].clone();
        let expected = if name == "other" { "`pages.md` does not exist" } else { "no workflow 'any'" };
        assert!(error.as_str().unwrap().contains(expected), "{error}");
    }
    client.good("start_workflow", started_with("two"));
    assert!(project.run(&["validate"]).exits(2).stderr.contains("`pages.md` does not exist"));
    // Without any workflow that is whole there is no job.
    std::fs::remove_file(project.path(".deepwork/jobs/two/plan.md")).unwrap();
    let listed = client.good("get_workflows", json!({}));
    assert_eq!(listed["jobs"], json!([]));
    assert!(listed["errors"][0]["error"].as_str().unwrap().contains("`plan.md` does not exist"));
    // A job that names no workflow has one of all its steps.
    let (before, rest) = TWO.split_once("workflows:").unwrap();
    let after = rest.split_once("steps:\n  -").unwrap().1;
    project.write(".deepwork/jobs/two/plan.md", "x");
    project.write(".deepwork/jobs/two/job.yml", format!("{before}steps:\n  -{after}"));
    assert_eq!(client.good("get_workflows", json!({}))["jobs"], json!([]));
}

#[test]
fn issue_19_outputs_and_criteria_come_in_the_order_of_the_job() {
    let project = project();
    write_job(&project, "two", TWO);
    let brief = project.home().join("brief");
    let body = r#"printf '{"passed": true, "feedback": "", "criteria_results": [{"criterion": "Zest", "passed": true}, {"criterion": "Complete", "passed": true}]}'"#;
    Judge::scripted(&project, "judge.sh", &format!("printf '%s' \"$brief\" >'{}'\n{body}", brief.display()));
    project.write("a.md", "first").write("b.md", "second").write("z.md", "third");
    let mut client = external(&project, &[]);
    let in_order = |text: &str, words: &[&str]| {
        let places: Vec<_> = words.iter().map(|word| text.find(word)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{words:?} {places:?}: {text}");
    };
    let text = |result: &Value| result["content"][0]["text"].as_str().unwrap().to_owned();
    let started = client.call("start_workflow", started_with("two"));
    in_order(&text(&started), &["\"zebra\"", "\"apple\"", "\"Zest\"", "\"Complete\""]);
    let session = started["structuredContent"]["begin_step"]["session_id"].clone();
    let outputs = json!({ "apple": ["b.md", "a.md"], "zebra": "z.md" });
    let done = client.call("finished_step", json!({ "session_id": session, "outputs": outputs }));
    assert_eq!(
        done["structuredContent"]["all_outputs"],
        json!({ "zebra": "z.md", "apple": ["b.md", "a.md"] })
    );
    in_order(&text(&done), &["\"zebra\":\"z.md\"", "\"apple\":[\"b.md\",\"a.md\"]"]);
    let brief = std::fs::read_to_string(brief).unwrap();
    in_order(
        &brief,
        &["- z.md ", "- b.md ", "- a.md "]
            .map(|line| line.replace("- ", "---- "))
            .each_ref()
            .map(String::as_str),
    );
    in_order(&brief, &["**Zest**", "**Complete**"]);
}

#[test]
fn issue_19_a_workflow_says_which_agent_should_run_it() {
    let project = project();
    write_job(&project, "two", TWO);
    let listed = silent(&project, &[]).good("get_workflows", json!({}));
    let how =
        |index: usize| listed["jobs"][0]["workflows"][index]["how_to_invoke"].as_str().unwrap().to_owned();
    assert!(!how(0).contains("subagent") && how(0).contains("start_workflow"), "{}", how(0));
    for words in ["subagent of the kind \"writer\"", "start_workflow", "workflow_name \"other\""] {
        assert!(how(1).contains(words), "{words}: {}", how(1));
    }
}

#[test]
fn issue_19_an_empty_dependency_is_a_mistake() {
    let project = project();
    write_job(&project, "guide", &JOB.replace("dependencies: [plan]", "dependencies: [plan, \"\"]"));
    let listed = silent(&project, &[]).good("get_workflows", json!({}));
    assert_eq!(listed["jobs"], json!([]));
    let error = listed["errors"][0]["error"].as_str().unwrap();
    assert!(error.contains("this dependency is empty") && error.contains("job.yml:22:26"), "{error}");
}

#[test]
fn issue_19_a_runner_that_cannot_be_is_an_error_when_the_server_starts() {
    let (project, _judge) = guide();
    configure(&project, "");
    project.trust();
    for (runner, words) in [
        ("nobody", "no reviewer is called `nobody`"),
        ("cluade", "did you mean `claude`"),
        ("command:./none.sh", "`./none.sh` was not found"),
        ("command:", "was not found"),
        ("replay:none.jsonl", "`none.jsonl` was not found"),
        ("checks", "checks answer no questions"),
    ] {
        let ran = project.run(&["mcp", "--external-runner", runner]).exits(2);
        assert!(ran.stderr.contains(words) && ran.stdout.is_empty(), "{runner}: {ran:?}");
    }
    for runner in ["judge", "auto", "self"] {
        let (code, said) = Client::silent(&project, &["--external-runner", runner]).hang_up();
        assert_eq!((code, said.as_str()), (0, ""), "{runner}");
    }
}
