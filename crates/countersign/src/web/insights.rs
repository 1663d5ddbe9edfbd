//! Insights: costs by day and reviewer, and how reviews ended.

use super::layout::{self, Head};
use super::plot;
use super::router::Visit;
use axum::http::StatusCode;
use axum::response::Response;
use countersign_app::Failure;
use countersign_app::page::{Insights, insights};
use countersign_core::cost::dollars;
use countersign_core::text::visible_line;
use maud::{Markup, html};

const RANGES: [u32; 3] = [7, 30, 90];

pub async fn page(visit: &Visit) -> Result<Response, Failure> {
    let days = visit.fields.get("days").and_then(|days| days.parse().ok());
    let days = days.filter(|days| RANGES.contains(days)).unwrap_or(30);
    let insights = insights(visit.ledger.as_ref(), days).await?;
    let name = visit.name();
    let body = html! {
        div .lead {
            h1 { "Insights" }
            nav .range aria-label="Days" {
                @for range in RANGES {
                    a href={ "?days=" (range) } aria-current=[(range == days).then_some("true")] { (range) " days" }
                }
            }
        }
        div id="insights" .stack data-live {
            (tiles(&insights))
            (costs(&insights))
            (ends(&insights))
            (rows(&insights))
        }
    };
    let head = Head { title: "Insights", current: "Insights", project: &name, waiting: None };
    Ok(layout::page(StatusCode::OK, &head, body))
}

fn tiles(insights: &Insights) -> Markup {
    let total = &insights.costs.total;
    let spent = total.spent.microusd.map_or_else(|| "unknown".to_owned(), dollars);
    html! {
        div .tiles {
            div .card.tile { div .k { "Questions" } div .v { (total.questions) } div .d { "in " (insights.days) " days" } }
            div .card.tile {
                div .k { "Spent" } div .v { (spent) }
                div .d { "+ " (total.spent.unknown) " questions of unknown cost" }
            }
            div .card.tile {
                div .k { "Passed" } div .v { (percent(insights.passed, insights.settled)) }
                div .d { (insights.passed) " of " (insights.settled) " reviews with an outcome" }
            }
            div .card.tile {
                div .k { "Decided against the verdict" } div .v { (insights.overridden) }
                div .d { (percent(insights.overridden, insights.settled)) " of them" }
            }
        }
    }
}

fn percent(part: u64, whole: u64) -> String {
    match whole {
        0 => "none yet".to_owned(),
        whole => format!("{}%", (part.saturating_mul(100) + whole / 2) / whole),
    }
}

fn costs(insights: &Insights) -> Markup {
    html! {
        section .card aria-labelledby="cost-title" {
            div .cardhead { h2 id="cost-title" { "Cost per day" } span .dim { "days in UTC" } }
            @if insights.bars.is_empty() { p .empty.dim { "No question was asked in these days." } }
            @else {
                div .key {
                    @for (n, reviewer) in insights.reviewers.iter().enumerate() {
                        span { i class=(plot::class(n)) {} (visible_line(reviewer)) }
                    }
                    span { "? has questions of unknown cost" }
                }
                figure .plot { (plot::costs(&insights.bars)) }
                details {
                    summary { "The same as a table" }
                    div .scroll tabindex="0" role="region" aria-label="Cost per day" {
                        table .list {
                            thead { tr { th scope="col" { "Day" } th scope="col" .r { "Questions" } th scope="col" .r { "Cost" } th scope="col" .r { "Unknown" } } }
                            tbody { @for bar in &insights.bars {
                                tr {
                                    th scope="row" { (bar.day) }
                                    td .r { (bar.questions) }
                                    td .r { (dollars(bar.parts.iter().map(|(_, micro)| micro).sum())) }
                                    td .r { (bar.unknown) }
                                }
                            } }
                        }
                    }
                }
            }
        }
    }
}

fn ends(insights: &Insights) -> Markup {
    html! {
        section .card aria-labelledby="ends-title" {
            div .cardhead { h2 id="ends-title" { "How reviews stand" } span .dim { "of all time" } }
            table .list {
                thead { tr { th scope="col" { "Outcome" } th scope="col" .r { "Reviews" } th scope="col" { "Share" } } }
                tbody { @for share in &insights.ends {
                    tr {
                        th scope="row" { (share.words) }
                        td .r { (share.count) }
                        td { (plot::meter(share.count, insights.settled)) }
                    }
                } }
            }
        }
    }
}

fn rows(insights: &Insights) -> Markup {
    html! {
        @if !insights.costs.rows.is_empty() {
            section .card aria-labelledby="models-title" {
                div .cardhead { h2 id="models-title" { "By day, reviewer and model" } }
                div .scroll tabindex="0" role="region" aria-label="Costs by day, reviewer and model" {
                    table .list {
                        thead { tr { th scope="col" { "Day" } th scope="col" { "Reviewer" } th scope="col" { "Model" } th scope="col" .r { "Questions" } th scope="col" .r { "Cost" } } }
                        tbody { @for row in &insights.costs.rows {
                            tr {
                                th scope="row" { (row.day.as_deref().unwrap_or_default()) }
                                td { (visible_line(row.reviewer.as_deref().unwrap_or_default())) }
                                td { (visible_line(row.model.as_deref().unwrap_or("unknown"))) }
                                td .r { (row.questions) }
                                td .r { (layout::money(&row.spent)) }
                            }
                        } }
                    }
                }
            }
        }
    }
}
