//! Mistakes, each with all that is said about it.

use super::{GOOD, files, read_text};
use countersign_engine::yaml::FileBytes;

/// Everything that is said about a file.
fn said(yaml: &str) -> String {
    match read_text(yaml) {
        Ok(_) => panic!("nothing is said about:\n{yaml}"),
        Err(problems) => problems.to_string().replace("jobs/guide/job.yml:", ""),
    }
}

/// The good job with one thing changed.
#[track_caller]
fn check(from: &str, to: &str, expected: &str) {
    let changed = GOOD.replacen(from, to, 1);
    assert_ne!(changed, GOOD, "{from} is not in it");
    assert_eq!(said(&changed), expected, "with {to}");
}

const DOCS: &str = "`countersign help jobs` describes every key of a job.yml";

#[test]
fn what_is_no_yaml_or_no_job_is_the_only_problem() {
    assert_eq!(said("steps: [1\n"), format!("1:8: unclosed bracket '['\n  {DOCS}"));
    let minimal = "a job has `name`, `version`, `summary`, \
        `common_job_info_provided_to_all_steps_at_runtime` and `steps`";
    assert_eq!(said("# nothing\n"), format!("1:1: the file is empty\n  {minimal}"));
    let wanted = "the file must be a mapping with `name`, `version`, `summary` and `steps`";
    assert_eq!(said("- 1\n"), format!("1:3: {wanted}, not a list\n  {DOCS}"));
    let file = FileBytes { path: "j".into(), bytes: b"name: \xff".to_vec() };
    assert_eq!(
        super::read(&file, &files).unwrap_err().to_string(),
        "j:1:7: the file is not UTF-8 from here on\n  save it as UTF-8"
    );
}

#[test]
fn all_keys_that_are_missing_are_reported() {
    assert_eq!(
        said("workflows: [{}]\n").replace(&format!("\n  {DOCS}"), ""),
        "\
1:1: the job has no `name`
1:1: the job has no `version`
1:1: the job has no `summary`
1:1: the job has no `common_job_info_provided_to_all_steps_at_runtime`
1:1: the job has no `steps`
1:13: this workflow has no `name`
1:13: this workflow has no `summary`
1:13: this workflow has no `steps`"
    );
    let step = "{inputs: [{}], outputs: {o: {}}, reviews: [{}], stop_hooks: [{}]}";
    let (head, _) = GOOD.split_once("workflows:").unwrap();
    assert_eq!(
        said(&format!("{head}steps: [{step}]\n")).replace(&format!("\n  {DOCS}"), ""),
        "\
5:9: this step has no `id`
5:9: this step has no `name`
5:9: this step has no `description`
5:9: this step has no `instructions_file`
5:19: this input has no `name`
5:19: this input has no `description`
5:34: this output has no `type`
5:34: this output has no `description`
5:34: this output has no `required`
5:52: this review has no `run_each`
5:52: this review has no `quality_criteria`
5:70: a hook needs exactly one of `prompt`, `prompt_file` and `script`; this one has 0
  a hook is one of them"
    );
    check("outputs: {}, ", "", "40:3: this step has no `outputs`\n  for none, write `outputs: {}`");
    check(
        ", reviews: []",
        "",
        "40:3: this step has no `reviews`, so it is not reviewed\n  if this is intended, write `reviews: []`",
    );
}

#[test]
fn unknown_keys_are_refused_everywhere() {
    for (from, to, place) in [
        ("version:", "verson: 1\nversion:", "2:1: unknown key `verson`\n  did you mean `version`?"),
        ("agent: general", "agents: x", "6:36: unknown key `agents`\n  did you mean `agent`?"),
        ("  name: Plan", "  name: Plan\n  dependency: []", "10:3: unknown key `dependency`\n"),
        ("description: What", "descripton: x, description: What", "12:26: unknown key `descripton`\n"),
        ("required: true", "required: true, optional: true", "14:66: unknown key `optional`\n"),
        ("  - run_each: plan", "  - for_each: x\n    run_each: plan", "16:5: unknown key `for_each`\n"),
        ("before_tool", "before_tol", "26:69: unknown key `before_tol`\n  did you mean `before_tool`?"),
        ("script: run.sh", "script: run.sh, shell: sh", "26:100: unknown key `shell`\n"),
    ] {
        let said = said(&GOOD.replacen(from, to, 1));
        assert!(said.starts_with(place) && said.lines().count() == 2, "{to}: {said}");
    }
}

