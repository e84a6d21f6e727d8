//! TLS of the clients that tests make themselves.

/// Clients of object stores need the code of TLS also where they connect without it.
pub(super) fn install() {
    // An error means that it was installed before.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
