//! What the commands share that ask reviewers: who is asked, about which files, under which modules.

use super::Place;
use crate::{Failure, name_a_reviewer};
use countersign_core::digest::Digest;
use countersign_core::policy::Policy;
use countersign_core::text::visible_line;
use countersign_doors::qr::asking::{self, Asking, Remembered};
use countersign_doors::qr::{MODULES_FOLDER, Materials, Modules, Qr};
use countersign_engine::engine::{Engine, Judge, Planner};
use countersign_engine::workspace;
use std::path::{Path, PathBuf};

/// Everything it takes to ask about a phase.
pub struct Asked {
    pub qr: Qr,
    pub engine: Engine,
    pub modules: Modules,
    /// The files that are looked at.
    pub paths: Vec<PathBuf>,
    /// What they were when a loop verified them last.
    pub verified: Option<Digest>,
    policy: Policy,
}

impl Asked {
    /// Opens what is needed. Where only a prompt is printed, nobody has to be there to be asked.
    pub async fn open(place: &Place, artifacts: &[PathBuf], somebody: bool) -> Result<Self, Failure> {
        let project = &place.project;
        let modules = Modules::of(&project.root.path().join(MODULES_FOLDER))?;
        let engine = project.engine(planner(place, somebody)?).await?;
        let qr = place.door().await?;
        let named = files(place, artifacts)?;
        let mut known = asking::remembered(&qr).await?;
        if !named.is_empty() && named != known.paths {
            known.paths = named;
            asking::remember(&qr, &known).await?;
        }
        let Remembered { paths, verified } = known;
        Ok(Self { qr, engine, modules, paths, verified, policy: project.config.policy.clone() })
    }

    /// The files as they are now.
    pub fn materials(&self) -> Result<Materials, Failure> {
        let artifacts = asking::read(&self.engine.planner().root, &self.paths)?;
        Materials::new(artifacts).map_err(Failure::usage)
    }

    /// The door with these materials.
    pub fn about<'a>(&'a self, materials: &'a Materials) -> Asking<'a> {
        Asking { qr: &self.qr, engine: &self.engine, materials, modules: &self.modules, policy: &self.policy }
    }
}

/// The planner, with everybody who can be asked. The author's own review is none of them: a verifier is somebody else.
fn planner(place: &Place, somebody: bool) -> Result<Planner, Failure> {
    let project = &place.project;
    let mut panelists = match somebody {
        true => project.panelists()?,
        false => vec![project.panelist("prompt", Judge::SelfReview)],
    };
    if somebody {
        panelists.retain(|panelist| !matches!(panelist.judge, Judge::SelfReview));
        if panelists.is_empty() {
            return Err(Failure::usage("nobody is configured who could be asked")
                .hint(format!("{}; with --print-prompt nobody is asked", name_a_reviewer())));
        }
    }
    project.planner_for(panelists)
}

/// The files that paths name: themselves, or everything in a folder of the project.
pub fn files(place: &Place, typed: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let root = &place.project.root;
    let mut files = vec![];
    for path in typed {
        let path = place.project.here.join(path);
        let path = path.canonicalize().map_err(|error| {
            Failure::usage(format!(
                "`{}` cannot be looked at: {error}",
                visible_line(&path.to_string_lossy())
            ))
        })?;
        if !path.is_dir() {
            files.push(path);
            continue;
        }
        let folder =
            root.relative(Path::new("/"), &path).map_err(|problem| Failure::usage(problem.to_string()))?;
        let found = workspace::walk(root, &folder).map_err(|problem| Failure::usage(problem.to_string()))?;
        files.extend(found.files.iter().map(|file| root.join(file)));
    }
    Ok(files)
}
