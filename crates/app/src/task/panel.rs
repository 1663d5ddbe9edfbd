//! The reviewers of a task in free text, the parsers of their reviews, and the prompt they get.

use crate::authority::OwnCommand;
use crate::project::Project;
use crate::{Failure, name_a_reviewer};
use countersign_core::cost::Price;
use countersign_doors::service::command::{
    COMMANDS_FOLDER, MAX_COMMAND_BYTES, REVIEW_TASK, REVIEW_TASK_WORDS, ReviewCommand, expand, file_of,
};
use countersign_engine::config::ServiceConfig;
use countersign_engine::engine::{Judge, Panelist, TwoCall};
use countersign_engine::git::Git;
use countersign_engine::reviewer::Command;
use countersign_engine::yaml::read_at_most;
use std::io::ErrorKind;
use std::path::PathBuf;

/// All reviewers, each with a parser of its reviews.
pub async fn two_call(project: &Project, base: Option<&str>) -> Result<Vec<Panelist>, Failure> {
    let settings = &project.config.service;
    let asked: Vec<Panelist> = project.panelists()?.into_iter().filter(can_be_asked).collect();
    let command = ReviewCommand::of(&settings.command).map_err(Failure::usage)?;
    let (reviewers, name, words) = match &command {
        ReviewCommand::Program(program) => {
            let judge =
                Judge::Command(Command { argv: project.words(program), model: settings.model.clone() });
            // A program of the user reads the project itself.
            let reviewer = Panelist { sees_project: true, ..project.panelist("review command", judge) };
            (vec![reviewer], REVIEW_TASK.to_owned(), REVIEW_TASK_WORDS.to_owned())
        }
        ReviewCommand::Words { name, arguments } => {
            let template = template(project, settings, base, name).await?;
            let reviewers = asked.iter().cloned();
            let reviewers = reviewers.map(|one| with_model(one, settings.model.as_deref())).collect();
            (reviewers, name.clone(), expand(&template, arguments))
        }
    };
    let mut panel = vec![];
    for reviewer in reviewers {
        let parser = parser(project, settings, &asked, &reviewer)?;
        panel.push(wrapped(reviewer, parser, name.clone(), words.clone()));
    }
    if panel.is_empty() {
        return Err(Failure::usage("no configured reviewer can review a task in free text")
            .hint(format!("{}, or under `reviewers:` in countersign.yml", name_a_reviewer())));
    }
    Ok(panel)
}

fn can_be_asked(panelist: &Panelist) -> bool {
    !matches!(panelist.judge, Judge::SelfReview | Judge::Marked(_))
}

fn wrapped(reviewer: Panelist, parser: Panelist, command: String, task: String) -> Panelist {
    let dearer = |a: Price, b: Price| Price {
        input_microusd: a.input_microusd.max(b.input_microusd),
        output_microusd: a.output_microusd.max(b.output_microusd),
    };
    let price = reviewer.price.zip(parser.price).map(|(a, b)| dearer(a, b));
    let question_microusd = reviewer.question_microusd.zip(parser.question_microusd);
    Panelist {
        price,
        // Either may be asked twice.
        question_microusd: question_microusd.map(|(a, b)| 2 * (a + b)),
        judge: Judge::TwoCall(Box::new(TwoCall { reviewer: reviewer.clone(), parser, command, task })),
        ..reviewer
    }
}

/// The parser: the configured one, else the reviewer itself, with a light model where one is known.
fn parser(
    project: &Project,
    settings: &ServiceConfig,
    asked: &[Panelist],
    reviewer: &Panelist,
) -> Result<Panelist, Failure> {
    let model = settings.parser_model.as_deref();
    if let Some(name) = &settings.parser {
        let found = project.reviewer_named(name)?.filter(can_be_asked);
        let found = found.ok_or_else(|| {
            Failure::usage(format!("`review.parser` is `{name}`, which cannot read a review"))
                .hint("name a reviewer that answers questions")
        })?;
        return Ok(with_model(Panelist { sees_project: false, ..found }, model));
    }
    let own = asked.iter().find(|one| one.name == reviewer.name).or(asked.first());
    let Some(own) = own.cloned() else {
        return Err(Failure::usage("no configured reviewer can read the output of the review command")
            .hint("name one under `reviewers:` in countersign.yml, and in `review.parser`"));
    };
    let light = match &own.judge {
        Judge::Agent(agent) if agent.base_url.is_none() => agent.program.light_model,
        _ => None,
    };
    Ok(with_model(Panelist { sees_project: false, ..own }, model.or(light)))
}

