//! The secret behind pseudonyms: where it comes from, and the only place that uses it.

use std::fmt;
use std::fmt::Write as _;
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::numbers::count_u64;
use crate::small_file;

/// A shorter key could be guessed.
pub const MIN_KEY_BYTES: usize = 16;
/// A longer one is a file named by mistake.
const MAX_KEY_BYTES: u64 = 4096;

/// Where a key comes from. The key itself never is in the pipeline file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    /// The content of a file, without the line ends behind it.
    File {
        /// Its path.
        path: String,
        /// Whether everybody may read it.
        is_open: bool,
    },
    /// The value of an environment variable.
    Env(String),
}

/// A key for HMAC-SHA256 (RFC 2104). It is never shown.
#[derive(Clone)]
pub struct PrivacyKey(Hmac<Sha256>);

impl fmt::Debug for PrivacyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(secret)")
    }
}

/// Whether a file is open to everybody who has an account.
fn may_all_read(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o007 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

impl PrivacyKey {
    /// Fetches the key.
    ///
    /// # Errors
    /// In a sentence that does not hold the key: it is not there, cannot be read, or is too short.
    pub fn fetch(place: &KeyPlace) -> Result<Self, String> {
        match place {
            KeyPlace::Env(name) => {
                let value = std::env::var_os(name)
                    .filter(|value| !value.is_empty())
                    .ok_or_else(|| format!("the environment variable {name}, which holds the key, is not set"))?;
                Self::new(value.as_encoded_bytes())
            }
            KeyPlace::File { path, is_open } => {
                if !is_open && may_all_read(Path::new(path)) {
                    return Err(format!(
                        "everybody on this machine may read or write the key file {path}: chmod o-rwx it, or declare that this \
                         is intended (readable_by = \"all\" next to file, --key-readable-by-all with --key-file)"
                    ));
                }
                let read = small_file::read(Path::new(path), MAX_KEY_BYTES);
                let bytes = read.map_err(|why| format!("the key file {path} cannot be read: {why}"))?;
                Self::new(bytes.trim_ascii_end())
            }
        }
    }

    /// A key of these bytes.
    ///
    /// # Errors
    /// When it has fewer than [`MIN_KEY_BYTES`] bytes.
    pub fn new(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() < MIN_KEY_BYTES {
            return Err(format!(
                "the key has {} bytes; fewer than {MIN_KEY_BYTES} can be guessed (make one with: openssl rand -hex 32)",
                bytes.len()
            ));
        }
        Hmac::new_from_slice(bytes)
            .map(Self)
            .map_err(|_| "the key cannot be used".to_owned())
    }

    /// The first `bytes` bytes of the code of `parts`, in hexadecimal. Each part goes in with its length, so that no
    /// two lists of parts are the same message.
    pub(super) fn code(&self, parts: &[&str], bytes: usize) -> String {
        let mut mac = self.0.clone();
        for part in parts {
            mac.update(&count_u64(part.len()).to_be_bytes());
            mac.update(part.as_bytes());
        }
        let code = mac.finalize().into_bytes();
        let mut text = String::with_capacity(2 * bytes);
        for byte in code.iter().take(bytes) {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }

    /// Identifies in a lake the key its pseudonyms were made with, without revealing it.
    #[must_use]
    pub fn check_value(&self) -> String {
        self.code(&["gridtally key check"], 8)
    }

    /// Distinguishes keys without revealing them.
    pub(super) fn fingerprint(&self) -> String {
        self.code(&["gridtally key fingerprint"], 16)
    }
}
