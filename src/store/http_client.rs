//! The HTTP client of object stores: like the one of `object_store`, but that it neither follows a redirect to a cloud's
//! metadata address nor connects to a name that resolves to one, unless it may.

use std::error::Error as StdError;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs};
use std::time::Duration;

use object_store::ClientOptions;
use object_store::client::ClientConfigKey;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, NoProxy, Proxy, tls};

use super::certificate::CertificateRefusal;

/// Addresses at which machines of a cloud request their credentials.
const ADDRESSES: [IpAddr; 3] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
];

/// Names of these addresses.
const NAMES: [&str; 3] = ["metadata", "metadata.google.internal", "metadata.goog"];

/// Whether a cloud's metadata address may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MetadataPolicy {
    /// The environment requests it.
    Ask,
    /// It is not configured.
    Refuse,
}

/// A request to a cloud's metadata address that was not made.
#[derive(Clone, Debug)]
pub(super) struct MetadataRefusal {
    host: String,
}

impl fmt::Display for MetadataRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no credentials are set, and {}, where machines of a cloud request theirs, is not contacted without permission: set the \
             variables of the store's credentials (AWS_SKIP_SIGNATURE or GOOGLE_SKIP_SIGNATURE=true where all may read), \
             or GRIDTALLY_CLOUD_METADATA=allow",
            self.host
        )
    }
}

impl StdError for MetadataRefusal {}

impl MetadataPolicy {
    /// Why a host is not asked; `None` where it may be.
    pub(super) fn refusal(self, host: &str) -> Option<MetadataRefusal> {
        (self == Self::Refuse && is_metadata(host)).then(|| MetadataRefusal { host: host.to_owned() })
    }
}

/// Whether a host, as a URL has it, is a cloud's metadata address.
fn is_metadata(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    match bare.parse::<IpAddr>() {
        Ok(address) => ADDRESSES.contains(&address.to_canonical()),
        Err(_) => NAMES.iter().any(|name| bare.eq_ignore_ascii_case(name)),
    }
}

/// Resolves names as the system does, but for those that resolve to a cloud's metadata address only.
struct Resolver;

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        Box::pin(async move {
            let asked = host.clone();
            let found = tokio::task::spawn_blocking(move || {
                let found = (asked.as_str(), 0).to_socket_addrs()?;
                Ok::<_, std::io::Error>(found.collect::<Vec<_>>())
            });
            let mut found = found.await??;
            let found_n = found.len();
            found.retain(|address| !ADDRESSES.contains(&address.ip().to_canonical()));
            if found.is_empty() && found_n > 0 {
                return Err(MetadataRefusal { host }.into());
            }
            let addresses: Addrs = Box::new(found.into_iter());
            Ok(addresses)
        })
    }
}

/// Builds a client from its options.
///
/// # Errors
/// Naming the option that cannot be understood.
pub(super) fn client(options: &ClientOptions, metadata: MetadataPolicy) -> object_store::Result<Client> {
    // An error means that it was installed before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let stated = |key: ClientConfigKey| options.get_config_value(&key);
    let is_stated = |key: ClientConfigKey| stated(key).is_some_and(|value| is_yes(&value));
    let length = |key: ClientConfigKey| stated(key).map(|text| parse_duration(&text)).transpose();
    let mut builder = ClientBuilder::new()
        .user_agent(stated(ClientConfigKey::UserAgent).unwrap_or_else(|| USER_AGENT.to_owned()))
        .https_only(!is_stated(ClientConfigKey::AllowHttp))
        .tls_danger_accept_invalid_certs(is_stated(ClientConfigKey::AllowInvalidCertificates))
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate();
    if let Some(proxy) = stated(ClientConfigKey::ProxyUrl) {
        let mut proxy = Proxy::all(proxy).map_err(generic)?;
        if let Some(certificate) = stated(ClientConfigKey::ProxyCaCertificate) {
            let certificate = tls::Certificate::from_pem(certificate.as_bytes()).map_err(generic)?;
            builder = builder.tls_certs_merge(std::iter::once(certificate));
        }
        if let Some(excludes) = stated(ClientConfigKey::ProxyExcludes) {
            proxy = proxy.no_proxy(NoProxy::from_string(&excludes));
        }
        builder = builder.proxy(proxy);
    }
    if is_stated(ClientConfigKey::NoSystemCertificates) {
        builder = builder.tls_certs_only(std::iter::empty());
    }
    if let Some(timeout) = length(ClientConfigKey::Timeout)? {
        builder = builder.timeout(timeout);
    }
    if let Some(timeout) = length(ClientConfigKey::ConnectTimeout)? {
        builder = builder.connect_timeout(timeout);
    }
    if let Some(timeout) = length(ClientConfigKey::ReadTimeout)? {
        builder = builder.read_timeout(timeout);
    }
    if let Some(timeout) = length(ClientConfigKey::PoolIdleTimeout)? {
        builder = builder.pool_idle_timeout(timeout);
    }
    if let Some(most) = stated(ClientConfigKey::PoolMaxIdlePerHost) {
        builder = builder.pool_max_idle_per_host(most.parse().map_err(generic)?);
    }
    if is_stated(ClientConfigKey::Http1Only) {
        builder = builder.http1_only();
    }
    if metadata == MetadataPolicy::Refuse {
        let follow = Policy::default();
        let redirects = Policy::custom(move |attempt| {
            // Fallback: an address without a host is of no other host.
            let host = attempt.url().host_str().unwrap_or_default();
            match metadata.refusal(host) {
                Some(refusal) => attempt.error(refusal),
                None => follow.redirect(attempt),
            }
        });
        builder = builder.redirect(redirects).dns_resolver(Resolver);
    }
    builder.build().map_err(|why| match CertificateRefusal::of(&why) {
        Some(refusal) => generic(refusal),
        None => generic(why),
    })
}

/// How this program names itself to servers.
const USER_AGENT: &str = concat!("gridtally/", env!("CARGO_PKG_VERSION"));

/// As `object_store` understands a word of its options.
pub(super) fn is_yes(value: &str) -> bool {
    ["1", "true", "on", "yes", "y"].contains(&value.to_ascii_lowercase().as_str())
}

fn parse_duration(text: &str) -> object_store::Result<Duration> {
    humantime::parse_duration(text).map_err(generic)
}

fn generic(why: impl StdError + Send + Sync + 'static) -> object_store::Error {
    object_store::Error::Generic {
        store: "HTTP client",
        source: Box::new(why),
    }
}
