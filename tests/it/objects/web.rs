//! Inputs from web servers, with ranges and without, and by the interface Google's storage shares with S3; a lake on a
//! server of `WebDAV`.

use super::super::support::python::interpreter;
use super::*;
use std::fs::File;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Child;
use std::time::Duration;

/// Serves a folder by `WebDAV` to everybody.
const DAV: &str = r"
import sys
from cheroot import wsgi
from wsgidav.wsgidav_app import WsgiDAVApp
folder, port = sys.argv[1:]
app = WsgiDAVApp({'provider_mapping': {'/': folder}, 'simple_dc': {'user_mapping': {'*': True}}, 'verbose': 3})
wsgi.Server(('127.0.0.1', int(port)), app, numthreads=8).start()
";

/// A web server of Python: its own, which knows no ranges, or one that takes writes.
pub(super) struct Web {
    server: Child,
    pub(super) port: u16,
    log: PathBuf,
}

impl Web {
    fn start(folder: &Path) -> Self {
        let folder = folder.to_str().unwrap();
        Self::of(|port| {
            ["-m", "http.server", port, "--bind", "127.0.0.1", "--directory", folder]
                .map(str::to_owned)
                .into()
        })
    }

    fn dav(folder: &Path) -> Self {
        let folder = folder.to_str().unwrap();
        Self::of(|port| ["-c", DAV, folder, port].map(str::to_owned).into())
    }

    pub(super) fn of(arguments: impl Fn(&str) -> Vec<String>) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("web-{port}.log"));
        let server = Command::new(interpreter())
            .args(arguments(&port.to_string()))
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

    for (file, code, expected) in [
        ("missing.txt", 66, "matches no file"),
        ("*.txt", 74, "name each of them"),
    ] {
        std::fs::write(here.join("web.toml"), parts::of_dump(&format!("{}/{file}", web.url()))).unwrap();
        let output = gridtally(&s3, &["run", "web.toml", "--out", "none"], here)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", reported(&output));
        assert!(reported(&output).contains(expected), "{}", reported(&output));
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

#[test]
fn a_lake_on_a_web_server_holds_the_same_bytes() {
    let here = sample("not used");
    let here = here.path();
    let served = here.join("served");
    std::fs::create_dir(&served).unwrap();
    let web = Web::dav(&served);
    let url = format!("{}/lake", web.url());
    let gridtally = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        command.args(args).current_dir(here);
        command
    };
    let run = |args: &[&str]| {
        let output = gridtally(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", reported(&output));
        format!("{}{}", String::from_utf8_lossy(&output.stdout), reported(&output))
    };
    run(&["run", "local.toml", "--out", "lake"]);
    let local = lake_hash(&here.join("lake"));

    let mut killed = gridtally(&["run", "local.toml", "--out", &url])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let patience = Instant::now();
    while !served.join("lake/.gridtally").exists() {
        assert!(patience.elapsed() < Duration::from_mins(1), "the run begins to write");
        std::thread::sleep(Duration::from_millis(5));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();

    let text = run(&["run", "local.toml", "--out", &url]);
    assert!(text.contains("knows no lock"), "{text}");
    assert_same(&local, &lake_hash(&served.join("lake")), "a lake on a web server");
    let text = run(&["run", "local.toml", "--out", &url]);
    assert!(text.contains("nothing new"), "{text}");
    let text = run(&["verify", &url]);
    assert!(text.contains("sound"), "{text}");

    let noise = parts::noise(20_000_000);
    let store = Store::open(&url).unwrap();
    let mut writer = store.writer("large/object").unwrap();
    std::io::Write::write_all(&mut writer, &noise).unwrap();
    assert!(!served.join("lake/large").exists(), "nothing is seen before the end");
    writer.finish().unwrap();
    assert!(std::fs::read(served.join("lake/large/object")).unwrap() == noise);
}
