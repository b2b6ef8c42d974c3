//! `tierscope serve`: the page from inside the binary, or how to get it there.

#[allow(dead_code, reason = "shared with other tests, which look at more")]
mod place;

use place::Place;

#[cfg(not(feature = "page"))]
#[test]
fn without_the_page_it_says_how_to_build_it_in() {
    let said = Place::with(&[]).run(&["serve"], 2);
    assert!(
        said.err.contains("built without the page") && said.err.contains("--features page"),
        "{}",
        said.err
    );
}

#[cfg(feature = "page")]
mod with_the_page {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpStream;
    use std::process::{Child, Stdio};

    use super::*;

    struct Served {
        process: Child,
        port: u16,
    }

    impl Drop for Served {
        fn drop(&mut self) {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }

    fn served(place: &Place) -> Served {
        let mut process =
            place.command(&["serve", "--port", "0"]).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
        let port =
            line.split("127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next()).expect("an address");
        Served { port: port.parse().expect("a port"), process }
    }

    fn ask(served: &Served, head: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", served.port)).expect("it listens");
        write!(stream, "{head}\r\nHost: localhost\r\n\r\n").expect("it reads");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("it answers");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    #[test]
    fn it_serves_the_page_and_nothing_else() {
        let place = Place::with(&[]);
        let served = served(&place);
        let page = ask(&served, "GET / HTTP/1.1").to_lowercase();
        assert!(page.starts_with("http/1.1 200") && page.contains("content-type: text/html"), "{page:.300}");
        assert!(page.contains("cache-control: no-cache") && page.contains("<!doctype html>"), "{page:.300}");
        let tag = page.split("etag: ").nth(1).and_then(|rest| rest.split("\r\n").next()).expect("a tag");
        let again = ask(&served, &format!("GET / HTTP/1.1\r\nIf-None-Match: {tag}"));
        assert!(again.starts_with("HTTP/1.1 304") && !again.contains("<!doctype"), "{again:.300}");
        let module =
            page.split('"').find(|word| word.ends_with("_bg.wasm")).expect("the page names its module");
        let module = ask(&served, &format!("GET /{} HTTP/1.1", module.trim_start_matches("./")));
        assert!(module.to_lowercase().contains("application/wasm"));
        assert!(ask(&served, "GET /?embed=1 HTTP/1.1").starts_with("HTTP/1.1 200"));
        assert!(!ask(&served, "HEAD / HTTP/1.1").contains("<!doctype"));
        for path in [
            "/../Cargo.toml",
            "/%2e%2e/Cargo.toml",
            "//etc/passwd",
            "/..%2fCargo.toml",
            "/.built",
            "/nothing",
        ] {
            let answer = ask(&served, &format!("GET {path} HTTP/1.1"));
            assert!(answer.starts_with("HTTP/1.1 4"), "{path}: {answer:.100}");
        }
        assert!(ask(&served, "POST / HTTP/1.1\r\nContent-Length: 0").starts_with("HTTP/1.1 405"));
    }

    #[test]
    fn a_port_that_is_taken_is_named() {
        let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = taken.local_addr().expect("an address").port().to_string();
        let said = Place::with(&[]).run(&["serve", "--port", &port], 2);
        assert!(said.err.contains(&port) && said.err.contains("--port"), "{}", said.err);
    }
}
