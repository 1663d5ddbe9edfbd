//! What the page shows, and decisions by it.

use super::{HOSTILE, Page, hand_in, sent_back};
use serde_json::json;

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[test]
fn issue_21_3_findings_stand_below_their_judged_lines() {
    let (project, id) = sent_back();
    let page = Page::signed_in(&project);
    let inbox = page.get("/").body;
    assert!(inbox.contains("cli/guide%20&lt;u&gt;") || inbox.contains("guide"), "{inbox}");
    assert!(inbox.contains("1 finding in odd &lt;i&gt;.md"), "{inbox}");
    let review = page.get(&format!("/r/{id}")).body;
    let (line, finding) =
        (review.find(&escaped(HOSTILE)).unwrap(), review.find("<article class=\"find must\"").unwrap());
    assert!(line < finding, "{review}");
    for words in ["Good &lt;b&gt;", "line 2", "\\u{202e}txt", "Needs work", "judged 1 of 1 file"] {
        assert!(review.to_lowercase().contains(&words.to_lowercase()), "{words}: {review}");
    }
    // Other bytes are never shown beside a finding: those that were judged are.
    project.write("odd <i>.md", "something else\n");
    let review = page.get(&format!("/r/{id}")).body;
    assert!(review.contains("the file has changed since") && review.contains(&escaped(HOSTILE)), "{review}");
    assert!(!review.contains("something else"), "{review}");
}

#[test]
fn issue_21_3_a_decision_is_about_the_digest_on_the_screen() {
    let (project, id) = sent_back();
    let page = Page::signed_in(&project);
    let path = format!("/r/{id}");
    let shown = page.get(&path);
    let (form, digest) = (Page::hidden(&shown, "form"), Page::hidden(&shown, "digest"));
    let decision = |digest: &str| {
        let fields = format!("form={form}&digest={digest}&verb=approve&reason=tracked+%3Cb%3E+elsewhere");
        page.post(&format!("{path}/decision"), &fields)
    };
    project.write("odd <i>.md", "other BAD work\n");
    assert_eq!(hand_in(&project), id);
    let answer = decision(&digest);
    assert_eq!(answer.status, 409, "{answer:?}");
    assert!(
        answer.body.contains("Nothing was decided") && answer.body.contains("tracked &lt;b&gt; elsewhere"),
        "{answer:?}"
    );
    // The page has the newer digest now, and the reason is kept in its box.
    let now = Page::hidden(&answer, "digest");
    assert_ne!(now, digest);
    let answer = decision(&now);
    assert_eq!((answer.status, answer.header("location")), (303, Some(path.clone())), "{answer:?}");
    let review = project.run(&["show", &id, "--json"]).exits(0).json();
    let decision = &review["review"]["decisions"][0];
    assert_eq!(
        (&decision["verb"], &decision["channel"], &decision["person"], &decision["by"]),
        (&json!("approve"), &json!("page"), &json!(true), &json!(crate::people::account()))
    );
    assert!(decision["terminal"].is_string(), "{decision}");
    let review = page.get(&path).body;
    assert!(review.contains("in a browser by a link shown at"), "{review}");
}

#[test]
fn issue_21_1_only_forms_of_the_page_decide() {
    let (project, id) = sent_back();
    let page = Page::signed_in(&project);
    let path = format!("/r/{id}/decision");
    let shown = page.get(&format!("/r/{id}"));
    let (form, digest) = (Page::hidden(&shown, "form"), Page::hidden(&shown, "digest"));
    let fields = |form: &str, verb: &str| format!("form={form}&digest={digest}&verb={verb}&reason=mine");
    let origin = page.origin();
    let own: &[(&str, &str)] = &[("Origin", &origin)];
    type Headers<'a> = &'a [(&'a str, &'a str)];
    let cases: [(&str, Headers<'_>, u16); 8] = [
        (&fields(&form, "approve"), &[], 403),
        (&fields(&form, "approve"), &[("Origin", "null")], 403),
        (&fields(&form, "approve"), &[("Origin", "http://127.0.0.1:1")], 403),
        (&fields(&form, "approve"), &[("Origin", &origin), ("Sec-Fetch-Site", "same-site")], 403),
        (&fields("", "approve"), own, 403),
        (&fields(&"0".repeat(64), "approve"), own, 403),
        (&fields(&form, "explode"), own, 422),
        (&format!("form={form}&verb=approve&reason=mine"), own, 422),
    ];
    for (fields, headers, status) in cases {
        let answer = page.post_with(&path, fields, headers);
        assert_eq!(answer.status, status, "{fields} {headers:?}: {answer:?}");
    }
    let twice = [("Origin", origin.as_str()), ("Content-Type", "application/json")];
    assert_eq!(page.post_with(&path, &fields(&form, "approve"), &twice).status, 403);
    assert_eq!(page.get(&path).status, 405);
    let review = project.run(&["show", &id, "--json"]).exits(0).json();
    assert_eq!(review["review"]["decisions"], json!([]));
    assert_eq!(review["review"]["outcome"], "needs_work");
}

#[test]
fn issue_21_6_history_finds_by_subject_file_outcome_and_reviewer() {
    let (project, id) = sent_back();
    let page = Page::signed_in(&project);
    for (query, found) in [
        ("", true),
        ("?q=guide", true),
        ("?q=odd+%3Ci%3E", true),
        ("?q=nothing", false),
        ("?outcome=needs_work&reviewer=judge", true),
        ("?outcome=passed", false),
        ("?reviewer=other", false),
        ("?from=1", false),
        ("?from=x&outcome=%3Cscript%3E", false),
    ] {
        let body = page.get(&format!("/history{query}")).body;
        assert_eq!(body.contains(&format!("/r/{id}")), found, "{query}: {body}");
    }
}
