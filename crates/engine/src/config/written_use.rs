//! The kinds of reviewers, as `use:` names them: agent programs by the table of programs, and a few of our own.

use crate::programs::{Api, Facts, PROGRAMS, Programs};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error, VariantAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WrittenUse {
    Command,
    Program(&'static Facts),
    Service(Api),
    Replay,
    SelfReview,
    Checks,
}

static WORDS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| WrittenUse::all(PROGRAMS).map(WrittenUse::word).collect());

impl WrittenUse {
    pub fn all(programs: Programs) -> impl Iterator<Item = Self> {
        let others = [
            Self::Service(Api::Anthropic),
            Self::Service(Api::OpenAi),
            Self::Replay,
            Self::SelfReview,
            Self::Checks,
        ];
        std::iter::once(Self::Command).chain(programs.reviewers().map(Self::Program)).chain(others)
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Program(facts) => facts.name,
            Self::Service(Api::Anthropic) => "anthropic",
            Self::Service(Api::OpenAi) => "openai",
            Self::Replay => "replay",
            Self::SelfReview => "self",
            Self::Checks => "checks",
        }
    }

    fn description(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Command => "A program of yours.",
            Self::Program(facts) => {
                let held = if facts.reads_files { "reading" } else { "answering" };
                return Cow::Owned(format!(
                    "The {} program; it may do nothing but {held}.",
                    facts.called.name
                ));
            }
            Self::Service(Api::Anthropic) => "A service that speaks the Anthropic Messages API.",
            Self::Service(Api::OpenAi) => {
                "A service that speaks OpenAI's chat completions: OpenAI, llama.cpp, Ollama, vLLM and many others."
            }
            Self::Replay => "Recorded rulings.",
            Self::SelfReview => "The author reviews the work again.",
            Self::Checks => "Only the deterministic checks of the criteria.",
        })
    }

    pub fn schema(programs: Programs) -> Schema {
        let one = |kind: Self| json_schema!({ "type": "string", "const": kind.word(), "description": kind.description() });
        json_schema!({ "oneOf": Self::all(programs).map(one).collect::<Vec<_>>(), "description": "The kinds of reviewers." })
    }

    pub fn is_program(self) -> bool {
        matches!(self, Self::Command | Self::Program(_))
    }

    pub fn is_service(self) -> bool {
        matches!(self, Self::Service(_))
    }

    pub fn chooses_service(self) -> bool {
        self.is_service() || matches!(self, Self::Program(facts) if facts.chooses_service)
    }

    pub fn caps_cost(self) -> bool {
        matches!(self, Self::Program(facts) if facts.caps_cost)
    }
}

impl JsonSchema for WrittenUse {
    fn schema_name() -> Cow<'static, str> {
        "Use".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Self::schema(PROGRAMS)
    }
}

impl<'de> Deserialize<'de> for WrittenUse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_enum("WrittenUse", &WORDS, Name(PROGRAMS))
    }
}

/// Reads a word by a table of programs.
#[derive(Clone, Copy)]
pub(super) struct Name(pub Programs);

impl<'de> DeserializeSeed<'de> for Name {
    type Value = WrittenUse;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<WrittenUse, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = WrittenUse;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a kind of reviewer")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<WrittenUse, E> {
        let found = WrittenUse::all(self.0).find(|kind| kind.word() == word);
        found.ok_or_else(|| E::unknown_variant(word, &WORDS))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<WrittenUse, A::Error> {
        let (kind, rest) = data.variant_seed(self)?;
        rest.unit_variant()?;
        Ok(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::{claude, made_up};
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error as Refused, StrDeserializer};

    fn read(programs: Programs, word: &str) -> Result<WrittenUse, Refused> {
        let deserializer: StrDeserializer<'_, Refused> = word.into_deserializer();
        Name(programs).deserialize(deserializer)
    }

    #[test]
    fn issue_15_8_a_made_up_program_is_known_to_the_configuration_by_its_row() {
        const WITH_MADE_UP: Programs = Programs(&[&claude::PROGRAM, &made_up::PROGRAM]);
        let programs = WITH_MADE_UP;
        let kind = read(programs, "made-up").unwrap();
        assert_eq!(kind, WrittenUse::Program(&made_up::FACTS));
        assert!(kind.is_program() && kind.chooses_service() && kind.caps_cost());
        let schema = WrittenUse::schema(programs).to_value().to_string();
        assert!(schema.contains("The `made-up` program; it may do nothing but answering."), "{schema}");
        assert!(read(PROGRAMS, "made-up").unwrap_err().to_string().contains("unknown variant"));
    }

    #[test]
    fn every_word_is_read_as_its_kind() {
        for kind in WrittenUse::all(PROGRAMS) {
            assert_eq!(read(PROGRAMS, kind.word()).unwrap(), kind);
        }
        assert!(read(PROGRAMS, "qwen").is_err(), "it has a row, and cannot be asked");
    }
}
