//! Items from services: the shape of the answer goes with the question, in each API's own way.

use super::*;
use countersign_testkit::{Act, Chat, Messages};

const REST: &str = "rules: [{name: r, for: ['*.md'], criteria: [{name: Complete, ask: 'Is it?'}]}]\n";

fn decompose(reviewer: &str) -> Project {
    let project = project();
    project.write("plan.md", PLAN);
    project.write("countersign.yml", format!("version: 1\nreviewers: [{{name: main, {reviewer}}}]\n{REST}"));
    qr(&project, &["decompose", "--artifact", "plan.md"]).exits(0);
    assert_eq!(state(&project)["items"].as_array().unwrap().len(), 3);
    project
}

#[test]
fn both_apis_are_told_the_shape_of_items() {
    let items = Says::default().items;
    let chat = Chat::always(Act::answer(items.clone()));
    let project = decompose(&format!("use: openai, model: m, base_url: '{}/v1'", chat.url()));
    let schema = chat.asked()[0].body["response_format"]["json_schema"].clone();
    assert_eq!((&schema["name"], &schema["schema"]["required"]), (&json!("answer"), &json!(["items"])));
    assert_eq!(schema["schema"]["properties"]["items"]["items"]["additionalProperties"], false);
    let costs = project.run(&["costs", "--json"]).exits(0).json();
    assert!(costs["total"]["tokens_in"].as_u64().unwrap() > 0, "{costs}");

    let messages = Messages::always(Act::answer(items));
    decompose(&format!("use: anthropic, model: m, base_url: '{}/v1'", messages.url()));
    let asked = &messages.asked()[0].body;
    assert_eq!(asked["tool_choice"]["name"], "answer");
    assert_eq!(asked["tools"][0]["input_schema"]["required"], json!(["items"]));
}

#[test]
fn the_next_reviewer_is_asked_only_where_one_is_not_there() {
    let down = Chat::always(Act::error(503, "overloaded", "not now"));
    let up = Chat::always(Act::answer(Says::default().items));
    let project = project();
    project.write("plan.md", PLAN);
    let both = |first: &Chat, second: &Chat| {
        let reviewer = |name: &str, chat: &Chat| {
            format!("{{name: {name}, use: openai, model: m, base_url: '{}/v1'}}", chat.url())
        };
        format!("version: 1\nreviewers: [{}, {}]\n{REST}", reviewer("a", first), reviewer("b", second))
    };
    project.write("countersign.yml", both(&down, &up));
    qr(&project, &["decompose", "--artifact", "plan.md"]).exits(0);
    assert_eq!(up.asked().len(), 1);
    // A reply that cannot be used is that reviewer's reply, and nobody else's to give.
    let wrong = Chat::always(Act::answer(json!({ "items": [] })));
    project.write("countersign.yml", both(&wrong, &up));
    qr(&project, &["decompose", "--artifact", "plan.md", "--again"]).exits(4);
    assert_eq!((wrong.asked().len(), up.asked().len()), (2, 1));
}

#[test]
fn secrets_are_kept_from_whoever_is_consulted() {
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let items =
        json!({ "items": [{ "scope": "*", "check": format!("Look at {secret}"), "severity": "MUST" }] });
    let chat = Chat::always(Act::answer(items));
    let project = project();
    project.write("plan.md", format!("{PLAN}\ntoken: {secret}\n"));
    let reviewer = format!("use: openai, model: m, base_url: '{}/v1'", chat.url());
    project.write("countersign.yml", format!("version: 1\nreviewers: [{{name: main, {reviewer}}}]\n{REST}"));
    qr(&project, &["decompose", "--artifact", "plan.md"]).exits(0);
    assert!(!chat.asked()[0].text.contains(secret), "not in a question");
    assert!(!state(&project).to_string().contains(secret), "not in what comes of a reply");
}
