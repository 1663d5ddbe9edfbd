//! What a review may cost: checked before each question, and never exceeded by one.

use crate::project;
use countersign_testkit::{Act, Chat, Judge, Project, Running, eventually};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// A project of `files` files, a reviewer that says it needs 2,000 tokens for each, and a policy.
fn priced(files: usize, usage: &str, reviewer: &str, policy: &str) -> (Project, Judge) {
    let project = project();
    for n in 0..files {
        project.write(&format!("docs/{n}.md"), format!("text {n}"));
    }
    let reply = format!(
        r#"printf '{{"passed": true, "feedback": "f", "criteria_results": [{{"criterion": "Complete", "passed": true}}]{usage}}}'"#
    );
    let judge = Judge::scripted(&project, "judge.sh", &reply);
    let config = format!(
        "version: 1\nreviewers: [{{name: main, use: command, command: [./judge.sh]{reviewer}}}]\npolicy: {{{policy}}}\n\
         rules: [{{name: r, for: ['docs/*.md'], each: file, criteria: [{{name: Complete, ask: 'Is it?'}}]}}]\n"
    );
    project.write("countersign.yml", config);
    (project, judge)
}

const USAGE: &str = r#", "usage": {"tokens_in": 1800, "tokens_out": 200, "cost_usd": 0.01}"#;

fn states(json: &Value) -> Vec<&str> {
    json["assignments"].as_array().unwrap().iter().map(|one| one["state"].as_str().unwrap()).collect()
}

/// Questions to a service, one after the other, each of which says what it needed: the one that might exceed the
/// budget is not asked, the ones before it were.
#[test]
fn a_service_is_asked_until_the_next_question_might_exceed_ten_thousand_tokens() {
    let project = project();
    for n in 0..9 {
        project.write(&format!("docs/{n}.md"), format!("text {n}"));
    }
    let service = Chat::always(Act::ruling("Complete", true, "fine"));
    let config = format!(
        "version: 1\nreviewers: [{{name: main, use: openai, model: m, base_url: '{}/v1', concurrency: 1, reply_tokens: 200}}]\n\
         policy: {{budget_tokens: 10000}}\n\
         rules: [{{name: r, for: ['docs/*.md'], each: file, criteria: [{{name: Complete, ask: 'Is it?'}}]}}]\n",
        service.url()
    );
    project.write("countersign.yml", config);
    let json = project.run(&["review", "--json"]).exits(5).json();
    let asked = service.asked().len();
    assert!((2..9).contains(&asked), "{asked}");
    assert_eq!(states(&json).iter().filter(|state| **state == "passed").count(), asked);
    let spent = json["cost"]["tokens_in"].as_u64().unwrap() + json["cost"]["tokens_out"].as_u64().unwrap();
    let detail = json["assignments"][8]["detail"].as_str().unwrap();
    let needs: u64 = detail.rsplit(' ').next().unwrap().parse().unwrap();
    assert!(detail.contains(&format!("{spent} tokens of 10000 are spent")), "{detail}");
    assert!(spent <= 10_000 && spent + needs > 10_000, "{detail}");
}

/// A question of this size puts some 13,000 tokens aside; with 10,000 not even one may be asked.
#[test]
fn a_budget_of_ten_thousand_tokens_stops_before_the_question_that_would_exceed_it() {
    let (project, judge) = priced(1, USAGE, "", "budget_tokens: 10000");
    let json = project.run(&["review", "--json"]).exits(5).json();
    assert_eq!((json["outcome"].as_str(), judge.asked().len()), (Some("budget_reached"), 0));
    let detail = json["assignments"][0]["detail"].as_str().unwrap();
    assert!(detail.contains("0 tokens of 10000 are spent"), "{detail}");
    assert_eq!(json["cost"]["questions_asked"], 0);
}

#[test]
fn what_is_spent_and_what_is_put_aside_stay_within_the_budget() {
    // Each needs 2,000 in the end: five are 10,000, and a sixth would put more aside than 20,000 leave.
    let (project, judge) = priced(9, USAGE, "", "budget_tokens: 20000");
    let args = ["review", "--subject", "x", "--json"];
    let json = project.run(&args).exits(5).json();
    let asked = judge.asked().len();
    assert!((1..9).contains(&asked), "{asked}");
    assert_eq!(json["cost"]["tokens_in"], 1800 * asked);
    assert_eq!(states(&json).iter().filter(|state| **state == "passed").count(), asked);
    let text = project.run(&["show"]).stdout;
    assert!(text.ends_with("\nbudget reached\n"), "{text}");
    assert!(text.contains("countersign unblock"), "{text}");
    // Handed in again it asks nobody, however often; nothing that was judged is lost.
    for _ in 0..4 {
        let again = project.run(&args).exits(5).json();
        assert_eq!((states(&again), judge.asked().len()), (states(&json), asked));
    }
}

