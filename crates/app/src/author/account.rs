//! The account of this process, by its number: `USER` and `HOME` can be set to anything, so they name no person.

use countersign_core::text::visible_line;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PASSWD: &str = "/etc/passwd";
/// Asks the directory services of the system, where the file has no such account.
const LOOK_UP: (&str, &str) = match cfg!(target_os = "macos") {
    true => ("/usr/bin/id", "-P"),
    false => ("/usr/bin/getent", "passwd"),
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub name: String,
    pub home: Option<PathBuf>,
}

impl Account {
    /// The account of this process; its number where it has no name.
    pub fn own() -> Self {
        let number = rustix::process::getuid().as_raw();
        let listed = std::fs::read(PASSWD).unwrap_or_default();
        let found = find(&String::from_utf8_lossy(&listed), number);
        found.or_else(|| look_up(number)).unwrap_or_else(|| Self { name: number.to_string(), home: None })
    }

    /// As what it is: an account that several people and agents may use.
    pub fn words(&self) -> String {
        format!("account {}", visible_line(&self.name))
    }
}

/// The home folder of the account. Tests have one of their own.
pub fn home() -> Option<PathBuf> {
    let in_test = std::env::var_os("COUNTERSIGN_TEST_HOME").filter(|_| cfg!(debug_assertions));
    in_test.map(PathBuf::from).or_else(|| Account::own().home)
}

fn look_up(number: u32) -> Option<Account> {
    let (program, option) = LOOK_UP;
    let mut command = Command::new(program);
    command.arg(option).arg(number.to_string()).env_clear().stdin(Stdio::null()).stderr(Stdio::null());
    find(&String::from_utf8_lossy(&command.output().ok()?.stdout), number)
}

/// The account of a number in lines of `/etc/passwd`: name, password, number, …, home, shell.
fn find(lines: &str, number: u32) -> Option<Account> {
    lines.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let [name, _, id, .., home, _] = fields[..] else { return None };
        let home = Some(home).filter(|home| Path::new(home).is_absolute()).map(PathBuf::from);
        (id.parse() == Ok(number) && !name.is_empty()).then(|| Account { name: name.to_owned(), home })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_by_its_number() {
        let lines = "root:x:0:0:root:/root:/bin/bash\nbroken\n:x:7:7::/h:/bin/sh\nann:x:1000:1000:Ann,,,:/home/ann:/bin/sh\nbob:x:10:10::none:/bin/sh\n";
        let ann = Account { name: "ann".into(), home: Some("/home/ann".into()) };
        assert_eq!(find(lines, 1000), Some(ann));
        assert_eq!(find(lines, 10).unwrap().home, None);
        assert_eq!((find(lines, 7), find(lines, 100)), (None, None));
        assert!(!Account::own().name.is_empty());
    }
}
