//! A proxy before a server of objects that fails a share of the requests, each in one of many ways.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long a client waits for an answer, as [`FaultProxy::introduce`] states.
const CLIENT_TIMEOUT: Duration = Duration::from_millis(700);

/// How a request fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WireFault {
    /// 503 `SlowDown`.
    Throttled,
    /// 500, and nothing was done.
    Refused,
    /// 500, and it was done.
    DoneAndRefused,
    /// No answer, and nothing was done.
    Silent,
    /// No answer, and it was done.
    DoneAndSilent,
    /// The connection ends within the request.
    TornRequest,
    /// The connection ends before the answer, and it was done.
    DoneAndReset,
    /// The connection ends within the answer.
    TornAnswer,
    /// 200 with an error as its body, of requests for which S3 does this.
    ErrorWithin,
    /// An earlier answer to the same listing.
    StaleListing,
    /// 403 `ExpiredToken`, to all requests of a run from one on.
    Expired,
}

const WAYS: [WireFault; 10] = [
    WireFault::Throttled,
    WireFault::Refused,
    WireFault::DoneAndRefused,
    WireFault::Silent,
    WireFault::DoneAndSilent,
    WireFault::TornRequest,
    WireFault::DoneAndReset,
    WireFault::TornAnswer,
    WireFault::ErrorWithin,
    WireFault::StaleListing,
];

/// The proxy; it ends with the process.
pub(super) struct FaultProxy {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    server: u16,
    /// Of a thousand requests so many fail.
    per_mille: AtomicU32,
    /// Requests until the credentials expire; 0 when they do not.
    expires_in: AtomicU32,
    /// So many answers to the begin of an upload in parts are still to be cut off.
    torn_begins: AtomicU32,
    rules: Mutex<Rules>,
    state: Mutex<State>,
}

/// What the server is made to be, by way of the proxy, for as long as a test wants it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rules {
    /// Headers of conditions that it ignores, in lower case.
    pub(super) ignored: &'static [&'static str],
    /// A header or verb, in lower case, whose requests it refuses with 403 `AccessDenied`.
    pub(super) denied: Option<&'static str>,
    /// Whether it refuses to delete, as S3 does it: a list of objects is answered with 200, and an error for each of them.
    pub(super) denies_deletions: bool,
}

struct State {
    random: u64,
    counts: BTreeMap<WireFault, usize>,
    listings: BTreeMap<String, Vec<u8>>,
}

/// A request as it came.
struct Request {
    /// The first line and the headers, with the empty line.
    head: String,
    body: Vec<u8>,
}

impl FaultProxy {
    /// A proxy before the server at a port of this machine.
    pub(super) fn before(server: u16, seed: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            server,
            per_mille: AtomicU32::new(0),
            expires_in: AtomicU32::new(0),
            torn_begins: AtomicU32::new(0),
            rules: Mutex::default(),
            state: Mutex::new(State {
                random: seed | 1,
                counts: BTreeMap::new(),
                listings: BTreeMap::new(),
            }),
        });
        let proxy = Arc::clone(&shared);
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let proxy = Arc::clone(&proxy);
                std::thread::spawn(move || drop(proxy.serve(connection)));
            }
        });
        Self { port, shared }
    }

    /// From now on so many of a thousand requests fail.
    pub(super) fn fail(&self, per_mille: u32) {
        self.shared.per_mille.store(per_mille, Ordering::SeqCst);
    }

    /// The credentials expire after so many requests; 0 renews them.
    pub(super) fn expire_in(&self, requests: u32) {
        self.shared.expires_in.store(requests, Ordering::SeqCst);
    }

    /// The next so many answers to the begin of an upload in parts are cut off.
    pub(super) fn tear_begins(&self, answers: u32) {
        self.shared.torn_begins.store(answers, Ordering::SeqCst);
    }

    /// From now on the server is of this kind.
    pub(super) fn rule(&self, rules: Rules) {
        *self.shared.rules.lock().unwrap() = rules;
    }

    /// Faults so far, by kind.
    pub(super) fn counts(&self) -> BTreeMap<WireFault, usize> {
        self.shared.state.lock().unwrap().counts.clone()
    }

    /// Gives a command the way to the server by this proxy, after the way to the server itself.
    pub(super) fn introduce(&self, command: &mut Command) {
        let place = format!("http://127.0.0.1:{}", self.port);
        command
            .env("AWS_ENDPOINT_URL", &place)
            .env("AWS_ENDPOINT", &place)
            .env("AWS_TIMEOUT", format!("{}ms", CLIENT_TIMEOUT.as_millis()));
    }
}

