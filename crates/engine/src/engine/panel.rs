//! The panel: the reviewers of this project in order of preference, what a question to each may cost, and who may be
//! asked how much at once.

use super::place;
use super::slots::Slots;
use super::two_call::TwoCall;
use crate::programs::{self, Usage, Vendor};
use crate::reviewer::replay::Recording;
use crate::reviewer::{Agent, Command, Failed, Library, Marked, ReviewerReply, Service};
use crate::surroundings::Surroundings;
use countersign_core::cost::{self, Price, Size, Spending};
use countersign_core::digest::Digest;
use countersign_core::endpoint::{Endpoint, ProgramFile};
use countersign_core::outcome::NoVerdict;
use countersign_core::plan::{Reviewer, ReviewerKind};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;

pub const SELF: &str = "self";

/// How a reviewer on the panel rules.
#[derive(Clone, Debug)]
pub enum Judge {
    Command(Command),
    /// A program of the user's that answers in free text.
    Marked(Marked),
    Agent(Agent),
    Service(Service),
    Replay {
        recording: Arc<Recording>,
        /// The digest of the file they came from.
        digest: Digest,
    },
    /// One who reviews in free words, and one who reads what they say.
    TwoCall(Box<TwoCall>),
    /// A reviewer in this process, where the gate is used as a library.
    Library(Library),
    SelfReview,
}

