//! Workflow commands as the runner of GitHub Actions reads them from a log: the newer form at the beginning of a line, the
//! older one anywhere in it.

use std::collections::BTreeMap;

/// What the runner registers, as far as it does something.
const COMMANDS: [&str; 12] = [
    "error",
    "warning",
    "notice",
    "debug",
    "add-mask",
    "add-matcher",
    "remove-matcher",
    "stop-commands",
    "echo",
    "group",
    "set-output",
    "internal-set-repo-path",
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub name: String,
    pub properties: BTreeMap<String, String>,
    pub data: String,
}

/// Every command in a log.
pub fn commands(log: &str) -> Vec<Command> {
    log.split(['\n', '\r']).filter_map(|line| newer(line).or_else(|| older(line))).collect()
}

fn newer(line: &str) -> Option<Command> {
    let (info, data) = line.trim_start().strip_prefix("::")?.split_once("::")?;
    let (name, rest) = info.split_once(' ').unwrap_or((info, ""));
    let properties = rest.trim().split(',').filter_map(|pair| pair.split_once('='));
    let unescaped = |text: &str| {
        text.replace("%0D", "\r")
            .replace("%0A", "\n")
            .replace("%3A", ":")
            .replace("%2C", ",")
            .replace("%25", "%")
    };
    COMMANDS.contains(&name).then(|| Command {
        name: name.to_owned(),
        properties: properties.map(|(name, value)| (name.to_owned(), unescaped(value))).collect(),
        data: data.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%"),
    })
}

fn older(line: &str) -> Option<Command> {
    let (_, rest) = line.split_once("##[")?;
    let (info, data) = rest.split_once(']')?;
    let name = info.split(' ').next().unwrap_or_default();
    COMMANDS.contains(&name).then(|| Command {
        name: format!("##{name}"),
        properties: BTreeMap::new(),
        data: data.to_owned(),
    })
}

#[test]
fn the_parser_finds_what_a_runner_finds() {
    let log = "x ::error::a\n  ::error file=a%2Cb,line=2::c%0Ad\nsee ##[error]e\n::unknown::f\n";
    let found = commands(log);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!((found[0].properties["file"].as_str(), found[0].data.as_str()), ("a,b", "c\nd"));
    assert_eq!(found[1].name, "##error");
}