impl Shared {
    fn serve(&self, mut client: TcpStream) -> std::io::Result<()> {
        client.set_read_timeout(Some(Duration::from_secs(30)))?;
        let Some(request) = Request::read(&mut client)? else {
            return Ok(());
        };
        let rules = *self.rules.lock().unwrap();
        let request = request.without(rules.ignored);
        if rules.denied.is_some_and(|denied| request.is_of(denied)) {
            return client.write_all(&answer("403 Forbidden", "AccessDenied"));
        }
        if rules.denies_deletions && request.is_of("?delete") {
            return client.write_all(&request.undeleted());
        }
        let (fault, share) = self.choose(&request);
        match fault {
            None => client.write_all(&self.forward(&request)?),
            Some(WireFault::Throttled) => client.write_all(&answer("503 Slow Down", "SlowDown")),
            Some(WireFault::Refused) => client.write_all(&answer("500 Internal Server Error", "InternalError")),
            Some(WireFault::Expired) => client.write_all(&answer("403 Forbidden", "ExpiredToken")),
            Some(WireFault::ErrorWithin) => client.write_all(&answer("200 OK", "InternalError")),
            Some(WireFault::DoneAndRefused) => {
                self.forward(&request)?;
                client.write_all(&answer("500 Internal Server Error", "InternalError"))
            }
            Some(fault @ (WireFault::Silent | WireFault::DoneAndSilent)) => {
                if fault == WireFault::DoneAndSilent {
                    self.forward(&request)?;
                }
                std::thread::sleep(CLIENT_TIMEOUT * 2);
                Ok(())
            }
            // What was read of it already does not count: nothing was forwarded.
            Some(WireFault::TornRequest) => Ok(()),
            Some(WireFault::DoneAndReset) => self.forward(&request).map(drop),
            Some(WireFault::TornAnswer) => {
                let whole = self.forward(&request)?;
                client.write_all(&whole[..whole.len() * share / 100])
            }
            Some(WireFault::StaleListing) => {
                let known = self.state.lock().unwrap().listings.get(request.target()).cloned();
                client.write_all(&known.unwrap_or_default())
            }
        }
    }

    /// How a request fails, and of which share of its answer, in percent, nothing is lost.
    fn choose(&self, request: &Request) -> (Option<WireFault>, usize) {
        let mut state = self.state.lock().unwrap();
        let expires = self.expires_in.load(Ordering::SeqCst);
        if expires > 1 {
            self.expires_in.store(expires - 1, Ordering::SeqCst);
        } else if expires == 1 {
            *state.counts.entry(WireFault::Expired).or_default() += 1;
            return (Some(WireFault::Expired), 0);
        }
        let torn = self.torn_begins.load(Ordering::SeqCst);
        if torn > 0 && request.begins_upload() {
            self.torn_begins.store(torn - 1, Ordering::SeqCst);
            *state.counts.entry(WireFault::TornAnswer).or_default() += 1;
            // Of the body as well: of every other answer the headers arrive whole.
            return (
                Some(WireFault::TornAnswer),
                if torn.is_multiple_of(2) { 90 } else { 10 },
            );
        }
        if state.below(1000) >= u64::from(self.per_mille.load(Ordering::SeqCst)) {
            return (None, 100);
        }
        let way = WAYS[usize::try_from(state.below(WAYS.len() as u64)).unwrap()];
        let is_possible = match way {
            WireFault::ErrorWithin => request.may_fail_within(),
            WireFault::StaleListing => request.is_listing() && state.listings.contains_key(request.target()),
            _ => true,
        };
        if !is_possible {
            return (None, 100);
        }
        *state.counts.entry(way).or_default() += 1;
        let share = usize::try_from(state.below(100)).unwrap();
        (Some(way), share)
    }

