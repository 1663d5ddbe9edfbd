//! The ways people are told by (SVC-15): each at the door of the system it uses, as it works and as it fails.

mod hook;

use crate::project;
use countersign_testkit::{Act, Loopback, Project, Ran, Running, Terminal};
pub use hook::Hook;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

const CONFIG: &str = "version: 1\nrules: [{name: r, for: ['**'], criteria: [{name: A, ask: 'Is it?'}]}]\n";

/// A project with these settings, where neither bell nor desktop disturb whoever runs the tests.
fn notifying(settings: &str) -> Project {
    let project = project();
    let quiet = "notify:\n  desktop: false\n  bell: false\n";
    project.write("countersign.yml", format!("{CONFIG}{quiet}{settings}"));
    project
}

/// A program in a folder of the project's.
fn program(project: &Project, name: &str, script: &str) {
    let path = format!("bin/{name}");
    project.write(&path, format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(project.path(&path), std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// The command with the project's programs on its path, before those of the system.
fn command(project: &Project, args: &[&str]) -> Command {
    let mut command = project.command(args);
    command.env("PATH", format!("{}:/usr/bin:/bin", project.path("bin").display()));
    command
}

fn tested(project: &Project) -> Ran {
    Running::start(&mut command(project, &["notify", "--test", "--json"])).wait()
}

/// State and words of a way.
fn line(ran: &Ran, way: &str) -> (String, String) {
    let json = ran.json();
    let found = json["lines"].as_array().unwrap().iter().find(|line| line["what"] == way).unwrap().clone();
    let text = |key: &str| found[key].as_str().unwrap().to_owned();
    (text("state"), text("detail"))
}

/// SVC-15.
#[test]
fn svc_15_a_webhook_gets_the_notification_as_json_with_its_token() {
    let service = Loopback::<Hook>::always(Act::Raw(String::new()));
    let url = format!("{}/hooks/secret?x=1", service.url());
    let project = notifying(&format!("  webhook: {{url: '{url}', token_env: HOOK_TOKEN}}\n"));
    let ran =
        Running::start(project.command(&["notify", "--test", "--json"]).env("HOOK_TOKEN", "tok-1")).wait();
    assert_eq!(line(&ran.exits(0), "webhook").0, "ok");
    let [asked] = &service.asked()[..] else { panic!("one request") };
    assert_eq!(asked.path, "/hooks/secret?x=1");
    let headers = asked.headers.to_lowercase();
    assert!(headers.contains("content-type: application/json"), "{headers}");
    assert!(headers.contains("authorization: bearer tok-1"), "{headers}");
    for key in ["schema", "event", "id", "at", "about", "project", "subject", "title", "message", "sound"] {
        assert!(asked.body[key].is_string(), "{key}: {}", asked.body);
    }
    assert_eq!((&asked.body["about"], &asked.body["review"]), (&"test".into(), &Value::Null));
    // Without its token nothing is sent, and no message repeats the path.
    let ran = tested(&project).exits(4);
    let (state, words) = line(&ran, "webhook");
    assert_eq!((state.as_str(), words.contains("`HOOK_TOKEN` holds no token")), ("fail", true), "{words}");
    assert_eq!(service.asked().len(), 1);
}

#[test]
fn a_webhook_is_tried_three_times_where_that_may_help_and_knows_the_notification_again() {
    let busy = || Act::Error { status: 503, kind: "busy", message: "later", retry_after: Some(0) };
    let service = Loopback::<Hook>::scripted(vec![busy(), busy()], Act::Raw(String::new()));
    let project = notifying(&format!("  webhook: {{url: '{}/'}}\n", service.url()));
    assert_eq!(line(&tested(&project).exits(0), "webhook").0, "ok");
    let asked = service.asked();
    assert_eq!(asked.len(), 3);
    assert!(asked.iter().all(|one| one.body["id"] == asked[0].body["id"]));

    let service = Loopback::<Hook>::always(busy());
    let project = notifying(&format!("  webhook: {{url: '{}/secret'}}\n", service.url()));
    let (_, words) = line(&tested(&project).exits(4), "webhook");
    assert!(words.contains("it answered with 503 (3 tries)") && !words.contains("secret"), "{words}");
    assert_eq!(service.asked().len(), 3);
}

#[test]
fn a_refusal_a_redirect_and_nobody_at_all_are_said_and_a_redirect_is_not_followed() {
    for (status, words) in [(404, "it answered with 404"), (307, "redirects are not followed")] {
        let service = Loopback::<Hook>::always(Act::error(status, "no", "no"));
        let project = notifying(&format!("  webhook: {{url: '{}/'}}\n", service.url()));
        let (_, said) = line(&tested(&project).exits(4), "webhook");
        assert!(said.contains(words), "{said}");
        assert_eq!(service.asked().len(), 1);
    }
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let project = notifying(&format!("  webhook: {{url: 'http://127.0.0.1:{port}/'}}\n"));
    let (_, said) = line(&tested(&project).exits(4), "webhook");
    assert!(said.starts_with(&format!("127.0.0.1:{port}: ")) && said.ends_with("tries)"), "{said}");
}

#[test]
fn a_token_does_not_travel_in_the_open() {
    let project = notifying("  webhook: {url: 'http://hooks.invalid/', token_env: HOOK_TOKEN}\n");
    let ran =
        Running::start(project.command(&["notify", "--test", "--json"]).env("HOOK_TOKEN", "tok-1")).wait();
    let (_, said) = line(&ran.exits(4), "webhook");
    assert!(said.contains("unencrypted") && !said.contains("tok-1"), "{said}");
}

/// SVC-15.
#[test]
fn svc_15_a_command_gets_json_and_variables_and_runs_at_the_root() {
    let project = notifying("  command: [./bin/tell, 'a b', $HOME]\n");
    program(
        &project,
        "tell",
        "cat >told.json; printf '%s|' \"$@\" >told.args\n\
         printf '%s|' \"$COUNTERSIGN_NOTIFY_ABOUT\" \"$COUNTERSIGN_NOTIFY_TITLE\" \"$COUNTERSIGN_CALL\" >told.env",
    );
    assert_eq!(line(&tested(&project).exits(0), "command").0, "ok");
    let told: Value = serde_json::from_str(&project.read("told.json")).unwrap();
    assert_eq!(told["event"], "notification");
    assert_eq!(project.read("told.args"), "a b|$HOME|");
    assert_eq!(project.read("told.env"), format!("test|{}|notify|", told["title"].as_str().unwrap()));

    program(&project, "tell", "echo 'no such room' >&2; exit 3");
    let (state, words) = line(&tested(&project).exits(4), "command");
    assert_eq!(state, "fail");
    assert!(words.contains("exit code 3: no such room"), "{words}");
    std::fs::remove_file(project.path("bin/tell")).unwrap();
    let (_, words) = line(&tested(&project).exits(4), "command");
    assert!(words.contains("could not be started"), "{words}");
}

/// SVC-15.
#[test]
#[cfg(target_os = "linux")]
fn svc_15_the_desktop_is_told_in_plain_text_where_there_is_one() {
    let project = project();
    project.write("countersign.yml", format!("{CONFIG}notify: {{bell: false}}\n"));
    program(&project, "notify-send", "printf '%s\\n' \"$@\" >shown; exit $(cat code)");
    project.write("code", "0");
    // No screen, no desktop: nothing is tried, and that is no failure.
    let (state, words) = line(&tested(&project).exits(0), "desktop");
    assert_eq!((state.as_str(), words.as_str()), ("warn", "not available: no desktop session"));
    let with_desktop = || {
        let mut command = command(&project, &["notify", "--test", "--json"]);
        command.env("DISPLAY", ":0").env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere");
        Running::start(&mut command).wait()
    };
    assert_eq!(line(&with_desktop().exits(0), "desktop").0, "ok");
    let shown = project.read("shown");
    assert!(shown.starts_with("--app-name=countersign\n--\nTest of countersign\n"), "{shown}");
    project.write("code", "1");
    assert_eq!(line(&with_desktop().exits(4), "desktop").0, "fail");
    std::fs::remove_file(project.path("bin/notify-send")).unwrap();
    let ran = with_desktop();
    if !std::path::Path::new("/usr/bin/notify-send").exists() {
        assert_eq!(line(&ran.exits(0), "desktop").1, "not available: `notify-send` is not installed");
    }
}

/// SVC-15.
#[test]
#[cfg(target_os = "linux")]
fn svc_15_a_sound_is_played_by_its_name_and_what_cannot_be_played_is_the_bell() {
    let project = notifying("  sound_enabled: true\n  sound_name: dialog-error\n");
    program(&project, "pw-play", "printf '%s\\n' \"$@\" >>played; exit $(cat code)");
    project.write("code", "0").write("data/sounds/freedesktop/stereo/dialog-error.oga", "");
    let on_terminal = |name: &str| {
        let config = project.read("countersign.yml");
        let (before, _) = config.split_once("sound_name:").unwrap();
        project.write("countersign.yml", format!("{before}sound_name: {name}\n"));
        let mut command = command(&project, &["notify", "--test"]);
        command.env("XDG_DATA_HOME", project.path("data")).env("NO_COLOR", "1");
        let mut terminal = Terminal::start(&command, 120, 20);
        terminal.until("command");
        assert_eq!(terminal.ends(), 0);
        terminal
    };
    let terminal = on_terminal("dialog-error");
    assert_eq!(
        project.read("played"),
        format!("{}\n", project.path("data/sounds/freedesktop/stereo/dialog-error.oga").display())
    );
    assert!(!terminal.written().contains('\u{7}'));
    let terminal = on_terminal("Basso");
    terminal.until("the bell instead: the system has no sound `Basso`");
    assert!(terminal.written().contains('\u{7}'));
    project.write("code", "1");
    let terminal = on_terminal("dialog-error");
    terminal.until("the bell instead: `pw-play` ended with exit code 1");
    assert!(terminal.written().contains('\u{7}'));
}

/// SVC-15.
#[test]
fn svc_15_the_bell_rings_at_the_terminal_and_never_into_a_file() {
    let project = project();
    project.write("countersign.yml", format!("{CONFIG}notify: {{desktop: false}}\n"));
    let inner = project.command(&["notify", "--test", "--json"]);
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "\"$0\" notify --test --json >out 2>err; echo ended $?"]).arg(inner.get_program());
    shell.current_dir(project.root()).env("HOME", project.home());
    let mut terminal = Terminal::start(&shell, 80, 10);
    terminal.until("ended 0");
    terminal.ends();
    assert_eq!(terminal.written().matches('\u{7}').count(), 1);
    assert!(!project.read("out").contains('\u{7}') && !project.read("err").contains('\u{7}'));
    let json: Value = serde_json::from_str(&project.read("out")).unwrap();
    assert_eq!(json["lines"][1]["detail"], "told");
}

#[test]
fn what_is_off_is_off() {
    let project = notifying("  enabled: false\n  command: [./bin/tell]\n");
    program(&project, "tell", "touch told");
    let ran = tested(&project).exits(0);
    assert_eq!(line(&ran, "command"), ("ok".to_owned(), "off".to_owned()));
    assert_eq!(line(&ran, "notify").0, "warn");
    assert!(!project.path("told").exists() && !project.ledger_dir().exists());
    project.run(&["notify"]).exits(2);
}
