//! A review: what was decided and why, what comes next, and the decision of a person.

use super::layout::{self, Head, capital, money, shape, state};
use super::review_files::{elsewhere, file};
use super::router::Visit;
use crate::output::accepted_why;
use axum::http::StatusCode;
use axum::response::Response;
use countersign_app::Failure;
use countersign_app::answer::v1::State;
use countersign_app::answer::v1::baseline::Accepted;
use countersign_app::decide::{Action, REASON_BYTES_MAX};
use countersign_app::find::{self, no_ledger};
use countersign_app::page::{self, Cell, Matrix, ReviewView};
use countersign_app::server_state::ReviewState;
use countersign_app::time::{ago, local};
use countersign_core::judge::RoundEnd;
use countersign_core::text::{counted, visible, visible_line};
use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// What a decision that was refused leaves in its box.
#[derive(Clone, Debug)]
pub struct Refused {
    pub words: String,
    pub reason: String,
}

pub async fn page(visit: &Visit, status: StatusCode, refused: Option<Refused>) -> Result<Response, Failure> {
    let ledger = visit.ledger.as_ref().ok_or_else(no_ledger)?;
    let id = find::meant(&visit.project, ledger, &visit.id).await?;
    let Some(stored) = ledger.review(&id).await? else { return Err(find::not_found(id.as_str())) };
    let followed = ReviewState::of(visit.web.resident(), ledger, stored).await?;
    let by = visit.web.person();
    let view = page::review(&visit.project, ledger, &followed, &visit.scope(), &by).await?;
    let (name, subject) = (visit.name(), view.verdict.review.subject.as_str().to_owned());
    let body = html! {
        p .crumb { a href="/" { "Inbox" } " · " (view.verdict.review.id) }
        div id="head" data-live { (heading(&view)) }
        div .rgrid {
            div .stack {
                (verdict(&view))
                (rounds(&view))
                (matrix(&view.matrix))
                (elsewhere(&view.elsewhere))
                (accepted(&view.verdict.accepted))
                @for shown in &view.files { (file(shown)) }
                (other_files(&view))
            }
            div .stack.sticky {
                (decide(visit, &view, refused.as_ref()))
                (rulers(&view))
                (record(&view))
            }
        }
    };
    let head = Head { title: &subject, current: "History", project: &name, waiting: None };
    Ok(layout::page(status, &head, body))
}

fn heading(view: &ReviewView) -> Markup {
    let review = &view.verdict.review;
    let digest = review.digest.as_ref().map_or_else(String::new, |digest| digest.short().to_string());
    let tries = review.attempts_left.map(|left| counted(left, "try left", "tries left"));
    html! {
        div .rhead {
            h1 { (visible_line(review.subject.as_str())) }
            @if view.state == State::Interrupted {
                span .st.none { (shape("none")) "Interrupted" }
            } @else {
                (state(view.standing))
            }
        }
        div .facts {
            @if let Some(round) = review.round { span { "Round " (round) } }
            @if let Some(tries) = tries { span { (tries) } }
            span title=(local(view.changed_ms)) { "Changed " (ago(view.changed_ms)) }
            @if !digest.is_empty() { span { "Digest " code { (digest) } } }
            @if let Some(base) = view.verdict.coverage.as_ref().and_then(|coverage| coverage.base.as_deref()) {
                span { "Against " code { (visible_line(base).chars().take(12).collect::<String>()) } }
            }
            span { (capital(&money(&view.verdict.cost.spent))) " in this round" }
        }
    }
}

