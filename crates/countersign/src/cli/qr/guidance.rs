//! `qr fix`: instructions for the failures that block, by a reviewer where one is configured.

use super::arguments::FixOptions;
use super::ask::Asked;
use super::decompose::prompt;
use super::place::Place;
use super::{Failure, json};
use crate::output::{Answer, Printer};
use countersign_core::outcome::Outcome;
use countersign_doors::qr::asking::AskError;
use countersign_doors::qr::words::{self, blocking_failures};
use countersign_doors::qr::{Item, State};
use countersign_engine::engine::Judge;
use serde_json::Value;
use std::collections::HashMap;
use tokio_util::sync::CancellationToken;

/// Instructions by item, and what went wrong where they are not a reviewer's.
pub struct Guidance {
    fixes: HashMap<String, String>,
    pub warnings: Vec<String>,
}

impl Guidance {
    /// What to do about an item.
    pub fn fix(&self, item: &Item) -> String {
        self.fixes.get(&item.id).cloned().unwrap_or_else(|| words::fix_of(item))
    }
}

/// Prints instructions.
pub async fn run(
    place: &Place,
    options: &FixOptions,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    let phase = place.phase()?;
    let (here, policy) = (place.here(phase), place.policy());
    let state = place.dir.require(phase)?.state;
    if options.print_prompt {
        let asked = Asked::open(place, &options.ask, false).await?;
        let materials = asked.materials()?;
        let question = asked.about(&materials).fixing(&state);
        return Ok(prompt(&asked.engine.consultation_words(&question), &here.fixed()));
    }
    let guidance = match !blocking_failures(&state, policy).is_empty() && is_asked(place)? {
        true => by_reviewer(&Asked::open(place, &options.ask, true).await?, &state, printer, cancel).await?,
        false => Guidance { fixes: HashMap::new(), warnings: vec![] },
    };
    let fix = |item: &Item| guidance.fix(item);
    let text = words::fix_guidance(&state, policy, &here, fix);
    let mut json = json::state(&state, policy, &here);
    json["fixes"] = Value::Array(json::failures(&state, policy, fix));
    Ok(Answer { warnings: guidance.warnings, ..Answer::new(Outcome::Passed, text, json) })
}

/// Whether a reviewer is named who can be asked. One that just happens to be installed is not: the findings say
/// enough.
fn is_asked(place: &Place) -> Result<bool, Failure> {
    let config = &place.project.config;
    if config.reviewer.is_none() && config.reviewers.is_empty() {
        return Ok(false);
    }
    let panelists = place.project.panelists()?;
    Ok(panelists.iter().any(|panelist| !matches!(panelist.judge, Judge::SelfReview)))
}

/// Instructions from a reviewer. Without any the findings have to do: no instruction is a verdict.
pub async fn by_reviewer(
    asked: &Asked,
    state: &State,
    printer: &Printer,
    cancel: &CancellationToken,
) -> Result<Guidance, Failure> {
    let materials = asked.materials()?;
    let asking = asked.about(&materials);
    match printer.progress().during(&asked.engine, asking.fixes(state, cancel)).await {
        Ok(fixes) => Ok(Guidance { fixes, warnings: vec![] }),
        Err(AskError::NoAnswer(failed)) => {
            let words = format!(
                "the instructions are the findings themselves, because no reviewer gave any ({}): {}",
                failed.why.name(),
                failed.detail
            );
            Ok(Guidance { fixes: HashMap::new(), warnings: vec![words] })
        }
        Err(error) => Err(error.into()),
    }
}
