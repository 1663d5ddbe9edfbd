//! Who may see the page: whoever opens the link of the terminal, in time and once, under its own name.

use super::{HOSTILE, Page, project, sent_back};

#[test]
fn issue_21_1_a_link_becomes_a_session_once() {
    let (project, _) = sent_back();
    let mut page = Page::open(&project);
    assert_eq!(page.get("/").status, 401);
    // What looks at the link before a person presses the button does not use it up.
    let link = format!("/open?code={}", page.code);
    for _ in 0..2 {
        let answer = page.get(&link);
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(Page::hidden(&answer, "code"), page.code);
    }
    let wrong = "0".repeat(page.code.len());
    assert_eq!(page.post("/open", &format!("code={wrong}")).status, 410);
    let answer = page.post("/open", &format!("code={}", page.code));
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict") && !cookie.contains("Domain"), "{cookie}");
    assert_eq!(page.post("/open", &format!("code={}", page.code)).status, 410, "a second time");
    assert_eq!(page.get(&link).status, 410);
    cookie.split(';').next().unwrap().clone_into(&mut page.cookie);
    assert_eq!(page.get("/").status, 200);
}

#[test]
fn issue_21_1_page_and_api_answer_under_their_own_names() {
    let (project, id) = sent_back();
    let page = Page::signed_in(&project);
    let at = |host: &str| {
        let headers = [("Host", host), ("Cookie", page.cookie.as_str())];
        page.served.send("GET", "/", &headers, "").status
    };
    let port = page.served.port;
    assert_eq!(at(&page.host), 200);
    for host in [
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}"),
        format!("cs-00.localhost:{port}"),
        "evil.example".to_owned(),
    ] {
        assert_eq!(at(&host), 404, "{host}");
    }
    // The session of the page is none for the API, and the token of the API none for the page.
    let token = page.served.person_token();
    let bearer = format!("Bearer {token}");
    let api = |host: &str, name: &str, value: &str| {
        page.served.send("GET", "/v1/status", &[("Host", host), (name, value)], "").status
    };
    let own = format!("127.0.0.1:{port}");
    assert_eq!(api(&own, "Cookie", &page.cookie), 401);
    assert_eq!(api(&own, "Authorization", &bearer), 200);
    assert_eq!(api(&page.host, "Authorization", &bearer), 404);
    let as_client = [("Host", page.host.as_str()), ("Authorization", bearer.as_str())];
    assert_eq!(page.served.send("GET", &format!("/r/{id}"), &as_client, "").status, 401);
}

#[test]
fn issue_21_1_every_page_is_kept_alone() {
    let (project, id) = sent_back();
    let page = Page::signed_in(&project);
    for path in ["/", "/tasks", "/history", "/insights", &format!("/r/{id}"), "/r/none", "/nowhere"] {
        let answer = page.get(path);
        let policy = answer.header("content-security-policy").unwrap_or_else(|| panic!("{path}: {answer:?}"));
        for rule in [
            "default-src 'none'",
            "script-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'self'",
        ] {
            assert!(policy.contains(rule), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("cache-control").as_deref(), Some("no-store"), "{path}");
        assert_eq!(answer.header("x-content-type-options").as_deref(), Some("nosniff"), "{path}");
        assert!(
            !answer.body.contains(HOSTILE) && !answer.body.contains(" style="),
            "{path}: {}",
            answer.body
        );
        assert!(
            !answer.body.contains("http://") && !answer.body.contains("https://"),
            "{path}: {}",
            answer.body
        );
    }
}

#[test]
fn issue_21_1_without_a_person_at_a_terminal_there_is_no_page() {
    let project = project();
    let served = countersign_testkit::Served::start(&mut project.command(&["serve", "--port", "0"]));
    let host = format!("127.0.0.1:{}", served.port);
    assert_eq!(served.send("GET", "/", &[("Host", &host)], "").status, 401);
    let ran = project.run(&["open", "--no-browser"]).exits(3);
    assert!(ran.stderr.contains("only a person"), "{ran:?}");
}
