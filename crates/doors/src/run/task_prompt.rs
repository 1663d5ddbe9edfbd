//! The prompt of an agent for a task, from the built-in text or the template of the project.

use super::prompt_files::render;
use super::tasks::Task;
use countersign_core::text;

const PREVIOUS_ERROR_BYTES: usize = 16 * 1024;
const TRACED_BYTES: usize = 32 * 1024;

const PREVIOUS: &str = "PREVIOUS_ERRORS";

pub(super) struct TaskPrompt<'a> {
    pub task: &'a Task,
    pub traced: &'a str,
    pub previous_error: Option<&'a str>,
    /// The template of the project, in which `{{NAME}}` stands for a part.
    pub template: Option<&'a str>,
    pub test_command: Option<&'a str>,
}

const ENDING: &str = "\
When everything is done, end with this line alone:
TASK_COMPLETE

If it does not work, end with `TASK_FAILED: ` and why. If something is missing that you cannot get (an answer, an \
access), end with `TASK_BLOCKED: ` and what. Do not commit, do not switch branches, and do not edit the list of tasks: \
that is done for you.
";

pub(super) fn task_prompt(parts: &TaskPrompt<'_>) -> String {
    match parts.template {
        Some(template) => from_template(template, parts),
        None => built_in(parts),
    }
}

fn built_in(parts: &TaskPrompt<'_>) -> String {
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

/// The template with its parts. Previous errors and the markers are added where the template does not have them.
fn from_template(template: &str, parts: &TaskPrompt<'_>) -> String {
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

pub(super) fn checklist(task: &Task) -> String {
    let tick = |done: bool| if done { 'x' } else { ' ' };
    task.checklist.iter().map(|item| format!("- [{}] {}\n", tick(item.done), item.text)).collect()
}
