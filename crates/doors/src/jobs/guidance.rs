//! The files that the guidance of a review names: which of them reviewers get for context, and warnings about the others.

use super::hand_in::is_ours;
use super::job::{Job, Step};
use super::library::Listing;
use countersign_core::named_files::{NamedFile, named_files};
use countersign_core::prompt::CONTEXT_BYTES_MAX;
use countersign_engine::workspace::{self, Root};
use countersign_engine::yaml::{Diagnostic, quoted};
use std::path::Path;

/// Signs of a pattern or of a name to be filled in.
const PATTERN: [char; 6] = ['*', '<', '>', '{', '}', '['];
const FOLDER: &str = "is a folder";
const MISSING: &str = "does not exist in the project now";
const INSTEAD: &str =
    "hand it in as an output, or let reviewers read the project: `jobs: {sees: project}` in countersign.yml";

/// Finds the named files of a project. Names begin in the folder of the outputs, in that of the job, or in the root.
pub struct Finder<'a> {
    pub root: &'a Root,
    pub base: &'a Path,
    pub job: &'a Path,
}

impl Finder<'_> {
    /// The files that a text names, from the root, each once.
    pub fn files(&self, text: &str) -> Vec<String> {
        let mut files: Vec<String> = vec![];
        for named in named_files(text) {
            files.extend(self.find(&named).ok().filter(|file| !files.contains(file)));
        }
        files
    }

    /// The file of a name; otherwise why reviewers do not get it.
    fn find(&self, named: &NamedFile) -> Result<String, &'static str> {
        let is_pattern = named.path.contains(PATTERN);
        let mut is_folder = false;
        for folder in [self.base, self.job, self.root.path()] {
            let Ok(inside) = self.root.relative(folder, Path::new(&named.path)) else { continue };
            is_folder |= self.root.join(&inside).is_dir();
            if workspace::require_file(self.root, &inside).is_ok() {
                return if self.is_kept(&inside) { Err("is no file of the work") } else { Ok(inside) };
            }
        }
        Err(match (is_folder, is_pattern) {
            (true, _) => FOLDER,
            (false, true) => "is a pattern",
            (false, false) => MISSING,
        })
    }

    /// Whether it is one of our files or of git's, after links.
    fn is_kept(&self, inside: &str) -> bool {
        let Ok(real) = self.root.join(inside).canonicalize() else { return true };
        let below = real.strip_prefix(self.root.path()).unwrap_or(&real);
        below.components().any(|part| part.as_os_str() == ".git") || is_ours(inside, self.root)
    }

    /// Why reviewers will not see what a name stands for; none where they will, and where it is perhaps no file at all.
    fn unseen(&self, named: &NamedFile) -> Option<String> {
        let file = match self.find(named) {
            Ok(file) => file,
            Err(why) => return (named.is_sure || why == FOLDER).then(|| why.to_owned()),
        };
        let bytes = std::fs::metadata(self.root.join(&file)).map_or(0, |found| found.len());
        (bytes > CONTEXT_BYTES_MAX).then(|| format!("has {bytes} bytes, more than {CONTEXT_BYTES_MAX}"))
    }
}

/// Whether what the steps of a job are told, or hand in, names a path.
fn mentions(job: &Job, path: &str) -> bool {
    let of_step = |step: &Step| {
        let mut outputs = step.outputs.iter().flat_map(|output| [&output.name, &output.description]);
        step.instructions.contains(path) || outputs.any(|text| text.contains(path))
    };
    job.common_info.contains(path) || job.steps.iter().any(of_step)
}

/// A warning for each file that guidance names and no reviewer will see.
pub fn warnings(listing: &Listing, root: &Root, base: &Path) -> Vec<Diagnostic> {
    let mut all = vec![];
    for (place, text, job) in &listing.guidance {
        let finder = Finder { root, base, job };
        for named in named_files(text) {
            let Some(why) = finder.unseen(&named) else { continue };
            // A step makes it: then it is there when a review asks for it.
            if why == MISSING && listing.jobs.iter().any(|one| one.dir == *job && mentions(one, &named.path))
            {
                continue;
            }
            let message =
                format!("the guidance names {}, which {why}: reviewers will not see it", quoted(&named.path));
            all.push(Diagnostic::new("unseen-context", place.clone(), message).with_hint(INSTEAD));
        }
    }
    all
}
