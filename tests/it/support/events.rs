//! The events that the code under test reports.

use std::cell::RefCell;
use std::fmt::Debug;
use std::sync::Once;

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Registry;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

thread_local! {
    static HEARD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// The messages of the events that a piece of work reports in its own thread, in order.
pub(crate) fn messages(work: impl FnOnce()) -> Vec<String> {
    // One for all threads: a callsite that a thread without one meets first would be off for all.
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Registry::default().with(Heard)).unwrap());
    HEARD.take();
    work();
    HEARD.take()
}

struct Heard;

impl<S: Subscriber> Layer<S> for Heard {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut message = Message::default();
        event.record(&mut message);
        HEARD.with_borrow_mut(|heard| heard.push(message.0));
    }
}

#[derive(Default)]
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}
