//! What stands between a client and a server and does harm, on loopback: so often as it was told, to requests of one method.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// What is done to a request or its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Harm {
    /// 503, and the server hears nothing.
    Unavailable,
    /// The connection ends without an answer; the server hears nothing.
    Reset,
    /// The server does what it is asked, and its answer is lost.
    LostAnswer,
    /// No answer for as long as the client waits; the server hears nothing.
    Stall,
    /// The answer ends in the middle of its body.
    Cut,
    /// The last bit of the body is another.
    Flip,
    /// The answer comes in small pieces with pauses.
    Slow,
}

/// The proxy.
pub(crate) struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    listens: Option<JoinHandle<()>>,
}

struct Shared {
    server: u16,
    /// By method: what is to be done, how often, and how often it was.
    harm: Mutex<BTreeMap<String, (Harm, u32, u32)>>,
    /// Some harm was done.
    news: Condvar,
}

impl Proxy {
    /// Stands before a server.
    pub(crate) fn before(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("it is bound").port();
        let shared = Arc::new(Shared { server, harm: Mutex::default(), news: Condvar::new() });
        let own = Arc::clone(&shared);
        let listens = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Whoever drops the proxy calls once more and says nothing.
                let Ok(Some(request)) = Request::read(&stream) else { break };
                let shared = Arc::clone(&own);
                std::thread::spawn(move || shared.serve(stream, request));
            }
        });
        Self { port, shared, listens: Some(listens) }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// From now on this is done to the next so many requests of a method.
    pub(crate) fn does(&self, method: &str, harm: Harm, times: u32) {
        self.shared.harm.lock().expect("no panics").insert(method.to_owned(), (harm, times, 0));
    }

    /// Waits until it was done once.
    pub(crate) fn wait(&self, method: &str) {
        let harm = self.shared.harm.lock().expect("no panics");
        let none =
            |harm: &mut BTreeMap<String, (Harm, u32, u32)>| harm.get(method).is_none_or(|it| it.2 == 0);
        let long = Duration::from_secs(60);
        let waited = self.shared.news.wait_timeout_while(harm, long, none).expect("no panics");
        assert!(!waited.1.timed_out(), "nobody asks with {method}");
    }

    /// How often it was done since.
    pub(crate) fn done(&self, method: &str) -> u32 {
        self.shared.harm.lock().expect("no panics").get(method).map_or(0, |&(.., done)| done)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Ok(stream) = TcpStream::connect(("127.0.0.1", self.port)) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        if let Some(listens) = self.listens.take() {
            let _ = listens.join();
        }
    }
}

/// One request, whole.
struct Request {
    method: String,
    head: String,
    body: Vec<u8>,
}

impl Request {
    /// `None` when nobody asks.
    fn read(mut stream: &TcpStream) -> io::Result<Option<Self>> {
        stream.set_nodelay(true)?;
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            if stream.read(&mut byte)? == 0 {
                return Ok(None);
            }
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
        });
        let mut body = vec![0; length.unwrap_or(0)];
        stream.read_exact(&mut body)?;
        let method = head.split(' ').next().unwrap_or_default().to_owned();
        Ok(Some(Self { method, head, body }))
    }
}

impl Shared {
    fn harm(&self, method: &str) -> Option<Harm> {
        let mut harm = self.harm.lock().expect("no panics");
        let (harm, times, done) = harm.get_mut(method)?;
        let hit = *done < *times;
        *done += u32::from(hit);
        self.news.notify_all();
        hit.then_some(*harm)
    }

    fn serve(&self, client: TcpStream, request: Request) {
        // A client that has gone away meanwhile is what some of this is about.
        let _ = match self.harm(&request.method) {
            Some(Harm::Unavailable) => (&client)
                .write_all(b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
            Some(Harm::Reset) => Ok(()),
            Some(Harm::Stall) => (&client).read(&mut [0]).map(|_| ()),
            other => self.pass(&client, &request, other),
        };
        let _ = client.shutdown(Shutdown::Both);
    }

    /// Asks the server and passes its answer on; one request for each connection.
    fn pass(&self, mut client: &TcpStream, request: &Request, harm: Option<Harm>) -> io::Result<()> {
        let mut server = TcpStream::connect(("127.0.0.1", self.server))?;
        server.set_nodelay(true)?;
        let head = request.head.replacen("\r\n", "\r\nConnection: close\r\n", 1);
        server.write_all(head.as_bytes())?;
        server.write_all(&request.body)?;
        let mut answer = Vec::new();
        server.read_to_end(&mut answer)?;
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").map_or(answer.len(), |at| at + 4);
        match harm {
            Some(Harm::LostAnswer) => Ok(()),
            Some(Harm::Cut) => client.write_all(&answer[..end + (answer.len() - end) / 2]),
            Some(Harm::Flip) => {
                *answer.last_mut().expect("an answer has bytes") ^= 1;
                client.write_all(&answer)
            }
            Some(Harm::Slow) => answer.chunks(answer.len().div_ceil(20)).try_for_each(|some| {
                std::thread::sleep(Duration::from_millis(5));
                client.write_all(some)
            }),
            _ => client.write_all(&answer),
        }
    }
}
