//! An S3 client, as the variables of the environment want it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
    ReqwestConnector,
};
use object_store::{ClientOptions, RetryConfig};

use super::error::ObjectError;
use super::failure::Answered;

/// The variables of this process that say where a store is and who asks.
pub(super) fn variables() -> Vec<(String, String)> {
    let text = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    text.filter(|(name, _)| name.starts_with("AWS_")).collect()
}

/// A client for a bucket.
pub(super) fn client(
    url: &str,
    bucket: &str,
    variables: &[(String, String)],
) -> Result<Arc<AmazonS3>, ObjectError> {
    check(url, variables)?;
    let mut builder = AmazonS3Builder::new();
    for (name, value) in variables {
        // What the library has no word for is for somebody else.
        if let Ok(key) = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>() {
            builder = builder.with_config(key, value);
        }
    }
    // Attempts, their time and what is between them: `attempt`.
    let once = RetryConfig { max_retries: 0, ..RetryConfig::default() };
    let built = builder.with_bucket_name(bucket).with_retry(once).with_http_connector(Connector).build();
    let client =
        built.map_err(|error| ObjectError::Unreachable { url: url.to_owned(), said: error.to_string() })?;
    Ok(Arc::new(client))
}

/// What would otherwise be asked of the network, and answered late and in words that say nothing.
fn check(url: &str, variables: &[(String, String)]) -> Result<(), ObjectError> {
    let get = |name: &str| {
        let found = variables.iter().find(|(own, value)| own == name && !value.is_empty());
        found.map(|(_, value)| value.as_str())
    };
    let says = |name: &str| get(name).is_some_and(|value| matches!(value, "1" | "true" | "TRUE" | "True"));
    let other_ways = [
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    ];
    let needs_keys = !says("AWS_SKIP_SIGNATURE") && other_ways.iter().all(|name| get(name).is_none());
    if needs_keys
        && let Some(variable) =
            ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].into_iter().find(|name| get(name).is_none())
    {
        return Err(ObjectError::NoKeys { url: url.to_owned(), variable });
    }
    let names = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];
    let endpoint = names.into_iter().find_map(get).unwrap_or_default();
    if endpoint.starts_with("http:") && !says("AWS_ALLOW_HTTP") {
        return Err(ObjectError::PlainHttp { url: url.to_owned(), endpoint: endpoint.to_owned() });
    }
    Ok(())
}

/// Makes clients that tell by a type how a server answered: the library tells most of it in words only.
#[derive(Debug)]
struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let options = options.clone().with_timeout_disabled();
        Ok(HttpClient::new(Typed(ReqwestConnector::default().connect(&options)?)))
    }
}

#[derive(Debug)]
struct Typed(HttpClient);

impl HttpService for Typed {
    fn call<'s, 'f>(
        &'s self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            let response = self.0.execute(request).await?;
            let status = response.status().as_u16();
            if status < 400 {
                return Ok(response);
            }
            let said = words_of(response).await;
            Err(HttpError::new(HttpErrorKind::Unknown, Answered { status, said }))
        })
    }
}

/// Longer words than these are not read.
const WORDS_MAX: usize = 16 << 10;

async fn words_of(response: HttpResponse) -> String {
    let length =
        response.headers().get("content-length").and_then(|length| length.to_str().ok()?.parse().ok());
    if length.is_none_or(|length: usize| length > WORDS_MAX) {
        return String::new();
    }
    let bytes = response.into_body().bytes().await;
    bytes.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(variables: &[(&str, &str)]) -> Option<String> {
        let own: Vec<(String, String)> =
            variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        check("s3://bucket", &own).err().map(|error| error.to_string())
    }

    #[test]
    fn missing_keys_and_open_lines_are_refused_before_anything_is_sent() {
        let keys = [("AWS_ACCESS_KEY_ID", "key"), ("AWS_SECRET_ACCESS_KEY", "secret")];
        assert_eq!(refused(&keys), None);
        assert_eq!(refused(&[("AWS_SKIP_SIGNATURE", "true")]), None);
        let no_key = refused(&[]).expect("no keys");
        assert!(no_key.contains("no AWS_ACCESS_KEY_ID") && no_key.contains("mend: "), "{no_key}");
        let half = refused(&keys[..1]).expect("one key");
        assert!(half.contains("no AWS_SECRET_ACCESS_KEY"), "{half}");
        let open = ("AWS_ENDPOINT_URL", "http://127.0.0.1:9");
        let plain = refused(&[keys[0], keys[1], open]).expect("not encrypted");
        assert!(plain.contains("http://127.0.0.1:9") && plain.contains("AWS_ALLOW_HTTP"), "{plain}");
        assert_eq!(refused(&[keys[0], keys[1], open, ("AWS_ALLOW_HTTP", "true")]), None);
    }
}
