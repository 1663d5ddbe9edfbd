//! Signed decisions: the statement that is signed, who may sign, and whether a signature counts.

mod signers;

pub use signers::{AllowedSigners, PROJECT_FILE, allowed_signers};

use crate::answer::v1::{Answer, Statement};
use crate::author;
use crate::project::Project;
use crate::{Code, Failure};
use countersign_core::ids::ReviewId;
use countersign_core::review::{Actor, Review, Signature, statement};
use countersign_core::text::visible_line;
use countersign_engine::git::Git;
use countersign_engine::ssh::{NAMESPACE, Ssh};
use std::path::{Path, PathBuf};

/// Keys that are tried where none is named, in this order.
const USUAL_KEYS: [&str; 5] = ["id_ed25519_sk", "id_ecdsa_sk", "id_ed25519", "id_ecdsa", "id_rsa"];
const SIGNATURE_MAX_BYTES: u64 = 64 * 1024;
/// A signature that came with a branch or a pull request.
pub(crate) const REFS: &str = "refs/countersign/decisions/";
const REF_WORD: &str = "ref";

/// Where the signature of a decision comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It is made now, with this key or a usual one.
    Key(Option<PathBuf>),
    /// It was made before: it is in this file.
    File(PathBuf),
    /// It was made before: it is in the ref of the review.
    Ref,
}

impl Sign {
    /// A signature as it was typed: a file, or the word `ref`.
    pub fn given(typed: &Path) -> Self {
        if typed == Path::new(REF_WORD) { Self::Ref } else { Self::File(typed.to_owned()) }
    }
}

/// What is to be signed for a decision about a review as it is now.
pub fn to_sign(review: &Review, action: &str, reason: &str) -> Result<String, Failure> {
    let text = statement(review, action, reason);
    text.ok_or_else(|| Failure::usage(format!("nothing was submitted to {}", review.id)))
}

/// Writes what is to be signed elsewhere.
pub fn write_out(file: &Path, statement: String) -> Result<Answer<Statement>, Failure> {
    let written = std::fs::write(file, &statement);
    written.map_err(|error| Failure::usage(format!("`{}` cannot be written: {error}", file.display())))?;
    let file = file.display().to_string();
    let next = vec![
        format!("sign it: ssh-keygen -Y sign -n {NAMESPACE} -f KEY {file}"),
        format!("then give the same command with --signature {file}.sig in place of --out"),
    ];
    Ok(Answer::passed(Statement { statement, file, next }))
}

/// The person who signed this statement.
pub async fn signer(
    project: &Project,
    review: &ReviewId,
    statement: String,
    sign: &Sign,
) -> Result<Actor, Failure> {
    let ssh = Ssh::find(project.root.path()).map_err(Failure::usage)?;
    let allowed = allowed_signers(project).await?;
    let armored = match sign {
        Sign::Key(key) => made_now(&ssh, key.as_deref(), &statement)?,
        Sign::File(file) => read(&project.here.join(file))?,
        Sign::Ref => in_ref(project, &format!("{REFS}{review}")).await?,
    };
    counted(&ssh, allowed, statement, armored)
}

/// The person who made a signature of this statement.
pub(crate) async fn verified(
    project: &Project,
    statement: String,
    armored: String,
) -> Result<Actor, Failure> {
    let ssh = Ssh::find(project.root.path()).map_err(Failure::usage)?;
    counted(&ssh, allowed_signers(project).await?, statement, armored)
}

fn counted(ssh: &Ssh, allowed: AllowedSigners, statement: String, armored: String) -> Result<Actor, Failure> {
    let (counting, refused) = signers::sorted(&allowed.text);
    let signer = ssh.verify(&counting, &armored, &statement).map_err(|why| {
        // The key may be in a line that does not count.
        let lines = refused
            .iter()
            .map(|(number, line, why)| (number, ssh.verify(&unrestricted(line), &armored, &statement), why));
        let line = lines
            .into_iter()
            .find_map(|(number, found, why)| found.ok().map(|_| format!("line {number}: {why}")));
        not_counted(&allowed.name, &line.unwrap_or(why))
    })?;
    let signature = Signature { key: signer.key, signers: allowed.name, statement, armored };
    Ok(Actor::signer(signer.principal, signature))
}

/// The key of a line alone, to find out whether it is the one that signed.
fn unrestricted(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let kind = words
        .iter()
        .position(|word| word.starts_with("ssh-") || word.starts_with("ecdsa-") || word.starts_with("sk-"));
    kind.map_or(String::new(), |kind| format!("signer {}\n", words[kind..].join(" ")))
}

fn not_counted(signers: &str, why: &str) -> Failure {
    let words = format!("the signature does not count: {}", visible_line(why));
    Failure { code: Code::Refused, ..Failure::usage(words) }.hint(format!(
        "a signature must be of exactly this decision, in the namespace `{NAMESPACE}`, by a key in {signers}; `--out FILE` writes \
         what is to be signed"
    ))
}

/// Signs at the terminal of a person. An agent could use a key that needs neither a passphrase nor a touch.
fn made_now(ssh: &Ssh, key: Option<&Path>, statement: &str) -> Result<String, Failure> {
    let people_only = |why: author::NotAPerson| {
        let words = "only a person may sign a decision here; nothing was changed";
        Failure { code: Code::PeopleOnly, ..Failure::usage(words) }.hint(why.words())
    };
    author::terminal().map_err(people_only)?;
    let home = author::home().ok_or_else(|| Failure::usage("this account has no home folder"))?;
    let usual = || USUAL_KEYS.iter().map(|name| home.join(".ssh").join(name)).find(|key| key.is_file());
    let key = key.map(Path::to_owned).or_else(usual);
    let key = key.ok_or_else(|| Failure::usage("there is no key in ~/.ssh").hint("name one: --sign KEY"))?;
    ssh.sign(&key, statement, std::env::var_os("SSH_AUTH_SOCK"), &home).map_err(Failure::usage)
}

fn read(file: &Path) -> Result<String, Failure> {
    let unusable =
        |why: String| Failure::usage(format!("the signature in `{}` cannot be read: {why}", file.display()));
    let found = std::fs::metadata(file).map_err(|error| unusable(error.to_string()))?;
    if !found.is_file() || found.len() > SIGNATURE_MAX_BYTES {
        return Err(unusable(format!("it is not a file of at most {SIGNATURE_MAX_BYTES} bytes")));
    }
    std::fs::read_to_string(file).map_err(|error| unusable(error.to_string()))
}

/// The text that a ref names.
pub(crate) async fn in_ref(project: &Project, name: &str) -> Result<String, Failure> {
    let git = Git::at(project.root.path());
    let none = |_| {
        Failure::not_found(format!("there is no signature in {name}")).hint(format!(
            "fetch it: git fetch REMOTE {name}:{name}; it is made by: git update-ref {name} $(git hash-object -w FILE.sig)"
        ))
    };
    let bytes = git.blob(name).await.map_err(none)?;
    String::from_utf8(bytes).map_err(|_| Failure::usage(format!("the signature in {name} is not text")))
}