impl Judge {
    /// A text that differs where their answers may differ; it is part of the key of a ruling.
    fn identity(&self, root: &Path) -> String {
        match self {
            Self::Command(command) => command.identity(root),
            Self::Marked(marked) => marked.identity(root),
            Self::Agent(agent) => agent.identity(),
            Self::Service(service) => service.identity(),
            Self::Replay { digest, .. } => format!("replay {digest}"),
            Self::TwoCall(two) => {
                two.identity(&two.reviewer.judge.identity(root), &two.parser.judge.identity(root))
            }
            Self::Library(_) => "library".to_owned(),
            Self::SelfReview => SELF.to_owned(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Panelist {
    pub name: String,
    pub judge: Judge,
    pub sees_project: bool,
    /// A fixed timeout instead of the one by number of files.
    pub timeout: Option<Duration>,
    pub concurrency: usize,
    pub window_tokens: Option<u64>,
    pub price: Option<Price>,
    /// The most a question may cost, where they can be told so.
    pub question_microusd: Option<u64>,
    /// Who makes their model, where that is known.
    pub vendor: Option<Vendor>,
}

/// How our own variables begin.
const OWN_VARIABLES: &str = "COUNTERSIGN_";
/// The most tokens of a reply, where no setting says so.
const REPLY_TOKENS: u64 = 8192;
/// The words around the files of a question.
const AROUND_BYTES: u64 = 6 * 1024;
/// What programs add to a question.
const PROGRAM_BYTES: u64 = 16 * 1024;

impl Panelist {
    /// The same with the environment of a gate, where this is one.
    fn within(mut self, surroundings: &Surroundings) -> Self {
        if surroundings.gate.is_none() {
            return self;
        }
        let environment = surroundings.given();
        self.judge = match self.judge {
            Judge::Agent(agent) => Judge::Agent(agent.in_environment(environment)),
            Judge::Marked(mut marked) => {
                // Marks that we gave it stay.
                let is_mark = |name: &str| name.starts_with(OWN_VARIABLES) && !programs::steers(name);
                marked.environment.retain(|(name, _)| name.to_str().is_some_and(is_mark));
                marked.environment.extend(environment);
                Judge::Marked(marked)
            }
            Judge::TwoCall(two) => Judge::TwoCall(Box::new(TwoCall {
                reviewer: two.reviewer.within(surroundings),
                parser: two.parser.within(surroundings),
                ..*two
            })),
            other => other,
        };
        self
    }

    /// The size of a question of so many bytes; none for reviewers that cost nothing.
    pub(super) fn size(&self, bytes: u64) -> Option<Size> {
        match &self.judge {
            Judge::Replay { .. } | Judge::Library(_) | Judge::SelfReview => None,
            Judge::Command(_) | Judge::Marked(_) => Some(Size { bytes, reply_tokens: REPLY_TOKENS }),
            Judge::Agent(_) => Some(Size { bytes: bytes + PROGRAM_BYTES, reply_tokens: REPLY_TOKENS }),
            Judge::Service(service) => Some(Size { bytes, reply_tokens: service.reply_tokens.into() }),
            Judge::TwoCall(two) => two.size(bytes),
        }
    }

    /// How many bytes of files fit into a question.
    fn room_bytes(&self, prompt_bytes: u64) -> Option<u64> {
        let window = self.window_tokens.map(|tokens| {
            let reply_tokens = self.size(0).map_or(0, |size| size.likely_tokens());
            cost::likely_bytes(tokens.saturating_sub(reply_tokens)).saturating_sub(AROUND_BYTES)
        });
        let prompt = (!self.reads_files()).then_some(prompt_bytes);
        window.into_iter().chain(prompt).min()
    }

    /// Why a question of so many bytes, about so many files, is not put to them.
    pub(super) fn refuse(&self, bytes: u64, files: usize) -> Option<Failed> {
        let window = self.window_tokens?;
        // Of two calls only the first is about the work.
        if let Judge::TwoCall(two) = &self.judge {
            return two.reviewer.refuse(bytes, files);
        }
        let needs = self.size(bytes)?.likely_tokens();
        (needs > window).then(|| {
            let instead = match files {
                0 | 1 => "one file is too long for it: shorten the file, or ask a reviewer with a larger window",
                // What is split by `fit` goes by the reviewer that is asked first, which this one may not be.
                _ => "submit less at once, or let the rule split it with `each: fit` or `each: file`",
            };
            let words = format!(
                "the question and its reply need about {needs} tokens, and `window_tokens` of reviewer `{}` is \
                 {window}: {instead}",
                self.name
            );
            Failed::new(NoVerdict::TooLong, words)
        })
    }

    /// Whether a question filled the window, so that the service may have cut it without saying so. Agent
    /// programs ask their service several times and add that up, so their sum says nothing.
    pub(super) fn was_cut(&self, tokens_in: u64) -> Option<Failed> {
        if matches!(self.judge, Judge::Agent(_) | Judge::TwoCall(_)) {
            return None;
        }
        let window = self.window_tokens?;
        let reply_tokens = self.size(0)?.reply_tokens;
        (tokens_in.saturating_add(reply_tokens) > window).then(|| {
            let words = format!(
                "the question ({tokens_in} tokens) and the reply ({reply_tokens} tokens) together are larger than `window_tokens` of reviewer `{}`, so the reviewer may not have seen the whole question: submit fewer files",
                self.name
            );
            Failed::new(NoVerdict::TooLong, words)
        })
    }

    /// Fills in what a reply cost, by the price of its tokens, where the reviewer does not say so.
    pub(super) fn add_price(&self, usage: &mut Usage) {
        if let (Some(price), None, Some(input), Some(output)) =
            (self.price, usage.cost_microusd, usage.tokens_in, usage.tokens_out)
        {
            usage.cost_microusd = Some(price.of(input, output));
        }
    }

    /// The limit a reviewer is told where a budget counts dollars and no price limits the question.
    pub(super) fn most_microusd(&self, counts_money: bool) -> Option<u64> {
        self.question_microusd.filter(|_| counts_money && self.price.is_none())
    }

    /// The most a question of so many bytes may cost.
    pub(super) fn worst(&self, bytes: u64) -> Spending {
        self.size(bytes).map_or(Spending::default(), |size| size.worst(self.price, self.question_microusd))
    }

    /// Whether they answer in free text, with a marker at its end.
    pub fn answers_in_text(&self) -> bool {
        matches!(self.judge, Judge::Marked(_))
    }

    /// Whether files can be given to them beside the question, in the project or in a folder.
    pub fn reads_files(&self) -> bool {
        match &self.judge {
            Judge::Command(_)
            | Judge::Marked(_)
            | Judge::Replay { .. }
            | Judge::Library(_)
            | Judge::SelfReview => true,
            Judge::Agent(agent) => self.sees_project || agent.program.reads_files,
            Judge::Service(_) => false,
            Judge::TwoCall(two) => two.reviewer.reads_files(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Panel {
    seats: Vec<Seat>,
    surroundings: Arc<Surroundings>,
    checks: Slots,
    checks_at_once: usize,
}

#[derive(Clone, Debug)]
struct Seat {
    panelist: Arc<Panelist>,
    identity: String,
    place: Endpoint,
    /// The files of its programs, looked at when it is asked first.
    files: Arc<OnceCell<Vec<ProgramFile>>>,
    slots: Slots,
}

impl Panel {
    /// Makes the panel. Identities and places are taken once, here; `surroundings` are those of its programs.
    pub fn new(
        panelists: Vec<Panelist>,
        root: &Path,
        checks_at_once: usize,
        surroundings: &Surroundings,
    ) -> Self {
        let (scripts, environment) = (surroundings.scripts(root), surroundings.given());
        let seat = |panelist: Panelist| {
            let panelist = panelist.within(surroundings);
            let identity = panelist.judge.identity(&scripts);
            let mut place = place::place(&panelist.judge, root, &environment);
            place.skipped = surroundings.skipped(&place.programs);
            place.trusted = surroundings.gate.is_some();
            let slots = Slots::new(panelist.concurrency);
            Seat { panelist: Arc::new(panelist), identity, place, files: Arc::default(), slots }
        };
        let seats = panelists.into_iter().map(seat).collect();
        let checks = Slots::new(checks_at_once);
        Self { seats, surroundings: Arc::new(surroundings.clone()), checks, checks_at_once }
    }

    /// The panel of a question that no gate asks. Where files, programs and variables of its caller are the trusted ones, it
    /// asks as a gate does, so that a gate need not ask again.
    pub fn of_question(
        panelists: Vec<Panelist>,
        root: &Path,
        checks_at_once: usize,
        gate: Option<&Surroundings>,
    ) -> Self {
        let Some(gate) = gate else {
            return Self::new(panelists, root, checks_at_once, &Surroundings::own());
        };
        let own = Self::new(panelists.clone(), root, checks_at_once, &Surroundings::own());
        let at_gate = Self::new(panelists, root, checks_at_once, gate);
        let has_trusted = |seat: &Seat| {
            let commands = place::commands(&seat.panelist.judge);
            let is_missing = matches!(seat.panelist.judge, Judge::Agent(_)) && seat.place.programs.is_empty();
            !is_missing
                && gate.starts(&seat.place.programs)
                && commands.iter().all(|words| gate.has_trusted_scripts(words, root))
        };
        let is_same = |(own, other): (&Seat, &Seat)| {
            let place = Endpoint { trusted: false, ..other.place.clone() };
            own.identity == other.identity && own.place.mark() == place.mark() && has_trusted(other)
        };
        match own.seats.iter().zip(&at_gate.seats).all(is_same) {
            true => at_gate,
            false => own,
        }
    }

    /// The panel as the plan needs to know it. `prompt_bytes` is the most that is put into a question.
    pub fn reviewers(&self, prompt_bytes: u64) -> Vec<Reviewer> {
        let reviewer = |seat: &Seat| Reviewer {
            name: seat.panelist.name.clone(),
            kind: match seat.panelist.judge {
                Judge::SelfReview => ReviewerKind::SelfReview,
                _ => ReviewerKind::Asked,
            },
            identity: seat.identity.clone(),
            sees_project: seat.panelist.sees_project,
            room_bytes: seat.panelist.room_bytes(prompt_bytes),
            place: seat.place.mark(),
        };
        self.seats.iter().map(reviewer).collect()
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.seats.iter().map(|seat| seat.panelist.name.clone()).collect()
    }

    pub(super) fn find(&self, name: &str) -> Option<(Arc<Panelist>, Slots)> {
        let seat = self.seats.iter().find(|seat| seat.panelist.name == name)?;
        Some((seat.panelist.clone(), seat.slots.clone()))
    }

    /// Says by which configuration the panel asks; it is recorded with each question.
    pub fn configured_by(mut self, configuration: Digest) -> Self {
        for seat in &mut self.seats {
            seat.place.configuration = Some(configuration.clone());
        }
        self
    }

    /// The programs that are started to ask a reviewer.
    pub fn programs(&self, name: &str) -> Vec<String> {
        let seat = self.seats.iter().find(|seat| seat.panelist.name == name);
        seat.map(|seat| seat.place.programs.clone()).unwrap_or_default()
    }

    /// Where a reviewer is asked, with the files of its programs as they are now.
    pub(super) async fn place(&self, name: &str) -> Endpoint {
        let Some(seat) = self.seats.iter().find(|seat| seat.panelist.name == name) else {
            return Endpoint::default();
        };
        let files = || async {
            let programs = seat.place.programs.clone();
            tokio::task::spawn_blocking(move || place::files(&programs)).await.unwrap_or_default()
        };
        let files = seat.files.get_or_init(files).await.clone();
        Endpoint { files, ..seat.place.clone() }
    }

    /// Takes an answer away where the reviewer's program was edited since the panel was made: its ruling would be recorded
    /// under the identity of the old program.
    pub(super) fn vouch<T>(&self, name: &str, root: &Path, told: ReviewerReply<T>) -> ReviewerReply<T> {
        let root = &self.surroundings.scripts(root);
        let edited = |seat: &Seat| {
            // Only programs of the user's have files that can be edited.
            let has_files =
                matches!(seat.panelist.judge, Judge::Command(_) | Judge::Marked(_) | Judge::TwoCall(_));
            has_files && seat.panelist.name == name && seat.panelist.judge.identity(root) != seat.identity
        };
        if !self.seats.iter().any(edited) {
            return told;
        }
        let words =
            format!("a file that the command of reviewer `{name}` names was edited while it was asked");
        ReviewerReply { result: Err(Failed::new(NoVerdict::Unavailable, words)), ..told }
    }

    /// Takes over the slots of a panel that is replaced, where their number is the same. Otherwise a reviewer would get more
    /// questions at once than allowed, until those of the old panel are answered.
    pub(super) fn keep_slots(&mut self, before: &Self) {
        for seat in &mut self.seats {
            let same = |old: &&Seat| {
                old.panelist.name == seat.panelist.name
                    && old.panelist.concurrency == seat.panelist.concurrency
            };
            if let Some(old) = before.seats.iter().find(same) {
                seat.slots = old.slots.clone();
            }
        }
        if self.checks_at_once == before.checks_at_once {
            self.checks = before.checks.clone();
        }
    }

    pub(super) fn surroundings(&self) -> Arc<Surroundings> {
        self.surroundings.clone()
    }

    pub(super) fn checks(&self) -> Slots {
        self.checks.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::claude;
    use crate::reviewer::service::Api;
    use countersign_core::ids::ReviewId;

    fn panel(panelists: &[(&str, usize)], checks_at_once: usize) -> Panel {
        let panelist = |(name, concurrency): &(&str, usize)| Panelist {
            name: (*name).to_owned(),
            judge: Judge::SelfReview,
            sees_project: false,
            timeout: None,
            concurrency: *concurrency,
            window_tokens: None,
            price: None,
            question_microusd: None,
            vendor: None,
        };
        Panel::new(
            panelists.iter().map(panelist).collect(),
            Path::new("."),
            checks_at_once,
            &Surroundings::default(),
        )
    }

    /// Whether a question gets a slot without waiting.
    async fn is_free(slots: &Slots) -> bool {
        let review = ReviewId::from_text("rv-other");
        tokio::time::timeout(Duration::ZERO, slots.acquire(&review)).await.is_ok()
    }

    #[tokio::test]
    async fn a_new_panel_keeps_slots_that_are_taken() {
        let before = panel(&[("same", 1), ("other", 1), ("gone", 1)], 1);
        let review = ReviewId::from_text("rv-one");
        let slots = |panel: &Panel, name: &str| panel.find(name).unwrap().1;
        let _taken = slots(&before, "same").acquire(&review).await;
        let _also = slots(&before, "other").acquire(&review).await;
        let _checks = before.checks().acquire(&review).await;
        let mut now = panel(&[("same", 1), ("other", 2), ("new", 1)], 1);
        now.keep_slots(&before);
        for (name, free) in [("same", false), ("other", true), ("new", true)] {
            assert_eq!(is_free(&slots(&now, name)).await, free, "{name}");
        }
        assert!(!is_free(&now.checks()).await);
        let mut more = panel(&[], 2);
        more.keep_slots(&before);
        assert!(is_free(&more.checks()).await);
    }

    fn panelist(judge: Judge) -> Panelist {
        Panelist {
            name: "p".to_owned(),
            judge,
            sees_project: false,
            timeout: None,
            concurrency: 1,
            window_tokens: Some(20_000),
            price: None,
            question_microusd: None,
            vendor: None,
        }
    }

    #[test]
    fn a_full_window_is_noticed_where_one_question_is_one_request() {
        let service = panelist(Judge::Service(Service {
            api: Api::OpenAi,
            base_url: "http://127.0.0.1/v1".to_owned(),
            model: "m".to_owned(),
            key: Ok(None),
            reply_tokens: 5_000,
        }));
        assert!(service.was_cut(15_000).is_none());
        assert_eq!(service.was_cut(15_001).unwrap().why, NoVerdict::TooLong);
        assert!(service.was_cut(u64::MAX).is_some());
        // What a program reports is the sum of as many requests as it liked to make.
        let agent = panelist(Judge::Agent(Agent::new(&claude::FACTS, None, vec![])));
        assert!(agent.was_cut(90_000).is_none());
    }
}
