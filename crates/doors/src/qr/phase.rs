//! The five phases of a plan and its implementation, in order, with their names and state files.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// The structure of the plan; some files call it `plan-design`.
    PlanStructure,
    PlanCode,
    PlanDocs,
    ImplCode,
    ImplDocs,
}

impl Phase {
    pub const ALL: [Self; 5] =
        [Self::PlanStructure, Self::PlanCode, Self::PlanDocs, Self::ImplCode, Self::ImplDocs];

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.names().contains(&name))
    }

    pub fn name(self) -> &'static str {
        self.names()[0]
    }

    /// Every name it goes by, its own first.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::PlanStructure => &["plan-structure", "plan-design"],
            Self::PlanCode => &["plan-code"],
            Self::PlanDocs => &["plan-docs"],
            Self::ImplCode => &["impl-code"],
            Self::ImplDocs => &["impl-docs"],
        }
    }

    pub fn next(self) -> Option<Self> {
        let at = Self::ALL.iter().position(|phase| *phase == self)?;
        Self::ALL.get(at + 1).copied()
    }

    pub fn id_prefix(self) -> &'static str {
        match self {
            Self::PlanStructure | Self::PlanCode | Self::PlanDocs => "plan",
            Self::ImplCode | Self::ImplDocs => "impl",
        }
    }

    pub fn file_name(self) -> String {
        file_name(self.name())
    }

    pub fn of_file_name(name: &str) -> Option<Self> {
        Self::named(name.strip_prefix("qr-")?.strip_suffix(".json")?)
    }
}

pub(super) fn file_name(name: &str) -> String {
    format!("qr-{name}.json")
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// QR-5.
    #[test]
    fn qr_5_five_phases_in_order_with_their_files() {
        let rows: Vec<_> = Phase::ALL.iter().map(|p| (p.name(), p.id_prefix(), p.file_name())).collect();
        let expected = [
            ("plan-structure", "plan", "qr-plan-structure.json"),
            ("plan-code", "plan", "qr-plan-code.json"),
            ("plan-docs", "plan", "qr-plan-docs.json"),
            ("impl-code", "impl", "qr-impl-code.json"),
            ("impl-docs", "impl", "qr-impl-docs.json"),
        ];
        assert_eq!(rows, expected.map(|(name, prefix, file)| (name, prefix, file.to_owned())));
        for pair in Phase::ALL.windows(2) {
            assert_eq!(pair[0].next(), Some(pair[1]));
        }
        assert_eq!(Phase::ImplDocs.next(), None);
        assert_eq!(Phase::named("plan-design"), Some(Phase::PlanStructure));
        for unknown in ["", "plan", "PLAN-CODE", "plan-code ", "impl"] {
            assert_eq!(Phase::named(unknown), None, "{unknown}");
        }
        assert_eq!(Phase::of_file_name("qr-plan-design.json"), Some(Phase::PlanStructure));
        assert_eq!(Phase::of_file_name("qr-plan-code.json.lock"), None);
    }
}
