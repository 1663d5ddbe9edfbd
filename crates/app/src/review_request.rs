//! The work to judge, as every way in hands it over, and the request that the planner makes of it.

use crate::accepting;
use crate::authority::{self, FlagsFrom};
use crate::init::{default_questions, resolve};
use crate::project::Project;
use crate::{Code, Failure, name_a_reviewer};
use countersign_core::criterion::{Criterion, first_double};
use countersign_core::ids::Subject;
use countersign_core::outcome::{NoVerdict, Outcome};
use countersign_core::plan::{CHECKS, Exclusions, PlanError};
use countersign_core::policy::{Attempts, Policy};
use countersign_core::rule::{Each, Rule, Scope};
use countersign_core::submission::{Output, OutputKind};
use countersign_core::text::{counted, visible_line};
use countersign_engine::config::{Config, Diagnostic};
use countersign_engine::engine::{EngineError, Planner, Prepared, Request, SubmittedChange};
use countersign_engine::git;
use countersign_engine::workspace::{self, FolderFiles, PathProblem};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

const OUTPUT: &str = "files";

#[derive(Debug)]
pub struct ReviewRequest {
    /// Files and folders; without any, all files that the rules match.
    pub paths: Vec<PathBuf>,
    pub change: Option<SubmittedChange>,
    /// Criteria instead of the configured rules.
    pub criteria: Vec<Criterion>,
    /// Whether those are asked for each file.
    pub each_file: bool,
    /// Which of the configured rules are asked.
    pub narrowed: Narrowed,
    /// Background for their reviewer.
    pub guidance: Option<String>,
    pub notes: Option<String>,
    /// The same over retries.
    pub subject: Subject,
    pub is_loop: bool,
    /// Ask again, also where rulings stand.
    pub fresh: bool,
    /// The names of these arguments on this way in.
    pub words: Words,
}

/// A question about a part of the rules. A gate is never narrowed.
#[derive(Clone, Debug, Default)]
pub struct Narrowed {
    /// The names of these rules; all where there is none.
    pub rules: Vec<String>,
    /// Only the criteria that Countersign checks itself.
    pub checks_only: bool,
}

impl Narrowed {
    fn is_all(&self) -> bool {
        self.rules.is_empty() && !self.checks_only
    }

    fn names(&self, rule: &str) -> bool {
        self.rules.is_empty() || self.rules.iter().any(|name| name == rule)
    }

    /// The part of the rules that is asked. Says what is not.
    fn of(&self, rules: Vec<Rule>, warnings: &mut Vec<String>) -> Result<Vec<Rule>, Failure> {
        if self.is_all() {
            return Ok(rules);
        }
        let known: Vec<&str> = rules.iter().map(|rule| rule.name.as_str()).collect();
        if let Some(unknown) = self.rules.iter().find(|name| !known.contains(&name.as_str())) {
            let words = format!("no rule is called `{}`", visible_line(unknown));
            return Err(Failure::usage(words).hint(format!("rules: {}", known.join(", "))));
        }
        let (all, criteria) = (rules.len(), count(&rules));
        let mut rules: Vec<Rule> = rules.into_iter().filter(|rule| self.names(&rule.name)).collect();
        if self.checks_only {
            rules.iter_mut().for_each(|rule| rule.criteria.retain(|criterion| criterion.check.is_some()));
            rules.retain(|rule| !rule.criteria.is_empty());
        }
        if rules.is_empty() {
            let words = "--checks-only: these rules have no criterion with a `check`";
            return Err(Failure::usage(words).hint("leave it out, or give a criterion a `check`"));
        }
        let asked = count(&rules);
        warnings.push(format!(
            "this is a part of the review: {} of {}, {asked} of {}",
            rules.len(),
            counted(all, "rule", "rules"),
            counted(criteria, "criterion", "criteria")
        ));
        Ok(rules)
    }
}

fn count(rules: &[Rule]) -> usize {
    rules.iter().map(|rule| rule.criteria.len()).sum()
}

#[derive(Clone, Copy, Debug)]
pub struct Words {
    pub criteria: &'static str,
    /// A criterion with its arguments.
    pub criteria_example: &'static str,
    pub paths: &'static str,
}

