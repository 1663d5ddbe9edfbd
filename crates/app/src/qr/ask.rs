//! The shared part of commands that ask reviewers: the engine, the modules and the artifacts.

use super::QrContext;
use crate::{Failure, name_a_reviewer};
use countersign_core::digest::Digest;
use countersign_core::policy::Policy;
use countersign_core::text::visible_line;
use countersign_doors::qr::asking::{self, Asking, Remembered};
use countersign_doors::qr::{MODULES_FOLDER, Materials, Modules, Qr};
use countersign_engine::engine::{Engine, Judge, Planner};
use countersign_engine::workspace;
use std::path::{Path, PathBuf};

pub struct QrQuestion {
    pub qr: Qr,
    pub engine: Engine,
    pub modules: Modules,
    pub paths: Vec<PathBuf>,
    /// Their digest when a loop verified them last.
    pub verified: Option<Digest>,
    policy: Policy,
}

impl QrQuestion {
    /// Opens all of it. A command that only prints a prompt needs no reviewers.
    pub async fn open(context: &QrContext, artifacts: &[PathBuf], reviewers: bool) -> Result<Self, Failure> {
        let project = &context.project;
        let modules = Modules::of(&project.root.path().join(MODULES_FOLDER))?;
        let engine = project.engine(planner(context, reviewers)?).await?;
        let qr = context.door().await?;
        let named = files(context, artifacts)?;
        let mut known = asking::remembered(&qr).await?;
        if !named.is_empty() && named != known.paths {
            known.paths = named;
            asking::remember(&qr, &known).await?;
        }
        let Remembered { paths, verified } = known;
        Ok(Self { qr, engine, modules, paths, verified, policy: project.config.policy.clone() })
    }

    pub fn materials(&self) -> Result<Materials, Failure> {
        let artifacts = asking::read(&self.engine.planner().root, &self.paths)?;
        Materials::new(artifacts).map_err(Failure::usage)
    }

    pub fn about<'a>(&'a self, materials: &'a Materials) -> Asking<'a> {
        Asking { qr: &self.qr, engine: &self.engine, materials, modules: &self.modules, policy: &self.policy }
    }
}

/// The planner with all reviewers but a self-review: a verifier must not be the author.
fn planner(context: &QrContext, reviewers: bool) -> Result<Planner, Failure> {
    let project = &context.project;
    if !reviewers {
        return project.planner_for(vec![project.panelist("prompt", Judge::SelfReview)]);
    }
    let mut panelists = project.panelists()?;
    panelists.retain(|panelist| !matches!(panelist.judge, Judge::SelfReview));
    if panelists.is_empty() {
        return Err(Failure::usage("no reviewer is configured")
            .hint(format!("{}; --print-prompt asks no reviewer", name_a_reviewer())));
    }
    project.planner_for(panelists)
}

/// The files of paths: themselves, or all in a folder of the project.
pub fn files(context: &QrContext, typed: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let root = &context.project.root;
    let mut files = vec![];
    for path in typed {
        let path = context.project.here.join(path);
        let path = path.canonicalize().map_err(|error| {
            let path = path.to_string_lossy();
            Failure::usage(format!("`{}` cannot be read: {error}", visible_line(&path)))
        })?;
        if !path.is_dir() {
            files.push(path);
            continue;
        }
        let found = root.relative(Path::new("/"), &path).and_then(|folder| workspace::walk(root, &folder));
        let found = found.map_err(|problem| Failure::usage(problem.to_string()))?;
        files.extend(found.files.iter().map(|file| root.join(file)));
    }
    Ok(files)
}
