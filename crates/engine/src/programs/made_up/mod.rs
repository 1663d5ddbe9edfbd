//! A program that does not exist: a folder and a row, for the test that nothing else is needed.

use super::{
    Credentials, Dialect, Facts, FileFormat, HOOK_SECONDS, Hook, Kind, Mark, ModelArgument, ParsedOutput,
    Problem, Program, ProgramName, ServerEntry, ServerForm, ServerVariables, Setup, Vendor, Working,
};

/// What is particular about it.
pub static FACTS: Facts = Facts {
    name: "made-up",
    called: ProgramName {
        name: "`made-up`",
        install: "https://made-up.example",
        sign_in: "run `made-up login`",
    },
    vendor: Some(Vendor::Google),
    may_see_project: true,
    chooses_service: true,
    caps_cost: true,
    light_model: None,
    steering: &["MADE_UP_HOME"],
    prompt_max_bytes: 1000,
    reads_files: false,
    model_variable: None,
    kept: &[],
    families: &[],
    set: &[],
    credentials: Credentials { variables: &[], folder_variable: None, folder: ".made-up", file: "key" },
    working: Working {
        args: &[],
        model: ModelArgument::Next("-m"),
        last: &[],
        own: &[],
        set: &[],
        parse_output: |_| ParsedOutput { said: Err(Problem::new(Kind::Crashed, "")), usage: None },
        live: |_| None,
    },
    reports_cost: false,
    sends_again: false,
    patience: None,
    prepare: |_| Setup::default(),
    parse_output: |_| ParsedOutput { said: Err(Problem::new(Kind::Crashed, "")), usage: None },
    opened: |_| None,
    record: None,
};

/// Its row.
pub static PROGRAM: Program = Program {
    name: FACTS.name,
    vendor: FACTS.vendor,
    marks: &[Mark::new("MADE_UP_SESSION")],
    packages: &["@made-up/cli"],
    gate_files: &[".made-up.json"],
    reviewer: Some(&FACTS),
    server: Some(ServerEntry {
        files: &[".made-up.json"],
        format: FileFormat::Json(Dialect::STRICT),
        path: &["servers", "countersign"],
        new_file: None,
        form: ServerForm::CommandAndArgs,
        variables: ServerVariables::Set("env"),
        next: "start `made-up` here once",
    }),
    hook: Some(Hook {
        program: &FACTS,
        title: "Rest of Made Up",
        event: "Rest",
        project_variable: None,
        shell_marks: &["MADE_UP_SESSION"],
        forgets_held: false,
        hold: "stay",
        file: ".made-up.json",
        dialect: Dialect::STRICT,
        path: ["hooks", "Rest"],
        timeout: HOOK_SECONDS,
        next: "`made-up hooks` shows the hook",
    }),
};
