//! The tables of routes. A row here is a route, and its description.

mod decision;
mod events;
mod general;
mod reviews;
mod tasks;

use super::parameter::{Kind, Parameter};
use super::route::Route;

pub static TABLES: &[&[Route]] =
    &[general::ROUTES, reviews::ROUTES, decision::ROUTES, tasks::ROUTES, events::ROUTES];

const LONGEST_WAIT_SECONDS: u64 = 600;

const WAIT: Parameter = Parameter::query(
    "wait",
    Kind::Whole { min: 0, max: LONGEST_WAIT_SECONDS },
    "How many seconds to wait for the end before the present state is answered. An answer that a client waited for \
            counts as delivered: the same work submitted again is the next attempt.",
);
