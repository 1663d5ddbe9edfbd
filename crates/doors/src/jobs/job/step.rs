//! Reads one step of a job: its outputs, reviews, inputs and hooks.

use super::read::Reader;
use super::warnings;
use super::written::{WrittenHook, WrittenInput, WrittenOutput, WrittenReview, WrittenStep};
use super::{RunEach, Step, StepOutput, StepReview};
use countersign_core::criterion::fold_name;
use countersign_engine::yaml::{At, Given, Named, OrderedMap, quoted};
use std::ops::Range;

pub(super) fn step(reader: &mut Reader<'_>, at: &At<WrittenStep>) -> Option<Step> {
    let written = at.value.as_ref()?;
    let owner = ("this step", &at.span);
    let id = reader.id(written.id.as_ref(), "id", owner);
    let name = reader.text(written.name.as_ref(), "name", owner);
    let description = reader.text(written.description.as_ref(), "description", owner);
    reader.sink.required(written.instructions_file.as_ref(), "instructions_file", owner);
    let file = written.instructions_file.as_ref();
    let instructions = file.and_then(|at| reader.file(at, "the instructions file"));
    let outputs = outputs(reader, written.outputs.as_ref(), &at.span);
    let reviews = reviews(reader, written, outputs.as_deref(), &at.span);
    for input in written.inputs.items() {
        check_input(reader, input);
    }
    check_hooks(reader, written);
    reader.optional_text(written.agent.0.as_ref(), "agent");
    Some(Step {
        id: id?.0,
        name: name?,
        description: description?,
        instructions: instructions?,
        outputs: outputs?,
        reviews: reviews?,
    })
}

fn outputs(
    reader: &mut Reader<'_>,
    written: Option<&At<OrderedMap<WrittenOutput>>>,
    step: &Range<usize>,
) -> Option<Vec<StepOutput>> {
    if written.is_none() {
        let (message, hint) = ("this step has no `outputs`", "for none, write `outputs: {}`");
        reader.sink.report_with_hint("missing-key", step, message, hint);
    }
    let OrderedMap(entries) = written?.value.as_ref()?;
    let read: Vec<_> = entries.iter().map(|(name, output)| self::output(reader, name, output)).collect();
    read.into_iter().collect()
}

