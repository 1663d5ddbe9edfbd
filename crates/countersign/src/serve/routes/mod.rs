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
    "How many seconds to wait for the result. After this time the current state is returned. If the client got a result this way, submitting the same work again counts as the next attempt.",
);
