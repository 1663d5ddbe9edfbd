//! The replies of reviewers to consultations, checked against the question. Pure.

use super::item::Item;
use super::plan::criteria::folded;
use countersign_engine::yaml::quoted;
use serde_json::Value;
use std::collections::HashMap;

const FIX_BYTES_MAX: usize = 16 * 1024;
const CRITERIA_MAX: usize = 500;

/// The fixes by item, if each of these items has exactly one.
pub(super) fn fixes(value: &Value, items: &[&Item]) -> Result<HashMap<String, String>, String> {
    let mut fixes = HashMap::new();
    for entry in value["fixes"].as_array().into_iter().flatten() {
        let (id, fix) = (text(entry, "id"), text(entry, "fix").trim());
        if !items.iter().any(|item| item.id == id) {
            return Err(format!("{} is not one of the failed items", quoted(id)));
        }
        if fix.is_empty() || fix.len() > FIX_BYTES_MAX {
            return Err(format!("the fix of {id} is empty or has more than {FIX_BYTES_MAX} bytes"));
        }
        if fixes.insert(id.to_owned(), fix.to_owned()).is_some() {
            return Err(format!("{id} is there twice"));
        }
    }
    match items.iter().find(|item| !fixes.contains_key(&item.id)) {
        Some(missing) => Err(format!("{} is missing", missing.id)),
        None => Ok(fixes),
    }
}

fn text<'v>(entry: &'v Value, key: &str) -> &'v str {
    entry[key].as_str().unwrap_or_default()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MilestoneStatus {
    /// Every criterion is met.
    Yes,
    /// None is.
    No,
    Partially,
}

