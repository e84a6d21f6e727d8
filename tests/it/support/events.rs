//! The events that the code under test reports.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Registry;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

/// The messages of the events that a piece of work reports in its own thread, in order.
pub(crate) fn messages(work: impl FnOnce()) -> Vec<String> {
    let heard = Heard::default();
    tracing::subscriber::with_default(Registry::default().with(heard.clone()), work);
    let messages = heard.0.lock().unwrap();
    messages.clone()
}

#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl<S: Subscriber> Layer<S> for Heard {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut message = Message::default();
        event.record(&mut message);
        self.0.lock().unwrap().push(message.0);
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
