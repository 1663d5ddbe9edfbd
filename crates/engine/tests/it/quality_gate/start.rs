//! 004.1 and 004.2: how a gate is made, and what the reviewer is given.

use super::*;
use countersign_engine::quality_gate::{
    DEFAULT_MAX_INLINE_FILES, QUALITY_GATE_RESPONSE_SCHEMA, QualityGateError, quality_gate_response_schema,
};

#[tokio::test]
async fn req_004_1_1_to_4_a_gate_takes_an_optional_cli_and_an_optional_limit() {
    let cli = || -> Option<Arc<dyn ReviewerCli>> { Some(Scripted::always(pass())) };
    // 004.1.3: five, with a CLI and without.
    assert_eq!(DEFAULT_MAX_INLINE_FILES, 5);
    // 004.1.1 the CLI is optional; 004.1.2 so is the limit; 004.1.4 an explicit one is used, 0 included.
    for (gate, expected) in [
        (QualityGate::new(None, None), 5),
        (QualityGate::new(cli(), None), 5),
        (QualityGate::new(None, Some(2)), 2),
        (QualityGate::new(cli(), Some(0)), 0),
    ] {
        assert_eq!(gate.max_inline_files(), expected, "{gate:?}");
        for files in [expected, expected + 1] {
            let payload = gate.build_payload(&Project::many(files).work).await.unwrap();
            assert_eq!(payload.contains("(output: docs)"), files > expected, "{gate:?} with {files} files");
        }
    }
}

#[tokio::test]
async fn req_004_1_5_and_6_without_a_cli_there_are_instructions_and_no_evaluation() {
    let project = Project::typical();
    let gate = blind_gate();
    // 004.1.5
    let reviews = [review("step", None)];
    let document = gate.build_review_instructions_file(&reviews, &project.work).await.unwrap();
    assert!(document.contains("**Complete**"));
    // 004.1.6
    let error = gate.evaluate(&criteria(), &project.work, None).await.unwrap_err();
    assert!(matches!(error, QualityGateError::NoCli), "{error}");
    let error = gate.evaluate_reviews(&reviews, &project.work).await.unwrap_err();
    assert!(matches!(error, QualityGateError::NoCli), "{error}");
}

#[tokio::test]
async fn req_004_2_1_to_4_the_reviewer_gets_prompt_payload_and_schema() {
    let cli = Scripted::always(pass());
    let project = Project::typical().notes("I left out b.");
    gate(&cli).evaluate(&criteria(), &project.work, Some("Mind the style guide.")).await.unwrap();
    let heard = cli.heard();
    // 004.2.1: the CLI is what evaluates, once.
    assert_eq!(heard.len(), 1);
    // 004.2.2: criteria, notes and guidance are in the system prompt.
    for words in ["**Complete**: Is it complete?", "> I left out b.", "Mind the style guide."] {
        assert!(heard[0].system_prompt.contains(words), "{words}");
    }
    // 004.2.3: the contents are in the payload.
    for words in ["the plan", "aaa", "bbb", "I left out b."] {
        assert!(heard[0].payload.contains(words), "{words}");
    }
    assert_eq!(heard[0].payload, gate(&cli).build_payload(&project.work).await.unwrap());
    // 004.2.3: or the paths.
    let many = Project::many(6);
    gate(&cli).evaluate(&criteria(), &many.work, None).await.unwrap();
    assert!(cli.heard()[1].payload.contains("- f6.md  (output: docs)"));
    // 004.2.4: the schema comes with every question.
    for heard in cli.heard() {
        assert_eq!(heard.schema, *QUALITY_GATE_RESPONSE_SCHEMA);
    }
}

#[test]
fn req_004_2_5_and_6_the_schema_requires_what_the_document_requires() {
    let schema = quality_gate_response_schema();
    // 004.2.5
    assert_eq!(schema["required"], json!(["passed", "feedback"]));
    let properties = &schema["properties"];
    assert_eq!(
        (&properties["passed"]["type"], &properties["feedback"]["type"]),
        (&json!("boolean"), &json!("string"))
    );
    assert_eq!(properties["criteria_results"]["type"], "array");
    // 004.2.6
    let items = &properties["criteria_results"]["items"];
    assert_eq!(items["required"], json!(["criterion", "passed"]));
    assert_eq!(items["properties"]["feedback"]["type"], json!(["string", "null"]));
    let validator = jsonschema::validator_for(schema).unwrap();
    assert!(validator.is_valid(&pass()));
    assert!(!validator.is_valid(&json!({ "passed": true })));
}
