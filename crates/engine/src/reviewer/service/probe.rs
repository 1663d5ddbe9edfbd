//! Whether a service is there and takes its key, without a question that costs anything.

use super::Service;
use super::exchange::signed;
use crate::http::{chain, client};
use crate::programs::{Kind, Problem};
use std::time::Duration;

/// How long it may take to say so.
const LIMIT: Duration = Duration::from_secs(3);

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
        self.try_probe().await.unwrap_or_else(Probed::Unusable)
    }

    async fn try_probe(&self) -> Result<Probed, String> {
        let (place, key) = self.place_and_key()?;
        let request = client(&place)?.get(format!("{}/models", self.base_url));
        let request = signed(request, self.api, key)?;
        let words = |kind, said: &str| place.words(&Problem::new(kind, said), key.is_some());
        let response = match tokio::time::timeout(LIMIT, request.send()).await {
            Err(_) => {
                return Err(words(Kind::NotStarted, &format!("no answer within {} s", LIMIT.as_secs())));
            }
            Ok(response) => response.map_err(|error| words(Kind::NotStarted, &chain(&error)))?,
        };
        Ok(match response.status().as_u16() {
            401 | 403 => Probed::NoEntry(words(Kind::NotSignedIn, "")),
            200..300 => Probed::Ready,
            status => Probed::Reached(status),
        })
    }
}
