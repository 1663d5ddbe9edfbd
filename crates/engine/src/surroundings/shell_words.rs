//! The simple commands in a text for a shell: enough of its grammar to tell which words are programs. What is not understood
//! is an error, so that no program is overlooked.

use super::known_programs::{PLAIN_FLAGS, is_one_of};
use std::ops::Range;

/// One word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Without its quotes.
    pub text: String,
    /// Where it stands in the text.
    pub span: Range<usize>,
    /// Whether the shell puts nothing into it.
    pub is_plain: bool,
}

/// A command without the shell's own words around it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Simple {
    pub words: Vec<Word>,
    /// Files that it reads as its standard input.
    pub inputs: Vec<Word>,
}

/// Words of the shell after which another command begins.
const BEFORE_COMMANDS: &[&str] = &["!", "do", "elif", "else", "if", "then", "time", "until", "while", "{"];
/// Words of the shell that begin something else.
const NO_COMMANDS: &[&str] = &["case", "done", "esac", "fi", "for", "function", "in", "select", "}", "[["];

/// The commands in a text, also those inside of substitutions.
pub(super) fn commands(text: &str) -> Result<Vec<Simple>, String> {
    let mut scanner = Scanner { text, at: 0, all: vec![], depth: 0 };
    scanner.list(None)?;
    Ok(scanner.all)
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    all: Vec<Simple>,
    depth: usize,
}

const DEPTH_MAX: usize = 20;

impl Scanner<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn starts(&self, words: &str) -> bool {
        self.text[self.at..].starts_with(words)
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    /// Commands up to the letter that ends them, or to the end of the text.
    fn list(&mut self, end: Option<char>) -> Result<(), String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err("it has too many commands inside of each other".to_owned());
        }
        let mut simple = Simple::default();
        let mut parentheses = 0_usize;
        loop {
            let Some(letter) = self.peek() else {
                self.take(&mut simple);
                self.depth -= 1;
                return if end.is_some() { Err("a substitution has no end".to_owned()) } else { Ok(()) };
            };
            match letter {
                _ if Some(letter) == end && parentheses == 0 => {
                    self.next();
                    self.take(&mut simple);
                    self.depth -= 1;
                    return Ok(());
                }
                ' ' | '\t' => drop(self.next()),
                '#' => {
                    while self.peek().is_some_and(|letter| letter != '\n') {
                        self.next();
                    }
                }
                '\n' | ';' | '&' | '|' => {
                    self.next();
                    self.take(&mut simple);
                }
                '(' | ')' => {
                    self.next();
                    parentheses = if letter == '(' { parentheses + 1 } else { parentheses.saturating_sub(1) };
                    self.take(&mut simple);
                }
                '<' | '>' => self.redirection(&mut simple)?,
                _ => {
                    let word = self.word()?;
                    self.push(&mut simple, word);
                }
            }
        }
    }

    fn push(&self, simple: &mut Simple, word: Word) {
        let is_number = !word.text.is_empty() && word.text.bytes().all(|byte| byte.is_ascii_digit());
        // A number before a redirection is no argument.
        if is_number && matches!(self.peek(), Some('<' | '>')) {
            return;
        }
        let begins = simple.words.is_empty();
        if !(begins && BEFORE_COMMANDS.contains(&word.text.as_str())) {
            simple.words.push(word);
        }
    }

    fn take(&mut self, simple: &mut Simple) {
        let simple = std::mem::take(simple);
        let first = simple.words.first().map_or("", |word| word.text.as_str());
        if !simple.words.is_empty() && !NO_COMMANDS.contains(&first) {
            self.all.push(simple);
        }
    }

    fn redirection(&mut self, simple: &mut Simple) -> Result<(), String> {
        if self.starts("<<") {
            return Err("a text inside of a command (`<<`) is not looked into".to_owned());
        }
        if self.starts("<(") || self.starts(">(") {
            self.at += 2;
            return self.list(Some(')'));
        }
        let reads = self.next() == Some('<');
        while self.peek().is_some_and(|letter| ">&|".contains(letter)) {
            self.next();
        }
        while self.peek().is_some_and(|letter| letter == ' ' || letter == '\t') {
            self.next();
        }
        if self.peek().is_some_and(|letter| !"\n;&|()<>".contains(letter)) {
            let word = self.word()?;
            if reads {
                simple.inputs.push(word);
            }
        }
        Ok(())
    }

    fn word(&mut self) -> Result<Word, String> {
        let start = self.at;
        let (mut text, mut is_plain) = (String::new(), true);
        while let Some(letter) = self.peek() {
            match letter {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
                '\'' => {
                    self.next();
                    text.push_str(self.up_to('\'')?);
                }
                '"' => {
                    self.next();
                    is_plain &= self.double_quoted(&mut text)?;
                }
                '\\' => {
                    self.next();
                    // A line that goes on.
                    text.extend(self.next().filter(|letter| *letter != '\n'));
                }
                '$' | '`' => {
                    is_plain = false;
                    self.expansion(&mut text)?;
                }
                '*' | '?' | '[' | '{' | '~' => {
                    // The shell may put other names here.
                    is_plain = false;
                    text.extend(self.next());
                }
                _ => text.extend(self.next()),
            }
        }
        // The test command and braces of their own are words.
        let is_plain = is_plain || matches!(text.as_str(), "[" | "[[" | "{");
        Ok(Word { text, span: start..self.at, is_plain })
    }

    fn up_to(&mut self, end: char) -> Result<&str, String> {
        let start = self.at;
        let length = self.text[start..].find(end).ok_or_else(|| format!("a `{end}` is missing"))?;
        self.at = start + length + end.len_utf8();
        Ok(&self.text[start..start + length])
    }

    /// The rest of a word in double quotes; whether the shell puts nothing into it.
    fn double_quoted(&mut self, text: &mut String) -> Result<bool, String> {
        let mut is_plain = true;
        loop {
            match self.peek() {
                None => return Err("a `\"` is missing".to_owned()),
                Some('"') => {
                    self.next();
                    return Ok(is_plain);
                }
                Some('\\') => {
                    self.next();
                    let next = self.next();
                    if next.is_some_and(|letter| !"\"\\$`\n".contains(letter)) {
                        text.push('\\');
                    }
                    text.extend(next.filter(|letter| *letter != '\n'));
                }
                Some('$' | '`') => {
                    is_plain = false;
                    self.expansion(text)?;
                }
                Some(_) => text.extend(self.next()),
            }
        }
    }

    /// What the shell replaces; the commands inside count.
    fn expansion(&mut self, text: &mut String) -> Result<(), String> {
        let start = self.at;
        if self.next() == Some('`') {
            let inside = self.up_to('`')?.to_owned();
            let inner = commands(&inside)?;
            // The words are elsewhere in this text; none of them can be replaced there.
            if inner.iter().flat_map(|simple| &simple.words).any(|word| word.text.contains('/')) {
                return Err("write `$(…)` instead of backticks".to_owned());
            }
        } else if self.starts("((") {
            self.at += 2;
            let length = self.text[self.at..].find("))").ok_or("a `))` is missing")?;
            self.at += length + 2;
        } else if self.starts("(") {
            self.at += 1;
            self.list(Some(')'))?;
        } else if self.starts("{") {
            let inside = self.up_to('}')?;
            if inside.contains("$(") || inside.contains('`') {
                return Err("a command inside of `${…}` is not looked into".to_owned());
            }
        }
        text.push_str(&self.text[start..self.at]);
        Ok(())
    }
}