#[test]
fn names_versions_and_lengths_are_checked() {
    let name = "must be small letters, digits and `_`, a letter first\n  such as `write_guide`";
    check("name: guide", "name: Guide", &format!("1:7: the name `Guide` {name}"));
    check("name: guide", "name: 2nd", &format!("1:7: the name `2nd` {name}"));
    check("name: guide", "name: ''", &format!("1:7: the name `` {name}"));
    check(
        "- id: text",
        "- id: ../text",
        &format!(
            "6:67: no step has the id `text`\n  steps of this job: `plan`, `../text`, `images`\n20:7: the id `../text` {name}"
        ),
    );
    let long = "x".repeat(101);
    check(
        "name: guide",
        &format!("name: {long}"),
        "1:7: the name is longer than 100 characters\n  such as `write_guide`",
    );
    let form = "is not of the form N.N.N\n  three numbers, such as `1.0.0`";
    for version in ["1.0.0.0", "v1.0.0", "1.0.x", "1..0", "1.0.0-rc1"] {
        check("1.0.0", version, &format!("2:10: the version `{version}` {form}"));
    }
    check("1.0.0", "1.0", "2:10: `version` must be text, not 1.0\n  if you mean text, write `\"1.0\"`");
    let long = "x".repeat(201);
    check(
        "Write a guide",
        &long,
        "3:10: `summary` has 201 characters, more than 200\n  write one short line",
    );
    check("Everything", "' '", &format!("6:24: `summary` is empty\n  {DOCS}"));
    check(
        "name: all",
        "name: ' all'",
        &format!("6:10: the name ` all` begins or ends with white space\n  {DOCS}"),
    );
    check("agent: writer", "agent: ''", &format!("30:10: `agent` is empty\n  {DOCS}"));
}

#[test]
fn wrong_types_are_refused() {
    let docs = format!("\n  {DOCS}");
    for (from, to, expected) in [
        (
            "For beginners.",
            "[]",
            "4:51: `common_job_info_provided_to_all_steps_at_runtime` must be text, not a list",
        ),
        ("exposed: true", "exposed: 'yes'", "28:12: `exposed` must be true or false, not the text `yes`"),
        ("hidden: false", "hidden:", "29:3: `hidden` must be true or false, not empty"),
        (
            "dependencies: [plan]",
            "dependencies: plan",
            "25:17: `dependencies` must be a list, not the text `plan`",
        ),
        ("outputs: {}", "outputs: []", "40:91: `outputs` must be a mapping, not a list"),
        (
            "[text, images]",
            "{a: b}",
            "6:66: an entry of `steps` must be the id of a step or a list of ids, not a mapping",
        ),
        (
            "{Clear: Can a beginner follow every sentence?}",
            "[Clear]",
            "37:23: `quality_criteria` must be a mapping, not a list",
        ),
    ] {
        check(from, to, &format!("{expected}{docs}"));
    }
    check("type: files", "type: folder", "32:22: `type` cannot be `folder`\n  known: `file`, `files`");
    check(
        "Does it begin with what comes first?",
        "yes: no",
        "19:20: mapping values are not allowed in this context\n  text that holds `: ` needs quotes",
    );
}

#[test]
fn steps_and_criteria_are_not_none() {
    let (head, _) = GOOD.split_once("workflows:").unwrap();
    assert_eq!(said(&format!("{head}steps: []\n")), "5:8: `steps` is empty\n  a job has at least one step");
    check(
        "{Clear: Can a beginner follow every sentence?}",
        "{}",
        "37:23: `quality_criteria` is empty, so the review asks nothing\n  give at least one, such as \
         `Complete: Is every command of the tool described?`",
    );
    check(
        "Can a beginner follow every sentence?",
        "''",
        "37:31: the criterion `Clear` has no question\n  say after the colon what must be true",
    );
    check("[plan, [text, images]]", "[]", "6:59: `steps` is empty\n  name the steps it goes through");
    check(
        "[text, images]",
        "[]",
        "6:66: this entry names no step\n  name the steps that may run at the same time",
    );
}

#[test]
fn inputs_and_hooks_are_one_thing() {
    check(
        "description: What it is about",
        "from_step: images",
        "12:12: this input mixes two kinds of inputs\n  either `name` and `description`, asked of the user, or `file` and `from_step`",
    );
    check("{file: plan.md, from_step", "{from_step", &format!("24:12: this input has no `file`\n  {DOCS}"));
    check(
        "{prompt: Look again}",
        "{prompt: Look again, script: x}",
        "26:25: a hook needs exactly one of `prompt`, `prompt_file` and `script`; this one has 2\n  a hook is one of them",
    );
    check(
        "{prompt: Look again}",
        "{prompt: Look again, script: }",
        &format!(
            "26:25: a hook needs exactly one of `prompt`, `prompt_file` and `script`; this one has 2\n  a hook is one of them\n\
             26:46: `script` must be text, not empty\n  {DOCS}"
        ),
    );
    check("{script: run.sh}", "{script: ''}", &format!("26:92: `script` is empty\n  {DOCS}"));
}

/// JOBS-10.
#[test]
fn jobs_10_a_review_looks_at_an_output_or_at_the_step() {
    check(
        "run_each: chapters",
        "run_each: chapter",
        "35:15: `run_each` is `chapter`, but this step has no output with this name\n  did you mean `chapters`?",
    );
    check(
        "run_each: chapters",
        "run_each: plan.md",
        "35:15: `run_each` is `plan.md`, but this step has no output with this name\n  \
         `step` means all outputs together; possible values are: `step`, `chapters`, `index`",
    );
    // An invalid output still counts as declared.
    check("chapters: {type: files,", "chapters: {", &format!("32:5: this output has no `type`\n  {DOCS}"));
}

