//! Servers that fail for a while, answers that are cut off, and an address that nobody asks unasked.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A request: its first line, and the range it requests.
struct Asked {
    line: String,
    range: Option<(usize, usize)>,
}

/// A server that handles each connection as instructed; the requests it received.
fn serve(mut answer: impl FnMut(&Asked, &mut TcpStream) + Send + 'static) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap().to_string();
    let (sender, received) = channel();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut lines = BufReader::new(connection.try_clone().unwrap()).lines();
            let Some(Ok(line)) = lines.next() else { continue };
            let mut range = None;
            for line in lines.map_while(Result::ok).take_while(|line| !line.is_empty()) {
                let bytes = line.to_ascii_lowercase();
                if let Some((from, to)) = bytes
                    .strip_prefix("range: bytes=")
                    .and_then(|range| range.split_once('-'))
                {
                    range = Some((from.parse().unwrap(), to.parse().unwrap()));
                }
            }
            drop(sender.send(line.clone()));
            answer(&Asked { line, range }, &mut connection);
        }
    });
    (place, received)
}

const DATED: &str = "Last-Modified: Tue, 01 Sep 2026 00:00:00 GMT\r\nConnection: close\r\n";

/// Answers with a file: in ranges if it can, and only so many bytes of the body.
fn file(asked: &Asked, body: &[u8], has_ranges: bool, at_most: usize, to: &mut TcpStream) {
    file_of(DATED, asked, body, has_ranges, at_most, to);
}