    /// The answer of the server, whole.
    fn forward(&self, request: &Request) -> std::io::Result<Vec<u8>> {
        let mut server = TcpStream::connect(("127.0.0.1", self.server))?;
        server.write_all(request.head.as_bytes())?;
        server.write_all(&request.body)?;
        let mut whole = Vec::new();
        server.read_to_end(&mut whole)?;
        if request.is_listing() {
            let mut state = self.state.lock().unwrap();
            // The first answer stays for a while, so that it is old when it is given again.
            if state.below(4) == 0 || !state.listings.contains_key(request.target()) {
                state.listings.insert(request.target().to_owned(), whole.clone());
            }
        }
        Ok(whole)
    }
}

impl State {
    /// A number below another (xorshift).
    fn below(&mut self, end: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % end
    }
}

impl Request {
    /// Reads one; `None` where the client hung up.
    fn read(client: &mut TcpStream) -> std::io::Result<Option<Self>> {
        let mut read = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        let end = loop {
            if let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            match client.read(&mut buffer)? {
                0 => return Ok(None),
                n => read.extend_from_slice(&buffer[..n]),
            }
        };
        let mut body = read.split_off(end);
        let text = String::from_utf8(read).unwrap();
        let header = |line: &str, name: &str| line.to_ascii_lowercase().starts_with(name);
        let length = text
            .lines()
            .find(|line| header(line, "content-length:"))
            .map_or(0, |line| line[15..].trim().parse::<usize>().unwrap());
        while body.len() < length {
            match client.read(&mut buffer)? {
                0 => return Ok(None),
                n => body.extend_from_slice(&buffer[..n]),
            }
        }
        let mut head: String = text
            .lines()
            .filter(|line| !line.is_empty() && !header(line, "connection:"))
            .flat_map(|line| [line, "\r\n"])
            .collect();
        head.push_str("Connection: close\r\n\r\n");
        Ok(Some(Self { head, body }))
    }

    /// Without some headers.
    fn without(mut self, headers: &[&str]) -> Self {
        let is_kept = |line: &&str| {
            let line = line.to_ascii_lowercase();
            !headers.iter().any(|name| line.starts_with(&format!("{name}:")))
        };
        self.head = self.head.split_inclusive("\r\n").filter(is_kept).collect();
        self
    }

    /// The answer to a deletion of objects none of which may be deleted.
    fn undeleted(&self) -> Vec<u8> {
        let asked = String::from_utf8_lossy(&self.body);
        let keys = asked
            .split("<Key>")
            .skip(1)
            .filter_map(|rest| rest.split("</Key>").next());
        let mut errors = String::new();
        for key in keys {
            errors.push_str("<Error><Key>");
            errors.push_str(key);
            errors.push_str("</Key><Code>AccessDenied</Code><Message>Access Denied</Message></Error>");
        }
        let body = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<DeleteResult>{errors}</DeleteResult>");
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nConnection: close\r\nContent-Length: ";
        format!("{head}{}\r\n\r\n{body}", body.len()).into_bytes()
    }

    /// Whether it has a verb, a word of its query or a header.
    fn is_of(&self, word: &str) -> bool {
        self.head.to_ascii_lowercase().contains(word)
    }

    /// What is requested: verb and target.
    fn target(&self) -> &str {
        self.head.split(" HTTP/").next().unwrap()
    }

    fn is_listing(&self) -> bool {
        self.target().starts_with("GET ") && self.target().contains("list-type=2")
    }

    /// Whether it begins an upload in parts.
    fn begins_upload(&self) -> bool {
        self.target().starts_with("POST ") && self.target().contains("?uploads")
    }

    /// Whether S3 answers this with 200 before it knows whether it fails.
    fn may_fail_within(&self) -> bool {
        let is_end = self.target().starts_with("POST ") && self.target().contains("uploadId=");
        is_end || self.head.to_ascii_lowercase().contains("x-amz-copy-source:")
    }
}

/// An answer that states an error.
fn answer(status: &str, code: &str) -> Vec<u8> {
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>{code} by the proxy</Message></Error>"
    );
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/xml\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
