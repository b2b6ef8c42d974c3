//! Joins the [`Agent`] to the browser: messages in, messages out, and the run in short slices between them.
//!
//! Between two slices the worker posts itself a message, so that whatever the page has sent meanwhile (cancel,
//! seek) is heard first.

use std::cell::RefCell;
use std::rc::Rc;

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, MessageChannel, MessageEvent, MessagePort};

use crate::agent::Agent;
use crate::protocol::{FromWorker, ProblemView, ToWorker};

/// How long a slice lasts.
const SLICE_MS: f64 = 8.0;

struct Shell {
    agent: Agent,
    scope: DedicatedWorkerGlobalScope,
    /// Messages to this port come back as the call for the next slice.
    next: MessagePort,
    /// Whether a slice is called for already.
    called: bool,
}

/// Listens; answers until the page ends the worker.
pub fn start() {
    console_error_panic_hook::set_once();
    let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    let channel = MessageChannel::new().expect("a worker can make a message channel");
    let shell = Rc::new(RefCell::new(Shell {
        agent: Agent::default(),
        scope: scope.clone(),
        next: channel.port2(),
        called: false,
    }));

    let slice = listener({
        let shell = Rc::clone(&shell);
        move |_| shell.borrow_mut().slice()
    });
    channel.port1().set_onmessage(Some(&slice));

    let heard = listener(move |event| shell.borrow_mut().hear(&event));
    scope.set_onmessage(Some(&heard));
    send(&scope, &FromWorker::Ready);
}

fn listener(f: impl FnMut(MessageEvent) + 'static) -> js_sys::Function {
    Closure::<dyn FnMut(MessageEvent)>::new(f).into_js_value().unchecked_into()
}

impl Shell {
    fn hear(&mut self, event: &MessageEvent) {
        let replies = match serde_wasm_bindgen::from_value(event.data()) {
            Ok(message @ ToWorker::Chore { .. }) => {
                let scope = &self.scope;
                self.agent.work(message, &mut |reply| send(scope, &reply));
                Vec::new()
            }
            Ok(message) => self.agent.hear(message),
            Err(error) => vec![misunderstood(&error.to_string())],
        };
        self.send_all(&replies);
        self.call();
    }

    fn slice(&mut self) {
        self.called = false;
        let clock = self.scope.performance();
        let now = || clock.as_ref().map_or(0.0, web_sys::Performance::now);
        let replies = self.agent.slice(&now, SLICE_MS);
        self.send_all(&replies);
        self.call();
    }

    /// Calls for a slice when there is work and none is called for.
    fn call(&mut self) {
        if !self.called && self.agent.is_running() {
            self.called = self.next.post_message(&JsValue::NULL).is_ok();
        }
    }

    fn send_all(&self, replies: &[FromWorker]) {
        for reply in replies {
            send(&self.scope, reply);
        }
    }
}

fn send(scope: &DedicatedWorkerGlobalScope, message: &FromWorker) {
    let sent =
        serde_wasm_bindgen::to_value(message).map_err(JsValue::from).and_then(|it| scope.post_message(&it));
    sent.expect("every message of the protocol can be cloned");
}

fn misunderstood(error: &str) -> FromWorker {
    let problem = ProblemView {
        found: error.to_owned(),
        expected: "a message of this version's protocol".to_owned(),
        mend: "reload the page, so that page and worker are of the same version".to_owned(),
        ..ProblemView::default()
    };
    FromWorker::Refused { run: 0, problems: vec![problem] }
}
