//! Tables of texts before and after, and the laws that hold for every text.

use super::*;
use proptest::prelude::*;
use serde_json::json;

const PATH: [&str; 2] = ["servers", "ours"];
const BLOCK: &str = "[servers.ours]\ncommand = \"c\"\nargs = [\"a\", \"b\"]";

fn members() -> Members {
    vec![("command", json!("c")), ("args", json!(["a", "b"]))]
}

#[test]
fn a_table_is_added_at_the_end() {
    let table = [
        ("", format!("\n{BLOCK}\n")),
        ("# mine\r\n", format!("# mine\r\n\r\n{}\r\n", BLOCK.replace('\n', "\r\n"))),
        ("a = 1", format!("a = 1\n\n{BLOCK}")),
        ("[servers.x]\ncommand = \"y\" # z\n\n", format!("[servers.x]\ncommand = \"y\" # z\n\n\n{BLOCK}\n")),
        ("[servers]\nx = {}\n", format!("[servers]\nx = {{}}\n\n{BLOCK}\n")),
        ("servers.x.command = 1\n", format!("servers.x.command = 1\n\n{BLOCK}\n")),
    ];
    for (before, after) in table {
        let put = insert(before, &PATH, &members()).unwrap();
        assert_eq!(put, after, "{before}");
        assert_eq!(insert(&put, &PATH, &members()).unwrap(), put, "twice is once");
        assert_eq!(remove(&put, &PATH).unwrap().as_deref(), Some(before), "and back");
    }
    assert_eq!(remove(&create(&PATH, &members()), &PATH), Ok(None));
}

#[test]
fn what_others_did_around_it_stays() {
    let table = [
        (format!("a = 1\n\n{BLOCK}\n\n[z]\nb = 2\n"), Some("a = 1\n\n[z]\nb = 2\n")),
        (format!("a = 1\n{BLOCK} # x\n# mine\n[z]\n"), Some("a = 1\n# mine\n[z]\n")),
        (format!("{BLOCK}\n# mine\n"), Some("# mine\n")),
        // What belongs to the entry goes with it: without its command it would be an error.
        (format!("[servers.ours.env]\nK = \"v\"\n[z]\n{BLOCK}\ntimeout.a = 9\n"), Some("[z]\n")),
        (format!("{BLOCK}\n\n[servers.ours.env]\nK = \"v\"\n"), None),
        ("[servers.x]\na = 1".to_owned(), Some("[servers.x]\na = 1")),
    ];
    for (before, after) in table {
        assert_eq!(remove(&before, &PATH).unwrap().as_deref(), after, "{before}");
    }
}

#[test]
fn values_are_read_whatever_their_form() {
    let expected = json!({"command": "c", "args": ["a", "b"]});
    let forms = [
        BLOCK,
        "[servers]\nours = {command = 'c', args = ['a', 'b']}",
        "servers.ours.command = \"\"\"c\"\"\"\nservers.ours.args = [\n  'a', # x\n  'b',\n]",
        "servers = {ours = {command = 'c', args = ['a', 'b']}}",
    ];
    for text in forms {
        assert_eq!(look(text, &PATH).unwrap().unwrap().value, expected, "{text}");
        assert_eq!(insert(text, &PATH, &members()).unwrap(), text);
    }
    for text in &forms[1..] {
        assert_eq!(remove(text, &PATH).unwrap_err().code, "shape", "{text}");
    }
}

#[test]
fn what_cannot_be_edited_is_named_with_its_place() {
    let table = [
        ("a = 1\nb = \n", "syntax", 10..10),
        ("a = 1\na = 2\n", "syntax", 6..7),
        ("x = 1\nservers = []\n", "shape", 16..18),
        ("x = 1\n[[servers]]\n", "shape", 6..17),
        ("x = 1\nservers = {x = {}}\n", "shape", 16..24),
    ];
    for (text, code, span) in table {
        let fault = insert(text, &PATH, &members()).unwrap_err();
        assert_eq!(fault.code, code, "{text} {fault:?}");
        assert_eq!(fault.span, span, "{text} {fault:?}");
    }
}

fn file() -> impl Strategy<Value = String> {
    let lines =
        ["", " ", "# [servers.ours]", "a = 1", "b = '''\n[servers.ours]\n'''", "  c = [\n  1, # x\n]"];
    let headers =
        ["[servers]", "[servers.x]", "[z] # y", "[servers.x.env]", "[[list]]", "[servers.\"o.urs\"]"];
    let line = prop_oneof![prop::sample::select(lines.to_vec()), prop::sample::select(headers.to_vec())];
    let line =
        (line, prop::sample::select(vec!["\n", "\n", "\r\n"])).prop_map(|(line, eol)| format!("{line}{eol}"));
    (prop::collection::vec(line, 0..8), any::<bool>()).prop_map(|(lines, cut)| {
        let text = lines.concat();
        if cut { text.trim_end_matches(['\r', '\n']).to_owned() } else { text }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, max_global_rejects: 50_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn putting_in_and_taking_out_leaves_every_byte(text in file()) {
        // Lines at random often define a name twice; such a file is refused before anything is edited.
        prop_assume!(matches!(look(&text, &PATH), Ok(None)));
        let put = insert(&text, &PATH, &members()).unwrap();
        prop_assert_eq!(insert(&put, &PATH, &members()).unwrap(), &put[..]);
        let whole = |text: &str| look(text, &[]).unwrap().unwrap().value;
        let mut expected = whole(&text);
        expected["servers"]["ours"] = json!({"command": "c", "args": ["a", "b"]});
        prop_assert_eq!(whole(&put), expected);
        prop_assert_eq!(remove(&put, &PATH).unwrap(), Some(text));
    }
}
