//! The worker's side: takes a run, simulates it in steps, posts progress and in the end its records as one buffer.

use std::mem;

use js_sys::{Array, ArrayBuffer};
use parkbench_engine::{Arena, Scenario};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

use super::buffer;
use super::job::{Broken, Job, JobEvent};
use super::protocol::{BUILD_ID, FromWorker, PROTOCOL_VERSION, ToWorker};
use crate::platform;

/// [ms] Progress is posted no more often.
const PROGRESS_MS: f64 = 50.0;

/// Serves runs for as long as the worker lives. Does nothing outside of a worker.
pub fn serve() {
    let Ok(scope) = js_sys::global().dyn_into::<DedicatedWorkerGlobalScope>() else { return };
    // The hook must be `Send`, so it looks the scope up instead of holding it.
    std::panic::set_hook(Box::new(|info| {
        console_error_panic_hook::hook(info);
        if let Ok(scope) = js_sys::global().dyn_into::<DedicatedWorkerGlobalScope>() {
            post(&scope, &FromWorker::Failed { id: 0, broken: Broken::other(info) }, None);
        }
    }));
    let listener = {
        let scope = scope.clone();
        let mut arena = Box::<Arena>::default();
        Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            let data: Array = event.data().unchecked_into();
            let text = data.get(0).as_string().unwrap_or_default();
            match serde_json::from_str(&text) {
                Ok(ToWorker::Run { id, index, scenario, budget, keep, most_records }) => {
                    platform::mark("handed over", index);
                    let job = Scenario::from_json(&scenario)
                        .map_err(Broken::from)
                        .and_then(|scenario| Job::new(scenario, budget, keep))
                        .map(|job| job.only(index).with_max_records(most_records).with_arena(mem::take(&mut arena)));
                    match job.and_then(|job| run(&scope, id, job, &data.get(1))) {
                        Ok(left) => arena = left,
                        Err(broken) => post(&scope, &FromWorker::Failed { id, broken }, None),
                    }
                }
                Err(error) => post(&scope, &FromWorker::Failed { id: 0, broken: Broken::other(&error) }, None),
            }
        })
    };
    scope.set_onmessage(Some(listener.as_ref().unchecked_ref()));
    // The listener lives as long as the worker.
    listener.forget();
    post(&scope, &FromWorker::Ready { protocol: PROTOCOL_VERSION, build: BUILD_ID.to_owned() }, None);
}

/// Simulates a run, and writes its records to `spare` where they have room there; answers with the memory that is left.
fn run(scope: &DedicatedWorkerGlobalScope, id: u32, mut job: Job, spare: &JsValue) -> Result<Box<Arena>, Broken> {
    let mut told = platform::now_ms();
    let mut last = None;
    loop {
        match job.step()? {
            JobEvent::Progress { run, done } => {
                let now = platform::now_ms();
                if now - told >= PROGRESS_MS {
                    told = now;
                    post(scope, &FromWorker::Progress { id, index: run, done }, None);
                }
            }
            JobEvent::Run(index, recording, figures) => {
                platform::mark("simulated", index);
                let figures = figures.and_then(|figures| serde_json::to_string(&figures).ok());
                let (records, bytes) = buffer::write(&recording, spare);
                platform::mark("encoded", index);
                post(scope, &FromWorker::Run { id, index, figures, bytes }, Some(&records));
                last = Some(*recording);
            }
            JobEvent::Finished => return Ok(job.into_arena(last)),
        }
    }
}

fn post(scope: &DedicatedWorkerGlobalScope, message: &FromWorker, buffer: Option<&ArrayBuffer>) {
    let Ok(text) = serde_json::to_string(message) else { return };
    let _ = match buffer {
        Some(buffer) => scope.post_message_with_transfer(&Array::of2(&text.into(), buffer), &Array::of1(buffer)),
        None => scope.post_message(&Array::of1(&text.into())),
    };
}
