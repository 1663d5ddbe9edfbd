//! Whatever is in the file: an answer, never a panic, and never a changed key read as another.

use super::{GOOD, read_text};
use proptest::prelude::*;

/// The good job, cut into the pieces people change.
fn pieces() -> Vec<&'static str> {
    GOOD.split_inclusive(|c: char| !c.is_alphanumeric()).collect()
}

/// Where the keys of the good job are that the format knows, and how long they are.
fn keys() -> Vec<(usize, usize)> {
    let names = [
        "name",
        "version",
        "summary",
        "common_job_info_provided_to_all_steps_at_runtime",
        "workflows",
        "steps",
        "id",
        "description",
        "instructions_file",
        "inputs",
        "outputs",
        "reviews",
        "run_each",
        "quality_criteria",
        "file",
        "from_step",
        "dependencies",
        "hooks",
        "after_agent",
        "before_tool",
        "prompt",
        "prompt_file",
        "script",
        "stop_hooks",
        "exposed",
        "hidden",
        "agent",
        "type",
        "required",
        "additional_review_guidance",
    ];
    let mut places = Vec::new();
    for name in names {
        let key = format!("{name}:");
        let found = GOOD.match_indices(&key).map(|(at, _)| at);
        let whole = |at: &usize| !GOOD[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let before = places.len();
        places.extend(found.filter(whole).map(|at| (at, name.len())));
        assert!(places.len() > before, "{name}");
    }
    places
}

fn any_piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("\n".to_owned()),
        Just("  ".to_owned()),
        "[\\[\\]{}:,*&!|>'\"#~?-]{1,3}",
        "[a-z_]{1,8}: ?",
        "(step|plan|text|null|true|1|1.0|1e999|é|\\.\\./|<<: )",
        any::<char>().prop_map(String::from),
    ]
}

proptest! {
    #[test]
    fn bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read_text(bytes);
    }

    #[test]
    fn yaml_like_text_never_panics(text in "(name|steps|id|outputs|reviews|: |- |\\n|  |\\[|\\]|\\{|\\}|,|&a |\\*a|\"|'|#|\\||>|!|é|\t|<<|~|1|-){0,60}") {
        let _ = read_text(text);
    }

    #[test]
    fn a_changed_job_never_panics_and_its_problems_have_places(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any_piece()), 1..4)
    ) {
        let mut pieces: Vec<String> = pieces().into_iter().map(str::to_owned).collect();
        for (at, piece) in changes {
            let at = at.index(pieces.len());
            pieces[at] = piece;
        }
        match read_text(pieces.concat()) {
            Ok((job, warnings)) => {
                prop_assert!(!job.steps.is_empty() && !job.workflows.is_empty());
                let ids = job.workflows.iter().flat_map(|workflow| workflow.entries.iter().flatten());
                prop_assert!(ids.into_iter().all(|id| job.step(id).is_some()));
                prop_assert!(warnings.iter().all(|warning| warning.hint.is_some()));
            }
            Err(problems) => {
                for problem in problems.listed {
                    prop_assert!(problem.place.line() >= 1 && problem.place.column() >= 1);
                    prop_assert!(problem.place.source().get(problem.place.span()).is_some());
                    prop_assert!(problem.hint.is_some(), "{problem}");
                }
            }
        }
    }

    #[test]
    fn an_unknown_key_is_an_error(pick in any::<prop::sample::Index>(), key in "zz[a-z_]{0,10}") {
        let places = keys();
        let (at, len) = *pick.get(&places);
        let mut text = GOOD.to_owned();
        text.replace_range(at..at + len, &key);
        let problems = read_text(text).unwrap_err();
        prop_assert!(problems.to_string().contains(&format!("unknown key `{key}`")), "{problems}");
    }

    /// Bytes cut out or put in anywhere, also in the middle of a character.
    #[test]
    fn a_cut_job_never_panics(at in any::<prop::sample::Index>(), len in 0_usize..40, put in proptest::collection::vec(any::<u8>(), 0..4)) {
        let mut bytes = GOOD.as_bytes().to_vec();
        let start = at.index(bytes.len());
        let end = (start + len).min(bytes.len());
        bytes.splice(start..end, put);
        let _ = read_text(bytes);
    }
}
