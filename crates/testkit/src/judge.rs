//! Scripted reviewers: shell scripts that answer briefs and log every question.

use crate::Project;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A reviewer in a project.
pub struct Judge {
    script: String,
    log: PathBuf,
}

impl Judge {
    /// Rules on one criterion: what contains the word `BAD` fails.
    pub fn by_word(project: &Project, criterion: &str) -> Self {
        let reply = format!(
            r#"case "$brief" in *BAD*) p=false;; *) p=true;; esac
printf '{{"passed": %s, "feedback": "f", "criteria_results": [{{"criterion": "{criterion}", "passed": %s, "feedback": "there is a BAD word"}}]}}' $p $p"#
        );
        Self::scripted(project, "judge.sh", &reply)
    }

    /// Always gives the same reply.
    pub fn replying(project: &Project, reply: &str) -> Self {
        let file = project.judges().join(".reply");
        std::fs::write(&file, reply).unwrap();
        Self::scripted(project, "judge.sh", &format!("cat '{}'", file.display()))
    }

    /// Runs a script with the brief in `$brief` and the file asked about in `$file`.
    pub fn scripted(project: &Project, name: &str, body: &str) -> Self {
        let (log, path) = (project.judges().join(format!(".asked-{name}")), project.judges().join(name));
        let script = format!(
            "#!/bin/sh\nbrief=$(cat)\nfile=$(printf '%s' \"$brief\" | grep -o '\"file\":\"[^\"]*\"' | head -n 1 | cut -d'\"' -f4)\n\
             echo \"asked $file\" >>'{}'\n{body}\n",
            log.display()
        );
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let program = match path.starts_with(project.root()) {
            true => format!("./{name}"),
            false => path.to_string_lossy().into_owned(),
        };
        Self { script: format!("command:{program}"), log }
    }

    /// Its name for `--reviewer`.
    pub fn name(&self) -> &str {
        &self.script
    }

    /// The files it was asked about, in order.
    pub fn asked(&self) -> Vec<String> {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        log.lines().map(|line| line.trim_start_matches("asked ").to_owned()).collect()
    }
}
