//! The thread that drives requests to file systems and object stores.

use tokio::runtime::{Builder, Runtime};

/// Starts the thread, named for what it works for. One is enough for what waits for answers; and where the machine gives no
/// second thread, Tokio waits for the first one without end.
///
/// # Errors
/// What the system reports where it gives no handles.
pub(crate) fn runtime(thread_name: &str) -> std::io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name(thread_name)
        .enable_all()
        .build()
}
