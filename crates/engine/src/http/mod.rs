//! HTTP to services and webhooks: addresses, connections, and when to try again.

mod client;
pub(crate) mod retry;

pub(crate) use client::{Place, chain, client, secret};
