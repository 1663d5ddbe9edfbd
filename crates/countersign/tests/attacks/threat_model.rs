//! Every row of docs/threat-model.md has tests that show it, and every attack of the tests has a row.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The beginning of each attack in the page, and the tests that show what happens.
const ROWS: &[(&str, &[&str])] = &[
    (
        "edit `judge.py`, a module it imports",
        &[
            "attack_17_editing_the_judge",
            "attack_17_editing_a_module_of_the_judge",
            "attack_17_a_run_check_is_edited",
            "attack_17_the_judge_becomes_a_link",
            "attack_17_deleting_the_judge",
            "attack_17_an_agent_does_not_hide_by_a_clean_environment",
            "attack_17_edited_judges_and_helpers_do_not_judge",
            "attack_17_edited_scripts_do_not_judge_at_a_gate",
            "attack_17_an_edited_check_is_replaced_or_gives_no_verdict",
            "attack_17_compiled_modules_of_the_work_are_not_loaded",
            "attack_17_packages_of_the_work_are_not_loaded",
            "attack_17_a_module_that_shadows_the_library",
            "attack_17_steering_the_judge_of_a_task",
            "attack_17_steering_the_judge_of_items",
        ],
    ),
    (
        "edit or add what the script of a `run` check uses",
        &[
            "attack_17_a_part_of_a_run_check_is_edited",
            "attack_17_parts_of_a_check_that_its_text_does_not_name_plainly",
        ],
    ),
    ("the same in another folder", &[]),
    ("edit the checkout that the trusted files", &["attack_17_the_checkout_of_the_judge_is_edited"]),
    (
        "edit the checkout, or a script in the project, while it is used",
        &[
            "attack_17_the_checkout_is_edited_while_it_is_used",
            "attack_17_scripts_that_are_edited_for_a_moment",
            "attack_17_an_edit_that_is_undone_leaves_another_stamp",
        ],
    ),
    ("add a module beside a script at the top", &[]),
    ("write into the memory of a running judge", &[]),
    (
        "a judge that is only in the working tree",
        &[
            "attack_17_a_judge_that_is_only_in_the_working_tree",
            "attack_17_scripts_that_only_the_work_has_are_refused",
        ],
    ),
    (
        "`PATH` with another",
        &[
            "attack_17_a_program_on_a_changed_path",
            "attack_17_a_changed_path_finds_no_other_program",
            "attack_17_a_path_without_programs_changes_nothing",
        ],
    ),
    (
        "`PYTHONPATH`, `NODE_OPTIONS`",
        &[
            "attack_17_pythonpath",
            "attack_17_variables_that_load_code",
            "attack_17_makeflags",
            "attack_17_variables_in_the_local_settings_of_the_real_claude",
            "attack_17_steering_variables_have_their_trusted_value_or_none",
            "attack_17_a_yes_hides_no_variable",
        ],
    ),
    (
        "any other variable that is no sign-in",
        &["attack_17_a_variable_that_nobody_knows", "attack_17_variables_do_not_reach_programs"],
    ),
    ("`HOME`, `XDG_CONFIG_HOME`", &["attack_17_the_home_is_another_one"]),
    (
        "`.tool-versions`",
        &[
            "attack_17_a_version_manager_chooses",
            "attack_17_only_the_users_own_settings_choose_versions",
            "attack_17_settings_of_version_managers_in_the_work_do_not_choose",
        ],
    ),
    (
        "a program in a folder that other accounts can write",
        &[
            "attack_17_a_program_in_a_folder_that_others_can_write",
            "attack_17_programs_are_trusted_by_their_place",
            "attack_17_programs_of_other_places_are_not_started",
            "attack_17_programs_of_untrusted_folders_do_not_judge_at_a_gate",
        ],
    ),
    ("overwrite a program in a trusted folder", &["attack_17_a_program_of_a_trusted_folder_is_overwritten"]),
    (
        "`--reviewer`, `COUNTERSIGN_REVIEWER`",
        &["attack_17_naming_a_reviewer", "attack_17_an_agent_names_neither_configuration_nor_reviewer"],
    ),
    ("an own `countersign mcp`", &["attack_17_a_server_that_an_agent_starts_obeys_none_of_its_flags"]),
    (
        "edit, break, remove or commit `countersign.yml`",
        &[
            "attack_17_editing_the_configuration",
            "attack_17_removing_the_configuration",
            "attack_17_a_configuration_that_is_broken_or_not_committed_changes_nothing",
            "attack_17_the_users_own_file_cannot_be_changed_to_be_let_go",
        ],
    ),
    ("a new `countersign.yml` in a subfolder", &["attack_17_a_configuration_in_a_folder_below"]),
    (
        "`--config`, `COUNTERSIGN_CONFIG`",
        &["attack_17_naming_a_configuration", "attack_17_a_task_without_a_review"],
    ),
    (
        "`git replace`",
        &[
            "attack_17_replacing_the_configuration_in_git",
            "attack_17_moving_branches",
            "attack_17_a_forged_remote_branch",
            "attack_17_settings_of_a_repository_around_the_temporary_folder",
        ],
    ),
    ("no connection to the remote", &["attack_17_a_remote_that_cannot_be_asked"]),
    ("settings of a run hidden", &["attack_17_the_settings_of_a_run_are_hidden"]),
    (
        "`trust` or `init --hook` without a person",
        &[
            "attack_17_an_agent_trusts_its_own_files",
            "attack_17_init_without_a_terminal_vouches_for_nothing",
            "attack_17_a_project_that_no_person_trusted",
            "attack_17_a_configuration_that_no_person_trusted_holds",
            "attack_17_a_yes_to_the_configuration_hides_no_changed_judge",
        ],
    ),
    (
        "files that steer later work",
        &[
            "attack_17_files_that_steer_later_work",
            "attack_17_prompts_that_become_a_link",
            "attack_17_what_steers_the_gate_is_known_by_its_path",
            "attack_17_our_own_files_steer_in_folders_below_too",
            "attack_17_what_links_among_gate_files_lead_to_steers_as_well",
        ],
    ),
    (
        "a review prompt that is committed on",
        &[
            "attack_17_a_review_prompt_that_nobody_trusted",
            "attack_17_a_review_command_of_the_home_counts_as_it_was_trusted",
        ],
    ),
    ("a named pipe in place of a file", &["attack_17_a_pipe_in_place_of_a_file"]),
    ("push to the default branch", &[]),
    ("a pull request that edits its own workflow", &[]),
    (
        "ask again with `--no-cache`",
        &[
            "attack_17_a_failure_is_not_replaced_by_another_question_about_the_same_bytes",
            "attack_17_a_failure_stands_beside_questions_it_does_not_answer",
            "attack_17_a_pass_before_the_failure_does_not_win_either",
            "attack_17_another_worktree_is_no_other_work",
            "attack_17_new_notes_are_judged_once_and_are_seen",
            "attack_17_new_notes_that_fail_use_the_one_time_up",
            "attack_17_a_title_and_a_session_are_nothing_a_failure_stands_on",
            "attack_17_a_failure_stands_on_rule_criterion_and_bytes_alone",
            "attack_17_a_recorded_pass_is_not_the_answer_while_a_failure_stands",
            "attack_17_new_notes_may_change_a_failure_once",
            "attack_17_rounds_without_an_answer_do_not_forget_a_finding",
            "attack_17_the_worst_holds_between_judgings_and_both_answers_are_on_record",
            "attack_17_a_failure_is_found_under_every_question_about_its_bytes",
            "attack_17_the_first_answer_with_new_notes_is_noted",
            "attack_17_what_stands_depends_on_who_answered",
            "attack_17_whatever_is_submitted_again_a_failure_stands",
        ],
    ),
    (
        "the same subject with fewer files",
        &[
            "attack_17_files_that_are_left_out_are_carried",
            "attack_17_a_change_that_was_committed_is_still_left_out",
            "attack_17_weaker_rules_do_not_remove_a_finding",
            "attack_17_what_is_left_out_is_carried",
        ],
    ),
    (
        "a plain review with an edited module",
        &[
            "attack_17_a_module_that_is_edited_only_while_a_plain_review_asks",
            "attack_17_a_question_does_not_choose_the_policy_of_a_gate",
            "attack_17_limits_that_hide_the_contents",
        ],
    ),
    ("a dispute with another `PATH`", &["attack_17_a_dispute_is_judged_as_at_a_gate"]),
    (
        "`assume-unchanged`",
        &[
            "attack_18_every_way_to_hide_at_every_door_of_a_change",
            "attack_18_every_way_to_hide_from_a_task_and_from_items",
            "attack_18_every_way_to_hide_in_a_run",
            "attack_18_every_way_to_hide_from_a_job",
            "attack_18_what_the_users_git_calls_unchanged_is_looked_at_by_the_hook",
            "attack_18_what_lfs_brought_is_no_change_and_everything_else_is",
        ],
    ),
    (
        "a new or changed `.gitignore`",
        &[
            "attack_18_ignore_files_hide_nothing_from_a_whole_project",
            "attack_18_every_way_to_hide_at_every_door_of_a_change",
        ],
    ),
    ("a repository inside of the worktree", &["attack_18_a_repository_inside_of_the_work"]),
    ("a zero byte in a text", &["attack_18_every_way_to_hide_at_every_door_of_a_change"]),
    (
        "write into our temporary folder",
        &[
            "attack_17_the_checkout_is_edited_while_it_is_used",
            "attack_18_a_write_into_the_room_is_noticed_also_when_it_is_undone",
        ],
    ),
    ("build a machine of its own", &[]),
    ("a submodule of the base", &["attack_18_the_files_of_a_submodule_are_judged"]),
    ("a link in place of a file", &["attack_18_links_and_bytes_that_are_no_text"]),
    ("single bytes of another encoding", &["attack_18_links_and_bytes_that_are_no_text"]),
    (
        "a new repository without a configuration in place of the trusted one",
        &["attack_18_a_new_repository_in_place_of_the_trusted_one"],
    ),
    ("a file is renamed out of what a rule is about", &["attack_18_a_file_that_is_renamed_out_of_the_rule"]),
    (
        "a commit with bad work, and other files on disk",
        &["attack_18_bad_work_in_a_commit_that_the_disk_has_not"],
    ),
    (
        "contents that are not text, a picture by its name alone",
        &[
            "attack_18_names_that_git_does_not_accept",
            "attack_18_what_nobody_can_see_does_not_pass",
            "attack_18_media_are_known_by_name_and_first_bytes",
        ],
    ),
    ("code in a picture", &[]),
    (
        "`--base`, a commit and then another branch",
        &["attack_17_a_base_of_the_agents_choice", "attack_17_commits_that_no_branch_has_passed"],
    ),
    (
        "without a remote that `trust` recorded: a moved",
        &[
            "attack_18_a_local_default_branch_that_was_moved",
            "attack_17_a_local_default_branch_that_was_moved_releases_no_task",
        ],
    ),
    (
        "other contents under the id",
        &[
            "attack_17_a_forged_object_of_the_trusted_commit",
            "attack_18_forged_blobs_trees_and_commits_are_refused",
            "attack_18_forged_objects_and_indexes_never_pass",
        ],
    ),
    (
        "tests that pass by a file that git ignores",
        &[
            "attack_18_tests_that_pass_by_files_which_are_not_judged",
            "attack_18_the_checkout_is_outside_of_the_project",
        ],
    ),
    ("tests that change files", &["attack_18_tests_that_change_files_change_nothing_that_merges"]),
    (
        "files that earlier tests left",
        &[
            "attack_18_what_tests_leave_in_the_checkout_is_removed",
            "attack_18_a_kept_folder_has_no_judged_files",
        ],
    ),
    ("tests that leave a changed program", &[]),
    ("tests that look at where they run", &[]),
    (
        "a merge driver, or attributes",
        &["attack_18_a_merge_driver_writes_what_was_never_judged", "attack_18_a_merge_driver_writes_nothing"],
    ),
    (
        "a main branch that makes good work bad",
        &["attack_18_what_a_merge_with_the_main_branch_makes_is_judged"],
    ),
    ("an edit at the human gate", &["attack_18_edits_at_the_human_gate_are_no_part_of_the_next_task"]),
    (
        "`PLAN.md` or `tasks.md` edited to complete",
        &[
            "attack_17_a_plan_edited_to_complete_passes_nothing",
            "attack_17_a_task_of_another_project_of_the_repository_releases_nothing",
            "attack_17_skipped_and_unblocked_by_hand_do_not_count",
            "attack_17_status_shows_a_plan_that_disagrees_and_reconcile_sets_it_right",
            "attack_17_the_words_of_a_task_are_those_of_the_base_also_when_it_is_renamed",
            "attack_17_tasks_that_an_agent_marks_as_done_are_not_successes",
            "attack_17_a_list_that_was_marked_as_done_between_runs_is_named",
            "attack_17_easier_tasks_of_others_do_not_count_in_a_run",
            "attack_17_status_shows_a_list_that_disagrees_and_reconcile_sets_it_right",
            "attack_17_a_list_alone_makes_no_task_done",
            "attack_17_a_file_alone_never_releases_a_task",
            "attack_17_a_renamed_task_is_found_by_its_text_or_its_place",
            "attack_17_a_forged_base_hides_nothing",
            "attack_17_a_forged_merge_makes_no_task_done",
            "attack_17_a_commit_on_main_with_a_forged_trailer_stops_the_run",
            "attack_17_a_commit_on_main_is_noticed_where_the_task_itself_fails",
        ],
    ),
    ("`--plan` with a plan of its own", &["attack_17_a_plan_of_the_agent_releases_no_task"]),
    (
        "a new `PLAN.md` with the title or id",
        &[
            "attack_17_a_new_plan_hides_no_added_task",
            "attack_17_a_plan_that_is_new_and_complete_passes_nothing",
            "attack_17_a_task_that_is_new_in_a_known_plan_waits_for_a_person",
        ],
    ),
    (
        "`PLAN.md` committed as complete on the local",
        &["attack_17_a_local_default_branch_that_was_moved_releases_no_task"],
    ),
    (
        "items of `qr` removed",
        &[
            "attack_17_a_word_does_not_pass_what_a_review_failed",
            "attack_17_an_acceptance_written_by_hand_is_no_persons",
            "attack_17_items_that_vanish_or_become_easier_do_not_pass",
            "attack_17_reconcile_sets_a_state_file_right_from_the_ledger",
            "attack_17_removing_the_file_does_not_remove_what_happened",
            "attack_17_what_the_record_contradicts_does_not_pass",
        ],
    ),
    ("a state file of `qr` that is written by hand", &["attack_17_a_state_file_in_a_folder_of_its_own"]),
    (
        "criteria or evidence that the reviewer of `qr reconcile`",
        &[
            "attack_17_every_criterion_of_the_plan_is_answered_by_what_was_shown",
            "attack_17_criteria_are_those_of_the_plan",
        ],
    ),
    (
        "reviews switched off",
        &[
            "attack_17_reviews_that_are_off_leave_an_event",
            "attack_17_reviews_that_are_off_leave_an_event_of_the_session",
        ],
    ),
    (
        "`approve` by an agent",
        &[
            "attack_17_a_mark_that_was_taken_away_is_found_in_the_processes_above",
            "attack_17_a_terminal_without_control_is_none",
            "attack_17_an_agent_is_seen_behind_an_empty_environment_and_a_terminal_of_its_own",
            "attack_17_a_renamed_agent_program_is_known_by_what_it_executes",
            "attack_17_a_script_is_known_by_where_its_link_leads",
            "attack_17_the_packages_of_agent_programs_are_known",
            "attack_17_the_real_claude_decides_nothing",
            "attack_17_the_real_codex_decides_nothing",
            "attack_17_terminals_of_people_work",
        ],
    ),
    (
        "`agents_may_decide` written",
        &[
            "attack_17_an_own_file_that_was_written_after_trust_allows_nothing",
            "attack_17_another_home_allows_nothing",
        ],
    ),
    (
        "decisions over HTTP",
        &[
            "attack_17_a_server_without_a_terminal_decides_nothing",
            "attack_17_the_token_in_the_file_decides_nothing",
        ],
    ),
    (
        "decisions on the page by another site",
        &[
            "issue_21_1_only_forms_of_the_page_decide",
            "issue_21_1_page_and_api_answer_under_their_own_names",
            "issue_21_1_a_link_becomes_a_session_once",
            "issue_21_1_a_form_is_that_of_the_page",
        ],
    ),
    ("drive the browser of the person", &[]),
    (
        "a signature for something else",
        &[
            "attack_17_a_signature_of_something_else_is_refused_and_says_why",
            "attack_17_a_signature_holds_once",
            "attack_17_the_work_does_not_choose_its_signers",
            "attack_17_lines_that_allow_anybody_or_any_use_do_not_count",
            "attack_17_only_lines_for_one_person_and_this_use_count",
            "attack_17_a_statement_is_about_one_decision_on_one_state",
            "attack_17_an_agent_does_not_sign",
            "attack_17_a_dispute_is_signed_with_its_evidence",
            "attack_17_a_signature_in_a_ref_counts_like_a_file",
        ],
    ),
    (
        "the list of unchanged files that hooks keep",
        &[
            "attack_18_a_forged_list_hides_nothing_from_a_hook",
            "attack_18_a_file_with_its_times_put_back_is_seen_by_a_hook",
            "attack_18_a_forged_list_of_files_does_not_count",
            "attack_18_edits_with_their_times_put_back_are_seen",
            "attack_18_edits_in_the_moment_of_the_list_are_seen",
            "attack_18_writes_through_shared_memory_are_seen",
            "attack_18_what_the_index_and_head_have_is_never_ignored_by_the_list",
        ],
    ),
    (
        "calling the hook to get new attempts",
        &[
            "attack_17_an_agent_that_calls_its_hook_itself_renews_nothing",
            "attack_17_a_session_that_is_said_to_be_written_to_gets_attempts_three_times",
            "attack_17_a_hook_is_called_by_the_program_and_not_by_a_shell_of_its_agent",
            "attack_17_a_variable_alone_is_no_call_of_ours",
            "attack_17_the_mark_of_a_shell_in_the_settings_of_the_agent",
        ],
    ),
    ("calling the hook with a `--config`", &["attack_17_another_configuration_without_any_mark"]),
    (
        "an own tmux, a double fork",
        &[
            "attack_17_where_decisions_are_signed_a_terminal_is_not_enough",
            "attack_17_where_decisions_are_signed_no_other_person_decides",
        ],
    ),
    (
        "delete or empty the ledger",
        &[
            "attack_17_deleting_the_record",
            "attack_18_an_older_copy_of_the_ledger",
            "attack_18_the_end_of_the_ledger_is_cut_off",
            "attack_18_another_history_with_the_same_beginning",
            "attack_18_the_ledger_of_another_project",
            "attack_18_an_emptied_ledger_is_no_new_one",
        ],
    ),
    ("the same, and delete what is kept in the home", &["attack_17_deleting_the_record"]),
    (
        "`git clean`, a committed ledger",
        &[
            "attack_18_git_clean_leaves_the_ledger",
            "committed_ledger_is_refused_also_as_a_link_or_a_submodule",
        ],
    ),
    ("a ledger where earlier versions had it", &["attack_18_a_ledger_in_the_old_place"]),
    (
        "delete or change rows of the ledger",
        &[
            "attack_17_a_failure_that_was_removed_from_the_index_is_missed",
            "attack_18_every_row_that_disagrees_with_the_events_is_named",
            "attack_18_rows_of_the_ledger_are_deleted_or_changed",
            "attack_18_an_answer_that_was_referred_to_and_edited_is_seen",
        ],
    ),
    (
        "change a recorded verdict",
        &["attack_18_a_verdict_that_its_rulings_do_not_give_is_seen_in_a_chain_that_was_computed_anew"],
    ),
    (
        "import a record that says passed",
        &[
            "attack_18_a_forged_export_that_passed_is_imported",
            "attack_18_an_export_that_was_edited_is_refused_with_its_line",
        ],
    ),
    (
        "a pull request that changes the rules",
        &[
            "issue_20_a_change_of_gate_files_names_what_a_person_does",
            "issue_20_the_default_branch_of_the_event_judges",
        ],
    ),
    ("another commit checked out", &["issue_20_only_the_commit_of_the_event_is_judged"]),
    ("a branch called `main`", &["issue_20_the_default_branch_of_the_event_judges"]),
    (
        "findings, names of files or branches",
        &["issue_20_a_log_on_github_has_our_commands_and_no_others", "issue_20_300_findings_in_every_format"],
    ),
    ("a workflow file that is changed", &[]),
    ("a forged ledger in a cache", &["attack_20_a_forged_ledger_in_a_cache_does_not_count"]),
    ("prune the ledger", &["attack_18_an_agent_prunes_or_imports", "attack_18_a_mark_alone_prunes_nothing"]),
    ("a filter or helper of `.git/config`", &["attack_17_a_filter_below_a_persons_command"]),
    ("delete the hook, the program", &[]),
    ("edit the judged contents", &["attack_18_contents_that_were_edited_are_not_shown"]),
    ("write a ledger of its own", &[]),
    (
        "an exception (`countersign: allow",
        &[
            "attack_20_an_exception_that_is_added_in_the_same_change",
            "attack_20_an_exception_of_the_base_is_stretched_over_new_lines",
        ],
    ),
    ("a baseline that is written", &["attack_20_a_baseline_that_is_edited_in_the_same_change"]),
    ("a copy of a line that is in the baseline", &["attack_20_a_copy_of_a_line_that_is_in_the_baseline"]),
    ("work that makes its reviewer say", &["attack_20_a_finding_that_is_said_to_be_there_already"]),
    ("`exclude` for the own work", &["attack_20_excluding_the_work"]),
    ("`--rule`, `--checks-only`", &["attack_20_asking_a_part_of_the_rules"]),
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The attacks of the page with what happens.
fn page() -> Vec<(String, String)> {
    let text = fs::read_to_string(repository().join("docs/threat-model.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| ")).map(|row| row.split(" | ").collect());
    let rows = rows.filter(|cells: &Vec<&str>| cells.len() == 3 && !cells[1].trim().is_empty());
    rows.skip(1).map(|cells| (cells[0].to_owned(), cells[1].to_owned())).collect()
}

/// The names of all functions below a folder, tests among them: some tests are made by macros.
fn functions(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() && !entry.ends_with("target") {
            functions(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&entry).unwrap();
            let names = text.split("fn ").skip(1).filter_map(|rest| rest.split('(').next());
            found.extend(names.filter(|name| name.contains('_')).map(str::to_owned));
        }
    }
}

