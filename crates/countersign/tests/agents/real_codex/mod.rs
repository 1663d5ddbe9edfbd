//! The Codex reviewer with the real program.

mod ends;
mod held;
mod sizes;
mod verdicts;

use crate::bench::{Bench, Driven};
use countersign_testkit::{Act, Responses, ResponsesApi};

/// Codex CLI.
pub const CODEX: Driven = Driven {
    name: "codex",
    executable: "codex",
    keys: |url| format!(", base_url: '{url}/v1', key_env: SERVICE_KEY"),
    variables: |_| vec![],
    key_variable: "SERVICE_KEY",
};

/// Its own settings, for a run that may write.
///
/// Its sandbox makes empty folders `.git`, `.codex` and others in every folder that may be written, and one that
/// is killed leaves them there: in `/tmp`, they would make a project of every folder that tests make.
pub fn settings_for(url: &str) -> String {
    format!(
        "model = 'gpt-test'\nmodel_provider = 'loopback'\n[model_providers.loopback]\nname = 'loopback'\n\
         base_url = '{url}/v1'\nwire_api = 'responses'\nenv_key = 'SERVICE_KEY'\n\
         [sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n"
    )
}

/// A configured project, and a service that does the same with every question.
fn always(act: Act) -> Bench<ResponsesApi> {
    configured(Responses::always(act))
}

/// A project that is configured for a service.
fn configured(service: Responses) -> Bench<ResponsesApi> {
    let bench = Bench::of(CODEX, service);
    bench.configure("", "");
    bench
}
