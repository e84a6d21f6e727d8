//! A web server behind TLS: who is trusted is what the environment names, and what is not trusted is not asked again.

use super::web::Web;
use super::*;
use std::path::PathBuf;
use std::time::Duration;

/// Serves a folder by HTTPS, with a certificate for `localhost`. Two roots go to the folder: `root.pem`, which signed it, and
/// `other.pem`, which did not.
const SERVER: &str = r#"
import datetime, functools, http.server, ssl, sys
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
folder, port = sys.argv[1:]

def certificate(name, key, issuer, issuer_key, is_root):
    now = datetime.datetime.now(datetime.timezone.utc)
    named = lambda text: x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])
    builder = (x509.CertificateBuilder().subject_name(named(name)).issuer_name(named(issuer)).public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=is_root, path_length=None), critical=True))
    if not is_root:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        builder = builder.add_extension(x509.ExtendedKeyUsage([x509.ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    return builder.sign(issuer_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(3)]
write = lambda name, data: open(f"{folder}/{name}", "wb").write(data)
write("root.pem", certificate("root", keys[0], "root", keys[0], True))
write("other.pem", certificate("other", keys[1], "other", keys[1], True))
write("server.pem", certificate("localhost", keys[2], "root", keys[0], False))
write("server.key", keys[2].private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
write("none.pem", b"")
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(f"{folder}/server.pem", f"{folder}/server.key")
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"#;

#[test]
fn a_certificate_that_no_root_proves_ends_the_run_at_once() {
    let here = tempfile::tempdir().unwrap();
    let here = here.path();
    let files = here.join("files");
    std::fs::create_dir(&files).unwrap();
    std::fs::write(files.join("dump.txt"), parts::dump(100)).unwrap();
    let web = Web::of(|port| ["-c", SERVER, files.to_str().unwrap(), port].map(str::to_owned).into());
    let url = format!("https://localhost:{}/dump.txt", web.port);
    std::fs::write(here.join("web.toml"), parts::of_dump(&url)).unwrap();
    let run = |root: PathBuf| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        command.args(["run", "web.toml", "--out", "lake"]).current_dir(here);
        command.env("SSL_CERT_FILE", root).env_remove("SSL_CERT_DIR");
        let since = Instant::now();
        (command.output().unwrap(), since.elapsed())
    };
    for (root, expected) in [
        ("other.pem", "invalid peer certificate"),
        ("none.pem", "No CA certificates"),
    ] {
        let (output, lasted) = run(files.join(root));
        let words = reported(&output);
        assert_eq!(output.status.code(), Some(74), "{root}: {words}");
        assert!(
            words.contains(expected) && words.contains("SSL_CERT_FILE"),
            "{root}: {words}"
        );
        assert!(lasted < Duration::from_secs(30), "{root}: {lasted:?}");
        assert!(!here.join("lake/manifest.json").exists());
    }
    let (output, _) = run(files.join("root.pem"));
    assert!(output.status.success(), "{}", reported(&output));
}