fn output(reader: &mut Reader<'_>, name: &At<String>, at: &At<WrittenOutput>) -> Option<StepOutput> {
    let owner = ("this output", &name.span);
    let name = reader.sink.name(Some(name), owner);
    let written = at.value.as_ref()?;
    let kind = reader.sink.required(written.r#type.as_ref(), "type", owner).map(|(kind, _)| *kind);
    let description = reader.text(written.description.as_ref(), "description", owner);
    let required = reader.sink.required(written.required.as_ref(), "required", owner);
    Some(StepOutput { name: name?.name, kind: kind?, description: description?, required: *required?.0 })
}

fn reviews(
    reader: &mut Reader<'_>,
    written: &WrittenStep,
    outputs: Option<&[StepOutput]>,
    step: &Range<usize>,
) -> Option<Vec<StepReview>> {
    if written.reviews.is_none() {
        let message = "this step has no `reviews`, so it is not reviewed";
        let hint = "if this is intended, write `reviews: []`";
        reader.sink.report_with_hint("missing-key", step, message, hint);
    }
    let listed = written.reviews.as_ref()?.value.as_ref()?;
    let read: Vec<_> = listed.iter().map(|at| review(reader, at, written, outputs)).collect();
    read.into_iter().collect()
}

fn review(
    reader: &mut Reader<'_>,
    at: &At<WrittenReview>,
    step: &WrittenStep,
    outputs: Option<&[StepOutput]>,
) -> Option<StepReview> {
    let written = at.value.as_ref()?;
    let run_each = run_each(reader, written, step, &at.span);
    let criteria = criteria(reader, written, &at.span);
    let guidance = written.additional_review_guidance.get().filter(|text| !text.trim().is_empty()).cloned();
    if let (Some(at), Some(text)) = (&written.additional_review_guidance.0, &guidance) {
        reader.guidance(&at.span, text);
    }
    let run_each = run_each?;
    let looked_at = outputs.and_then(|all| all.iter().find(|output| output.name == run_each.text()));
    let kind = looked_at.filter(|_| run_each != RunEach::Step).map(|output| output.kind);
    if let (Some(warning), Some(at)) = (warnings::review(kind, guidance.as_deref()), &written.run_each) {
        reader.warn(&at.span, warning);
    }
    Some(StepReview { run_each, criteria: criteria?, guidance })
}

/// What a review looks at. A review of an unknown output would silently never be asked.
fn run_each(
    reader: &mut Reader<'_>,
    written: &WrittenReview,
    step: &WrittenStep,
    review: &Range<usize>,
) -> Option<RunEach> {
    let (name, span) =
        reader.sink.required(written.run_each.as_ref(), "run_each", ("this review", review))?;
    if name == "step" {
        return Some(RunEach::Step);
    }
    // An invalid output counts too: its mistake is reported already.
    let OrderedMap(entries) = step.outputs.as_ref()?.value.as_ref()?;
    let names: Vec<&str> = entries.iter().filter_map(|(key, _)| key.value.as_deref()).collect();
    if names.contains(&name.as_str()) {
        return Some(RunEach::Output(name.clone()));
    }
    let known: Vec<&str> = std::iter::once("step").chain(names).collect();
    let message = format!("`run_each` is {}, but this step has no output with this name", quoted(name));
    let known = (known.as_slice(), "`step` means all outputs together; possible values are");
    reader.sink.report_unknown("unknown-output", (name, span), message, known);
    None
}

fn criteria(
    reader: &mut Reader<'_>,
    written: &WrittenReview,
    review: &Range<usize>,
) -> Option<Vec<(String, String)>> {
    let field = written.quality_criteria.as_ref();
    let (OrderedMap(entries), span) =
        reader.sink.required(field, "quality_criteria", ("this review", review))?;
    if entries.is_empty() {
        let hint = "give at least one, such as `Complete: Is every command of the tool described?`";
        let message = "`quality_criteria` is empty, so the review asks nothing";
        reader.sink.report_with_hint("no-criteria", span, message, hint);
        return None;
    }
    let mut names: Vec<Named> = Vec::new();
    let mut good = Vec::new();
    for (key, question) in entries {
        let name = reader.sink.name(Some(key), ("this criterion", &key.span));
        names.extend(name.clone());
        let (Some(name), Some(asked)) = (name, &question.value) else { continue };
        if asked.trim().is_empty() {
            let message = format!("the criterion {} has no question", quoted(&name.name));
            let hint = "say after the colon what must be true";
            reader.sink.report_with_hint("empty", &question.span, message, hint);
        }
        for warning in warnings::criterion(&name.name, asked) {
            reader.warn(&question.span, warning);
        }
        good.push((name.name, asked.clone()));
    }
    reader.sink.unique("the criterion", fold_name, names.iter());
    (good.len() == entries.len()).then_some(good)
}

fn check_input(reader: &mut Reader<'_>, at: &At<WrittenInput>) {
    let Some(WrittenInput { name, description, file, from_step }) = &at.value else { return };
    let asked = name.0.is_some() || description.0.is_some();
    let from_a_step = file.0.is_some() || from_step.0.is_some();
    let keys = match (asked, from_a_step) {
        (true, true) => {
            let message = "this input mixes two kinds of inputs";
            let hint = "either `name` and `description`, asked of the user, or `file` and `from_step`";
            return reader.sink.report_with_hint("wrong-shape", &at.span, message, hint);
        }
        (_, true) => [(file, "file"), (from_step, "from_step")],
        (_, false) => [(name, "name"), (description, "description")],
    };
    for (field, key) in keys {
        reader.text(field.0.as_ref(), key, ("this input", &at.span));
    }
}

fn check_hooks(reader: &mut Reader<'_>, step: &WrittenStep) {
    let mut lists = vec![&step.stop_hooks];
    if let Some(hooks) = step.hooks.get() {
        lists.extend([&hooks.after_agent, &hooks.before_tool, &hooks.before_prompt]);
    }
    for hook in lists.into_iter().flat_map(Given::items) {
        check_hook(reader, hook);
    }
}

fn check_hook(reader: &mut Reader<'_>, at: &At<WrittenHook>) {
    let Some(WrittenHook { prompt, prompt_file, script }) = &at.value else { return };
    let given = [(prompt, "prompt"), (prompt_file, "prompt_file"), (script, "script")];
    let given: Vec<_> = given.into_iter().filter_map(|(field, key)| Some((field.0.as_ref()?, key))).collect();
    match given.as_slice() {
        [(file, "prompt_file")] => drop(reader.file(file, "the prompt file")),
        [(field, key)] => drop(reader.text(Some(field), key, ("this hook", &at.span))),
        several => {
            let message = format!(
                "a hook needs exactly one of `prompt`, `prompt_file` and `script`; this one has {}",
                several.len()
            );
            reader.sink.report_with_hint("wrong-shape", &at.span, message, "a hook is one of them");
        }
    }
}
