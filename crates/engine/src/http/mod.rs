//! HTTP to services and webhooks: addresses, connections, and when to try again.

mod client;
mod place;
pub(crate) mod retry;

pub(crate) use client::{chain, client, secret};
pub(crate) use place::Place;