fn with_model(mut panelist: Panelist, model: Option<&str>) -> Panelist {
    let Some(model) = model else { return panelist };
    match &mut panelist.judge {
        Judge::Command(command) => command.model = Some(model.to_owned()),
        Judge::Agent(agent) => agent.model = Some(model.to_owned()),
        Judge::Service(service) => model.clone_into(&mut service.model),
        Judge::Replay { .. }
        | Judge::Marked(_)
        | Judge::TwoCall(_)
        | Judge::Library(_)
        | Judge::SelfReview => {}
    }
    panelist
}

/// The prompt of a command: built in, of `countersign.yml`, of the project, or of the user. At a gate both are as a person
/// trusted them, elsewhere that of the project is as of the base. Never of the tree that is judged.
async fn template(
    project: &Project,
    settings: &ServiceConfig,
    base: Option<&str>,
    name: &str,
) -> Result<String, Failure> {
    if let Some(prompt) = &settings.prompt {
        return Ok(prompt.clone());
    }
    if name == REVIEW_TASK {
        return Ok(REVIEW_TASK_WORDS.to_owned());
    }
    let file = format!("{COMMANDS_FOLDER}/{}", file_of(name));
    let unusable =
        |words: String| Failure::usage(format!("the review command `/{name}` cannot be used: {words}"));
    let trusted = project.authority.as_ref().and_then(|authority| authority.trusted.as_deref());
    if let Some(base) = project.trusted_commit().or(base) {
        let found = Git::at(project.root.path()).file_at(base, &file).await;
        if let Some(bytes) = found.map_err(|error| unusable(error.to_string()))? {
            return words_of(bytes).map_err(|words| unusable(format!("{file}: {words}")));
        }
    }
    let own = match trusted {
        Some(trusted) => trusted.review_command.clone().filter(|own| own.name == name),
        None => own_command(name).map_err(unusable)?,
    };
    if let Some(own) = own {
        return Ok(own.text);
    }
    Err(Failure::usage(format!("there is no review command `/{name}`")).hint(format!(
        "commit {file}, write the prompt in `review.prompt`, or use the built-in `/{REVIEW_TASK}`"
    )))
}

/// The command that the user has in the own home, where the configuration names one that the project may lack.
pub fn own_command_of(settings: &ServiceConfig) -> Option<OwnCommand> {
    match ReviewCommand::of(&settings.command) {
        Ok(ReviewCommand::Words { name, .. }) if settings.prompt.is_none() && name != REVIEW_TASK => {
            own_command(&name).ok().flatten()
        }
        _ => None,
    }
}

fn own_command(name: &str) -> Result<Option<OwnCommand>, String> {
    let Some(home) = std::env::var_os("HOME") else { return Ok(None) };
    let path = PathBuf::from(home).join(format!("{COMMANDS_FOLDER}/{}", file_of(name)));
    match read_at_most(&path, MAX_COMMAND_BYTES) {
        Ok(bytes) => {
            let text = words_of(bytes).map_err(|words| format!("{}: {words}", path.display()))?;
            Ok(Some(OwnCommand { name: name.to_owned(), text }))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

fn words_of(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.len() > MAX_COMMAND_BYTES {
        return Err(format!("it has more than {MAX_COMMAND_BYTES} bytes"));
    }
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    if text.trim().is_empty() { Err("it is empty".to_owned()) } else { Ok(text) }
}
