//! Variables that keep version managers from reading their settings in the judged work, where `.tool-versions`, `mise.toml`
//! or `.python-version` would choose the program behind a name.

use super::Variables;
use std::ffi::OsString;
use std::path::Path;

/// Longer than the name of a file can be, so that no folder has it.
const NO_SUCH_NAME_BYTES: usize = 256;
const SETTINGS_BYTES: u64 = 64 * 1024;
/// Managers that take the version from one file of theirs: variable, folder below the home.
const GLOBAL_VERSIONS: [(&str, &str); 3] =
    [("PYENV_VERSION", ".pyenv"), ("RBENV_VERSION", ".rbenv"), ("NODENV_VERSION", ".nodenv")];

/// The variables for a program that is started in `folder`.
pub(super) fn variables(judged: &Path, folder: &Path, home: Option<&Path>) -> Variables {
    let no_name = OsString::from("-".repeat(NO_SUCH_NAME_BYTES));
    let ignored = std::env::join_paths([judged, folder]).unwrap_or_default();
    let mut all: Variables = vec![
        // Settings in the folder itself are left out too; those of the user are read as ever.
        ("MISE_CEILING_PATHS".into(), ignored.clone()),
        ("MISE_IGNORED_CONFIG_PATHS".into(), ignored),
        ("ASDF_TOOL_VERSIONS_FILENAME".into(), no_name.clone()),
        ("ASDF_DEFAULT_TOOL_VERSIONS_FILENAME".into(), no_name),
        ("ASDF_CONFIG_FILE".into(), "/dev/null".into()),
        ("COREPACK_ENABLE_PROJECT_SPEC".into(), "0".into()),
    ];
    let Some(home) = home else { return all };
    let versions = read(&home.join(".tool-versions"));
    all.extend(versions.lines().filter_map(chosen_by_user));
    for (name, folder) in GLOBAL_VERSIONS {
        if home.join(folder).is_dir() {
            let said = read(&home.join(folder).join("version"));
            let version = said.lines().next().map(str::trim).filter(|version| !version.is_empty());
            all.push((name.into(), version.unwrap_or("system").into()));
        }
    }
    all
}

/// A line of the user's own `.tool-versions`, as the variable that says the same.
fn chosen_by_user(line: &str) -> Option<(OsString, OsString)> {
    let mut words = line.split('#').next()?.split_whitespace();
    let tool = words.next()?.to_uppercase().replace('-', "_");
    let versions = words.collect::<Vec<_>>().join(" ");
    (!versions.is_empty()).then(|| (format!("ASDF_{tool}_VERSION").into(), versions.into()))
}

fn read(file: &Path) -> String {
    let short = std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.len() <= SETTINGS_BYTES);
    if short { std::fs::read_to_string(file).unwrap_or_default() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attack_17_only_the_users_own_settings_choose_versions() {
        let folder = tempfile::tempdir().unwrap();
        let (home, project) = (folder.path().join("home"), folder.path().join("project"));
        std::fs::create_dir_all(home.join(".pyenv")).unwrap();
        std::fs::create_dir(&project).unwrap();
        std::fs::write(home.join(".tool-versions"), "nodejs 22.1.0 system # own\n# none\ngo-sdk 1.2\n")
            .unwrap();
        std::fs::write(project.join(".tool-versions"), "nodejs path:./evil\n").unwrap();
        let all = variables(&project, &project, Some(&home));
        let value = |name: &str| all.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        assert_eq!(value("ASDF_NODEJS_VERSION"), Some("22.1.0 system".into()));
        assert_eq!(value("ASDF_GO_SDK_VERSION"), Some("1.2".into()));
        assert_eq!(value("PYENV_VERSION"), Some("system".into()));
        assert_eq!(value("RBENV_VERSION"), None);
        // No folder can have a file of this name.
        let name = value("ASDF_TOOL_VERSIONS_FILENAME").unwrap();
        assert!(std::fs::write(project.join(&name), "nodejs path:./evil\n").is_err());
    }
}
