//! What is handed in: outputs (files), notes, and the digest that names exactly these.

use crate::accepting::Accepting;
use crate::digest::{Digest, Parts};
use crate::prompt::CONTEXT_BYTES_MAX;
use crate::rule::Rule;
use serde::{Deserialize, Serialize};

/// Whether an output is one file or a list of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputKind {
    File,
    Files,
}

/// A named part of the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// The name rules refer to.
    pub name: String,
    pub kind: OutputKind,
}

/// What kind of thing stands at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Valid UTF-8.
    Text,
    /// Of a patch: text that is too long to be shown whole.
    Cut,
    /// A picture, sound, video or font by its first bytes and by its name.
    Media,
    /// Anything else that could be read.
    Binary,
    Missing,
    /// It is there and could not be read; the reason in words.
    Unreadable(String),
}

impl Content {
    pub fn has_bytes(&self) -> bool {
        matches!(self, Self::Text | Self::Media | Self::Binary)
    }

    /// Why a reviewer does not see it; none where it does, or where nothing is there.
    pub fn unseen(&self) -> Option<&str> {
        match self {
            Self::Text | Self::Cut | Self::Missing => None,
            Self::Media | Self::Binary => Some("it is not text"),
            Self::Unreadable(why) => Some(why),
        }
    }
}

/// How a material comes to a reviewer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A file of the workspace.
    #[default]
    File,
    /// What changed in a file: a text that was handed in. Questions are about it; checks look at the file.
    Patch,
    /// All that changed in a few lines: a text that was handed in, shown where patches are asked about one by one.
    Summary,
}

impl Form {
    /// Whether it is a file of the workspace, rather than a text that was handed in.
    pub fn is_file(&self) -> bool {
        *self == Self::File
    }
}

/// What a change is against, and exactly which state of the files it is: enough to look again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeOf {
    /// The commit it is against; none where there was no commit yet.
    pub base: Option<String>,
    /// Names the state of the files against the base.
    pub fingerprint: Digest,
    /// Patterns of files that are no part of the work.
    pub left_out: Vec<String>,
}

/// One file of a submission, by digest. Its bytes are read again for each question and must still have this digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Material {
    /// Relative to the project root, with `/`.
    pub path: String,
    /// Of a patch: what the file was called before. A rule that was about it there is about what became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
    /// Index of its output in [`Submission::outputs`].
    pub output: usize,
    pub digest: Digest,
    pub size_bytes: u64,
    pub content: Content,
    #[serde(default, skip_serializing_if = "Form::is_file")]
    pub form: Form,
}

/// A file that the guidance of a rule names: shown beside the work, and not judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuidanceFile {
    /// The index of the rule.
    pub rule: usize,
    pub file: Material,
}

impl Material {
    /// Its path, and the one that it had before.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        [Some(&self.path), self.old_path.as_ref()].into_iter().flatten().map(String::as_str)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// Names exactly these rules, paths, bytes and notes.
    pub digest: Digest,
    pub outputs: Vec<Output>,
    pub files: Vec<Material>,
    /// The author's notes, by digest: reviewed text is not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeOf>,
    /// What stands around a change in every question, by digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Digest>,
    /// What the gate itself says of it, such as the output of tests, and what its task asks for, by digest: a failure
    /// stands on it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Digest>,
    /// What the guidance of rules names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guidance_files: Vec<GuidanceFile>,
    /// Files that HEAD has otherwise than they were handed in. Committing them makes no other work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_in_head: Vec<String>,
    /// Where the rules came from, at a gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules_from: Option<String>,
    /// Whether a person has the last word on it, whatever the verdict, and also without one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks_person: bool,
    /// Whether it changes what later work is judged by: then it does not pass without a person.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub steers_gate: bool,
    /// What is accepted of it although it fails.
    #[serde(default, skip_serializing_if = "Accepting::is_empty")]
    pub accepting: Accepting,
}

