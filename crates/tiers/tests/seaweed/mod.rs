//! A real S3 server: SeaweedFS on loopback, in a folder of its own, for as long as this value lives.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Must be the version in `crates/xtask/src/seaweed.rs`, which installs it.
const VERSION: &str = "4.48";
const BUCKET: &str = "kvblocks";
const KEYS: &str = r#"{"identities":[{"name":"test","credentials":[{"accessKey":"AKIDTEST","secretKey":"secrettest"}],
"actions":["Admin","Read","Write","List","Tagging"]}]}"#;

/// The server.
pub(crate) struct Seaweed {
    program: PathBuf,
    folder: TempDir,
    ports: Ports,
    process: Option<Child>,
}

/// Its ports; each has another for its own protocol.
#[derive(Clone, Copy)]
struct Ports {
    s3: u16,
    filer: u16,
    master: u16,
    volume: u16,
}

impl Seaweed {
    /// Starts it. Where it is not installed: `None` and one line that says so, unless it must be there.
    pub(crate) fn start() -> Option<Self> {
        let Some(program) = program() else {
            let required = std::env::var("TIERSCOPE_REQUIRE").unwrap_or_default();
            assert!(
                !required.split(',').any(|name| name == "s3"),
                "TIERSCOPE_REQUIRE names s3, and SeaweedFS is not installed: cargo xtask setup"
            );
            eprintln!(
                "skipped: SeaweedFS is not installed (cargo xtask setup, or TIERSCOPE_WEED=path of weed)"
            );
            return None;
        };
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("keys.json"), KEYS).expect("a small file");
        let mut server = Self { program, folder, ports: Ports::free(), process: None };
        server.restart();
        // A bucket is a folder of the filer.
        server.until("makes a bucket", |ports| {
            ask(ports.filer, &format!("POST /buckets/{BUCKET}/ HTTP/1.1"))
                .is_some_and(|said| said.contains(" 201 "))
        });
        Some(server)
    }

    /// Starts it again, on its folder and its ports, and waits until it answers.
    pub(crate) fn restart(&mut self) {
        self.spawn();
        self.until("answers", |ports| {
            ask(ports.s3, "GET /status HTTP/1.1").is_some_and(|said| said.contains(" 200 "))
        });
    }

    /// Starts it again and waits for nothing.
    pub(crate) fn spawn(&mut self) {
        self.kill();
        let place = self.folder.path();
        let text = |path: PathBuf| path.display().to_string();
        let Ports { s3, filer, master, volume } = self.ports;
        let log = std::fs::File::create(place.join("log")).expect("a file");
        let mut command = Command::new(&self.program);
        command.arg("server").arg(format!("-dir={}", text(place.join(""))));
        command.args(["-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-master.telemetry=false", "-filer", "-s3"]);
        command.args([
            "-master.volumeSizeLimitMB=256",
            "-volume.max=20",
            "-s3.port.iceberg=0",
            "-s3.port.lance=0",
        ]);
        command.arg(format!("-s3.config={}", text(place.join("keys.json"))));
        for (name, port) in [("s3", s3), ("filer", filer), ("master", master), ("volume", volume)] {
            command.arg(format!("-{name}.port={port}")).arg(format!("-{name}.port.grpc={}", port + 1));
        }
        for name in ["s3", "filer"] {
            command.arg(format!("-{name}.localSocket={}", text(place.join(format!("{name}.sock")))));
        }
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("a handle")).stderr(log);
        self.process = Some(command.spawn().expect("weed starts"));
    }

    /// Ends it at once, wherever it is.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// SIGSTOP: it takes connections, and answers nothing.
    pub(crate) fn pause(&self) {
        self.signal("STOP");
    }

    /// SIGCONT.
    pub(crate) fn go_on(&self) {
        self.signal("CONT");
    }

    fn signal(&self, name: &str) {
        let id = self.process.as_ref().expect("it runs").id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status().expect("kill is there");
        assert!(sent.success());
    }

    /// Its port.
    pub(crate) fn port(&self) -> u16 {
        self.ports.s3
    }

    /// A place in its bucket.
    pub(crate) fn url(&self, prefix: &str) -> String {
        format!("s3://{BUCKET}/{prefix}")
    }

    /// The variables with which it is reached at some port: its own, or that of what stands before it.
    pub(crate) fn variables(port: u16) -> Vec<(String, String)> {
        let endpoint = format!("http://127.0.0.1:{port}");
        let variables = [
            ("AWS_ACCESS_KEY_ID", "AKIDTEST"),
            ("AWS_SECRET_ACCESS_KEY", "secrettest"),
            ("AWS_ENDPOINT_URL", &endpoint),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_REGION", "us-east-1"),
        ];
        variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
    }

    /// Asks until it is so. What another program does cannot be waited for in another way.
    fn until(&mut self, what: &str, so: impl Fn(Ports) -> bool) {
        let begun = Instant::now();
        while !so(self.ports) {
            let process = self.process.as_mut().expect("it was started");
            let ended = process.try_wait().expect("it is our child");
            let late = begun.elapsed() > Duration::from_secs(90);
            if ended.is_some() || late {
                let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
                panic!("SeaweedFS does not come so far that it {what} ({ended:?}):\n{log}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Seaweed {
    fn drop(&mut self) {
        self.kill();
        // It has sockets outside its folder, whatever it is told.
        let Ports { s3, filer, master, volume } = self.ports;
        for (name, port) in [("s3", s3), ("filer", filer), ("master", master), ("volume", volume)] {
            let _ = std::fs::remove_file(format!("/tmp/seaweedfs-{name}-grpc-{}.sock", port + 1));
        }
    }
}

impl Ports {
    /// Ports that nobody has, below those that the system gives to whoever calls.
    fn free() -> Self {
        // Tests of one process ask at once, and so do processes: each begins elsewhere, and none asks twice for one.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let pair = || {
            loop {
                let turn = NEXT.fetch_add(1, Ordering::Relaxed);
                assert!(turn < 8_000, "no ports are free");
                let port = 16_000 + (std::process::id() * 16 + turn * 2) % 16_000;
                let port = u16::try_from(port).expect("less than 32,000");
                let bound = |port| TcpListener::bind(("127.0.0.1", port)).is_ok();
                if bound(port) && bound(port + 1) {
                    return port;
                }
            }
        };
        Self { s3: pair(), filer: pair(), master: pair(), volume: pair() }
    }
}

/// Named, or where `cargo xtask setup` installs it.
fn program() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("TIERSCOPE_WEED") {
        return Some(named.into());
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    let program = cache.join(format!("tierscope/tools/seaweedfs-{VERSION}/bin/weed"));
    program.is_file().then_some(program)
}

fn ask(port: u16, head: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    write!(stream, "{head}\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").ok()?;
    let mut said = Vec::new();
    stream.read_to_end(&mut said).ok()?;
    Some(String::from_utf8_lossy(&said).into_owned())
}
