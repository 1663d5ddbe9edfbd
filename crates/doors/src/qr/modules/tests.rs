//! The built-in modules, and those of a project.

use super::*;

fn file(name: &str, text: &str) -> FileBytes {
    FileBytes { path: name.into(), bytes: text.as_bytes().to_vec() }
}

/// QR-1: the six modules, each with its phase, and the severities of its checks.
#[test]
fn qr_1_the_six_modules_and_what_they_check() {
    use Severity::{May, Must, Should};
    let modules = Modules::over(&[]).unwrap();
    let rows: Vec<_> = modules
        .0
        .iter()
        .map(|module| {
            let severities: Vec<_> = module.checks.iter().map(|check| check.severity).collect();
            (module.name.as_str(), module.when, severities)
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("plan_completeness", When::Phase(Phase::PlanStructure), vec![Must, Must, Must, Should, Must]),
            ("plan_code", When::Phase(Phase::PlanCode), vec![Must, Must, Should, May]),
            ("plan_docs", When::Phase(Phase::PlanDocs), vec![Must, Should, Should]),
            ("post_impl_code", When::Phase(Phase::ImplCode), vec![Must, Should]),
            ("post_impl_doc", When::Phase(Phase::ImplDocs), vec![Should, Should]),
            ("reconciliation", When::Reconciliation, vec![Must]),
        ]
    );
}

#[test]
fn a_module_of_the_project_takes_the_place_of_its_name_or_is_added() {
    let own =
        "name: plan_docs\nphase: plan-docs\nlooks_at: ours\nchecks: [{check: Ours., severity: blocker}]\n";
    let more = "name: ours\nphase: plan-design\nlooks_at: ours\nchecks: [{check: More., each: milestone}]\n";
    let modules = Modules::over(&[file("a.yml", own), file("b.yml", more)]).unwrap();
    assert_eq!(modules.0.len(), 7);
    let docs: Vec<_> = modules.used(When::Phase(Phase::PlanDocs)).collect();
    let check = Template { check: "Ours.".into(), severity: Severity::Must, each: None };
    assert_eq!((docs.len(), &docs[0].checks), (1, &vec![check]));
    let structure: Vec<_> =
        modules.used(When::Phase(Phase::PlanStructure)).map(|m| m.name.as_str()).collect();
    assert_eq!(structure, ["plan_completeness", "ours"]);
}

#[test]
fn everything_wrong_is_said_with_its_line() {
    let table = [
        ("", "1:the file is empty"),
        ("name: x\nphase: plan-cod\nlooks_at: y\nchecks: [{check: z}]\n", "2:`plan-cod` is no phase"),
        ("name: x\nphase: plan-code\nlooks_at: ' '\nchecks: []\n", "3:`looks_at` is empty"),
        (
            "name: x\nphase: plan-code\nlooks_at: y\nchecks: []\n",
            "4:a module has 1 to 200 checks, and this one has 0",
        ),
        ("name: x\nphase: plan-code\nlooks_at: y\n", "1:the module has no `checks`"),
        (
            "name: x\nphase: plan-code\nlooks_at: y\nchecks:\n  - severity: HIGH\n    check: z\n",
            "5:unknown severity `HIGH`: use MUST, SHOULD or MAY",
        ),
        (
            "name: x\nphase: plan-code\nlooks_at: y\nchecks:\n  - each: file\n    check: z\n",
            "5:unknown part of a plan: `file`",
        ),
        ("name: x\nphase: plan-code\nlooks_at: y\nchecks: [{}]\n", "4:this check has no `check`"),
    ];
    for (text, expected) in table {
        let problems = Modules::over(&[file("a.yml", text)]).unwrap_err().listed;
        let said: Vec<_> = problems.iter().map(|p| format!("{}:{}", p.place.line(), p.message)).collect();
        assert!(said.iter().any(|said| said == expected), "{expected}: {said:?}");
        assert!(problems.iter().all(|problem| problem.hint.is_some()), "{said:?}");
    }
    let twice = "name: x\nphase: plan-code\nlooks_at: y\nchecks: [{check: z}]\n";
    let problems = Modules::over(&[file("a.yml", twice), file("b.yml", twice)]).unwrap_err().listed;
    assert_eq!(problems[0].message, "a.yml already has the module `x`");
}

#[test]
fn a_project_without_modules_has_those_that_come_with_the_program() {
    let project = tempfile::tempdir().unwrap();
    assert_eq!(Modules::of(&project.path().join(FOLDER)).unwrap(), Modules::over(&[]).unwrap());
    let folder = project.path().join("m");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("README.md"), "no module").unwrap();
    std::fs::write(folder.join("a.yml"), "name: [").unwrap();
    assert_eq!(Modules::of(&folder).unwrap_err().listed.len(), 1);
}