#[test]
fn unknown_is_not_nothing() {
    // The reviewer does not say what it needed, so what was put aside stays spent.
    let (project, judge) = priced(9, "", "", "budget_tokens: 30000");
    project.run(&["review", "--subject", "x"]).exits(5);
    assert_eq!(judge.asked().len(), 2);
    let json = project.run(&["costs", "--json"]).exits(0).json();
    let row = &json["rows"][0];
    assert_eq!((&row["questions"], &row["tokens_in"], &row["usd"]), (&json!(2), &Value::Null, &Value::Null));
    assert_eq!(row["questions_with_unknown_cost"], 2);
    assert!(project.run(&["costs"]).stdout.contains('?'));
}

#[test]
fn a_day_has_a_budget_too() {
    let (project, judge) = priced(2, USAGE, "", "day_budget_tokens: 20000");
    project.run(&["review", "docs/0.md"]).exits(0);
    project.run(&["review", "docs/1.md"]).exits(0);
    for n in 2..9 {
        project.write(&format!("docs/{n}.md"), format!("more {n}"));
    }
    let json = project.run(&["review", "--json"]).exits(5).json();
    assert!(json["assignments"][8]["detail"].as_str().unwrap().contains("budget of the day"));
    let asked = judge.asked().len();
    // It is everybody's: another subject gets no more out of it. What is known already costs nothing.
    project.run(&["review", "--subject", "y"]).exits(5);
    assert_eq!(judge.asked().len(), asked);
    project.run(&["review", "docs/0.md", "--subject", "z"]).exits(0);
}

#[test]
fn money_needs_a_price_and_is_counted_by_it() {
    let (project, _) = priced(1, USAGE, "", "budget_usd: 1");
    let stderr = project.run(&["review"]).exits(2).stderr;
    assert!(stderr.contains("needs to know what `main` costs") && stderr.contains("price"), "{stderr}");
    let price = ", price: {input_usd_per_million: 100, output_usd_per_million: 100}";
    let tokens_only = r#", "usage": {"tokens_in": 1800, "tokens_out": 200}"#;
    let (project, judge) = priced(3, tokens_only, price, "budget_usd: 1.30");
    let json = project.run(&["review", "--json"]).exits(5).json();
    // 2,000 tokens at $100 a million are 20 cents, and some 11,500 put aside are $1.15.
    assert_eq!(judge.asked().len(), 1);
    assert_eq!(json["cost"]["usd"], 0.2);
    assert!(json["assignments"][2]["detail"].as_str().unwrap().contains("$0.2000 of $1.3000 are spent"));
}

#[test]
fn costs_are_shown_by_day_reviewer_and_model() {
    let project = project();
    assert!(project.run(&["costs"]).exits(0).stdout.contains("no reviewer was asked in the last 30 days"));
    let usage = r#", "usage": {"tokens_in": 1800, "tokens_out": 200, "cost_usd": 0.01, "model": "m-1"}"#;
    let (project, _) = priced(3, usage, "", "");
    let text = project.run(&["review"]).exits(0).stdout;
    assert!(text.contains("5400 tokens in, 600 out, cost $0.0300"), "{text}");
    let text = project.run(&["costs", "--days", "1"]).exits(0).stdout;
    let total: Vec<_> = text.lines().last().unwrap().split_whitespace().collect();
    assert_eq!(total, ["total", "3", "5400", "600", "$0.0300"]);
    assert!(text.lines().nth(1).unwrap().contains("main      m-1"), "{text}");
}

/// What a reviewer says is a number from outside. One that does not fit must not count as less than nothing.
#[test]
fn no_report_gives_back_what_others_spent() {
    for usage in [
        r#", "usage": {"tokens_in": 9223372036854775808, "tokens_out": 0}"#,
        r#", "usage": {"tokens_in": 18446744073709551615, "tokens_out": 18446744073709551615, "cost_usd": 1e300}"#,
    ] {
        let (project, judge) = priced(3, usage, ", concurrency: 1", "day_budget_tokens: 1000000");
        project.run(&["review", "docs/0.md"]).exits(0);
        project.run(&["review", "docs/1.md"]).exits(5);
        assert_eq!(judge.asked().len(), 1, "{usage}");
        let (project, _) = priced(3, usage, "", "");
        project.run(&["review"]).exits(0);
        let json = project.run(&["costs", "--json"]).exits(0).json();
        assert_eq!(json["total"]["tokens_in"], i64::MAX, "{json}");
        project.run(&["costs"]).exits(0);
    }
}

