//! Variables that set up a store and are wrong: they are named before a request is made.

use std::process::Command;

use super::reported;

#[test]
fn a_wrong_variable_of_a_store_is_named() {
    let wrong = [
        ("s3", "AWS_ENDPOINT", "127.0.0.1:9", "AWS_ENDPOINT is not"),
        ("s3", "AWS_ENDPOINT", "", "AWS_ENDPOINT is not"),
        ("s3", "AWS_ENDPOINT_URL", "localhost:9", "AWS_ENDPOINT_URL is not"),
        ("s3", "AWS_ENDPOINT_URL_S3", "https://", "AWS_ENDPOINT_URL_S3 is not"),
        ("s3", "AWS_ENDPOINT", "http://127.0.0.1:9", "set AWS_ALLOW_HTTP=true"),
        ("s3", "AWS_SKIP_SIGNATURE", "perhaps", "AWS_SKIP_SIGNATURE"),
        (
            "az",
            "AZURE_STORAGE_ENDPOINT",
            "127.0.0.1:9",
            "AZURE_STORAGE_ENDPOINT is not",
        ),
        (
            "az",
            "AZURE_ENDPOINT",
            "http://127.0.0.1:9",
            "set AZURE_ALLOW_HTTP=true",
        ),
        ("az", "AZURE_STORAGE_USE_EMULATOR", "", "AZURE_STORAGE_USE_EMULATOR"),
        ("gs", "GOOGLE_BASE_URL", "127.0.0.1:9", "GOOGLE_BASE_URL is not"),
    ];
    for (scheme, variable, value, named) in wrong {
        for verb in ["verify", "inspect"] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
            command
                .args([verb, &format!("{scheme}://bucket/lake")])
                .env("AWS_ACCESS_KEY_ID", "k")
                .env("AWS_SECRET_ACCESS_KEY", "s")
                .env("AZURE_STORAGE_ACCOUNT_NAME", "account")
                .env("AZURE_STORAGE_ACCOUNT_KEY", "a2V5")
                .env(variable, value);
            let ended = command.output().unwrap();
            let words = reported(&ended);
            assert_eq!(ended.status.code(), Some(78), "{verb} {variable}={value}: {words}");
            assert!(words.contains(named), "{verb} {variable}={value}: {words}");
        }
    }
}
