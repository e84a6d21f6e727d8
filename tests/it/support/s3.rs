//! A real S3 server on the loopback device, killed when it is dropped.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gridtally::store::Store;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::prefix::PrefixStore;

use super::python::interpreter;

/// The lock of a process of this machine that has ended.
pub(crate) fn lock_of_the_dead() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let space = fs::read_link("/proc/self/ns/pid").unwrap();
    // No process starts with the machine but the first, and that one is none of ours.
    let process = format!("{}/{}/{}/0", boot.trim(), space.display(), u32::MAX);
    format!("{{\"token\": \"other\", \"process\": \"{process}\", \"renewals\": 0}}")
}

/// The only bucket.
pub(crate) const BUCKET: &str = "bucket";

pub(crate) struct S3 {
    server: Child,
    port: u16,
    log: PathBuf,
}

impl S3 {
    /// Starts the server and makes the bucket, which everybody may read.
    pub(crate) fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("s3-{port}.log"));
        let server = Command::new(interpreter())
            .args(["-c", "import sys; from moto.server import main; main(sys.argv[1:])"])
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .expect("the S3 server starts");
        let mut s3 = Self { server, port, log };
        let patience = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let end = s3.server.try_wait().unwrap();
            assert!(end.is_none(), "the S3 server ended with {end:?}: {}", s3.log());
            let waited = patience.elapsed();
            assert!(
                waited < Duration::from_mins(1),
                "the S3 server is not there: {}",
                s3.log()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        s3.make_bucket();
        s3
    }

    /// What the server was asked, a line per request.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// How often it was asked this and answered with this status.
    pub(crate) fn answered(&self, asked: &str, status: u16) -> usize {
        let (asked, status) = (format!("{asked} HTTP/1.1"), format!("\" {status} "));
        let log = self.log();
        log.lines()
            .filter(|line| line.contains(&asked) && line.contains(&status))
            .count()
    }

    /// Requests that change something other than the lock and the note of the last run, so far.
    pub(crate) fn changes(&self) -> usize {
        let changes = |line: &&str| ["PUT /", "POST /", "DELETE /"].iter().any(|verb| line.contains(verb));
        let is_lock = |line: &str| line.contains("/.gridtally/lock ") || line.contains("/.gridtally/last_run.json ");
        self.log().lines().filter(changes).filter(|line| !is_lock(line)).count()
    }

    fn make_bucket(&self) {
        let answer = self.ask("PUT", &format!("/{BUCKET}"));
        assert!(
            answer.starts_with("HTTP/1.1 200"),
            "the bucket cannot be made: {answer}"
        );
    }

    /// The whole answer to a request of one line.
    fn ask(&self, verb: &str, target: &str) -> String {
        let mut connection = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let head = format!(
            "{verb} {target} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: 0\r\n\
             x-amz-acl: public-read\r\nConnection: close\r\n\r\n",
            self.port
        );
        connection.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Uploads in parts that were begun and neither ended nor aborted.
    pub(crate) fn uploads(&self) -> usize {
        let answer = self.ask("GET", &format!("/{BUCKET}?uploads"));
        assert!(answer.contains("ListMultipartUploadsResult"), "{answer}");
        answer.matches("<UploadId>").count()
    }

    pub(crate) fn put(&self, key: &str, bytes: &[u8]) {
        self.bucket().put(key, bytes.to_vec().into()).unwrap();
    }

    /// Puts an empty object under a key that is taken as it is, such as one that ends in `/`.
    pub(crate) fn put_marker(&self, key: &str) {
        let answer = self.ask("PUT", &format!("/{BUCKET}/{key}"));
        assert!(answer.starts_with("HTTP/1.1 200"), "{key}: {answer}");
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Gives a command the way to the server.
    pub(crate) fn introduce(&self, command: &mut Command) {
        command
            .env("AWS_ENDPOINT_URL", self.endpoint())
            .env("AWS_ENDPOINT", self.endpoint())
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_ACCESS_KEY_ID", "test")
            .env("AWS_SECRET_ACCESS_KEY", "test")
            .env("AWS_REGION", "us-east-1");
    }

    pub(crate) fn bucket(&self) -> Store {
        Store::with_objects(Arc::new(self.objects()), None).unwrap()
    }

    /// The lake in a folder of the bucket.
    pub(crate) fn lake(&self, folder: &str) -> Store {
        Store::with_objects(Arc::new(PrefixStore::new(self.objects(), folder)), None).unwrap()
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    fn objects(&self) -> AmazonS3 {
        super::tls::install();
        AmazonS3Builder::new()
            .with_endpoint(self.endpoint())
            .with_allow_http(true)
            .with_access_key_id("test")
            .with_secret_access_key("test")
            .with_region("us-east-1")
            .with_bucket_name(BUCKET)
            .build()
            .unwrap()
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
        drop(fs::remove_file(&self.log));
    }
}
