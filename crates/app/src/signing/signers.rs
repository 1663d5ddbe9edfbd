//! The file of allowed signers: which keys may sign decisions, in the format of `ssh-keygen`.

use super::Failure;
use crate::project::Project;
use crate::{author, authority};
use countersign_engine::git::{Git, main_worktree};
use countersign_engine::ssh::NAMESPACE;
use std::path::Path;

/// The file of a project, at the root.
pub const PROJECT_FILE: &str = "countersign.signers";
/// The file of the user, in the home folder.
const USER_FILE: &str = ".config/countersign/allowed_signers";
const FILE_MAX_BYTES: u64 = 256 * 1024;
const KEY_TYPES: [&str; 4] = ["ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-"];

/// A file of allowed signers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedSigners {
    /// What it is called in messages.
    pub name: String,
    pub text: String,
}

/// The file that says who may sign: that of the project, as of a commit that the judged work cannot change, else the
/// user's own, found by the account and not by `HOME`.
pub async fn allowed_signers(project: &Project) -> Result<AllowedSigners, Failure> {
    let root = project.root.path();
    if main_worktree(root).is_some() {
        let git = Git::at(root);
        let commit = match authority::trusted_commit(project).await {
            Some(commit) => Some(commit),
            // A project that no person has trusted yet.
            None => git.base(None, None).await?,
        };
        let found = match &commit {
            Some(commit) => git.file_at(commit, PROJECT_FILE).await,
            None => Ok(None),
        };
        let found = found.map_err(|error| Failure::usage(error.to_string()))?;
        if let (Some(bytes), Some(commit)) = (found, commit) {
            let name = format!("{PROJECT_FILE} (as of {})", commit.get(..12).unwrap_or(&commit));
            return Ok(AllowedSigners { name, text: text(&bytes)? });
        }
    }
    let path = author::home().map(|home| home.join(USER_FILE));
    let bytes = path.as_ref().and_then(|path| read(path));
    match (path, bytes) {
        (Some(path), Some(bytes)) => {
            Ok(AllowedSigners { name: path.display().to_string(), text: text(&bytes)? })
        }
        _ => Err(Failure::usage("there is no file of allowed signers").hint(format!(
            "commit `{PROJECT_FILE}` on the default branch, or write ~/{USER_FILE}; a line is: \
             ann@example.org namespaces=\"{NAMESPACE}\" ssh-ed25519 AAAA…"
        ))),
    }
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let found = std::fs::metadata(path).ok()?;
    (found.is_file() && found.len() <= FILE_MAX_BYTES).then(|| std::fs::read(path).ok()).flatten()
}

fn text(bytes: &[u8]) -> Result<String, Failure> {
    let text = std::str::from_utf8(bytes).map(str::to_owned);
    text.map_err(|_| Failure::usage("the file of allowed signers is not UTF-8"))
}

/// The lines that count, and those that do not, each with its number and the reason.
pub fn sorted(text: &str) -> (String, Vec<(usize, &str, &'static str)>) {
    let (mut counting, mut refused) = (String::new(), vec![]);
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        match problem(line) {
            _ if line.is_empty() || line.starts_with('#') => {}
            None => counting.extend([line, "\n"]),
            Some(why) => refused.push((number + 1, line, why)),
        }
    }
    (counting, refused)
}

/// Why a line does not count. A line without a namespace holds for every use of its key, and a pattern for anybody.
fn problem(line: &str) -> Option<&'static str> {
    let words = words(line);
    let is_key = |word: &String| KEY_TYPES.iter().any(|kind| word.starts_with(kind));
    let (principals, options) = match &words[..] {
        [principals, kind, _, ..] if is_key(kind) => (principals, ""),
        [principals, options, kind, _, ..] if is_key(kind) => (principals, options.as_str()),
        _ => return Some("it is not a line of allowed signers"),
    };
    if principals.contains(['*', '?', '!']) || principals.is_empty() {
        return Some("its principal is a pattern, and names no person");
    }
    let lower = options.to_ascii_lowercase();
    if lower.contains("cert-authority") {
        return Some("it is for certificates");
    }
    let namespaces = lower.split_once("namespaces=\"").and_then(|(_, rest)| rest.split('"').next());
    match namespaces.is_some_and(|list| list.split(',').any(|name| name.trim() == NAMESPACE)) {
        true => None,
        false => Some("it lacks namespaces=\"countersign\""),
    }
}

/// The words of a line; quotes hold words together.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (vec![], String::new(), false);
    for letter in line.chars() {
        quoted ^= letter == '"';
        match letter {
            ' ' | '\t' if !quoted => words.push(std::mem::take(&mut word)),
            _ => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attack_17_only_lines_for_one_person_and_this_use_count() {
        for (line, counts) in [
            (r#"ann@x namespaces="countersign" ssh-ed25519 AAAA c"#, true),
            (r#"ann@x namespaces="git,countersign",valid-after="20260101" ssh-ed25519 AAAA"#, true),
            (
                r#"ann@x valid-before="20260101",Namespaces="countersign" sk-ssh-ed25519@openssh.com AAAA"#,
                true,
            ),
            ("ann@x ssh-ed25519 AAAA", false),
            (r#"ann@x namespaces="git" ssh-ed25519 AAAA"#, false),
            (r#"ann@x namespaces="*" ssh-ed25519 AAAA"#, false),
            (r#"ann@x namespaces="countersign2" ssh-ed25519 AAAA"#, false),
            (r#"* namespaces="countersign" ssh-ed25519 AAAA"#, false),
            (r#"*@x namespaces="countersign" ssh-ed25519 AAAA"#, false),
            (r#"ann@x cert-authority,namespaces="countersign" ssh-ed25519 AAAA"#, false),
            (r#"namespaces="countersign" ssh-ed25519 AAAA"#, false),
            ("nonsense", false),
        ] {
            let (counting, refused) = sorted(line);
            assert_eq!((!counting.is_empty(), refused.is_empty()), (counts, counts), "{line}: {refused:?}");
        }
        assert_eq!(sorted("# a comment\n\n"), (String::new(), vec![]));
    }
}
