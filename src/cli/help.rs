//! Texts of the help and the manual that come from elsewhere in the program.

use std::fmt::Write as _;

use crate::error::Kind;

/// The places data can be in, and what sets them up.
const PLACES: &str = "\
Inputs and outputs are paths or URLs. Object stores are set up by the variables their own tools use:
  s3://      AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, AWS_ENDPOINT, AWS_ALLOW_HTTP
  gs://      GOOGLE_SERVICE_ACCOUNT (a file), GOOGLE_SERVICE_ACCOUNT_KEY, GOOGLE_APPLICATION_CREDENTIALS
  az://      AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY, AZURE_STORAGE_SAS_TOKEN, AZURE_STORAGE_USE_EMULATOR
  http(s)    no variables; single files as inputs, and where the server speaks WebDAV folders and outputs: \
nothing keeps a second run out, and a file is held in memory while it is written
Credentials of the machine itself (metadata addresses of a cloud) are requested only with GRIDTALLY_CLOUD_METADATA=allow";

/// Text below the help of the program.
pub(super) fn epilogue() -> String {
    format!("{PLACES}\n\n{}", exit_codes())
}

/// The exit codes, as one block of text.
fn exit_codes() -> String {
    let mut text = "Exit codes:\n  0   everything went well".to_owned();
    for (kind, meaning) in Kind::ALL {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n  {:<3} {meaning}", kind.exit_code());
    }
    text
}