/// What it means, and what comes next.
fn verdict(view: &ReviewView) -> Markup {
    let shown = &view.verdict;
    html! {
        section id="verdict" .card.pad data-live aria-label="Verdict" {
            @if let Some(gates) = &shown.gates {
                @if gates.count { p { b { "Gates count this." } } }
                @else {
                    p { b { "Advisory: " } "gates do not count this: " (visible_line(&gates.why.join("; "))) "." }
                }
            }
            @if let Some(coverage) = &shown.coverage { p .dim { (capital(&visible_line(&coverage.words))) } }
            @if let Some(from) = shown.coverage.as_ref().and_then(|coverage| coverage.rules_from.as_deref()) {
                p .dim { "Rules from " (visible_line(from)) }
            }
            @for left_out in &shown.left_out { p { b { "Left out: " } (visible_line(&left_out.words)) } }
            @for passed in &shown.passed_after_notes {
                p { b { "Passed after new notes on unchanged files: " } (visible_line(&passed.criterion)) " (" (visible_line(&passed.target)) ")" }
            }
            @for fixed in &shown.fixed {
                p { b { "In round " (fixed.round) " the reviewer changed files itself: " } (visible(&fixed.found)) }
            }
            @for dispute in &shown.review.disputes { p { b { "Disputed: " } (visible_line(&dispute.words)) } }
            @for lift in &shown.review.lifts { p { b { "Unblocked: " } (visible_line(&lift.words)) } }
            @for decision in &shown.review.decisions { p { b { "Decided: " } (visible_line(&decision.words)) } }
            @for (n, step) in shown.next.iter().enumerate() {
                p { @if n == 0 { b { "Next: " } } (visible_line(step)) }
            }
        }
    }
}

fn rounds(view: &ReviewView) -> Markup {
    const SHOWN: usize = 12;
    let left_out = view.rounds.len().saturating_sub(SHOWN);
    html! {
        section id="rounds" .card data-live aria-labelledby="rounds-title" {
            div .cardhead {
                h2 id="rounds-title" { "Rounds" }
                @if left_out > 0 { span .dim { (counted(left_out, "earlier round is", "earlier rounds are")) " not shown" } }
            }
            ol .rounds {
                @for round in &view.rounds[left_out..] {
                    li class=(match round.end { Some(RoundEnd::Pass) => "ok", Some(RoundEnd::NeedsWork) => "bad", _ => "now" }) {
                        b { "Round " (round.n) } " · "
                        (round.end.map_or_else(|| "running".to_owned(), RoundEnd::words))
                        br;
                        span .small.dim {
                            (counted(round.findings, "finding", "findings")) " · " (round.asked) " asked, " (round.reused) " cached · "
                            (money(&round.spent))
                        }
                    }
                }
            }
        }
    }
}

fn matrix(matrix: &Matrix) -> Markup {
    let count = |cell| matrix.counts.get(&cell).copied().unwrap_or(0);
    let words = format!(
        "{} passed, {} cached, {} with findings, {} without a verdict",
        count(Cell::Passed),
        count(Cell::Cached),
        count(Cell::Failed),
        count(Cell::NoVerdict) + count(Cell::NotSeen) + count(Cell::Open)
    );
    html! {
        @if !matrix.rows.is_empty() {
            section id="coverage" .card data-live aria-labelledby="coverage-title" {
                div .cardhead { h2 id="coverage-title" { "Coverage" } span .dim { (words) } }
                div .scroll tabindex="0" role="region" aria-label="Coverage table" {
                    table .matrix {
                        caption .vh { "What came of each criterion on each file" }
                        thead { tr {
                            th scope="col" { "File" }
                            @for (rule, criterion) in &matrix.columns {
                                th scope="col" title=(visible_line(rule)) { (visible_line(criterion)) }
                            }
                        } }
                        tbody {
                            @for row in &matrix.rows {
                                tr {
                                    th scope="row" { (visible_line(&row.name)) }
                                    @for cell in &row.cells { td { (cell_of(*cell)) } }
                                }
                            }
                        }
                    }
                }
                @if matrix.left_out > 0 {
                    p .empty.dim {
                        (counted(matrix.left_out, "more row", "more rows")) " without findings. " a href="?rows=all" { "Show all" }
                    }
                }
                div .legend {
                    @for cell in [Some(Cell::Passed), Some(Cell::Cached), Some(Cell::Failed), Some(Cell::NoVerdict), Some(Cell::NotSeen), Some(Cell::Open), None] {
                        span { (cell_of(cell)) (cell_words(cell)) }
                    }
                }
            }
        }
    }
}