/// Where the words after the options of a program begin.
pub(super) fn after_options(
    words: &[Word],
    mut at: usize,
    name: &str,
    with_value: &[&str],
) -> Result<usize, String> {
    while let Some(word) = words.get(at).filter(|word| word.text.starts_with('-')) {
        let text = word.text.as_str();
        if name == "env"
            && ["-S", "--split-string", "-C", "--chdir"].iter().any(|known| text.starts_with(known))
        {
            return Err(format!("`env {text}` is not looked into"));
        }
        at += if with_value.contains(&text) { 2 } else { 1 };
    }
    Ok(at)
}

/// `NAME=VALUE` in front of a program.
pub(super) fn assignment(word: &Word) -> Option<(&str, &str)> {
    let (name, value) = word.text.split_once('=')?;
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    is_name.then_some((name, value))
}

/// Whether an interpreter with these arguments runs what it reads.
pub(super) fn is_script_input(arguments: &[Word]) -> bool {
    let options = arguments.iter().take_while(|word| word.text.starts_with('-') && word.text != "-");
    let options: Vec<&str> = options.map(|word| word.text.as_str()).collect();
    let next = arguments.get(options.len()).map(|word| word.text.as_str());
    let only_flags = options.iter().all(|option| is_one_of(PLAIN_FLAGS, option));
    only_flags && (matches!(next, None | Some("-")) || options.contains(&"-s"))
}

/// A word for a shell.
pub(super) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_wherever_a_shell_finds_them() {
        let first = |text: &str| -> Vec<String> {
            let all = commands(text).unwrap();
            all.iter().map(|simple| simple.words[0].text.clone()).collect()
        };
        let table: &[(&str, &[&str])] = &[
            ("./check.sh", &["./check.sh"]),
            ("a && b || c; d & e | f", &["a", "b", "c", "d", "e", "f"]),
            ("if a; then b; else c; fi", &["a", "b", "c"]),
            ("for f in x y; do ./z \"$f\"; done", &["./z"]),
            ("! (cd x && ./y)", &["cd", "./y"]),
            ("echo \"$(./inner a)\" > out", &["./inner", "echo"]),
            ("test -z \"$(grep TODO x)\"", &["grep", "test"]),
            ("a # b; c\nd", &["a", "d"]),
            ("X=1 ./a 2>&1 >/dev/null", &["X=1"]),
            ("'./a b' c", &["./a b"]),
            ("./a\\ b", &["./a b"]),
            ("{ a; b; }", &["a", "b"]),
            ("while read x; do ./y; done < in", &["read", "./y"]),
            ("diff <(./a) <(./b)", &["./a", "./b", "diff"]),
            ("", &[]),
        ];
        for (text, expected) in table {
            assert_eq!(first(text), *expected, "{text}");
        }
        for text in ["a 'b", "cat <<X\nx\nX", "$(a", "a \"b", "`./x`", "${x:-$(./y)}"] {
            assert!(commands(text).is_err(), "{text}");
        }
        let all = commands("\"$X/a\" b; ~/c; \"d\"; sh < in.sh").unwrap();
        let plain: Vec<_> = all.iter().map(|simple| simple.words[0].is_plain).collect();
        assert_eq!(plain, [false, false, true, true]);
        assert_eq!(all[3].inputs[0].text, "in.sh");
        let text = "a 'b c' d";
        let words = &commands(text).unwrap()[0].words;
        assert_eq!(&text[words[1].span.clone()], "'b c'");
    }
}
