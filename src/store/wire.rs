//! Requests to servers: answers that are cut off count as failed, outages are said, and nobody asks a cloud's metadata
//! address who was not told to.

use async_trait::async_trait;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
    ReqwestConnector,
};

use super::outage;

/// Answers up to this size are awaited whole, so that one that is cut off is asked for again. Larger ones are read as they
/// come.
const WHOLE_BYTES: u64 = 16 << 20;

/// Where machines of a cloud ask for their credentials.
const METADATA: [&str; 6] = [
    "169.254.169.254",
    "[fd00:ec2::254]",
    "100.100.100.200",
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
];

/// Variables that say that credentials come from there.
const ASKING: [&str; 4] = [
    "GRIDTALLY_CLOUD_METADATA",
    "AWS_METADATA_ENDPOINT",
    "AZURE_MSI_ENDPOINT",
    "AZURE_IDENTITY_ENDPOINT",
];

/// Makes the clients of an object store.
#[derive(Debug)]
pub(super) struct Wire {
    may_ask_metadata: bool,
}

impl Wire {
    /// As the environment says.
    pub(super) fn new() -> Self {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        Self {
            may_ask_metadata: ASKING.iter().any(|name| is_set(name)),
        }
    }
}

impl HttpConnector for Wire {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Client {
            inner: ReqwestConnector::default().connect(options)?,
            may_ask_metadata: self.may_ask_metadata,
        }))
    }
}

#[derive(Debug)]
struct Client {
    inner: HttpClient,
    may_ask_metadata: bool,
}

#[async_trait]
impl HttpService for Client {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let host = request.uri().host().unwrap_or_default();
        if !self.may_ask_metadata && METADATA.iter().any(|metadata| host.eq_ignore_ascii_case(metadata)) {
            let message = format!(
                "no credentials are set, and {host}, where machines of a cloud ask for theirs, is not asked unasked: set the \
                 variables of the store's credentials (AWS_SKIP_SIGNATURE or GOOGLE_SKIP_SIGNATURE=true where all may read), \
                 or GRIDTALLY_CLOUD_METADATA=allow"
            );
            return Err(HttpError::new(HttpErrorKind::Unknown, std::io::Error::other(message)));
        }
        let server = request
            .uri()
            .authority()
            .map_or_else(|| host.to_owned(), ToString::to_string);
        // Of a name and password before it nothing is said.
        let server = server.rsplit('@').next().unwrap_or_default().to_owned();
        // What changes something is done once it is answered, whatever becomes of the answer's body.
        let is_read = request.method().as_str() == "GET";
        let answer = match self.inner.execute(request).await {
            // What a server does not know it will not know later either.
            Ok(answer) if matches!(answer.status().as_u16(), 501 | 505) => {
                let why = std::io::Error::other(format!("the server answers {}", answer.status()));
                return Err(HttpError::new(HttpErrorKind::Unknown, why));
            }
            Ok(answer) if is_read => whole(answer).await,
            answer => answer,
        };
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

/// The innermost reason.
fn cause(why: &HttpError) -> String {
    let mut inner: &dyn std::error::Error = why;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
