//! Inputs from web servers, with ranges and without, and by the interface Google's storage shares with S3.

use super::super::support::python::interpreter;
use super::*;
use std::fs::File;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Child;
use std::time::Duration;

/// The web server of Python, which knows no ranges.
struct Web {
    server: Child,
    port: u16,
    log: PathBuf,
}

impl Web {
    fn start(folder: &Path) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("web-{port}.log"));
        let server = Command::new(interpreter())
            .args([
                "-m",
                "http.server",
                &port.to_string(),
                "--bind",
                "127.0.0.1",
                "--directory",
            ])
            .arg(folder)
            .stdout(Stdio::null())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .expect("the web server starts");
        let web = Self { server, port, log };
        let patience = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(
                patience.elapsed() < Duration::from_mins(1),
                "the web server is not there"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        web
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
        drop(std::fs::remove_file(&self.log));
    }
}

#[test]
fn files_of_web_servers_are_read_with_ranges_and_without() {
    let s3 = S3::start();
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let files = here.join("files");
    std::fs::create_dir(&files).unwrap();
    let dump = parts::dump(20_000);
    std::fs::write(files.join("large.txt"), &dump).unwrap();
    std::fs::write(files.join("empty.txt"), "").unwrap();
    s3.put("large.txt", dump.as_bytes());
    let web = Web::start(&files);
    let mut lakes = Vec::new();
    for (lake, input) in [
        ("local", files.join("large.txt").to_str().unwrap().to_owned()),
        ("ranges", format!("{}/bucket/large.txt", s3.endpoint())),
        ("whole", format!("{}/large.txt", web.url())),
    ] {
        std::fs::write(here.join("web.toml"), parts::of_dump(&input)).unwrap();
        // No variable of any store: a web server needs none.
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        super::super::support::sample::run(command.args(["run", "web.toml", "--out", lake]).current_dir(here));
        lakes.push(figures(&lake_hash(&here.join(lake))));
    }
    assert!(!lakes[0].is_empty());
    assert_eq!(lakes[0], lakes[1], "a server with ranges");
    assert_eq!(lakes[0], lakes[2], "a server without");
    let ranges = s3.answered("GET /bucket/large.txt", 206);
    assert!(ranges >= dump.len() >> 22, "{ranges} ranges");
    let asked = std::fs::read_to_string(&web.log).unwrap();
    assert!(asked.contains("GET /large.txt HTTP/1.1\" 200"), "{asked}");

    for (file, code, says) in [
        ("missing.txt", 66, "matches no file"),
        ("*.txt", 74, "name each of them"),
    ] {
        std::fs::write(here.join("web.toml"), parts::of_dump(&format!("{}/{file}", web.url()))).unwrap();
        let output = gridtally(&s3, &["run", "web.toml", "--out", "none"], here)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", told(&output));
        assert!(told(&output).contains(says), "{}", told(&output));
    }
}

#[test]
fn inputs_of_google_are_found_by_its_variables() {
    let s3 = S3::start();
    let here = sample("gs://bucket/in");
    let here = here.path();
    upload_sample(&s3.bucket());
    let mut lakes = Vec::new();
    for file in ["local.toml", "remote.toml"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        command
            .args(["run", file, "--out", file.trim_end_matches(".toml")])
            .current_dir(here)
            // What the client of Google sends is, for listing and reading, what an S3 server understands.
            .env("GOOGLE_BASE_URL", s3.endpoint())
            .env("GOOGLE_SKIP_SIGNATURE", "true")
            .env("GOOGLE_ALLOW_HTTP", "true");
        super::super::support::sample::run(&mut command);
        lakes.push(figures(&lake_hash(&here.join(file.trim_end_matches(".toml")))));
    }
    assert_same(&lakes[0], &lakes[1], "inputs of gs://");
}
