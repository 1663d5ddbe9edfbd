//! Plots as SVG, made here. Each has a title that says the same in words, and a table beside it.

use countersign_app::page::Bar;
use countersign_core::cost::dollars;
use maud::{Markup, html};

const WIDTH: u64 = 560;
const LEFT: u64 = 48;
const TOP: u64 = 14;
const BASE: u64 = 168;
const CLASSES: [&str; 4] = ["c1", "c2", "c3", "c4"];

/// The colour of a part, by its number.
pub fn class(n: usize) -> &'static str {
    CLASSES.get(n % CLASSES.len()).copied().unwrap_or("c1")
}

/// Bars of costs, a day each.
pub fn costs(bars: &[Bar]) -> Markup {
    let sum = |bar: &Bar| bar.parts.iter().fold(0u64, |sum, (_, micro)| sum.saturating_add(*micro));
    let most = bars.iter().map(sum).max().unwrap_or(0).max(1);
    let all = bars.iter().fold(0u64, |all, bar| all.saturating_add(sum(bar)));
    let step = (WIDTH - LEFT) / (bars.len().max(1) as u64).min(WIDTH - LEFT);
    let width = step.saturating_sub(2).clamp(1, 40);
    let height = |micro: u64| {
        u64::try_from(u128::from(micro) * u128::from(BASE - TOP) / u128::from(most)).unwrap_or(BASE - TOP)
    };
    let (first, last) = (bars.first().map_or("", |bar| &bar.day), bars.last().map_or("", |bar| &bar.day));
    html! {
        svg viewBox={ "0 0 " (WIDTH) " 190" } role="img" aria-labelledby="cost-plot" {
            title id="cost-plot" { "Cost per day from " (first) " to " (last) ": at most " (dollars(most.min(all))) " a day, " (dollars(all)) " in all" }
            line .ax x1=(LEFT) x2=(WIDTH) y1=(BASE) y2=(BASE) {}
            line .ax x1=(LEFT) x2=(WIDTH) y1=(TOP) y2=(TOP) {}
            text x=(LEFT - 6) y=(BASE + 4) text-anchor="end" { "$0" }
            @if all > 0 { text x=(LEFT - 6) y=(TOP + 4) text-anchor="end" { (dollars(most)) } }
            text x=(LEFT) y="186" { (first) }
            @if first != last { text x=(WIDTH) y="186" text-anchor="end" { (last) } }
            @for (n, bar) in bars.iter().enumerate() {
                @let x = LEFT + n as u64 * step + 1;
                @for (part, y, tall) in stacked(bar, height) {
                    rect class=(class(part)) x=(x) y=(y) width=(width) height=(tall) {}
                }
                @if bar.unknown > 0 { text x=(x + width / 2) y=(BASE.saturating_sub(height(sum(bar)) + 3)) text-anchor="middle" { "?" } }
            }
        }
    }
}

/// The parts of a bar from below: their number, where they begin, and how tall they are.
fn stacked(bar: &Bar, height: impl Fn(u64) -> u64) -> Vec<(usize, u64, u64)> {
    let (mut below, mut parts) = (0u64, vec![]);
    for (n, (_, micro)) in bar.parts.iter().enumerate() {
        let from = height(below);
        below = below.saturating_add(*micro);
        let to = height(below);
        if to > from {
            parts.push((n, BASE.saturating_sub(to), to - from));
        }
    }
    parts
}

/// A share of a whole.
pub fn meter(part: u64, whole: u64) -> Markup {
    let filled = u64::try_from(u128::from(part) * 100 / u128::from(whole.max(1))).unwrap_or(100).min(100);
    html! {
        svg .meter viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" {
            rect .b width="100" height="4" {}
            rect .a width=(filled) height="4" {}
        }
    }
}
