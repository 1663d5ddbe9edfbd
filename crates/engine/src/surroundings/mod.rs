//! What a reviewer's program finds around it when it is started: the environment, and for a gate the places whose programs
//! are trusted and the files of the trusted commit. Nothing that the judged work can write chooses what is started.

mod beside;
mod known_programs;
mod line;
mod listed;
mod scripts;
mod shell_words;
mod version_managers;

use crate::installed::{self, TrustedPlaces};
use crate::stamp::Stamp;
pub(crate) use line::Line;
pub use listed::Commands;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The variable that names the folder with the work that is judged.
pub(crate) const TREE: &str = "COUNTERSIGN_TREE";
/// Variables that choose the way to a service, and whose word is taken for its name.
const NETWORK: &str =
    "HTTPS_PROXY https_proxy HTTP_PROXY http_proxy ALL_PROXY all_proxy SSL_CERT_FILE SSL_CERT_DIR";
const PATH: &str = "PATH";
/// How many interpreters of interpreters are looked at.
const INTERPRETERS_MAX: usize = 4;

pub(crate) type Variables = Vec<(OsString, OsString)>;

/// What surrounds the programs of a panel. Without a gate they find what this process finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    pub environment: Vec<(OsString, OsString)>,
    /// Where work is held or released: nothing that the judged work can write chooses a program.
    pub gate: Option<GateSurroundings>,
}

/// What is trusted to judge, at a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateSurroundings {
    pub places: TrustedPlaces,
    /// A read-only checkout of the trusted commit, laid out like the folder that is judged; it has the scripts of the
    /// project. None without such a commit.
    pub scripts: Option<PathBuf>,
    /// The stamp of this checkout when it was compared with the commit.
    pub stamp: Option<Stamp>,
}

impl Surroundings {
    /// Those of this process, for a question that no gate asks.
    pub fn own() -> Self {
        Self { environment: std::env::vars_os().collect(), gate: None }
    }

    /// The environment as programs get it: at a gate with a `PATH` of trusted folders alone.
    pub fn given(&self) -> Variables {
        let mut all = self.environment.clone();
        if let Some(gate) = &self.gate {
            all.retain(|(name, _)| name != PATH);
            all.push((PATH.into(), self.trusted_path(gate)));
        }
        all
    }

    fn trusted_path(&self, gate: &GateSurroundings) -> OsString {
        gate.places.path(variable(&self.environment, PATH))
    }

