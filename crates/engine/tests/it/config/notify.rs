//! `notify:`: what it means, whose word counts, and what is said about mistakes.

use super::{check, read};
use countersign_core::notify::{QuietHours, Switches, TimeOfDay};
use countersign_engine::config::{
    Config, Environment, FileBytes, Flags, NotifyConfig, Problems, WebhookConfig, resolve,
};

const RULES: &str = "version: 1\nrules: [{name: r, for: [a], criteria: [{name: A, ask: q}]}]\n";

fn files(project: &str, user: &str) -> Result<Config, Problems> {
    let user = Some(FileBytes { path: "/home/me/config.yml".into(), bytes: user.into() });
    let gathered = super::Gathered { user, ..super::gathered(project) };
    resolve(&gathered, &Flags::default(), &Environment::default(), &super::check_problem)
}

fn shown(config: &Config, name: &str) -> String {
    let setting = config.settings().iter().find(|setting| setting.name == name).unwrap();
    format!("{} ({})", setting.value, setting.origin)
}

fn time(text: &str) -> TimeOfDay {
    TimeOfDay::parse(text).unwrap()
}

/// SVC-15.
#[test]
fn svc_15_everything_has_a_default_and_a_meaning() {
    let config = read(RULES).unwrap();
    let nothing =
        NotifyConfig { switches: Switches::default(), sound_name: None, webhook: None, command: None };
    assert_eq!(config.notify, nothing);
    assert_eq!(shown(&config, "notify.bell"), "true (default)");
    assert_eq!(shown(&config, "notify.webhook"), "none (default)");
    let config = read(format!(
        "{RULES}notify:\n  enabled: true\n  desktop: false\n  bell: false\n  sound_enabled: true\n  sound_name: bell\n  \
         on_review_failed: false\n  on_person_needed: false\n  on_no_verdict: false\n  on_task_complete: true\n  quiet_hours_start: 22:00\n  \
         quiet_hours_end: \"7:30\"\n  webhook: {{url: 'https://x.example/a/secret?k=1', token_env: T}}\n  \
         command: [./tell.sh, -x]\n"
    ));
    let config = config.unwrap();
    let expected = NotifyConfig {
        switches: Switches {
            enabled: true,
            desktop: false,
            bell: false,
            sound: true,
            webhook: true,
            command: true,
            on_review_failed: false,
            on_person_needed: false,
            on_no_verdict: false,
            on_task_complete: true,
            quiet: Some(QuietHours { start: time("22:00"), end: time("07:30") }),
        },
        sound_name: Some("bell".into()),
        webhook: Some(WebhookConfig {
            url: "https://x.example/a/secret?k=1".into(),
            timeout_seconds: 3,
            token_env: Some("T".into()),
        }),
        command: Some(vec!["./tell.sh".into(), "-x".into()]),
    };
    assert_eq!(config.notify, expected);
    // The path of a webhook is often its secret.
    assert_eq!(shown(&config, "notify.webhook"), "https://x.example/… (project countersign.yml:15)");
    assert_eq!(shown(&config, "notify.quiet_hours_end"), "07:30 (project countersign.yml:14)");
    assert_eq!(shown(&config, "notify.command"), "./tell.sh -x (project countersign.yml:16)");
}

#[test]
fn the_projects_file_wins_key_by_key_over_the_users_own() {
    let user = "notify: {bell: false, sound_enabled: true, command: [tell, me]}\n";
    let config = files(&format!("{RULES}notify: {{sound_enabled: false}}\n"), user).unwrap();
    let NotifyConfig { switches, command, .. } = &config.notify;
    assert_eq!((switches.bell, switches.sound, switches.command), (false, false, true));
    assert_eq!(command.as_deref(), Some(&["tell".to_owned(), "me".to_owned()][..]));
    assert_eq!(shown(&config, "notify.bell"), "false (user /home/me/config.yml:1)");
    let problems = files(RULES, "notify: {command: [./tell.sh]}\n").unwrap_err().to_string();
    assert!(problems.contains("would come from the project that is reviewed"), "{problems}");
}

#[test]
fn mistakes_are_told_with_their_places() {
    let said = |rest: &str, expected: &str| check(&format!("{RULES}notify:\n  {rest}\n"), expected);
    let time = "\n  write hours and minutes, such as `\"22:00\"`";
    said(
        "{quiet_hours_start: \"25:00\", quiet_hours_end: soon}",
        &format!(
            "4:23: `quiet_hours_start` is not a time: `25:00`{time}\n4:49: `quiet_hours_end` is not a time: `soon`{time}"
        ),
    );
    said(
        "quiet_hours_start: \"22:00\"",
        "4:22: `quiet_hours_start` is set, and `quiet_hours_end` is not\n  set `quiet_hours_end` too",
    );
    said(
        "quiet_hours_end: \"22:00\"",
        "4:20: `quiet_hours_end` is set, and `quiet_hours_start` is not\n  set `quiet_hours_start` too",
    );
    let example = "\n  for example `https://example.com/hooks/reviews`";
    said("webhook: {url: nowhere}", &format!("4:18: `url` is not an address{example}"));
    said("webhook: {url: 'ftp://x/y'}", &format!("4:18: `url` begins with `http://` or `https://`{example}"));
    said(
        "webhook: {url: 'https://me:pw@x/y'}",
        "4:18: `url` contains a user name or password\n  name the variable that holds the key in `token_env`",
    );
    said("webhook: {timeout_seconds: 3}", "4:12: `webhook` has no `url`");
    said(
        "webhook: {url: 'https://x/y', timeout_seconds: 60}",
        "4:50: `timeout_seconds` must be a whole number from 1 to 10, not 60",
    );
    said(
        "webhook: {url: 'https://x/y', token_env: a-b}",
        "4:44: `token_env` is the name of a variable, with letters, digits and `_`\n  write the key into a variable or a file, never here",
    );
    said("command: []", "4:12: `command` names no program");
    said("command: tell", "4:12: `command` must be a list, not the text `tell`");
    said(
        "sound_name: ../Basso",
        "4:15: `../Basso` cannot be the name of a sound\n  a name such as `Basso` or `bell`: letters, digits, spaces, `-`, `_` and `.`, and no path",
    );
    said("bel: true", "4:3: unknown key `bel`\n  did you mean `bell`?");
    said(
        "on_task_complete: sometimes",
        "4:21: `on_task_complete` must be true or false, not the text `sometimes`",
    );
}
