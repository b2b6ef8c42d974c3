//! The page over HTTP, on 127.0.0.1.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use anyhow::{Result, anyhow};
use oxhttp::Server;
use oxhttp::model::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, ETAG, IF_NONE_MATCH, X_CONTENT_TYPE_OPTIONS,
};
use oxhttp::model::{Body, HeaderValue, Method, Request, Response, StatusCode};

use super::page::{self, File};
use crate::output;

/// Without a port this one, or any that is free.
const USUAL_PORT: u16 = 8080;
/// Who says nothing for so long is gone.
const PATIENCE: Duration = Duration::from_secs(10);
const CONNECTIONS: usize = 64;

/// Serves the page until the process is ended.
pub(super) fn serve(port: Option<u16>) -> Result<()> {
    let port = free(port)?;
    let files = page::files();
    let server = Server::new(move |request| {
        let response = answer(request, &files);
        // The server asks the request whether the connection stays. It does not: there are a handful of files, and an idle
        // connection would hold a thread until its time is up.
        request.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        response
    })
    .bind((Ipv4Addr::LOCALHOST, port))
    .with_global_timeout(PATIENCE)
    .with_max_concurrent_connections(CONNECTIONS)
    .spawn()
    .map_err(|error| taken(port, &error))?;
    output::say(&format!("Tierscope: http://127.0.0.1:{port}/  (Ctrl-C ends it)\n"))?;
    server.join().map_err(|error| anyhow!("error: the server stopped: {error}\n  mend: start it again"))
}

/// The port that was asked for, or the usual one, or any; it must be free.
fn free(port: Option<u16>) -> Result<u16> {
    let bind = |port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let listener = match port {
        Some(port) => bind(port).map_err(|error| taken(port, &error))?,
        None => bind(USUAL_PORT).or_else(|_| bind(0)).map_err(|error| taken(USUAL_PORT, &error))?,
    };
    let address = listener.local_addr().map_err(|error| taken(port.unwrap_or_default(), &error))?;
    Ok(address.port())
}

fn taken(port: u16, error: &std::io::Error) -> anyhow::Error {
    anyhow!(
        "error: port {port} cannot be had: {error}\n  mend: another by --port N; --port 0 is any that is free"
    )
}

fn answer(request: &Request<Body>, files: &BTreeMap<String, File>) -> Response<Body> {
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
    }
    let Some(file) = files.get(request.uri().path()) else {
        return plain(StatusCode::NOT_FOUND, "there is no such file\n");
    };
    let known = request.headers().get(IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    let is_known =
        known.is_some_and(|tags| tags.split(',').any(|tag| tag.trim().trim_start_matches("W/") == file.tag));
    let status = if is_known { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
    let with_body = !is_known && request.method() == Method::GET;
    let cache = if file.lasts { "public, max-age=31536000, immutable" } else { "no-cache" };
    Response::builder()
        .status(status)
        .header(CONTENT_TYPE, file.mime)
        .header(CACHE_CONTROL, cache)
        .header(ETAG, &file.tag)
        .header(X_CONTENT_TYPE_OPTIONS, "nosniff")
        .body(if with_body { Body::from(file.bytes) } else { Body::empty() })
        .unwrap_or_else(|_| plain(StatusCode::INTERNAL_SERVER_ERROR, "no answer could be made\n"))
}

fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    if status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}