impl ReviewRequest {
    /// Makes the plan. `warnings` gets what is not judged.
    pub async fn prepare(
        self,
        project: &Project,
        planner: &Planner,
        warnings: &mut Vec<String>,
    ) -> Result<Prepared, Failure> {
        let places = self.places(project)?;
        let listed = listed(project, &places).await?;
        let request = self.request(project, &places, listed.as_ref(), warnings)?;
        let prepared = match planner.prepare(request).await {
            Ok(prepared) => prepared,
            Err(EngineError::Plan(PlanError::NothingToJudge)) => {
                let rules: Vec<_> = project.config.rules.iter().map(|rule| rule.name.as_str()).collect();
                let (rules, criteria) = (rules.join(", "), self.words.criteria);
                let words = "no rule matches these files";
                return Err(Failure::new(Outcome::Usage, Code::NoRule, words)
                    .hint(format!("rules: {rules}; add a rule, or use {criteria}")));
            }
            Err(EngineError::Plan(PlanError::NoReviewer { rule, criterion })) if has_reviewers(project) => {
                let words = format!(
                    "criterion '{criterion}' of rule '{rule}' is a question, and `{CHECKS}` answers none: it carries out the `check` of criteria"
                );
                return Err(Failure::new(Outcome::Usage, Code::Plan, words).hint(name_a_reviewer()));
            }
            Err(error) => return Err(error.into()),
        };
        all_named_are_judged(&places, &prepared)?;
        warnings.extend(left_aside(&prepared));
        accepting::accept(project, planner, prepared).await
    }

    /// The named files and folders, relative to the root; without any the whole project. Of a change there are none.
    fn places(&self, project: &Project) -> Result<Vec<Place>, Failure> {
        if self.change.is_some() {
            return Ok(vec![]);
        }
        if self.paths.is_empty() && !self.criteria.is_empty() {
            let Words { criteria, paths, .. } = self.words;
            return Err(Failure::usage(format!("{criteria} needs {paths} to judge"))
                .hint("name the files or folders to judge"));
        }
        let relative = self.paths.iter().map(|path| project.root.relative(&project.here, path));
        let whole = self.paths.is_empty().then(|| Ok(String::new()));
        let place = |relative: Result<String, PathProblem>| {
            let path = relative.map_err(|problem| path_failure(project, problem))?;
            let is_folder = project.root.join(&path).is_dir();
            Ok(Place { path, is_folder })
        };
        relative.chain(whole).map(place).collect()
    }

    fn request(
        &self,
        project: &Project,
        places: &[Place],
        listed: Option<&FolderFiles>,
        warnings: &mut Vec<String>,
    ) -> Result<Request, Failure> {
        let mut rules = self.rules(&project.config)?;
        let is_named = !self.paths.is_empty() || self.change.is_some();
        if rules.is_empty() && project.config.file.is_none() && is_named {
            rules = built_in_rules()?;
            let words = "there is no countersign.yml: judged by the built-in questions about a change";
            warnings.push(words.to_owned());
        }
        if rules.is_empty() {
            return Err(self.no_rules(&project.config));
        }
        if self.criteria.is_empty() {
            rules = self.narrowed.of(rules, warnings)?;
        }
        let files = match self.change {
            Some(_) => vec![],
            None => self.concerned_files(project, places, listed, &rules, warnings)?,
        };
        let policy = project.config.policy.clone();
        Ok(Request {
            subject: self.subject.clone(),
            rules,
            policy: if self.is_loop { policy } else { Policy { attempts: Attempts::Once, ..policy } },
            outputs: vec![Output { name: OUTPUT.to_owned(), kind: OutputKind::Files }],
            files: files.into_iter().map(|path| (path, 0)).collect(),
            guidance_files: vec![],
            change: self.change.clone(),
            notes: self.notes.clone(),
            fresh: self.fresh,
        })
    }

