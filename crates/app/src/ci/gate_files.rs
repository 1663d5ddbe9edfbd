//! Changed gate files in a pull request: a person says yes with a signature of exactly what becomes of these files. It is in
//! a ref of its own, so that it comes with the pull request and says nothing about anything else.

use crate::project::Project;
use crate::signing;
use crate::{Code, Failure};
use countersign_core::digest::Digest;
use countersign_core::outcome::Outcome;
use countersign_core::review::Actor;
use countersign_core::text::visible_line;
use countersign_engine::git::{Git, GitError};
use countersign_engine::ssh::NAMESPACE;
use countersign_engine::workspace::Change;

const VERSION: &str = "countersign gate files 1";
/// How many digits of the digest name the ref of a signature.
const NAME_DIGITS: usize = 20;
const NONE: &str = "none";

fn internal(error: GitError) -> Failure {
    Failure::internal(error.to_string())
}

/// Gate files that a change touches, and what a person signs for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToSign {
    pub files: Vec<String>,
    statement: String,
}

/// Mode and id of what a commit has at a path.
async fn entry(git: &Git, commit: Option<&str>, path: &str) -> Result<String, Failure> {
    let said = match commit {
        Some(commit) => git.text(["ls-tree", commit, "--", path]).await.map_err(internal)?,
        None => String::new(),
    };
    let words: Vec<&str> = said.split_whitespace().take(3).collect();
    Ok(match words[..] {
        [mode, _, id] => format!("{mode}:{id}"),
        _ => NONE.to_owned(),
    })
}

impl ToSign {
    /// What becomes of the gate files of a change that no person has seen; none where there are none. A signature holds for
    /// these contents in place of those, whatever else the branches have.
    pub async fn of(
        project: &Project,
        change: &Change,
        base: Option<&str>,
        head: &str,
    ) -> Result<Option<Self>, Failure> {
        let mut files: Vec<String> = change.gate_files().into_iter().map(str::to_owned).collect();
        files.sort();
        files.dedup();
        if files.is_empty() {
            return Ok(None);
        }
        let git = Git::at(project.root.path());
        let mut statement = format!("{VERSION}\n");
        for path in &files {
            let (before, after) = (entry(&git, base, path).await?, entry(&git, Some(head), path).await?);
            // As JSON text a path is one line, whatever its name.
            let path = serde_json::Value::from(path.as_str());
            statement.push_str(&format!("{path} {before} {after}\n"));
        }
        Ok(Some(Self { files, statement }))
    }

    fn reference(&self) -> String {
        let digest = Digest::of(self.statement.as_bytes());
        let name: String = digest.as_str().chars().take(NAME_DIGITS).collect();
        format!("{}{name}", signing::REFS)
    }

    /// The person who signed this; none where no signature came with the clone.
    pub async fn signer(&self, project: &Project) -> Result<Option<Actor>, Failure> {
        let git = Git::at(project.root.path());
        let reference = self.reference();
        let known = git.maybe(["rev-parse", "--verify", "--quiet", &reference]).await.map_err(internal)?;
        if known.is_none() {
            return Ok(None);
        }
        let armored = signing::in_ref(project, &reference).await?;
        signing::verified(project, self.statement.clone(), armored).await.map(Some)
    }

    /// The change of these files waits for a person: exactly what that person does.
    pub fn waits(&self) -> Failure {
        let names: Vec<_> = self.files.iter().map(|file| visible_line(file)).collect();
        let message = format!(
            "this changes files that decide how work is judged, so a person has to agree: {}",
            names.join(", ")
        );
        Failure::new(Outcome::AwaitingPerson, Code::Blocked, message).hint(self.steps().join("\n"))
    }

    fn steps(&self) -> Vec<String> {
        let lines: Vec<String> =
            self.statement.lines().map(|line| format!("'{}'", line.replace('\'', r"'\''"))).collect();
        let reference = self.reference();
        vec![
            "either commit these files to the default branch on their own, reviewed by people, and update this branch"
                .to_owned(),
            format!(
                "or a person whose key is in {} of the default branch signs exactly this change of them, and runs the job again:",
                signing::PROJECT_FILE
            ),
            format!(
                "  printf '%s\\n' {} | ssh-keygen -Y sign -n {NAMESPACE} -f ~/.ssh/id_ed25519 > gate-files.sig",
                lines.join(" ")
            ),
            format!("  git push origin $(git hash-object -w gate-files.sig):{reference}"),
        ]
    }
}