/// As [`file`], with these headers.
fn file_of(headers: &str, asked: &Asked, body: &[u8], has_ranges: bool, at_most: usize, to: &mut TcpStream) {
    let (status, part, more) = match asked.range.filter(|_| has_ranges) {
        Some((from, last)) => {
            let end = body.len().min(last + 1);
            let more = format!("Content-Range: bytes {from}-{}/{}\r\n", end - 1, body.len());
            ("206 Partial Content", &body[from..end], more)
        }
        None => ("200 OK", body, String::new()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\n{more}{headers}\r\n",
        part.len()
    );
    let part = if asked.line.starts_with("HEAD") {
        &[]
    } else {
        &part[..part.len().min(at_most)]
    };
    // Who has read enough may hang up.
    drop(to.write_all(head.as_bytes()).and_then(|()| to.write_all(part)));
}

fn dump(job_n: usize, comment: &str) -> String {
    let mut text =
        "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES|TotalCPU|Comment\n".to_owned();
    for job in 1..=job_n {
        let _ = writeln!(
            text,
            "{job}|oak|u|a|COMPLETED|2026-10-30T00:00:00|2026-10-30T00:00:00|2026-10-30T01:00:00|3600|1|cpu=1,node=1|\
             00:10:00|{comment}"
        );
    }
    text
}

fn gridtally(here: &Path, input: &str) -> Command {
    let pipeline = format!(
        "[pipeline]\nname = \"oak\"\noutput = \"lake\"\n[[source]]\nname = \"oak\"\nformat = \"sacct\"\n\
         site = \"OAK\"\ntimezone = \"UTC\"\npaths = [\"{input}\"]\n"
    );
    fs::write(here.join("oak.toml"), pipeline).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
    command.args(["run", "oak.toml"]).current_dir(here);
    command
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_server_that_fails_for_a_while_is_waited_for() {
    let here = tempfile::tempdir().unwrap();
    let body = dump(100, "");
    // More often than a client that counts its attempts would try.
    let mut failures = 14;
    let (place, _) = serve(move |asked, to| {
        if asked.line.starts_with("GET") && failures > 0 {
            failures -= 1;
            drop(to.write_all(b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
        } else {
            file(asked, body.as_bytes(), true, usize::MAX, to);
        }
    });
    let output = gridtally(here.path(), &format!("http://{place}/jobs.txt"))
        .output()
        .unwrap();
    let words = words(&output);
    assert!(output.status.success() && words.contains("100 accepted"), "{words}");
    assert!(
        words.contains(&format!("waiting for {place} since ")) && words.contains("503"),
        "{words}"
    );
    assert!(words.contains(&format!("{place} answers again after ")), "{words}");
}

#[test]
fn answers_that_are_cut_off_are_requested_again() {
    // Small ones whole, large ones from where they ended.
    for (comment, has_ranges, at_most) in [("", true, 1_000), (&*"x".repeat(60_000), false, 10 << 20)] {
        let here = tempfile::tempdir().unwrap();
        let body = dump(300, comment);
        assert_eq!(body.len() > 16 << 20, !has_ranges);
        let mut cut = 2;
        let (place, asked) = serve(move |asked, to| {
            let is_cut = asked.line.starts_with("GET") && (has_ranges || asked.range.is_none()) && cut > 0;
            cut -= i32::from(is_cut);
            file(
                asked,
                body.as_bytes(),
                has_ranges,
                if is_cut { at_most } else { usize::MAX },
                to,
            );
        });
        let output = gridtally(here.path(), &format!("http://{place}/jobs.txt"))
            .output()
            .unwrap();
        let words = words(&output);
        assert!(output.status.success() && words.contains("300 accepted"), "{words}");
        let asked = asked.try_iter().filter(|line| line.starts_with("GET")).count();
        assert!(asked >= 3, "{asked}");
    }
}

/// Runs on an input of more than one range from a server that answers like this, twice.
fn twice(
    job_n: usize,
    answer: impl Fn(u32, &str, &Asked, &mut TcpStream) + Send + 'static,
) -> [(Option<i32>, String); 2] {
    let here = tempfile::tempdir().unwrap();
    let body = dump(job_n, &"x".repeat(20_000));
    assert!(body.len() > 4 << 20);
    let mut get_n = 0;
    let (place, _) = serve(move |asked, to| {
        get_n += u32::from(asked.line.starts_with("GET"));
        answer(get_n, &body, asked, to);
    });
    [(); 2].map(|()| {
        let input = format!("http://{place}/jobs.txt");
        let output = gridtally(here.path(), &input).output().unwrap();
        (output.status.code(), words(&output))
    })
}

const TAGGED: &str = "ETag: \"one\"\r\nConnection: close\r\n";

#[test]
fn a_store_that_refuses_in_the_middle_of_an_object_ends_the_run() {
    let [refused, after] = twice(300, |get_n, body, asked, to| match (get_n, &asked.line[..3]) {
        (2, "GET") => drop(to.write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")),
        _ => file_of(TAGGED, asked, body.as_bytes(), true, usize::MAX, to),
    });
    assert!(refused.0 == Some(74) && refused.1.contains("403"), "{refused:?}");
    assert!(after.0 == Some(0) && after.1.contains("300 accepted"), "{after:?}");
}

#[test]
fn ranges_of_two_contents_are_never_one_file() {
    let later = DATED.replace("Tue, 01 Sep", "Wed, 02 Sep");
    let other_tag = TAGGED.replace("one", "two");
    for (first, then) in [(DATED, later), (TAGGED, other_tag)] {
        let [mixed, after] = twice(300, move |get_n, body, asked, to| {
            let headers = if get_n < 2 { first } else { &then };
            file_of(headers, asked, body.as_bytes(), true, usize::MAX, to);
        });
        assert!(
            mixed.0 == Some(74) && mixed.1.contains("was replaced while it was read"),
            "{mixed:?}"
        );
        assert!(after.0 == Some(0) && after.1.contains("300 accepted"), "{after:?}");
    }
}

#[test]
fn a_server_that_states_no_version_is_read_in_one_piece() {
    const UNDATED: &str = "Connection: close\r\n";
    let [whole, _] = twice(300, |_, body, asked, to| {
        file_of(UNDATED, asked, body.as_bytes(), true, usize::MAX, to);
    });
    assert!(whole.0 == Some(0) && whole.1.contains("300 accepted"), "{whole:?}");
    // What is small comes again as a whole.
    let [cut, _] = twice(900, |_, body, asked, to| {
        let at_most = if asked.range.is_none() { 17 << 20 } else { usize::MAX };
        file_of(UNDATED, asked, body.as_bytes(), true, at_most, to);
    });
    assert!(
        cut.0 == Some(74) && cut.1.contains("neither ETag nor Last-Modified"),
        "{cut:?}"
    );
}

#[test]
fn a_server_without_head_is_read() {
    for has_ranges in [true, false] {
        let [first, _] = twice(300, move |_, body, asked, to| {
            if asked.line.starts_with("HEAD") {
                let refusal = b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                drop(to.write_all(refusal));
            } else {
                file(asked, body.as_bytes(), has_ranges, usize::MAX, to);
            }
        });
        assert!(first.0 == Some(0) && first.1.contains("300 accepted"), "{first:?}");
    }
}

#[test]
fn a_clouds_metadata_address_is_asked_only_where_it_is_reported() {
    for input in [
        "s3://bucket/jobs.txt",
        "gs://bucket/jobs.txt",
        "az://bucket/jobs.txt",
        "http://169.254.169.254/jobs",
    ] {
        for is_allowed in [false, true] {
            let here = tempfile::tempdir().unwrap();
            // What leaves, leaves by this proxy.
            let (proxy, asked) = serve(|_, to| {
                drop(to.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
            });
            let mut command = gridtally(here.path(), input);
            for name in ["HTTP_PROXY", "http_proxy"] {
                command.env(name, format!("http://{proxy}"));
            }
            for name in [
                "NO_PROXY",
                "no_proxy",
                "AWS_ACCESS_KEY_ID",
                "GOOGLE_APPLICATION_CREDENTIALS",
            ] {
                command.env_remove(name);
            }
            command
                .env("HOME", here.path())
                .env("AZURE_STORAGE_ACCOUNT_NAME", "account");
            if is_allowed {
                command.env("GRIDTALLY_CLOUD_METADATA", "allow");
            }
            let output = command.output().unwrap();
            let words = words(&output);
            std::thread::sleep(Duration::from_millis(100));
            let asked: Vec<String> = asked.try_iter().collect();
            let is_asked = asked
                .iter()
                .any(|line| line.contains("169.254.169.254") || line.contains("metadata.google"));
            assert_eq!(is_asked, is_allowed, "{input}: {asked:?}: {words}");
            assert!(!output.status.success(), "{words}");
            assert_eq!(
                words.contains("GRIDTALLY_CLOUD_METADATA"),
                !is_allowed,
                "{input}: {words}"
            );
        }
    }
}

/// A web server that sends whoever asks to a cloud's metadata address.
#[test]
fn a_redirect_to_a_clouds_metadata_address_is_followed_only_where_it_is_reported() {
    for target in [
        "http://169.254.169.254/latest/meta-data/",
        "http://2852039166/latest/",
        "http://[::ffff:169.254.169.254]/latest/",
        "http://[fd00:ec2::254]/latest/",
        "http://metadata.google.internal/",
        "http://METADATA.google.internal./",
    ] {
        for is_allowed in [false, true] {
            let here = tempfile::tempdir().unwrap();
            let (proxy, asked) = serve(|_, to| {
                drop(to.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
            });
            let (place, _) = serve(move |_, to| {
                let head = format!(
                    "HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                );
                drop(to.write_all(head.as_bytes()));
            });
            let mut command = gridtally(here.path(), &format!("http://{place}/jobs.txt"));
            for name in ["HTTP_PROXY", "http_proxy"] {
                command.env(name, format!("http://{proxy}"));
            }
            for name in ["NO_PROXY", "no_proxy"] {
                command.env(name, "127.0.0.1");
            }
            if is_allowed {
                command.env("GRIDTALLY_CLOUD_METADATA", "allow");
            }
            let output = command.output().unwrap();
            let words = words(&output);
            assert!(!output.status.success(), "{words}");
            let is_asked = asked.try_iter().count() > 0;
            assert_eq!(is_asked, is_allowed, "{target}: {words}");
            assert_eq!(
                words.contains("GRIDTALLY_CLOUD_METADATA"),
                !is_allowed,
                "{target}: {words}"
            );
        }
    }
}
