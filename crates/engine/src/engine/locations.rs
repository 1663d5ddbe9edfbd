//! Checks the files and lines that findings name against the files that were handed in.

use super::{Engine, Prepared};
use crate::reviewer::Failed;
use crate::reviewer::checks::MAX_TEXT_BYTES;
use crate::workspace;
use countersign_core::answer::{Answer, Asked, Source};
use countersign_core::outcome::NoVerdict;
use countersign_core::plan::Assignment;
use countersign_core::prompt::Body;
use std::collections::HashMap;

impl Engine {
    pub(super) async fn check_locations(
        &self,
        mut answer: Answer,
        assignment: &Assignment,
        prepared: &Prepared,
    ) -> Result<Answer, Failed> {
        if !answer.fails() {
            return Ok(answer);
        }
        let root = self.0.planner.root.clone();
        let files = &prepared.submission.files;
        let asked = Asked {
            about: assignment.about(files).to_owned(),
            files: assignment.named_files(files).into_iter().map(str::to_owned).collect(),
            root: root.path().to_string_lossy().into_owned(),
        };
        let (files, change) = (files.clone(), prepared.request.change.clone());
        let check = move || {
            let mut read: HashMap<String, Option<Source>> = HashMap::new();
            let source = |path: &str| {
                let file = files.iter().find(|file| file.path == path && file.form.is_file())?;
                if file.size_bytes > MAX_TEXT_BYTES as u64 {
                    return None;
                }
                let Ok(Body::Text(text)) = workspace::read_body_now(&root, file) else { return None };
                Some(Source { text, changed: change.as_ref().and_then(|change| change.shown_lines(path)) })
            };
            answer.check_locations(&asked, |path| {
                read.entry(path.to_owned()).or_insert_with(|| source(path)).clone()
            });
            answer
        };
        tokio::task::spawn_blocking(check).await.map_err(|error| {
            Failed::new(
                NoVerdict::Unavailable,
                format!("the locations in the answer were not checked: {error}"),
            )
        })
    }
}