fn cell_words(cell: Option<Cell>) -> &'static str {
    match cell {
        Some(Cell::Passed) => "passed",
        Some(Cell::Cached) => "passed before, the same bytes",
        Some(Cell::Failed) => "findings",
        Some(Cell::NoVerdict) => "no verdict",
        Some(Cell::NotSeen) => "not seen",
        Some(Cell::Open) => "not answered yet",
        None => "not asked",
    }
}

fn cell_of(cell: Option<Cell>) -> Markup {
    let (class, sign) = match cell {
        Some(Cell::Passed) => ("ok", shape("ok")),
        Some(Cell::Cached) => ("re", shape("ok")),
        Some(Cell::Failed) => ("bad", shape("bad")),
        Some(Cell::NoVerdict) => ("none", shape("none")),
        Some(Cell::NotSeen) => ("none", shape("wait")),
        Some(Cell::Open) => ("na", shape("run")),
        None => ("na", html! { "·" }),
    };
    html! {
        span .cell.(class) {
            span aria-hidden="true" { (sign) }
            span .vh { (cell_words(cell)) }
        }
    }
}

/// What fails and does not block.
fn accepted(accepted: &[Accepted]) -> Markup {
    const LISTED: usize = 200;
    html! {
        @if !accepted.is_empty() {
            section .card aria-labelledby="accepted-title" {
                div .cardhead { h2 id="accepted-title" { "Accepted findings" } span .dim { (accepted.len()) " that do not block" } }
                ul .rows.plain {
                    @for one in accepted.iter().take(LISTED) {
                        li {
                            b { (visible_line(one.finding.criterion.as_deref().unwrap_or("the whole"))) } " "
                            @if let Some(place) = &one.flaw.location { code { (visible_line(&place.to_string())) } " " }
                            (visible_line(&one.flaw.message)) " " span .dim { "[" (visible_line(&accepted_why(one))) "]" }
                        }
                    }
                    @if accepted.len() > LISTED { li .dim { (accepted.len() - LISTED) " more" } }
                }
            }
        }
    }
}

fn other_files(view: &ReviewView) -> Markup {
    let covered = view.verdict.coverage.as_ref();
    let not_seen = covered.map(|coverage| coverage.not_seen.as_slice()).unwrap_or_default();
    let not_covered = covered.map(|coverage| coverage.not_covered.as_slice()).unwrap_or_default();
    let mut names: Vec<&str> = view
        .verdict
        .assignments
        .iter()
        .flat_map(|one| one.planned.files.iter().map(|file| file.path.as_str()))
        .collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| !view.files.iter().any(|file| file.path == *name));
    const LISTED: usize = 200;
    html! {
        @if view.other_files > 0 || !not_seen.is_empty() || !not_covered.is_empty() {
            section .card aria-labelledby="others-title" {
                div .cardhead { h2 id="others-title" { "Other files" } }
                ul .rows.plain {
                    @for file in not_seen {
                        li { span .mono { (visible_line(&file.path)) } " " span .st.none { (shape("wait")) (if file.allowed { "passed unseen" } else { "not seen" }) } " " span .dim { (visible_line(&file.why)) } }
                    }
                    @for path in not_covered.iter().take(LISTED) {
                        li { span .mono { (visible_line(path)) } " " span .st.off { (shape("off")) "no rule is about it" } }
                    }
                    @for path in names.iter().take(LISTED) {
                        li { a .mono href={ "?file=" (utf8_percent_encode(path, NON_ALPHANUMERIC)) } { (visible_line(path)) } " " span .dim { "without findings" } }
                    }
                    @if names.len() > LISTED { li .dim { (names.len() - LISTED) " more files without findings" } }
                }
            }
        }
    }
}