    /// Where the bytes of the project's own scripts come from.
    pub(crate) fn scripts<'a>(&'a self, root: &'a Path) -> PathBuf {
        let gate = self.gate.as_ref();
        let copy = gate.and_then(|gate| Some((gate.scripts.as_ref()?, gate.places.judged())));
        let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        match copy.and_then(|(scripts, judged)| Some(scripts.join(real.strip_prefix(judged).ok()?))) {
            Some(copy) => copy,
            None => root.to_owned(),
        }
    }

    /// Variables of one call at a gate, beside the environment; none elsewhere.
    pub(crate) fn call_variables(&self, folder: &Path) -> Variables {
        let Some(gate) = &self.gate else { return vec![] };
        let home = variable(&self.environment, "HOME").map(Path::new);
        let mut all = version_managers::variables(gate.places.judged(), folder, home);
        // Nothing is written beside the trusted scripts.
        all.push(("PYTHONDONTWRITEBYTECODE".into(), "1".into()));
        let own_packages = home.map(|home| home.join(".local/lib/."));
        if own_packages.is_none_or(|folder| gate.places.problem(&folder).is_some()) {
            all.push(("PYTHONNOUSERSITE".into(), "1".into()));
        }
        all
    }

    /// The whole environment of a call with these variables of its own, and whether that is all it gets.
    pub(crate) fn variables(&self, folder: &Path, own: Variables) -> (Variables, bool) {
        if self.gate.is_none() {
            return (own, false);
        }
        let all = self.given().into_iter().chain(self.call_variables(folder)).chain(own);
        (all.collect(), true)
    }

    /// Why a service is not asked from this process at a gate: our own connections go by these variables.
    pub(crate) fn network_problem(&self) -> Option<String> {
        self.gate.as_ref()?;
        let is_other = |name: &&str| {
            let own = std::env::var_os(name).filter(|value| !value.is_empty());
            own.is_some() && own.as_deref() != variable(&self.environment, name)
        };
        let name = NETWORK.split_whitespace().find(is_other)?;
        Some(format!("`{name}` leads the connection over a place that no person trusted: unset it"))
    }

    /// An agent program as it may be started: at a gate its trusted place.
    pub(crate) fn program(&self, name: &str) -> Result<OsString, String> {
        match &self.gate {
            None => Ok(name.into()),
            Some(gate) => self.trusted_program(gate, name).map(Into::into),
        }
    }

    /// Whether a gate starts these programs. Those of the project are for others to tell.
    pub(crate) fn starts(&self, programs: &[String]) -> bool {
        let Some(gate) = &self.gate else { return true };
        let judged = gate.places.judged();
        let inside = |path: &Path| path.canonicalize().is_ok_and(|real| real.starts_with(judged));
        let mut paths = programs.iter().map(Path::new);
        paths.all(|path| inside(path) || gate.places.problem(path).is_none())
    }

    /// Programs that are passed over on the `PATH` for those that are started.
    pub(crate) fn skipped(&self, programs: &[String]) -> Vec<String> {
        let Some(gate) = &self.gate else { return vec![] };
        let name =
            |program: &String| Path::new(program).file_name().and_then(OsStr::to_str).map(str::to_owned);
        let skipped = |name: String| {
            let (found, refused) = gate.places.find(&name, Path::new("/"), variable(&self.environment, PATH));
            found.map(|_| refused).unwrap_or_default()
        };
        let all = programs.iter().filter_map(name).flat_map(skipped);
        all.map(|(file, problem)| format!("{}: {problem}", file.display())).collect()
    }

    /// The first trusted place of a program; what was skipped is named where there is none.
    fn trusted_program(&self, gate: &GateSurroundings, name: &str) -> Result<PathBuf, String> {
        let (found, refused) = gate.places.find(name, Path::new("/"), variable(&self.environment, PATH));
        let Some(file) = found else {
            return Err(match refused.first() {
                Some((file, problem)) => untrusted(file, problem),
                None => format!("`{name}` was not found in a trusted folder"),
            });
        };
        gate.check_interpreters(&file, &self.trusted_path(gate))?;
        Ok(file)
    }
}

impl GateSurroundings {
    /// Whether anybody touched the checkout since it was compared with the commit, also if it is now as it was.
    pub(crate) fn is_edited(&self) -> bool {
        let Some((scripts, before)) = self.scripts.as_ref().zip(self.stamp.as_ref()) else { return false };
        before.is_touched(scripts)
    }

    /// Whether the programs that run a script are trusted too, as the system or `env` will find them.
    pub(crate) fn check_interpreters(&self, script: &Path, path: &OsStr) -> Result<(), String> {
        let mut file = script.to_owned();
        for _ in 0..INTERPRETERS_MAX {
            let Some(named) = installed::interpreter(&file) else { return Ok(()) };
            let Some(named) = named.to_str() else {
                return Err(format!("the interpreter of `{}` is not named by text", file.display()));
            };
            if named.contains('/') && !named.starts_with('/') {
                return Err(format!("the interpreter of `{}` depends on the working folder", file.display()));
            }
            // What is missing does not start.
            let Some(found) = installed::find(named, Path::new("/"), Some(path)) else { return Ok(()) };
            if let Some(problem) = self.places.problem(&found) {
                return Err(untrusted(&found, &problem));
            }
            file = found;
        }
        Err(format!("`{}` has too many interpreters", script.display()))
    }
}

/// Why a program is not started at a gate, for people and agents.
pub(crate) fn untrusted(file: &Path, problem: &str) -> String {
    format!(
        "`{}` is not trusted to judge: {problem}. A person can have its folder trusted, where it is not part of the \
         project",
        file.display()
    )
}

fn variable<'a>(environment: &'a [(OsString, OsString)], name: &str) -> Option<&'a OsStr> {
    environment.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str())
}

#[cfg(test)]
mod tests;