    /// The files to judge: the named ones, or all that a rule matches.
    fn concerned_files(
        &self,
        project: &Project,
        places: &[Place],
        listed: Option<&FolderFiles>,
        rules: &[Rule],
        warnings: &mut Vec<String>,
    ) -> Result<Vec<String>, Failure> {
        let FolderFiles { files, unnamed } = files(project, places, listed)?;
        if let Some(name) = concerned(rules, unnamed)?.first() {
            let why = NoVerdict::NotSeen;
            return Err(Failure::new(
                why.outcome(),
                Code::NoVerdict,
                format!("the name of `{name}` is not text"),
            )
            .hint("rename the file, or add it to `.gitignore` and have that committed"));
        }
        if self.criteria.is_empty() && self.paths.is_empty() {
            unmatched(&project.config, &files, |rule| rules.iter().any(|asked| asked.name == rule.name))?;
        }
        let files = match self.paths.is_empty() {
            true => {
                let exclusions =
                    Exclusions::of(rules).map_err(|problem| Failure::usage(problem.to_string()))?;
                let asked = concerned(rules, files.clone())?;
                let excluded = files.iter().filter(|file| exclusions.has(file) && !asked.contains(file));
                warnings.extend(excluded_words(&excluded.collect::<Vec<_>>()));
                asked
            }
            false => files,
        };
        if files.is_empty() {
            return Err(Failure::usage("there is no file to judge")
                .hint("name files or folders that are not ignored by git"));
        }
        Ok(files)
    }

    /// The rules: the criteria of the caller, else those of the configuration.
    fn rules(&self, config: &Config) -> Result<Vec<Rule>, Failure> {
        if self.criteria.is_empty() {
            // A reviewer on the command line is asked everything, also where a rule names another.
            let asked = |rule: &Rule| Rule {
                reviewer: rule.reviewer.clone().filter(|_| config.reviewer.is_none()),
                ..rule.clone()
            };
            return Ok(config.rules.iter().map(asked).collect());
        }
        if let Some((first, second)) = first_double(&self.criteria) {
            let (first, second) = (&self.criteria[first].name, &self.criteria[second].name);
            let what = self.words.criteria;
            return Err(Failure::usage(format!("{what} `{second}` has the same name as `{first}`")));
        }
        let scope = match (self.each_file, &self.change) {
            (false, _) => Scope::Whole,
            (true, None) => Scope::Output(OUTPUT.to_owned()),
            (true, Some(_)) => Scope::Files { patterns: vec!["**".to_owned()], each: Each::File },
        };
        let (criteria, guidance) = (self.criteria.clone(), self.guidance.clone());
        Ok(vec![Rule { guidance, ..Rule::new("review", scope, criteria) }])
    }

    fn no_rules(&self, config: &Config) -> Failure {
        match config.require_file() {
            Err(problem) => Failure::usage(problem.message).hint(format!(
                "`countersign init` writes one; or name {} to judge, with {} or with the built-in questions",
                self.words.paths, self.words.criteria_example
            )),
            Ok(file) => Failure::usage(format!("{} has no rules", file.display())),
        }
    }
}

/// Whether there are reviewers to ask, though none of them may answer questions.
fn has_reviewers(project: &Project) -> bool {
    project.config.reviewer.is_some() || !project.config.reviewers.is_empty()
}

/// A named file must not pass because no rule matches it.
fn all_named_are_judged(places: &[Place], prepared: &Prepared) -> Result<(), Failure> {
    let named: HashSet<&str> = places.iter().map(|place| place.path.as_str()).collect();
    let first_of = |files: &[usize]| {
        let mut paths = files.iter().map(|file| prepared.submission.files[*file].path.as_str());
        paths.find(|path| named.contains(path))
    };
    if let Some(path) = first_of(&prepared.plan.unjudged) {
        return Err(
            Failure::usage(format!("no rule matches `{path}`")).hint("add a rule for it, or leave it out")
        );
    }
    first_of(&prepared.plan.excluded).map_or(Ok(()), |path| {
        let words = format!("`exclude` of the configuration leaves `{path}` out");
        Err(Failure::usage(words).hint("change `exclude`, or do not name the file"))
    })
}

/// A file or folder that is named.
struct Place {
    path: String,
    is_folder: bool,
}

fn path_failure(project: &Project, problem: PathProblem) -> Failure {
    let hint = match &problem {
        PathProblem::Missing(_) => {
            format!("paths are relative to the current folder, `{}`", project.here.display())
        }
        PathProblem::Outside(..) => {
            "name files of this project, or run the command in the other project".into()
        }
        _ => return EngineError::from(problem).into(),
    };
    Failure::from(EngineError::from(problem)).hint(hint)
}

