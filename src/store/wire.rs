//! Requests to servers: answers that are cut off count as failed, what can be requested again is, outages are reported, and a cloud's metadata
//! address is contacted only on request.

use async_trait::async_trait;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};

use super::certificate::CertificateRefusal;
use super::http_client::{self, MetadataPolicy, MetadataRefusal};
use super::outage;

/// Answers up to this size are awaited whole, so that one that is cut off is requested again. Larger ones are read as they
/// come.
const WHOLE_BYTES: u64 = 16 << 20;

/// Variables that configure that source of credentials.
const ASKING: [&str; 4] = [
    "GRIDTALLY_CLOUD_METADATA",
    "AWS_METADATA_ENDPOINT",
    "AZURE_MSI_ENDPOINT",
    "AZURE_IDENTITY_ENDPOINT",
];

/// Makes the clients of an object store.
#[derive(Debug)]
pub(super) struct Wire {
    metadata: MetadataPolicy,
}

impl Wire {
    /// As the environment configures.
    pub(super) fn new() -> Self {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_stated = ASKING.iter().any(|name| is_set(name));
        Self {
            metadata: if is_stated {
                MetadataPolicy::Ask
            } else {
                MetadataPolicy::Refuse
            },
        }
    }
}

impl HttpConnector for Wire {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Client {
            inner: HttpClient::new(http_client::client(options, self.metadata)?),
            metadata: self.metadata,
        }))
    }
}

#[derive(Debug)]
struct Client {
    inner: HttpClient,
    metadata: MetadataPolicy,
}

#[async_trait]
impl HttpService for Client {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        // Fallback: a request without a host is sent to the address of its store.
        let host = request.uri().host().unwrap_or_default();
        if let Some(refusal) = self.metadata.refusal(host) {
            return Err(HttpError::new(HttpErrorKind::Unknown, refusal));
        }
        let server = request
            .uri()
            .authority()
            .map_or_else(|| host.to_owned(), ToString::to_string);
        // A name and password before it are not printed.
        // Fallback: never taken, a split from the right has a first part.
        let server = server.rsplit('@').next().unwrap_or_default().to_owned();
        let is_repeatable = is_repeatable(&request);
        // What changes something is done once it is answered, whatever becomes of the answer's body; but that of a deletion
        // of several objects states what became of each, and that of the begin of an upload its id.
        let is_read = match request.method().as_str() {
            "GET" => true,
            "POST" => is_repeatable,
            _ => false,
        };
        let may_fail_within = may_fail_within(&request);
        let answer = match self.inner.execute(request).await {
            // What a server does not know it will not know later either.
            Ok(answer) if matches!(answer.status().as_u16(), 501 | 505) => {
                let why = std::io::Error::other(format!("the server answers {}", answer.status()));
                return Err(HttpError::new(HttpErrorKind::Unknown, why));
            }
            Ok(answer) if is_read => whole(answer).await,
            Ok(answer) if may_fail_within && answer.status().is_success() => succeeded(answer).await,
            Err(why) => {
                if let Some(refusal) = refused(&why) {
                    return Err(HttpError::new(HttpErrorKind::Unknown, refusal));
                }
                if let Some(refusal) = CertificateRefusal::of(&why) {
                    return Err(HttpError::new(HttpErrorKind::Unknown, refusal));
                }
                Err(why)
            }
            answer => answer,
        };
        let answer = answer.map_err(|why| if is_repeatable { repeated(why) } else { why });
        match &answer {
            Ok(answer) if is_passing(answer.status().as_u16()) => {
                outage::failed(&server, &format!("it answers {}", answer.status()));
            }
            Ok(_) => outage::answered(&server),
            Err(why) => outage::failed(&server, &cause(why)),
        }
        answer
    }
}

/// Statuses that are asked again.
fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 429 | 500..=599)
}

/// Whether a request may be made twice that `object_store` does not take for one: a deletion of several objects, of which
/// those that are gone are no error; the begin of an upload in parts, of which one whose id was lost is never seen, and removed
/// by the rule of the bucket that aborts incomplete uploads; and a conditional write, that of a lock, whose owner recognises
/// what it wrote itself.
fn is_repeatable(request: &HttpRequest) -> bool {
    // Fallback: a request without a query deletes nothing and begins no upload.
    let query = request.uri().query().unwrap_or_default();
    let is_repeatable = query
        .split('&')
        .any(|part| matches!(part, "delete" | "delete=" | "comp=batch" | "uploads" | "uploads="));
    let conditions = ["if-match", "if-none-match", "x-goog-if-generation-match"];
    match request.method().as_str() {
        "POST" => is_repeatable,
        "PUT" => conditions.iter().any(|name| request.headers().contains_key(*name)),
        _ => false,
    }
}

/// Whether S3 may answer a request with 200 before it knows that it fails: a copy, and the end of an upload in parts.
fn may_fail_within(request: &HttpRequest) -> bool {
    // Fallback: a request without a query ends no upload.
    let query = request.uri().query().unwrap_or_default();
    let is_end = request.method().as_str() == "POST" && query.split('&').any(|part| part.starts_with("uploadId="));
    is_end || request.headers().contains_key("x-amz-copy-source")
}

/// The answer to such a request, if its body states no error: with one, nothing was done, and it is made again.
async fn succeeded(answer: HttpResponse) -> Result<HttpResponse, HttpError> {
    let answer = whole(answer).await?;
    let (parts, body) = answer.into_parts();
    let read = body.bytes().await;
    let bytes = read.map_err(|why| HttpError::new(HttpErrorKind::Interrupted, why))?;
    let is_error = bytes.windows(ERROR.len()).any(|part| part == ERROR);
    if is_error {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let why = std::io::Error::other(format!("the server answers {} with an error: {text}", parts.status));
        return Err(HttpError::new(HttpErrorKind::Request, why));
    }
    Ok(HttpResponse::from_parts(parts, HttpResponseBody::from(bytes)))
}

/// How an error begins in an answer of S3.
const ERROR: &[u8] = b"<Error>";

/// A failure that is answered by another request.
fn repeated(why: HttpError) -> HttpError {
    match why.kind() {
        HttpErrorKind::Timeout | HttpErrorKind::Interrupted => HttpError::new(HttpErrorKind::Request, why),
        _ => why,
    }
}

/// The answer with all of its body, if it is not too large for that.
async fn whole(answer: HttpResponse) -> Result<HttpResponse, HttpError> {
    let length = answer
        .headers()
        .get("content-length")
        .and_then(|length| length.to_str().ok());
    // Objects come with their size; what comes without is a listing.
    let is_small = length.is_none_or(|length| length.parse().is_ok_and(|length: u64| length <= WHOLE_BYTES));
    if !is_small {
        return Ok(answer);
    }
    let (parts, body) = answer.into_parts();
    let bytes = body
        .bytes()
        .await
        .map_err(|why| HttpError::new(HttpErrorKind::Interrupted, why))?;
    Ok(HttpResponse::from_parts(parts, HttpResponseBody::from(bytes)))
}

/// What a redirect or a name was refused for, if that is why a request failed.
fn refused(why: &HttpError) -> Option<MetadataRefusal> {
    let mut inner: Option<&dyn std::error::Error> = Some(why);
    while let Some(error) = inner {
        if let Some(refusal) = error.downcast_ref::<MetadataRefusal>() {
            return Some(refusal.clone());
        }
        inner = error.source();
    }
    None
}

/// The innermost reason.
fn cause(why: &HttpError) -> String {
    let mut inner: &dyn std::error::Error = why;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
