//! A real server of Azure's blob storage on the loopback device, killed when it is dropped.

use std::fs::{self, File};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use gridtally::store::Store;
use object_store::azure::MicrosoftAzureBuilder;

/// The server, from the registry of Node's packages.
const PACKAGE: &str = "azurite@3.35.0";

/// The account and the key every such server has; both are printed in its documentation.
const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// The only container.
pub(crate) const CONTAINER: &str = "container";

/// Makes the container: the one request the library under test cannot make.
const MAKE_CONTAINER: &str = r"
const [port, account, key, name] = process.argv.slice(1);
const date = new Date().toUTCString(), version = '2021-08-06';
const text = ['PUT', ...Array(11).fill(''), `x-ms-date:${date}\nx-ms-version:${version}`,
  `/${account}/${account}/${name}\nrestype:container`].join('\n');
const signature = require('crypto').createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('base64');
require('http').request({host: '127.0.0.1', port, method: 'PUT', path: `/${account}/${name}?restype=container`,
  headers: {'x-ms-date': date, 'x-ms-version': version, 'Content-Length': 0,
    Authorization: `SharedKey ${account}:${signature}`}},
  answer => { answer.pipe(process.stderr); process.exitCode = answer.statusCode == 201 ? 0 : 1 }).end();
";

pub(crate) struct Azure {
    server: Child,
    port: u16,
    folder: PathBuf,
}

impl Azure {
    /// Starts the server and makes the container; `None` where it cannot be installed, which is printed.
    pub(crate) fn start(test: &str) -> Option<Self> {
        let script = match installed() {
            Ok(script) => script,
            Err(why) => {
                eprintln!("SKIPPED {test}: the server of Azure's blob storage cannot be installed: {why}");
                return None;
            }
        };
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("azure-{port}"));
        fs::create_dir_all(&folder).unwrap();
        let server = Command::new("node")
            .arg(script)
            .args(["--blobHost", "127.0.0.1", "--blobPort", &port.to_string()])
            .args(["--skipApiVersionCheck", "--disableTelemetry", "--location"])
            .arg(&folder)
            .stdout(File::create(folder.join("log")).unwrap())
            .stderr(Stdio::null())
            .spawn()
            .expect("the Azure server starts");
        let azure = Self { server, port, folder };
        let patience = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(
                patience.elapsed() < Duration::from_mins(1),
                "the Azure server is not there: {}",
                azure.log()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        super::sample::run(
            Command::new("node")
                .args(["-e", MAKE_CONTAINER, "--", &port.to_string()])
                .args([ACCOUNT, KEY, CONTAINER]),
        );
        Some(azure)
    }

    /// What the server was asked, a line per request.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    /// Gives a command the way to the server.
    pub(crate) fn introduce(&self, command: &mut Command) {
        command
            .env("AZURE_STORAGE_USE_EMULATOR", "true")
            .env("AZURITE_BLOB_STORAGE_URL", format!("http://127.0.0.1:{}", self.port));
    }

    pub(crate) fn container(&self) -> Store {
        super::tls::install();
        let objects = MicrosoftAzureBuilder::new()
            .with_account(ACCOUNT)
            .with_access_key(KEY)
            .with_endpoint(format!("http://127.0.0.1:{}/{ACCOUNT}", self.port))
            .with_allow_http(true)
            .with_container_name(CONTAINER)
            .build()
            .unwrap();
        Store::with_objects(Arc::new(objects), None).unwrap()
    }
}

impl Drop for Azure {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// The program of the server, installed on first use.
fn installed() -> Result<&'static Path, &'static str> {
    static INSTALLED: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let installed = INSTALLED.get_or_init(|| {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let folder = place.join("azure-server");
        // Several test runs may share the folder.
        let lock = File::create(place.join("azure-server.lock")).expect("the lock of the Azure server");
        lock.lock().expect("the lock of the Azure server");
        let (script, ready) = (
            folder.join("node_modules/azurite/dist/src/blob/main.js"),
            folder.join("ready"),
        );
        if fs::read_to_string(&ready).is_ok_and(|have| have == PACKAGE) {
            return Ok(script);
        }
        fs::create_dir_all(&folder).map_err(|why| why.to_string())?;
        let output = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" })
            .args([
                "install",
                "--no-fund",
                "--no-audit",
                "--ignore-scripts",
                "--loglevel=error",
                "--prefix",
            ])
            .arg(&folder)
            .arg(PACKAGE)
            .output()
            .map_err(|why| format!("npm: {why}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        fs::write(&ready, PACKAGE).map_err(|why| why.to_string())?;
        Ok(script)
    });
    installed.as_deref().map_err(String::as_str)
}