/// The files of a project at a gate: only the ignore rules of the base count, and never for a file that git tracks. Where
/// only files are named, nothing else is looked at.
async fn listed(project: &Project, places: &[Place]) -> Result<Option<FolderFiles>, Failure> {
    let has_folders = places.iter().any(|place| place.is_folder);
    if project.authority.is_none() || !has_folders || !is_in_repository(project.root.path()) {
        return Ok(None);
    }
    let (base, _) = authority::base(project, FlagsFrom::Caller, None).await?;
    Ok(Some(workspace::listed(&project.root, base.as_deref()).await?))
}

/// The files of the places: files as they are, folders without what git ignores.
fn files(project: &Project, places: &[Place], listed: Option<&FolderFiles>) -> Result<FolderFiles, Failure> {
    let failure = |problem| path_failure(project, problem);
    let mut all = FolderFiles::default();
    for Place { path, is_folder } in places {
        match listed {
            Some(listed) if *is_folder => {
                let below = |name: &&String| {
                    let rest = name.strip_prefix(path.as_str());
                    path.is_empty() || rest.is_some_and(|rest| rest.starts_with('/'))
                };
                all.files.extend(listed.files.iter().filter(below).cloned());
                all.unnamed.extend(listed.unnamed.iter().filter(below).cloned());
            }
            None if *is_folder => {
                let found = workspace::walk(&project.root, path).map_err(failure)?;
                all.files.extend(found.files);
                all.unnamed.extend(found.unnamed);
            }
            _ => {
                workspace::require_file(&project.root, path).map_err(failure)?;
                all.files.push(path.clone());
            }
        }
    }
    all.files.sort();
    all.files.dedup();
    Ok(all)
}

/// The questions about a change that `init` writes, for a project without a configuration.
pub fn built_in_rules() -> Result<Vec<Rule>, Failure> {
    Ok(resolve("the built-in questions".as_ref(), &default_questions(), PathBuf::new())?.rules)
}

/// Whether a folder is inside of a worktree of git.
fn is_in_repository(root: &Path) -> bool {
    root.ancestors().any(git::is_repository)
}

fn concerned(rules: &[Rule], files: Vec<String>) -> Result<Vec<String>, Failure> {
    let matchers = rules.iter().map(matcher).collect::<Result<Vec<_>, _>>()?;
    Ok(files.into_iter().filter(|file| matchers.iter().any(|has| has(file))).collect())
}

fn matcher(rule: &Rule) -> Result<impl Fn(&str) -> bool + use<>, Failure> {
    rule.matcher().map_err(|problem| Failure::usage(problem.to_string()))
}

/// Reports rules that match no file of the project: a mistake in the configuration, not a pass.
pub fn unmatched(config: &Config, files: &[String], is_asked: impl Fn(&Rule) -> bool) -> Result<(), Failure> {
    let mut problems = vec![];
    for (rule, source) in config.rules.iter().zip(&config.rule_sources).filter(|(rule, _)| is_asked(rule)) {
        let has = matcher(rule)?;
        if files.iter().any(|file| has(file)) {
            continue;
        }
        let place = source.patterns.first().unwrap_or(&source.name).clone();
        let message = format!("rule '{}' matches no file of the project", rule.name);
        problems.push(Diagnostic::new("scope_without_match", place, message).with_hint(
            "patterns are relative to the project root; `*` stays within a folder, `**` crosses them; ignored files do not count",
        ));
    }
    if problems.is_empty() { Ok(()) } else { Err(Failure::at(problems)) }
}

fn excluded_words(excluded: &[&String]) -> Option<String> {
    let first = visible_line(excluded.first()?).into_owned();
    let (count, more) = (counted(excluded.len(), "file", "files"), excluded.len() - 1);
    let others = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("`exclude` leaves {count} out: `{first}`{others}"))
}

fn left_aside(prepared: &Prepared) -> Vec<String> {
    let mut warnings = vec![];
    let unjudged = &prepared.plan.unjudged;
    if let Some(first) = unjudged.first() {
        let path = &prepared.submission.files[*first].path;
        let others =
            if unjudged.len() > 1 { format!(" and {} more", unjudged.len() - 1) } else { String::new() };
        warnings.push(format!("no rule matches `{path}`{others}: not judged"));
    }
    // A change need not match every rule.
    let rules = prepared.plan.not_applicable.iter().filter(|_| prepared.request.change.is_none());
    for rule in rules {
        warnings.push(format!("rule '{rule}' matches none of these files"));
    }
    warnings
}
