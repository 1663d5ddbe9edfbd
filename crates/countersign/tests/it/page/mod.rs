//! The page of `serve` and `open`: who may see it, what it shows, and decisions. By raw requests; `real_browser.rs` drives
//! the same in Chromium.

mod content;
mod entry;
mod real_browser;

use crate::project;
use countersign_testkit::{Answered, Judge, Project, Served};
use serde_json::json;

/// Words of the work and of the reviewer that must stay words.
const HOSTILE: &str = "<script>window.pwned=1</script><img src=x onerror=window.pwned=1></td></table><base href=//evil.example>";

/// A server at a terminal, and the address of its page.
struct Page {
    served: Served,
    host: String,
    code: String,
    cookie: String,
}

impl Page {
    fn open(project: &Project) -> Self {
        let served = Served::at_terminal(&project.command(&["serve", "--port", "0"]));
        let link = served.page_link();
        let (host, code) = link.split_once("/open?code=").unwrap();
        let (host, code) = (host.strip_prefix("http://").unwrap().to_owned(), code.to_owned());
        Self { served, host, code, cookie: String::new() }
    }

    /// The same with a session.
    fn signed_in(project: &Project) -> Self {
        let mut page = Self::open(project);
        let answer = page.post("/open", &format!("code={}", page.code));
        assert_eq!((answer.status, answer.header("location").as_deref()), (303, Some("/")), "{answer:?}");
        page.cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        page
    }

    fn origin(&self) -> String {
        format!("http://{}", self.host)
    }

    fn get(&self, path: &str) -> Answered {
        self.served.send("GET", path, &[("Host", &self.host), ("Cookie", &self.cookie)], "")
    }

    fn post(&self, path: &str, form: &str) -> Answered {
        let origin = self.origin();
        self.post_with(path, form, &[("Origin", &origin), ("Sec-Fetch-Site", "same-origin")])
    }

    fn post_with(&self, path: &str, form: &str, headers: &[(&str, &str)]) -> Answered {
        let mut all = vec![
            ("Host", self.host.as_str()),
            ("Cookie", self.cookie.as_str()),
            ("Content-Type", "application/x-www-form-urlencoded"),
        ];
        all.extend_from_slice(headers);
        self.served.send("POST", path, &all, form)
    }

    /// The value of a hidden field of the first form of a page.
    fn hidden(answer: &Answered, name: &str) -> String {
        let field = format!("name=\"{name}\" value=\"");
        let rest = answer.body.split(&field).nth(1).unwrap_or_else(|| panic!("no {name}: {answer:?}"));
        rest.split('"').next().unwrap().to_owned()
    }
}

/// A project with a review of hostile work, sent back by a reviewer whose words are hostile too; and the id of the review.
fn sent_back() -> (Project, String) {
    let project = project();
    let feedback = format!("BAD {HOSTILE} \u{202e}txt");
    let reply = json!({ "passed": false, "feedback": "f", "criteria_results": [{
        "criterion": "Good <b>", "passed": false, "feedback": feedback,
        "findings": [{ "message": feedback, "file": "odd <i>.md", "line": 2 }],
    }] });
    Judge::replying(&project, &reply.to_string());
    project.write(
        "countersign.yml",
        "version: 1\nreviewers:\n  - {name: judge, use: command, command: [./judge.sh]}\n\
         rules:\n  - name: docs\n    for: [\"*.md\"]\n    criteria:\n      - {name: 'Good <b>', ask: \"Is it good?\"}\n",
    );
    project.write("odd <i>.md", format!("one\n{HOSTILE}\nthree\n").as_str());
    let id = hand_in(&project);
    (project, id)
}

fn hand_in(project: &Project) -> String {
    let answer = project.run(&["review", "--subject", "guide <u>", "--json"]).exits(1).json();
    answer["review"]["id"].as_str().unwrap().to_owned()
}