#[test]
fn whoever_is_not_asked_spends_nothing() {
    let (project, judge) = priced(1, USAGE, "", "budget_tokens: 20000");
    let config = project.read("countersign.yml").replace(
        "reviewers: [",
        "reviewers: [{name: keyless, use: openai, model: m, key_env: NO_SUCH_KEY}, \
         {name: small, use: command, command: [./judge.sh], window_tokens: 8000}, ",
    );
    project.write("countersign.yml", config);
    let json = project.run(&["review", "--json"]).exits(4).json();
    assert_eq!(json["reason"], "too_long", "the second has no room, and says so itself");
    let config = project.read("countersign.yml").replace(", window_tokens: 8000", ", window_tokens: 80000");
    project.write("countersign.yml", config);
    let json = project.run(&["review", "--json"]).exits(0).json();
    assert_eq!((json["assignments"][0]["ruled_by"].as_str(), judge.asked().len()), (Some("small"), 1));
    let json = project.run(&["costs", "--json"]).exits(0).json();
    assert_eq!(json["total"]["questions_with_unknown_tokens"], 0, "{json}");
}

/// The second question also says what was wrong with the first reply.
#[test]
fn a_second_try_is_put_aside_with_all_it_says() {
    let (project, _) = priced(1, "", "", "budget_tokens: 1");
    let json = project.run(&["review", "--json"]).exits(5).json();
    let detail = json["assignments"][0]["detail"].as_str().unwrap();
    let needs: u64 = detail.rsplit(' ').next().unwrap().parse().unwrap();
    for (budget, asked) in [(needs + 2000, 1), (needs + 4000, 2)] {
        let (project, _) = priced(1, "", "", &format!("budget_tokens: {budget}"));
        let garbled = format!(r#"printf '{{"passed": "perhaps"{USAGE}}}'"#);
        let judge = Judge::scripted(&project, "judge.sh", &garbled);
        project.run(&["review"]).exits(if asked == 1 { 5 } else { 4 });
        assert_eq!(judge.asked().len(), asked);
    }
}

/// Only what was put to somebody may have cost something: the others waited for their turn.
#[test]
fn an_interrupt_gives_back_what_was_only_put_aside() {
    let service = Chat::always(Act::Hang);
    let (project, judge) = priced(5, USAGE, "", "budget_tokens: 65000");
    let config = project.read("countersign.yml");
    let hangs = format!(
        "reviewers: [{{name: hangs, use: openai, model: m, base_url: '{}/v1', concurrency: 1}}, ",
        service.url()
    );
    project.write("countersign.yml", config.replace("reviewers: [", &hangs));
    let running = Running::start(&mut project.command(&["review", "--subject", "x"]));
    eventually("it is asked", || !service.asked().is_empty());
    kill_process(Pid::from_raw(i32::try_from(running.id()).unwrap()).unwrap(), Signal::INT).unwrap();
    running.wait().exits(130);
    let json = project.run(&["costs", "--json"]).exits(0).json();
    assert_eq!(
        (&json["total"]["questions"], &json["total"]["questions_with_unknown_tokens"]),
        (&json!(5), &json!(1))
    );
    project.write("countersign.yml", config);
    project.run(&["review", "--subject", "x"]).exits(0);
    assert_eq!(judge.asked().len(), 5);
}

#[test]
fn what_to_do_depends_on_whose_budget_it_is() {
    for (policy, words) in [
        ("budget_tokens: 100", "countersign unblock"),
        ("day_budget_tokens: 100", "a new daily budget starts at 00:00 UTC"),
        ("budget_tokens: 100, day_budget_tokens: 100", "countersign unblock"),
    ] {
        let (project, _) = priced(2, USAGE, "", policy);
        let text = project.run(&["review", "--subject", "x"]).exits(5).stdout;
        assert!(text.contains(words), "{policy}: {text}");
        assert!(text.contains("0 asked, 0 reused") && text.contains("cost nothing"), "{text}");
    }
}

#[test]
fn a_sum_says_that_it_is_not_all() {
    let (project, _) = priced(2, "", "", "");
    let reply = r#"usage=; case "$file" in *0.md) usage=', "usage": {"tokens_in": 1800, "tokens_out": 200}';; esac
printf '{"passed": true, "feedback": "f", "criteria_results": [{"criterion": "Complete", "passed": true}]%s}' "$usage""#;
    Judge::scripted(&project, "judge.sh", reply);
    let ran = project.run(&["review"]).exits(0);
    assert!(ran.stdout.contains("at least 1800 tokens in, 200 out, cost unknown"), "{}", ran.stdout);
    let json = project.run(&["show", "--json"]).json();
    assert_eq!(json["cost"]["questions_with_unknown_tokens"], 1, "{json}");
}
