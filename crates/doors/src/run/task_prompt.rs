//! What an agent is told of a task. Pure.

use super::prompt_files::render;
use super::tasks::Task;
use countersign_core::text;

/// The most that is told of an attempt that failed before.
const PREVIOUS_ERROR_BYTES: usize = 16 * 1024;
/// The most that is told of the requirements a task comes from.
const TRACED_BYTES: usize = 32 * 1024;

/// The variable of a template that says what went wrong before.
const PREVIOUS: &str = "PREVIOUS_ERRORS";

/// What a prompt is made of.
#[derive(Clone, Debug)]
pub struct TaskPrompt<'a> {
    /// The task.
    pub task: &'a Task,
    /// The passages of requirements and design it comes from.
    pub traced: &'a str,
    /// Why the attempt before failed.
    pub previous_error: Option<&'a str>,
    /// The project's own template, in which `{{NAME}}` stands for a part.
    pub template: Option<&'a str>,
    /// The command that tests.
    pub test_command: Option<&'a str>,
}

const ENDING: &str = "\
When everything is done, end with this line alone:
TASK_COMPLETE

If it does not work, end with `TASK_FAILED: ` and why. If something is missing that you cannot get (an answer, an \
access), end with `TASK_BLOCKED: ` and what. Do not commit, do not switch branches, and do not edit the list of tasks: \
that is done for you.
";

/// The prompt.
pub fn task_prompt(parts: &TaskPrompt<'_>) -> String {
    match parts.template {
        Some(template) => filled(template, parts),
        None => own(parts),
    }
}

fn own(parts: &TaskPrompt<'_>) -> String {
    let task = parts.task;
    let mut out =
        format!("# {}: {}\n\nDo this task in the project in the current folder.\n", task.id, task.name);
    let mut section = |heading: &str, body: &str| {
        if !body.trim().is_empty() {
            out.push_str(&format!("\n## {heading}\n\n{}\n", body.trim_end()));
        }
    };
    section("Description", &task.description);
    section("Checklist", &checklist(task));
    section("Requirements", text::cut_noted(parts.traced, TRACED_BYTES).as_ref());
    if let Some(command) = parts.test_command {
        section("Tests", &format!("These must pass: `{command}`"));
    }
    if let Some(error) = parts.previous_error {
        section(
            "Previous Errors",
            &format!(
                "The attempt before this one did not go through. What is there of it is in the files.\n\n{}",
                text::cut_noted(error, PREVIOUS_ERROR_BYTES)
            ),
        );
    }
    section("When you are done", ENDING);
    out
}

/// A template with its parts. Whatever it forgets, an agent has to know how to end.
fn filled(template: &str, parts: &TaskPrompt<'_>) -> String {
    let task = parts.task;
    let previous = parts.previous_error.map(|error| text::cut_noted(error, PREVIOUS_ERROR_BYTES));
    let (checklist, traced) = (checklist(task), text::cut_noted(parts.traced, TRACED_BYTES));
    let values = [
        ("TASK_ID", task.id.as_str()),
        ("TASK_NAME", task.name.as_str()),
        ("PRIORITY", task.priority.word()),
        ("ESTIMATE", task.estimate.as_deref().unwrap_or_default()),
        ("MILESTONE", task.milestone.as_deref().unwrap_or_default()),
        ("DESCRIPTION", task.description.as_str()),
        ("CHECKLIST", checklist.as_str()),
        ("RELATED_REQS", traced.as_ref()),
        ("TEST_COMMAND", parts.test_command.unwrap_or_default()),
        (PREVIOUS, previous.as_deref().unwrap_or_default()),
    ];
    let rendered = render(template, &values);
    let mut out = rendered.text;
    if let (Some(error), false) = (&previous, rendered.used.contains(PREVIOUS)) {
        out.push_str(&format!("\n\n## Previous Errors\n\n{error}\n"));
    }
    if !template.contains("TASK_COMPLETE") {
        out.push_str(&format!("\n\n{ENDING}"));
    }
    out
}

/// The checklist as it stands in the list of tasks.
pub fn checklist(task: &Task) -> String {
    let item = |item: &super::tasks::ChecklistItem| {
        format!("- [{}] {}\n", if item.done { 'x' } else { ' ' }, item.text)
    };
    task.checklist.iter().map(item).collect()
}
