//! A change as it is handed in: its patches and summary as materials, and the sections around them in every question.

use super::panel::Panelist;
use super::{EngineError, Planner, Prepared, Result};
use crate::reviewer::Failed;
use crate::workspace::{self, Change, ChangeWanted, Changed, ChangedFile, FileKind, Shape};
use countersign_core::answer::{changed_lines, touched_lines};
use countersign_core::digest::Digest;
use countersign_core::outcome::NoVerdict;
use countersign_core::plan::{Assignment, MayStayUnseen};
use countersign_core::prompt::{self, Body, DIFF_BYTES_MAX, Sections, ShownFile};
use countersign_core::redact::Counts;
use countersign_core::review::{NotSubmitted, OpenFinding};
use countersign_core::rule::Rule;
use countersign_core::submission::{ChangeOf, Content, Form, Material, Output, OutputKind, Submission};
use std::ops::RangeInclusive;
use std::sync::Arc;

const SUMMARY: &str = "(the change as a whole)";
const OUTPUT: &str = "change";

#[derive(Clone, Debug)]
pub struct SubmittedChange {
    change: Arc<Change>,
    summary: Arc<str>,
    left_out: Vec<String>,
    sections: Sections,
    /// The digest of the sections. Of a change that is handed in again only this is known.
    context: Digest,
    /// What failures stand on beside the files.
    evidence: Option<Digest>,
}

impl SubmittedChange {
    /// A change, the patterns that were left out of it, and the sections around it in every question.
    pub fn new(change: Change, left_out: Vec<String>, sections: Sections) -> Self {
        let summary = workspace::summary(&change, DIFF_BYTES_MAX).into();
        let (context, evidence) = (sections.digest(), sections.evidence());
        Self { change: Arc::new(change), summary, left_out, sections, context, evidence }
    }

    pub fn change(&self) -> &Change {
        &self.change
    }

    /// The change of a submission as it is now, where only digests of the sections are known.
    pub(super) async fn again(
        root: &workspace::Root,
        of: &ChangeOf,
        context: Digest,
        evidence: Option<Digest>,
    ) -> Result<Self> {
        let wanted = wanted(of);
        let change = workspace::change(root, &wanted).await?;
        Ok(Self { context, evidence, ..Self::new(change, wanted.left_out, Sections::default()) })
    }

    pub(super) fn outputs() -> Vec<Output> {
        vec![Output { name: OUTPUT.to_owned(), kind: OutputKind::Files }]
    }

    /// The patches and the summary, then the files as they are now, for checks.
    pub(super) async fn materials(&self, root: &workspace::Root) -> std::io::Result<Vec<Material>> {
        let mut all: Vec<Material> = self.change.files.iter().map(patch).collect();
        all.push(Material {
            path: SUMMARY.to_owned(),
            old_path: None,
            output: 0,
            digest: Digest::of(self.summary.as_bytes()),
            size_bytes: self.summary.len() as u64,
            content: Content::Text,
            form: Form::Summary,
        });
        // A link has no contents of its own, a submodule is another repository, and a deleted file has none.
        let is_unreadable = |file: &&ChangedFile| matches!(file.content, Content::Unreadable(_));
        let (unread, files): (Vec<_>, Vec<_>) = self.change.files.iter().partition(is_unreadable);
        let files = files.iter().filter(|file| file.shape == Shape::File);
        all.extend(workspace::gather(root, files.map(|file| (file.path.clone(), 0)).collect()).await?);
        // Never looked for under a name it does not have: another file may have that.
        let as_file = |file| Material { form: Form::File, old_path: None, ..patch(file) };
        all.extend(unread.into_iter().map(as_file));
        Ok(all)
    }

    pub(super) fn name(&self, submission: Submission) -> Submission {
        let of = ChangeOf {
            base: self.change.base.clone(),
            fingerprint: self.change.fingerprint.clone(),
            left_out: self.left_out.clone(),
        };
        Submission {
            evidence: self.evidence.clone(),
            other_in_head: self.change.other_in_head.clone(),
            ..submission.about(of, self.context.clone())
        }
    }

    /// A patch or the summary, by its index among the materials.
    pub(super) fn text(&self, index: usize) -> Option<&str> {
        match self.change.files.get(index) {
            Some(file) => Some(&file.patch),
            None => (index == self.change.files.len()).then_some(&*self.summary),
        }
    }

    /// The files of an assignment whose patch is not shown whole.
    pub(super) fn cut<'a>(&'a self, assignment: &'a Assignment) -> impl Iterator<Item = &'a ChangedFile> {
        let files = assignment.files.iter().filter_map(|index| self.change.files.get(*index));
        files.filter(|file| file.is_cut)
    }

    /// The lines of a file that its patch shows; none where the patch is not shown whole.
    pub(super) fn shown_lines(&self, path: &str) -> Option<Vec<RangeInclusive<u64>>> {
        let file = self.change.files.iter().find(|file| file.path == path)?;
        (!file.is_cut).then(|| changed_lines(&file.patch))
    }