#[test]
fn steps_that_are_named_exist() {
    check(
        "dependencies: [plan]",
        "dependencies: [pln]",
        "25:18: no step has the id `pln`\n  did you mean `plan`?",
    );
    check(
        "from_step: plan",
        "from_step: elsewhere",
        "24:39: no step has the id `elsewhere`\n  steps of this job: `plan`, `text`, `images`",
    );
    check("[plan, [", "[plam, [", "6:60: no step has the id `plam`\n  did you mean `plan`?");
    check("images]]", "imagse]]", "6:73: no step has the id `imagse`\n  did you mean `images`?");
    // The step without an id may be the missing one.
    check("- id: plan\n", "- id: 7\n", "8:7: `id` must be text, not 7\n  if you mean text, write `\"7\"`");
}

#[test]
fn circles_are_named() {
    let hint = "remove one of these dependencies";
    check(
        "dependencies: [plan]",
        "dependencies: [text]",
        &format!("25:18: the step `text` needs itself\n  {hint}"),
    );
    check(
        "  name: Plan",
        "  name: Plan\n  dependencies: [images, text]",
        &format!("26:18: these steps need each other: `plan` → `text` → `plan`\n  {hint}"),
    );
    let steps: String = (0..2000)
        .map(|i| {
            let next = (i + 1) % 2000;
            format!("- {{id: s{i}, name: n, description: d, instructions_file: p.md, outputs: {{}}, reviews: [], dependencies: [s{next}]}}\n")
        })
        .collect();
    let (head, _) = GOOD.split_once("workflows:").unwrap();
    let said = said(&format!("{head}steps:\n{steps}"));
    assert!(said.contains("`s10` → `s11` → … → `s0`"), "{said}");
}

#[test]
fn what_is_said_about_thousands_of_mistakes_has_bounds() {
    let needs: Vec<String> = (0..4000).map(|i| format!("other{i}")).collect();
    let steps: String = (0..3000).map(|i| format!("- {{id: another_{i}}}\n")).collect();
    let all = format!("steps:\n{steps}- {{id: a, dependencies: [{}]}}\n", needs.join(", "));
    let problems = read_text(all).unwrap_err();
    assert!(problems.left_out > 10_000, "{}", problems.left_out);
    assert!(problems.to_string().len() < 100_000);
}

#[test]
fn doubles_are_reported_with_the_first() {
    check(
        "- {id: images",
        "- {id: text",
        &format!(
            "6:73: no step has the id `images`\n  steps of this job: `plan`, `text`\n40:8: the step on line 20 already has the name `text`\n  {DOCS}"
        ),
    );
    check(
        "In order: Does",
        "'**whole:**': Does",
        &format!(
            "19:7: the criterion on line 18 already has the name `Whole`, which is the same as `**whole:**`\n  {DOCS}"
        ),
    );
    check(
        "[plan, [text, images]]}",
        "[plan]}\n- {name: all, summary: S, steps: [text]}",
        &format!("7:10: the workflow on line 6 already has the name `all`\n  {DOCS}"),
    );
    let keep = "a step is done once in a workflow; keep one of the two";
    check(
        "[text, images]",
        "[text, plan]",
        &format!("6:73: the workflow goes through `plan` twice\n  {keep}"),
    );
    check("    index:", "    chapters:", "33:5: the key `chapters` is given twice\n  keep one of the two");
}

#[test]
fn files_of_a_job_are_in_its_folder() {
    let hint = "paths begin in the folder of job.yml and stay in it";
    for (path, why) in [
        ("steps/none.md", "does not exist"),
        ("../a.md", "is outside the job's folder"),
        ("steps/../../a.md", "is outside the job's folder"),
        ("/etc/hostname", "is outside the job's folder"),
        ("''", "has no name"),
    ] {
        let shown = path.trim_matches('\'');
        check("steps/a.md", path, &format!("11:22: the instructions file `{shown}` {why}\n  {hint}"));
        check("p.md", path, &format!("26:61: the prompt file `{shown}` {why}\n  {hint}"));
    }
    assert!(read_text(GOOD.replacen("steps/a.md", "steps/../p.md", 1)).is_ok());
}

#[test]
fn a_job_has_only_so_many_instructions() {
    let large = |_: &std::path::Path| Ok("x".repeat(5 * 1024 * 1024));
    let file = FileBytes { path: "j".into(), bytes: GOOD.as_bytes().to_vec() };
    let problems = super::read(&file, &large).unwrap_err();
    assert_eq!(problems.listed.len(), 2, "{problems}");
    assert!(
        problems.to_string().contains("is too large: all files of a job may have 8388608 bytes together")
    );
}

#[test]
fn many_mistakes_are_all_reported() {
    let changed = GOOD
        .replace("name: guide", "name: Guide")
        .replace("1.0.0", "one")
        .replace("run_each: chapters", "run_each: chapter")
        .replace("dependencies: [plan]", "dependencies: [missing]")
        .replace("p.md", "../p.md");
    let codes: Vec<_> =
        read_text(changed).unwrap_err().listed.into_iter().map(|problem| problem.code).collect();
    assert_eq!(codes, ["bad-name", "bad-version", "unknown-step", "bad-file", "unknown-output"]);
}