fn decide(visit: &Visit, view: &ReviewView, refused: Option<&Refused>) -> Markup {
    let review = &view.verdict.review;
    let digest = review.digest.as_ref().map_or_else(String::new, ToString::to_string);
    html! {
        @if !view.actions.is_empty() && !digest.is_empty() {
            section id="decide" .card data-live aria-labelledby="decide-title" {
                div .cardhead { h2 id="decide-title" { "Decide" } }
                @if let Some(why) = &view.refused {
                    div .decide {
                        p { (capital(&visible_line(why))) "." }
                        p .fine { "Signed decisions are made at a terminal: " code { "countersign approve " (review.id) " --sign --reason TEXT" } }
                    }
                } @else {
                    form .decide method="post" action={ "/r/" (review.id) "/decision" } {
                        @if let Some(refused) = refused { p .refused role="alert" { (visible(&refused.words)) } }
                        input type="hidden" name="form" value=(visit.session.form);
                        input type="hidden" name="digest" value=(digest);
                        fieldset .opts {
                            legend .vh { "What to do" }
                            @for action in &view.actions {
                                label .opt {
                                    input type="radio" name="verb" value=(action.name()) required;
                                    b { (action_title(*action)) }
                                    span { (action_words(*action)) }
                                }
                            }
                        }
                        label for="reason" { b { "Why" } }
                        textarea id="reason" name="reason" maxlength=(REASON_BYTES_MAX / 4) required {
                            @if let Some(refused) = refused { (visible(&refused.reason)) }
                        }
                        button .btn.pri { "Record the decision" }
                        p .fine {
                            "Recorded: you, from this browser, about exactly " code { (review.digest.as_ref().map_or("", |digest| digest.short())) }
                            ". If other work is submitted before you send, nothing is decided. " kbd { "Ctrl" } " " kbd { "Enter" } " sends."
                        }
                    }
                }
            }
        }
    }
}

fn action_title(action: Action) -> &'static str {
    match action {
        Action::Approve => "Approve",
        Action::Reject => "Reject",
        Action::Skip => "Skip",
        Action::Fix => "Send back",
        Action::Unblock => "Unblock",
        Action::Withdraw => "Withdraw",
    }
}

fn action_words(action: Action) -> &'static str {
    match action {
        Action::Approve => "It counts as done, whatever the verdict.",
        Action::Reject => "It ends here, until a person unblocks it.",
        Action::Skip => "It passes without a review.",
        Action::Fix => "Your words go to the author with the findings.",
        Action::Unblock => "The author gets the findings and new attempts.",
        Action::Withdraw => "The submission is taken back.",
    }
}

fn rulers(view: &ReviewView) -> Markup {
    html! {
        section id="rulers" .card data-live aria-labelledby="rulers-title" {
            div .cardhead {
                h2 id="rulers-title" { "Who ruled" }
                span .dim { (view.verdict.cost.questions_asked) " asked, " (view.verdict.cost.rulings_reused) " cached" }
            }
            @if !view.rulers.is_empty() {
                table .ruled {
                    caption .vh { "Reviewers of the last round" }
                    thead .vh { tr { th scope="col" { "Reviewer" } th scope="col" { "Questions" } th scope="col" { "Cost" } } }
                    tbody {
                        @for ruler in &view.rulers {
                            tr {
                                th scope="row" {
                                    (visible_line(&ruler.name))
                                    @for model in &ruler.models { " " span .dim { (visible_line(model)) } }
                                }
                                td { (ruler.questions) }
                                td { (money(&ruler.spent)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn record(view: &ReviewView) -> Markup {
    let id = &view.verdict.review.id;
    html! {
        section id="record" .card data-live aria-labelledby="record-title" {
            div .cardhead { h2 id="record-title" { "Record" } span .dim { (view.events) " events" } }
            dl .kv {
                dt { "Opened" } dd { (local(view.opened_ms)) }
                dt { "Changed" } dd { (local(view.changed_ms)) }
                dt { "Attempts that failed" } dd { (view.verdict.review.attempts) }
                dt { "Secrets replaced" } dd { (view.verdict.redacted) }
            }
            p .empty.fine { "At a terminal: " code { "countersign show " (id) } ", " code { "countersign log " (id) } }
        }
    }
}