impl MilestoneStatus {
    fn of(criteria: &[Reconciled]) -> Self {
        match criteria.iter().filter(|criterion| criterion.met).count() {
            0 => Self::No,
            met if met == criteria.len() => Self::Yes,
            _ => Self::Partially,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => "SATISFIED",
            Self::No => "NOT_SATISFIED",
            Self::Partially => "PARTIALLY_SATISFIED",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reconciled {
    pub criterion: String,
    pub met: bool,
    pub evidence: Option<(String, u32)>,
    pub note: Option<String>,
}

/// The wanted criteria of a milestone, each answered once, if the status in the reply follows from its answers. Criteria
/// that the plan does not have do not count.
pub(super) fn milestone(value: &Value, wanted: &[String]) -> Result<Vec<Reconciled>, String> {
    let entries = value["criteria"].as_array().map(Vec::as_slice).unwrap_or_default();
    if entries.is_empty() || entries.len() > CRITERIA_MAX {
        return Err(format!("there are {} criteria: 1 to {CRITERIA_MAX} are expected", entries.len()));
    }
    let criteria = entries.iter().map(criterion).collect::<Result<Vec<_>, _>>()?;
    let (said, is) = (text(value, "status"), MilestoneStatus::of(&criteria).word());
    if said != is {
        return Err(format!("`status` is {said}, but the criteria show that the milestone is {is}"));
    }
    let answered = |wanted: &String| {
        let same = |answer: &&Reconciled| folded(&answer.criterion) == folded(wanted);
        let mut answers = criteria.iter().filter(same);
        match (answers.next(), answers.next()) {
            (Some(answer), None) => Ok(Reconciled { criterion: wanted.clone(), ..answer.clone() }),
            (Some(_), Some(_)) => Err(format!("the criterion {} is there twice", quoted(wanted))),
            (None, _) => Err(format!("the criterion {} of the plan is missing", quoted(wanted))),
        }
    };
    wanted.iter().map(answered).collect()
}

fn criterion(entry: &Value) -> Result<Reconciled, String> {
    let criterion = text(entry, "criterion").trim().to_owned();
    if criterion.is_empty() {
        return Err("a criterion is empty".to_owned());
    }
    let met = text(entry, "status") == "MET";
    let evidence = Some(text(entry, "evidence").trim()).filter(|evidence| !evidence.is_empty());
    let evidence = match evidence.map(|evidence| (evidence, place(evidence))) {
        None if met => return Err(format!("{} is MET without evidence", quoted(&criterion))),
        None => None,
        Some((evidence, None)) if met => {
            return Err(format!("the evidence {} is not of the form path:line", quoted(evidence)));
        }
        Some((_, place)) => place,
    };
    let note = Some(text(entry, "note").trim()).filter(|note| !note.is_empty()).map(str::to_owned);
    Ok(Reconciled { criterion, met, evidence, note })
}

/// `path:12`, `path:L12`, `path:12-20`.
fn place(evidence: &str) -> Option<(String, u32)> {
    let evidence = evidence.trim_matches('`');
    let (path, lines) = evidence.rsplit_once(':')?;
    let first = lines.split('-').next()?.trim_start_matches(['L', 'l']);
    let line = first.parse().ok().filter(|line| *line > 0)?;
    (!path.trim().is_empty()).then(|| (path.trim().to_owned(), line))
}

/// The criteria after a look at the disk: one whose evidence does not exist is not met.
pub(super) fn with_evidence(
    criteria: Vec<Reconciled>,
    has_line: &dyn Fn(&str, u32) -> Result<(), String>,
) -> (MilestoneStatus, Vec<Reconciled>) {
    let look = |criterion: Reconciled| match &criterion.evidence {
        Some((path, line)) if criterion.met => match has_line(path, *line) {
            Ok(()) => criterion,
            Err(words) => {
                let note = Some(format!("the evidence does not count: {words}"));
                Reconciled { met: false, note, ..criterion }
            }
        },
        _ => criterion,
    };
    let criteria: Vec<_> = criteria.into_iter().map(look).collect();
    (MilestoneStatus::of(&criteria), criteria)
}

#[cfg(test)]
mod tests {
    use super::super::scope::Scope;
    use super::*;
    use countersign_core::criterion::Severity;
    use serde_json::json;

    /// QR-4.
    #[test]
    fn qr_4_every_failed_item_has_one_instruction() {
        let item = |id: &str| Item::new(id, Scope::whole(), "c", Severity::Must);
        let items = [item("a"), item("b")];
        let items: Vec<&Item> = items.iter().collect();
        let reply = |rows: &[(&str, &str)]| json!({ "fixes": rows.iter().map(|(id, fix)| json!({ "id": id, "fix": fix })).collect::<Vec<_>>() });
        assert_eq!(fixes(&reply(&[("b", " y "), ("a", "x")]), &items).unwrap()["b"], "y");
        for (rows, words) in [
            (vec![("a", "x")], "b is missing"),
            (vec![("a", "x"), ("a", "y")], "a is there twice"),
            (vec![("a", "x"), ("c", "y")], "`c` is not one of the failed items"),
            (vec![("a", " "), ("b", "y")], "the fix of a is empty or has more than 16384 bytes"),
        ] {
            assert_eq!(fixes(&reply(&rows), &items), Err(words.to_owned()));
        }
    }

    fn reply(status: &str, criteria: &[(&str, Option<&str>)]) -> Value {
        let row = |(n, (status, evidence)): (usize, &(&str, Option<&str>))| json!({ "criterion": format!("c{n}"), "status": status, "evidence": evidence });
        json!({ "status": status, "criteria": criteria.iter().enumerate().map(row).collect::<Vec<_>>() })
    }

    fn wanted(n: usize) -> Vec<String> {
        (0..n).map(|n| format!("C{n}.")).collect()
    }

    #[test]
    fn attack_17_criteria_are_those_of_the_plan() {
        let met = ("MET", Some("a:1"));
        let two = reply("SATISFIED", &[met, met]);
        let names = |reply: &Value, wanted: &[String]| {
            milestone(reply, wanted).map(|all| all.into_iter().map(|one| one.criterion).collect::<Vec<_>>())
        };
        assert_eq!(names(&two, &wanted(1)), Ok(vec!["C0.".to_owned()]), "an invented one does not count");
        let missing = Err("the criterion `C2.` of the plan is missing".to_owned());
        assert_eq!(names(&two, &wanted(3)), missing);
        let mut twice = two.clone();
        twice["criteria"][1]["criterion"] = json!("**c0**");
        assert_eq!(names(&twice, &wanted(1)), Err("the criterion `C0.` is there twice".to_owned()));
    }

    #[test]
    fn a_milestone_is_what_its_criteria_say() {
        let (met, not) = (("MET", Some("src/a.rs:L3-9")), ("NOT_MET", None));
        for (status, criteria, expected) in [
            ("SATISFIED", vec![met, met], Ok(2)),
            ("PARTIALLY_SATISFIED", vec![met, not], Ok(2)),
            ("NOT_SATISFIED", vec![not], Ok(1)),
            (
                "SATISFIED",
                vec![met, not],
                Err("`status` is SATISFIED, but the criteria show that the milestone is PARTIALLY_SATISFIED"),
            ),
            (
                "NOT_SATISFIED",
                vec![met],
                Err("`status` is NOT_SATISFIED, but the criteria show that the milestone is SATISFIED"),
            ),
            ("SATISFIED", vec![], Err("there are 0 criteria: 1 to 500 are expected")),
            ("SATISFIED", vec![("MET", None)], Err("`c0` is MET without evidence")),
            ("SATISFIED", vec![("MET", Some("src"))], Err("the evidence `src` is not of the form path:line")),
        ] {
            let read =
                milestone(&reply(status, &criteria), &wanted(criteria.len())).map(|criteria| criteria.len());
            assert_eq!(read, expected.map_err(str::to_owned), "{status}");
        }
    }

    #[test]
    fn evidence_that_does_not_exist_is_not_met() {
        let said = reply("SATISFIED", &[("MET", Some("a:3")), ("MET", Some("b:1"))]);
        let criteria = milestone(&said, &wanted(2)).unwrap();
        let has_line = |path: &str, line: u32| match (path, line) {
            ("a", 1..=3) => Ok(()),
            _ => Err(format!("there is no `{path}`")),
        };
        let (satisfied, criteria) = with_evidence(criteria, &has_line);
        assert_eq!(satisfied, MilestoneStatus::Partially);
        assert_eq!(criteria[1].note.as_deref(), Some("the evidence does not count: there is no `b`"));
        let (satisfied, _) = with_evidence(criteria, &|_, _| Err("gone".into()));
        assert_eq!(satisfied, MilestoneStatus::No);
    }
}
