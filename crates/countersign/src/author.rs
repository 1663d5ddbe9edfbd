//! Who wrote the work: an agent leaves marks in the environment of everything it starts.

use countersign_engine::programs::Vendor;

/// The variables agent programs set, and whose model is at work then, where that is known.
const MARKS: [(&str, Option<Vendor>); 5] = [
    ("CLAUDECODE", Some(Vendor::Anthropic)),
    ("CODEX_SANDBOX", Some(Vendor::OpenAi)),
    ("GEMINI_CLI", Some(Vendor::Google)),
    ("OPENCODE", None),
    ("COUNTERSIGN_CALL", None),
];

/// The names people give authors, and whose model they mean.
const NAMES: [(&str, Vendor); 6] = [
    ("claude", Vendor::Anthropic),
    ("anthropic", Vendor::Anthropic),
    ("codex", Vendor::OpenAi),
    ("openai", Vendor::OpenAi),
    ("gemini", Vendor::Google),
    ("google", Vendor::Google),
];

/// Whether an agent started this process.
pub fn is_agent() -> bool {
    MARKS.iter().any(|(name, _)| std::env::var_os(name).is_some())
}

/// Whose model started this process, where that is known.
pub fn vendor() -> Option<Vendor> {
    MARKS.iter().filter(|(name, _)| std::env::var_os(name).is_some()).find_map(|(_, vendor)| *vendor)
}

/// Whose model somebody means.
pub fn named(name: &str) -> Result<Vendor, String> {
    let known = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    known
        .map(|(_, vendor)| *vendor)
        .ok_or_else(|| format!("known: {}", NAMES.map(|(name, _)| name).join(", ")))
}

/// Whose model a client of ours runs, by the name it gives itself.
pub fn of_client(name: &str) -> Option<Vendor> {
    let name = name.to_ascii_lowercase();
    NAMES.iter().find(|(known, _)| name.contains(known)).map(|(_, vendor)| *vendor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_known_by_their_names() {
        for (client, vendor) in [
            ("claude-code", Some(Vendor::Anthropic)),
            ("codex-mcp-client", Some(Vendor::OpenAi)),
            ("gemini-cli-mcp-client", Some(Vendor::Google)),
            ("opencode", None),
            ("", None),
        ] {
            assert_eq!(of_client(client), vendor, "{client}");
        }
    }
}