#[test]
fn every_row_of_the_threat_model_is_shown_by_tests_and_every_attack_has_a_row() {
    let mut known = BTreeSet::new();
    functions(&repository().join("crates"), &mut known);
    assert!(known.len() > 1_000, "{}", known.len());
    let page = page();
    let mut used: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = vec![];
    for (attack, outcome) in &page {
        let rows: Vec<_> = ROWS.iter().filter(|(beginning, _)| attack.starts_with(beginning)).collect();
        let [(beginning, shown_by)] = rows[..] else {
            wrong.push(format!("{} rows of this test begin like: {attack}", rows.len()));
            continue;
        };
        *used.entry(beginning).or_default() += 1;
        if shown_by.is_empty() && !outcome.starts_with("not prevented") {
            wrong.push(format!("no test shows: {attack}"));
        }
        let missing = shown_by.iter().filter(|name| !known.contains(**name));
        wrong.extend(missing.map(|name| format!("no such test: {name}")));
    }
    let stale = ROWS.iter().filter(|(beginning, _)| used.get(beginning) != Some(&1));
    wrong.extend(stale.map(|(beginning, _)| format!("not one row of the page begins with: {beginning}")));
    let named: BTreeSet<&str> = ROWS.iter().flat_map(|(_, names)| *names).copied().collect();
    let is_attack =
        |name: &&String| ["attack_17_", "attack_18_", "attack_20_"].iter().any(|of| name.starts_with(of));
    let attacks = known.iter().filter(is_attack);
    let without_row = attacks.filter(|name| !named.contains(name.as_str()));
    wrong.extend(without_row.map(|name| format!("no row of the page is shown by: {name}")));
    assert!(wrong.is_empty(), "docs/threat-model.md and this table differ:\n{}", wrong.join("\n"));
    assert!(page.len() > 60, "{}", page.len());
}
