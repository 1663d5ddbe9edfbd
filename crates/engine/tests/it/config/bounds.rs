//! Files that are too much: refused quickly, with little memory, and with a reason.

use super::read;
use countersign_engine::config::{MAX_FILE_BYTES, MAX_PROBLEMS};

const TOO_MUCH: &str = "the file is too large when its aliases (`*name`) are expanded
  the limits are 50000 values, 32 levels of nesting and 4194304 bytes of text";

fn said(file: impl Into<Vec<u8>>) -> String {
    read(file).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn aliases_that_multiply_are_refused() {
    let mut laughs = String::from("a0: &a0 [x, x, x]\n");
    for n in 1..40 {
        laughs += &format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 3].join(", "));
    }
    let text = format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(900_000), vec!["*a"; 20_000].join(", "));
    let mut chain = String::from("- &a0 [x]\n");
    for n in 1..5000 {
        chain += &format!("- &a{n} [*a{}]\n", n - 1);
    }
    for bomb in [laughs, text, chain] {
        let said = said(bomb);
        assert!(said.ends_with(TOO_MUCH), "{said}");
    }
}

#[test]
fn depth_and_width_are_bounded() {
    let block: String = (0..500).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    for large in ["[".repeat(100_000), "{a: ".repeat(100_000), block, "- a\n".repeat(200_000)] {
        let said = said(large);
        assert!(said.ends_with(TOO_MUCH), "{said}");
    }
}

#[test]
fn sharing_criteria_by_an_alias_is_fine() {
    let mut file =
        String::from("version: 1\nrules:\n- {name: r, for: [a], criteria: &c [{name: A, ask: q}]}\n");
    for n in 0..200 {
        file += &format!("- {{name: r{n}, for: [b], criteria: *c}}\n");
    }
    let config = read(file).unwrap();
    assert_eq!(config.rules.len(), 201);
    assert!(config.rules.iter().all(|rule| rule.criteria == config.rules[0].criteria));
}

#[test]
fn files_are_small_utf8_text() {
    assert_eq!(
        said(vec![b' '; MAX_FILE_BYTES + 1]),
        "countersign.yml: the file is larger than 1048576 bytes"
    );
    assert_eq!(
        said(b"version: 1\nrules: \xff\n".to_vec()),
        "countersign.yml:2:8: the file is not UTF-8 from here on\n  save it as UTF-8"
    );
}

#[test]
fn many_problems_are_counted_not_listed() {
    let file = format!("version: 1\nrules:\n{}", "- 3\n".repeat(10_000));
    let problems = read(file).unwrap_err();
    assert_eq!((problems.listed.len(), problems.left_out), (MAX_PROBLEMS, 10_000 - MAX_PROBLEMS));
    assert!(problems.to_string().ends_with("\n… and 9950 more"));
}

#[test]
fn a_long_line_is_no_slower_than_many() {
    let criteria: Vec<_> = (0..5_000).map(|n| format!("{{name: c{n}, ask: q}}")).collect();
    let file = format!(
        "version: 1\nrules: [{{name: r, for: [a], criteria: [{}, {{name: C7, ask: q}}]}}]\n",
        criteria.join(", ")
    );
    let said = said(file);
    assert!(
        said.ends_with("the criterion on line 2 already has the name `c7`, which is the same as `C7`"),
        "{said}"
    );
}
