//! Certificates of servers that this machine has no root for: no other try has one, and the message states where roots are
//! read from.

use std::fmt;

/// What TLS states of a certificate that it does not accept.
const REFUSED: &str = "invalid peer certificate";

/// What it states where it has no root at all.
const NO_ROOTS: &str = "No CA certificates";

/// Why no connection is made that can be trusted, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CertificateRefusal {
    why: String,
}

impl CertificateRefusal {
    /// The refusal among the reasons of an error, from the outermost on; `None` where it has another reason.
    pub(super) fn of(error: &dyn std::error::Error) -> Option<Self> {
        let mut inner = Some(error);
        while let Some(reason) = inner {
            let why = reason.to_string();
            if why.starts_with(REFUSED) || why.contains(NO_ROOTS) {
                return Some(Self { why });
            }
            inner = reason.source();
        }
        None
    }
}

impl fmt::Display for CertificateRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: certificates are proven by the roots in the file SSL_CERT_FILE, the folder SSL_CERT_DIR, or those of the system \
             (package ca-certificates): install them, or name the file with the root of this server",
            self.why
        )
    }
}

impl std::error::Error for CertificateRefusal {}