    /// The lines of a file that the change touched; none where that is not known for sure: a file with another name or mode
    /// is another file as a whole.
    pub(super) fn touched_lines(&self, path: &str) -> Option<Vec<RangeInclusive<u64>>> {
        let file = self.change.files.iter().find(|file| file.path == path)?;
        let header = file.patch.lines().take_while(|line| !line.starts_with("@@ "));
        let is_plain = file.kind == FileKind::Modified
            && file.content == Content::Text
            && !(file.is_cut || file.is_binary)
            && !header.into_iter().any(|line| line.starts_with("old mode "));
        is_plain.then(|| touched_lines(&file.patch))
    }

    /// Why a question about these files is not put to a reviewer.
    pub(super) fn refuse(
        &self,
        assignment: &Assignment,
        rule: Option<&Rule>,
        panelist: &Panelist,
        prompt_bytes: u64,
    ) -> Option<Failed> {
        let too_long = |words: String| Some(Failed::new(NoVerdict::TooLong, words));
        let may = rule.and_then(|rule| MayStayUnseen::of(rule).ok());
        let may = |path: &str| may.as_ref().is_some_and(|may| may.has(path, &Content::Text));
        let mut cut = self.cut(assignment).filter(|file| !panelist.sees_project && !may(&file.path));
        if let Some(file) = cut.next() {
            let path = countersign_core::text::visible_line(&file.path);
            return too_long(format!(
                "the diff of `{path}` has {} bytes, more than a question about a change holds, and reviewer `{}` \
                 cannot read the rest: make the change smaller, ask a reviewer with `sees: project`, or name the file \
                 in `unseen` of the rule",
                file.patch_bytes, panelist.name
            ));
        }
        let bytes: u64 =
            assignment.files.iter().filter_map(|index| self.text(*index)).map(|t| t.len() as u64).sum();
        if bytes > prompt_bytes {
            return too_long(format!(
                "the diff has {bytes} bytes, and a question holds {prompt_bytes}: raise `prompt_bytes`"
            ));
        }
        None
    }
}

fn patch(file: &ChangedFile) -> Material {
    let shown = file.patch.len() as u64;
    Material {
        path: file.path.clone(),
        old_path: file.old_path.clone(),
        output: 0,
        digest: file.digest.clone(),
        size_bytes: if file.is_binary { shown } else { file.patch_bytes.max(shown) },
        content: file.content.clone(),
        form: Form::Patch,
    }
}

pub(super) fn wanted(of: &ChangeOf) -> ChangeWanted {
    ChangeWanted { base: of.base.clone(), left_out: of.left_out.clone(), ..ChangeWanted::default() }
}

impl Planner {
    /// What became of files that are not submitted any more.
    pub(super) async fn not_submitted(
        &self,
        missing: &[(&OpenFinding, &Material)],
    ) -> Result<Vec<NotSubmitted>> {
        let mut looked_at = vec![];
        let mut changes: Vec<(&ChangeOf, Vec<Material>)> = vec![];
        for (open, file) in missing {
            let now = match (&open.change, file.form) {
                (Some(of), Form::Patch | Form::Summary) => {
                    if !changes.iter().any(|(known, _)| known.base == of.base) {
                        let change = workspace::change(&self.root, &wanted(of)).await?;
                        changes.push((of, change.files.iter().map(patch).collect()));
                    }
                    let of = changes.iter().find(|(known, _)| known.base == of.base);
                    of.and_then(|(_, patches)| patches.iter().find(|patch| patch.path == file.path)).cloned()
                }
                _ => {
                    let there = workspace::gather(&self.root, vec![(file.path.clone(), 0)]).await;
                    let there = there.map_err(EngineError::io("the files could not be read"))?;
                    there.into_iter().find(|there| there.content != Content::Missing)
                }
            };
            let (path, form) = (file.path.clone(), file.form);
            looked_at.push(NotSubmitted { path, form, digest: now.map(|now| now.digest) });
        }
        Ok(looked_at)
    }

    /// What a question about a change shows, without secrets, and its payload.
    pub(super) fn word_change(
        &self,
        handed: &SubmittedChange,
        assignment: &Assignment,
        prepared: &Prepared,
        notes: Option<&str>,
        redacted: &mut Counts,
    ) -> Result<(Vec<ShownFile>, String), Changed> {
        let lost = || Changed { path: SUMMARY.to_owned() };
        // The key says that these sections were shown: without them there is no such question.
        if handed.sections.digest() != handed.context {
            return Err(lost());
        }
        let mut hide = |text: &str| {
            let (text, found) = self.redaction.redact(text);
            redacted.add(found);
            text.into_owned()
        };
        let mut shown = vec![];
        for index in &assignment.files {
            let file = prepared.submission.files.get(*index).ok_or_else(lost)?;
            let text = hide(handed.text(*index).ok_or_else(lost)?);
            let output = prepared.submission.output_name(file).to_owned();
            shown.push(ShownFile { path: file.path.clone(), output, body: Body::Text(text) });
        }
        let mut sections = handed.sections.clone();
        for section in sections.all_mut() {
            section.heading = hide(&section.heading);
            section.text = hide(&section.text);
        }
        let texts: Vec<&str> = shown.iter().filter_map(|shown| shown.body.text()).collect();
        let payload = prompt::change_payload(&sections, &texts, notes);
        Ok((shown, payload))
    }
}
