//! Whether a service is there and takes its key, without a question that costs anything.

use super::Service;
use super::exchange::signed;
use crate::http::{chain, client};
use crate::programs::Problem;
use std::time::Duration;

/// How long it may take to say so.
const LIMIT: Duration = Duration::from_secs(3);

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probed {
    /// It is there, and lists its models.
    Ready,
    /// It is there and says something else; many servers list nothing.
    Reached(u16),
    /// It does not take the key, or wants one.
    NoEntry(String),
    /// It cannot be asked.
    Unusable(String),
}

impl Service {
    /// Asks for the list of models, which is free.
    pub async fn probe(&self) -> Probed {
        let (place, key) = match self.way() {
            Ok(way) => way,
            Err(words) => return Probed::Unusable(words),
        };
        let request = client(&place).map(|client| client.get(format!("{}/models", self.base_url)));
        let request = match request.and_then(|request| signed(request, self.api, key)) {
            Ok(request) => request,
            Err(words) => return Probed::Unusable(words),
        };
        let unreached = |words: &str| {
            let problem = Problem::new(crate::programs::Kind::NotStarted, words);
            Probed::Unusable(place.words(&problem, key.is_some()))
        };
        match tokio::time::timeout(LIMIT, request.send()).await {
            Err(_) => unreached(&format!("no answer within {} s", LIMIT.as_secs())),
            Ok(Err(error)) => unreached(&chain(&error)),
            Ok(Ok(response)) => match response.status().as_u16() {
                401 | 403 => {
                    let problem = Problem::new(crate::programs::Kind::NotSignedIn, "");
                    Probed::NoEntry(place.words(&problem, key.is_some()))
                }
                200..300 => Probed::Ready,
                status => Probed::Reached(status),
            },
        }
    }
}
