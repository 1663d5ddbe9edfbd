//! Forms and queries, as browsers send them.

use axum::RequestExt;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use percent_encoding::percent_decode_str;
use std::time::Duration;

const FORM_BYTES_MAX: usize = 64 * 1024;
const FORM_TIMEOUT: Duration = Duration::from_secs(30);

/// The fields of a form or of a query, each with its first value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads `a=b&c=d`; what is no UTF-8 is none.
    pub fn read(text: &str) -> Self {
        let decode = |text: &str| {
            percent_decode_str(&text.replace('+', " ")).decode_utf8().ok().map(|text| text.into_owned())
        };
        let pairs = text.split('&').filter_map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decode(name)?, decode(value)?))
        });
        Self(pairs.collect())
    }

    pub fn of_query(request: &Request) -> Self {
        Self::read(request.uri().query().unwrap_or_default())
    }

    /// The fields of a body; none where it is no form, is too long or takes too long.
    pub async fn of_body(request: Request) -> Option<Self> {
        let mut kinds = request.headers().get_all(CONTENT_TYPE).iter();
        let (kind, None) = (kinds.next()?.to_str().ok()?, kinds.next()) else { return None };
        if kind.split(';').next()?.trim() != "application/x-www-form-urlencoded" {
            return None;
        }
        let body = tokio::time::timeout(FORM_TIMEOUT, request.extract::<Bytes, _>()).await;
        let body = body.ok()?.ok().filter(|body| body.len() <= FORM_BYTES_MAX)?;
        Some(Self::read(std::str::from_utf8(&body).ok()?))
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The same without empty values.
    pub fn filled(&self, name: &str) -> Option<&str> {
        self.get(name).map(str::trim).filter(|value| !value.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issue_21_1_fields_are_read_as_browsers_send_them() {
        let fields = Fields::read("a=1+2%2B3&b=&c&a=4&d=%C3%A4%0A&e=%FF&=x");
        assert_eq!(fields.get("a"), Some("1 2+3"));
        assert_eq!((fields.get("b"), fields.filled("b"), fields.get("c")), (Some(""), None, Some("")));
        assert_eq!((fields.get("d"), fields.get("e"), fields.get("")), (Some("ä\n"), None, Some("x")));
        assert_eq!(Fields::read("").get("a"), None);
    }
}
