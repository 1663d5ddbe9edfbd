//! 004.5 and 004.10: the instructions of a self-review, and the system prompt that says the same.

use super::*;

async fn document(reviews: &[StepReview], project: &Project) -> String {
    blind_gate().build_review_instructions_file(reviews, &project.work).await.unwrap()
}

#[tokio::test]
async fn req_004_5_1_and_2_9_a_complete_document() {
    let project = Project::typical().notes("note");
    let document = document(&[review("step", None)], &project).await;
    // 004.5.1; 004.2.9: header, outputs with contents, criteria, notes, guidelines, task, in this order.
    let parts = [
        "# Quality Review Instructions",
        "BEGIN OUTPUTS",
        "-------------------- plan.md --------------------\nthe plan\n",
        "## Criteria to Evaluate",
        "## Author Notes",
        "## Guidelines",
        "## Your Task",
    ];
    let places: Vec<_> = parts.iter().map(|part| document.find(part).expect(part)).collect();
    assert!(places.is_sorted(), "{places:?}");
    // Too many files are listed.
    let many = self::document(&[review("step", None)], &Project::many(6)).await;
    assert!(many.contains("\n- f6.md  (output: docs)\n"));
}

#[tokio::test]
async fn req_004_5_2_to_5_sections_say_their_scope_files_and_guidance() {
    let project = Project::typical();
    let reviews = [review("step", None), review("plan", Some("Mind the plan.")), review("docs", None)];
    let several = document(&reviews, &project).await;
    // 004.5.2: numbered, with scope.
    for heading in [
        "## Review 1: all outputs together\n",
        "## Review 2: output 'plan'\n",
        "## Review 3: output 'docs'\n",
    ] {
        assert!(several.contains(heading), "{heading}");
    }
    // 004.5.4: the review of a `files` output lists each file, and no other review does.
    let sections: Vec<_> = several.split("## Review ").collect();
    assert!(sections[3].contains("\n- docs/a.md\n- docs/b.md\n"));
    assert!(!sections[1].contains("\n- docs/a.md\n") && !sections[2].contains("\n- plan.md\n"));
    // 004.5.5
    assert!(sections[2].contains("### Additional Context\n\nMind the plan.\n"));
    assert_eq!(several.matches("Additional Context").count(), 1);
    // 004.5.3: a single one has no number.
    let single = document(&reviews[2..], &project).await;
    assert!(single.contains("## Criteria to Evaluate\n") && !single.contains("## Review 1"));
}

#[tokio::test]
async fn req_004_5_6_and_7_guidelines_and_five_steps() {
    let document = document(&[review("step", None)], &Project::typical()).await;
    // 004.5.6
    for words in ["strict but fair", "pragmatically", "actionable feedback"] {
        assert!(document.contains(words), "{words}");
    }
    // 004.5.7
    let (_, task) = document.split_once("## Your Task").unwrap();
    let steps = task.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).count();
    assert_eq!(steps, 5);
}

#[tokio::test]
async fn req_004_10_the_prompt_and_the_instructions_say_the_same() {
    let cli = Scripted::always(pass());
    let project = Project::typical().notes("note");
    gate(&cli).evaluate(&criteria(), &project.work, Some("guidance")).await.unwrap();
    let prompt = cli.heard()[0].system_prompt.clone();
    let document = document(&[review("step", Some("guidance"))], &project).await;
    for (id, words) in [
        ("004.10.1", "quality reviewer."),
        ("004.10.2", "- **Complete**: Is it complete?\n- **Clear**: Can it be read?\n"),
        ("004.10.3", "## Author Notes\n"),
        ("004.10.4", "## Additional Context\n"),
        ("004.10.5", "passes only if ALL criteria pass"),
        ("004.10.6", "not applicable to the purpose of this step, pass it"),
    ] {
        assert!(prompt.contains(words), "{id}, prompt");
        assert!(document.contains(words), "{id}, document");
    }
}

#[tokio::test]
async fn a_review_of_nothing_there_is_gets_no_instructions() {
    let project = Project::typical();
    let error = blind_gate().build_review_instructions_file(&[review("nope", None)], &project.work).await;
    let words = "`run_each: nope` is neither `step` nor an output; outputs: docs, plan";
    assert_eq!(error.unwrap_err().to_string(), words);
}
