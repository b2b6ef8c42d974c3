//! A static file server for dist/, on 127.0.0.1 only.
//!
//! It answers GET and HEAD, never leaves its folder, tells browsers to ask again each time (the worker's files are
//! not named by their content), and closes after each answer. It is for this machine: no TLS, no ranges.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::run::{Failure, Result};

const PREFERRED_PORT: u16 = 8080;
/// Longest request head; more is refused.
const HEAD_MAX: u64 = 16 * 1024;
/// A client that says nothing for so long is gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// Serves `folder` until the process is ended. Without a port: 8080, or any free one if that is taken.
pub(crate) fn forever(folder: &Path, port: Option<u16>) -> Result {
    let listener = match port {
        Some(port) => bind(port),
        None => bind(PREFERRED_PORT).or_else(|_| bind(0)),
    };
    let wanted = port.unwrap_or(PREFERRED_PORT);
    let listener = listener.map_err(|error| {
        Failure::new(format!("port {wanted} cannot be had: {error}; try another by --port N"))
    })?;
    let address = listener.local_addr().map_err(|error| Failure::new(error.to_string()))?;
    println!("\nTierscope: http://{address}/   (Ctrl-C ends it)");
    accept(&listener, folder);
    Ok(())
}

fn bind(port: u16) -> std::io::Result<TcpListener> {
    TcpListener::bind(("127.0.0.1", port))
}

fn accept(listener: &TcpListener, folder: &Path) {
    for stream in listener.incoming().flatten() {
        let folder = folder.to_path_buf();
        // A client that goes away in the middle is no news.
        thread::spawn(move || drop(answer(stream, &folder)));
    }
}

fn answer(stream: TcpStream, folder: &Path) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream.try_clone()?.take(HEAD_MAX));
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut line = first.clone();
    // The rest of the head is read, so that the client is not cut off while it writes.
    while line.ends_with('\n') && !line.trim().is_empty() {
        line.clear();
        reader.read_line(&mut line)?;
    }
    respond(stream, &first, folder)
}

fn respond(mut stream: TcpStream, request_line: &str, folder: &Path) -> std::io::Result<()> {
    let mut words = request_line.split_whitespace();
    let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    if method != "GET" && method != "HEAD" {
        return send(&mut stream, "405 Method Not Allowed", "text/plain", b"only GET and HEAD\n", true);
    }
    let found = locate(folder, target).and_then(|path| Some((fs::read(&path).ok()?, mime(&path))));
    let with_body = method == "GET";
    match found {
        Some((body, mime)) => send(&mut stream, "200 OK", mime, &body, with_body),
        None => send(&mut stream, "404 Not Found", "text/plain", b"not found\n", with_body),
    }
}

fn send(
    stream: &mut TcpStream,
    status: &str,
    mime: &str,
    body: &[u8],
    with_body: bool,
) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {mime}\r\nContent-Length: {}\r\nCache-Control: no-cache\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    if with_body {
        stream.write_all(body)?;
    }
    stream.flush()
}

/// The file that a request's target names, if it is one below `folder`.
fn locate(folder: &Path, target: &str) -> Option<PathBuf> {
    let path = target.split(['?', '#']).next().unwrap_or("");
    let decoded = percent_decoded(path)?;
    let mut found = folder.to_path_buf();
    for part in decoded.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." || part.contains(['\\', '\0', ':']) {
            return None;
        }
        found.push(part);
    }
    if found.is_dir() {
        found.push("index.html");
    }
    // A link inside the folder may point out of it; what it points to decides.
    let (real, base) = (found.canonicalize().ok()?, folder.canonicalize().ok()?);
    (real.starts_with(base) && real.is_file()).then_some(real)
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if first != b'%' {
            bytes.push(first);
            rest = after;
            continue;
        }
        let digits = std::str::from_utf8(after.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &after[2..];
    }
    String::from_utf8(bytes).ok()
}

fn mime(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()).unwrap_or("") {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" | "jsonl" => "application/json; charset=utf-8",
        "toml" | "txt" | "csv" => "text/plain; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_serves_its_folder_and_nothing_else() {
        let base = std::env::temp_dir().join(format!("xtask-serve-{}", std::process::id()));
        let folder = base.join("dist");
        fs::create_dir_all(folder.join("sub")).expect("a temporary folder can be made");
        let files = [("dist/index.html", "<p>page"), ("dist/sub/a b.wasm", "wasm"), ("secret", "secret")];
        for (name, text) in files {
            fs::write(base.join(name), text).expect("a temporary file can be written");
        }
        let ask = serve_for_test(&folder);

        let page = ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(page.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/html"), "{page}");
        assert!(page.contains("Cache-Control: no-cache") && page.ends_with("\r\n\r\n<p>page"), "{page}");
        let wasm = ask("GET /sub/a%20b.wasm?v=1 HTTP/1.1\r\n\r\n");
        assert!(wasm.contains("Content-Type: application/wasm\r\n") && wasm.ends_with("wasm"), "{wasm}");
        let head = ask("HEAD / HTTP/1.1\r\n\r\n");
        assert!(head.contains("Content-Length: 7\r\n") && head.ends_with("\r\n\r\n"), "{head}");
        for escape in
            ["/../secret", "/%2e%2e/secret", "/sub/..%2f..%2fsecret", "//../secret", "/..\\secret", "/%"]
        {
            let answer = ask(&format!("GET {escape} HTTP/1.1\r\n\r\n"));
            assert!(answer.starts_with("HTTP/1.1 404"), "{escape} was answered {answer}");
        }
        assert!(ask("POST / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
        assert!(ask("\r\n").starts_with("HTTP/1.1 405"));
        fs::remove_dir_all(&base).expect("the temporary folder can be removed");
    }

    /// Starts a server on a free port and returns a client of it.
    fn serve_for_test(folder: &Path) -> impl Fn(&str) -> String + use<> {
        let listener = bind(0).expect("some port is free");
        let address = listener.local_addr().expect("a bound listener has an address");
        let folder = folder.to_path_buf();
        thread::spawn(move || accept(&listener, &folder));
        move |request: &str| {
            let mut stream = TcpStream::connect(address).expect("the server listens");
            stream.write_all(request.as_bytes()).expect("the server reads");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).expect("the server answers in text");
            answer
        }
    }
}
