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
        div class="lead" {
            h1 { "Insights" }
            nav class="range" aria-label="Days" {
                @for range in RANGES {
                    a href={ "?days=" (range) } aria-current=[(range == days).then_some("true")] { (range) " days" }
                }
            }
        }
        div id="insights" class="stack" data-live {
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
        div class="tiles" {
            div class="card tile" { div class="k" { "Questions" } div class="v" { (total.questions) } div class="d" { "in " (insights.days) " days" } }
            div class="card tile" {
                div class="k" { "Spent" } div class="v" { (spent) }
                div class="d" { "+ " (total.spent.unknown) " questions of unknown cost" }
            }
            div class="card tile" {
                div class="k" { "Passed" } div class="v" { (percent(insights.passed, insights.settled)) }
                div class="d" { (insights.passed) " of " (insights.settled) " reviews with an outcome" }
            }
            div class="card tile" {
                div class="k" { "Decided against the verdict" } div class="v" { (insights.overridden) }
                div class="d" { (percent(insights.overridden, insights.settled)) " of them" }
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
        section class="card" aria-labelledby="cost-title" {
            div class="cardhead" { h2 id="cost-title" { "Cost per day" } span class="dim" { "days in UTC" } }
            @if insights.bars.is_empty() { p class="empty dim" { "No question was asked in these days." } }
            @else {
                div class="key" {
                    @for (n, reviewer) in insights.reviewers.iter().enumerate() {
                        span { i class=(plot::class(n)) {} (visible_line(reviewer)) }
                    }
                    span { "? has questions of unknown cost" }
                }
                figure class="plot" { (plot::costs(&insights.bars)) }
                details {
                    summary { "The same as a table" }
                    div class="scroll" tabindex="0" role="region" aria-label="Cost per day" {
                        table class="list" {
                            thead { tr { th scope="col" { "Day" } th scope="col" class="r" { "Questions" } th scope="col" class="r" { "Cost" } th scope="col" class="r" { "Unknown" } } }
                            tbody { @for bar in &insights.bars {
                                tr {
                                    th scope="row" { (bar.day) }
                                    td class="r" { (bar.questions) }
                                    td class="r" { (dollars(bar.parts.iter().map(|(_, micro)| micro).sum())) }
                                    td class="r" { (bar.unknown) }
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
        section class="card" aria-labelledby="ends-title" {
            div class="cardhead" { h2 id="ends-title" { "How reviews stand" } span class="dim" { "of all time" } }
            table class="list" {
                thead { tr { th scope="col" { "Outcome" } th scope="col" class="r" { "Reviews" } th scope="col" { "Share" } } }
                tbody { @for share in &insights.ends {
                    tr {
                        th scope="row" { (share.words) }
                        td class="r" { (share.count) }
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
            section class="card" aria-labelledby="models-title" {
                div class="cardhead" { h2 id="models-title" { "By day, reviewer and model" } }
                div class="scroll" tabindex="0" role="region" aria-label="Costs by day, reviewer and model" {
                    table class="list" {
                        thead { tr { th scope="col" { "Day" } th scope="col" { "Reviewer" } th scope="col" { "Model" } th scope="col" class="r" { "Questions" } th scope="col" class="r" { "Cost" } } }
                        tbody { @for row in &insights.costs.rows {
                            tr {
                                th scope="row" { (row.day.as_deref().unwrap_or_default()) }
                                td { (visible_line(row.reviewer.as_deref().unwrap_or_default())) }
                                td { (visible_line(row.model.as_deref().unwrap_or("unknown"))) }
                                td class="r" { (row.questions) }
                                td class="r" { (layout::money(&row.spent)) }
                            }
                        } }
                    }
                }
            }
        }
    }
}