impl Submission {
    /// Names a submission by its rules, paths, bytes and notes.
    pub fn new(rules: &[Rule], outputs: Vec<Output>, files: Vec<Material>, notes: Option<Digest>) -> Self {
        let mut parts = Parts::new("submission/1");
        // The debug form names every field; should it ever change, work is judged again, never wrongly reused.
        parts.text(&format!("{rules:?}"));
        parts.count(outputs.len());
        for output in &outputs {
            parts.text(&output.name).count(output.kind as usize);
        }
        parts.count(files.len());
        for file in &files {
            parts.text(&file.path).count(file.output).text(file.digest.as_str());
        }
        let digest = parts.maybe(notes.as_ref().map(Digest::as_str)).digest();
        Self {
            digest,
            outputs,
            files,
            notes,
            change: None,
            context: None,
            evidence: None,
            guidance_files: vec![],
            other_in_head: vec![],
            rules_from: None,
            asks_person: false,
            steers_gate: false,
            accepting: Accepting::default(),
        }
    }

    /// The same as a change: its name covers what it is against and what stands around it.
    pub fn about(self, change: ChangeOf, context: Digest) -> Self {
        let mut parts = Parts::new("submission/change/1");
        parts.text(self.digest.as_str()).maybe(change.base.as_deref());
        parts.text(change.fingerprint.as_str()).text(context.as_str());
        Self { digest: parts.digest(), change: Some(change), context: Some(context), ..self }
    }

    /// The same, judged beside what is accepted: its name covers that too.
    pub fn accepting(self, accepting: Accepting) -> Self {
        if accepting.is_empty() {
            return self;
        }
        let digest = accepting.parts().text(self.digest.as_str()).digest();
        Self { digest, accepting, ..self }
    }

    /// The same with the files that guidance names: its name covers them.
    pub fn with_guidance_files(self, guidance_files: Vec<GuidanceFile>) -> Self {
        if guidance_files.is_empty() {
            return self;
        }
        let mut parts = Parts::new("submission/guidance/1");
        parts.text(self.digest.as_str()).count(guidance_files.len());
        for GuidanceFile { rule, file } in &guidance_files {
            parts.count(*rule).text(&file.path).text(file.digest.as_str());
        }
        Self { digest: parts.digest(), guidance_files, ..self }
    }

    /// What is shown beside some of the files for a rule.
    pub fn guidance_of<'a>(&'a self, rule: usize, files: &'a [usize]) -> impl Iterator<Item = &'a Material> {
        let is_judged =
            move |path: &str| files.iter().any(|i| self.files.get(*i).is_some_and(|file| file.path == path));
        let named = self.guidance_files.iter().filter(move |named| named.rule == rule);
        named.map(|named| &named.file).filter(move |file| !is_judged(&file.path))
    }

    /// The same, each with whether its contents are shown: as many as fit, in their order.
    pub fn guidance_shown<'a>(
        &'a self,
        rule: usize,
        files: &'a [usize],
    ) -> impl Iterator<Item = (&'a Material, bool)> {
        let mut left = CONTEXT_BYTES_MAX;
        self.guidance_of(rule, files).map(move |file| {
            // What is not text is a line.
            let bytes = if file.content == Content::Text { file.size_bytes } else { 0 };
            let fits = bytes <= left;
            left -= if fits { bytes } else { 0 };
            (file, fits)
        })
    }

    /// Adds what is shown beside some of the files to what names a question. Without such files nothing is added.
    pub(crate) fn name_guidance(&self, parts: &mut Parts, rule: usize, files: &[usize]) {
        for file in self.guidance_of(rule, files) {
            parts.text("guidance").text(&file.path).text(file.digest.as_str());
        }
    }

    /// Whether this is the same work, whatever stands around it: what tests or a session say may differ each time.
    pub fn is_same_work(&self, other: &Self) -> bool {
        match (&self.change, &other.change) {
            (Some(one), Some(another)) => one == another && self.accepting == other.accepting,
            _ => self.digest == other.digest,
        }
    }

    pub fn output_name(&self, file: &Material) -> &str {
        self.outputs.get(file.output).map_or("", |output| output.name.as_str())
    }
}
