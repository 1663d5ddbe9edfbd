//! `qr loop`: decompose, verify, fix, and again, until the gate passes or the loop ends for another reason.

use super::ask::QrQuestion;
use super::{Answered, QrContext, Watch, decompose, guidance, verify};
use crate::answer::v1::qr::Verified;
use crate::author::{OWN_CALL, actor};
use crate::project::guard_program;
use crate::{Code, Failure};
use countersign_core::outcome::{NoVerdict, Outcome};
use countersign_core::policy::GateEnd;
use countersign_core::text::{counted, cut_front_words, visible_line};
use countersign_doors::qr::asking::{self, Remembered};
use countersign_doors::qr::transition::gate;
use countersign_doors::qr::{State, texts};
use countersign_engine::process::{self, Call, Ended, ProcessEnd};
use std::path::PathBuf;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The output of a fixer is not read.
const FIXER_OUTPUT_BYTES_MAX: usize = 64 * 1024 * 1024;
const STDERR_TAIL_BYTES: usize = 4 * 1024;
/// How much of the end of a fixer's error output is shown.
const QUOTED_BYTES: usize = 400;

pub struct Loop {
    pub artifacts: Vec<PathBuf>,
    pub fixer: String,
    pub fixer_timeout_seconds: u32,
}

pub async fn until_passed(
    context: &QrContext,
    wanted: &Loop,
    watch: &impl Watch,
    cancel: &CancellationToken,
) -> Result<Answered<Verified>, Failure> {
    let phase = context.phase()?;
    context.dir.create()?;
    let asked = QrQuestion::open(context, &wanted.artifacts, true).await?;
    let fixer = context.project.words(&wanted.fixer);
    if fixer.is_empty() {
        return Err(Failure::usage("--fixer names no program").hint("for example --fixer 'claude -p'"));
    }
    match context.dir.read(phase)?.map(|known| known.state).filter(|state| !state.items.is_empty()) {
        None => {
            watch.note(&format!("{phase}: decomposing the work into items"));
            let state = decompose::decompose(&asked, true, watch, cancel).await?;
            watch.note(&format!("{phase}: {}", counted(state.items.len(), "item", "items")));
        }
        Some(_) => {
            if !asked.qr.disagreements().await?.is_empty() {
                asked.qr.reconcile(&actor()).await?;
                watch.note(&format!(
                    "{phase}: the state file is put right: the ledger has the items and rulings"
                ));
            }
            look_again(&asked).await?;
        }
    }
    let mut fixes: u32 = 0;
    loop {
        let looked_at = asked.materials()?.digest();
        let verified = verify::all(&asked, &[], watch, cancel).await?;
        let known = Remembered { paths: asked.paths.clone(), verified: Some(looked_at) };
        asking::remember(&asked.qr, &known).await?;
        let state = &verified.state;
        watch.note(&format!("{phase}, round {}: {}", state.iteration, texts::counts(state)));
        let end = gate(state, context.policy()).end;
        if end != GateEnd::Fail || !verified.unruled.is_empty() {
            return verify::answer(context, &verified, Some(fixes)).await;
        }
        fix(context, &asked, wanted, &fixer, state, watch, cancel).await?;
        fixes += 1;
        let (state, _) = asked.qr.fixed(&[], &actor()).await?;
        watch.note(&format!("{phase}: fixes applied, round {} begins", state.iteration));
    }
}

/// Opens items again that passed on other content, also where a loop was interrupted. It is no fix, so no round begins.
async fn look_again(asked: &QrQuestion) -> Result<(), Failure> {
    let is_other = asked.verified.as_ref() != Some(&asked.materials()?.digest());
    asked.qr.reopen(is_other, &actor()).await?;
    Ok(())
}

/// Runs the fixer with the document's fix guidance on its standard input.
async fn fix(
    context: &QrContext,
    asked: &QrQuestion,
    wanted: &Loop,
    fixer: &[String],
    state: &State,
    watch: &impl Watch,
    cancel: &CancellationToken,
) -> Result<(), Failure> {
    let guidance = guidance::by_reviewer(asked, state, watch, cancel).await?;
    watch.warn(&guidance.warnings);
    let here = context.here(state.phase).await;
    let text = texts::fix_guidance(state, context.policy(), &here, |item| guidance.fix(item));
    // The loop itself does the next step.
    let text: Vec<&str> = text.lines().filter(|line| !line.starts_with("NEXT:")).collect();
    let (program, args) = fixer.split_first().ok_or_else(|| Failure::usage("--fixer names no program"))?;
    let mut call = Call::new(program);
    call.args = args.iter().map(Into::into).collect();
    call.cwd = context.project.root.path().to_owned();
    call.env = vec![(OWN_CALL.into(), "qr-loop".into())];
    call.stdin = (text.join("\n").trim_end().to_owned() + "\n").into_bytes();
    call.timeout = Duration::from_secs(wanted.fixer_timeout_seconds.into());
    call.stdout_limit_bytes = FIXER_OUTPUT_BYTES_MAX;
    call.stderr_tail_bytes = STDERR_TAIL_BYTES;
    watch.note(&format!("{}: {} is fixing it", state.phase, visible_line(program)));
    let ended = process::run(&guard_program()?, call, cancel).await;
    let ended = ended.map_err(|error| Failure::internal(format!("the fixer could not be run: {error}")))?;
    match ended.how {
        ProcessEnd::Exited(0) => Ok(()),
        ProcessEnd::Cancelled => Err(Failure::interrupted()),
        _ => Err(failed(program, &ended, wanted.fixer_timeout_seconds)),
    }
}

/// The failure of a fixer. Its changes stay, unverified.
fn failed(program: &str, ended: &Ended, seconds: u32) -> Failure {
    let (why, words) = match &ended.how {
        ProcessEnd::TimedOut => (NoVerdict::Timeout, format!("did not end within {seconds} seconds")),
        ProcessEnd::Exited(code) => (NoVerdict::Unavailable, format!("ended with exit code {code}")),
        ProcessEnd::Signalled(signal) => (NoVerdict::Unavailable, format!("was ended by signal {signal}")),
        ProcessEnd::NotStarted { reason } => {
            (NoVerdict::Unavailable, format!("could not be started: {reason}"))
        }
        ProcessEnd::TooMuchOutput { limit_bytes } => {
            (NoVerdict::TooLong, format!("wrote more than {limit_bytes} bytes"))
        }
        ProcessEnd::Cancelled | ProcessEnd::GuardLost => (NoVerdict::Unavailable, "was lost".to_owned()),
    };
    let said = visible_line(cut_front_words(&ended.stderr_tail, QUOTED_BYTES)).into_owned();
    let said = if said.trim().is_empty() { String::new() } else { format!(": {}", said.trim()) };
    let message = format!("the fixer `{}` {words}{said}", visible_line(program));
    Failure {
        outcome: Outcome::NoVerdict(why),
        code: Code::Fixer,
        ..Failure::usage(message).hint("run the same command again: it verifies the changes first")
    }
}
