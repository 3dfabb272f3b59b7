//! Recordings in buffers of JavaScript, which travel between worker and page without being copied: their columns are
//! filled directly, so that the bytes of a recording are never in the module's memory as a whole. A buffer that has been
//! read goes back to a worker, for one that is new costs more than to write to it.

use js_sys::{ArrayBuffer, BigUint64Array, Uint8Array, Uint32Array};
use parkbench_engine::Recording;
use parkbench_trace::{Encoder, Sink, Source, TraceError, decode_from};
use wasm_bindgen::{JsCast as _, JsValue};

/// [bytes] A larger buffer is not kept for another recording.
const MOST_KEPT: u32 = 1 << 24;

/// A recording as the container of `parkbench_trace`, in this buffer where it is one that has room for it, and how many
/// bytes it has.
pub(super) fn write(recording: &Recording, used: &JsValue) -> (ArrayBuffer, u32) {
    let encoder = Encoder::new(recording);
    let end = encoder.length() as u32;
    let used = used.dyn_ref::<ArrayBuffer>().filter(|used| used.byte_length() >= end);
    // With room to spare, for the next recording is longer as often as not.
    let room = if end < MOST_KEPT { end + end / 4 } else { end };
    let buffer = used.cloned().unwrap_or_else(|| ArrayBuffer::new(room));
    encoder.write(&mut Place { buffer: buffer.clone(), at: 0, end });
    (buffer, end)
}

/// The recording in the first bytes of a buffer; what is no buffer has no bytes.
pub(super) fn read(value: &JsValue, bytes: u32) -> Result<Recording, TraceError> {
    let buffer = value.dyn_ref().cloned().unwrap_or_else(|| ArrayBuffer::new(0));
    let end = bytes.min(buffer.byte_length());
    decode_from(&mut Place { buffer, at: 0, end })
}

/// The buffer, if another recording is to be written to it.
pub(super) fn keep(value: JsValue) -> Option<ArrayBuffer> {
    value.dyn_into().ok().filter(|buffer: &ArrayBuffer| buffer.byte_length() <= MOST_KEPT)
}

/// How far a buffer has been read or written. An array of 64-bit numbers may only begin at a multiple of 8 bytes, which
/// the container promises and `decode_from` checks.
struct Place {
    buffer: ArrayBuffer,
    /// [bytes] From its start.
    at: u32,
    /// [bytes] Where the recording ends.
    end: u32,
}

impl Place {
    /// Where the next `count` values of `width` bytes begin.
    fn pass(&mut self, count: usize, width: u32) -> u32 {
        let start = self.at;
        self.at += count as u32 * width;
        start
    }
}

impl Source for Place {
    fn left(&self) -> usize {
        (self.end - self.at) as usize
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let start = self.pass(count, 1);
        Uint8Array::new_with_byte_offset_and_length(&self.buffer, start, count as u32).to_vec()
    }

    fn wide(&mut self, count: usize) -> Vec<u64> {
        let start = self.pass(count, 8);
        BigUint64Array::new_with_byte_offset_and_length(&self.buffer, start, count as u32).to_vec()
    }

    fn narrow(&mut self, count: usize) -> Vec<u32> {
        let start = self.pass(count, 4);
        Uint32Array::new_with_byte_offset_and_length(&self.buffer, start, count as u32).to_vec()
    }
}

impl Sink for Place {
    fn bytes(&mut self, values: &[u8]) {
        let start = self.pass(values.len(), 1);
        Uint8Array::new_with_byte_offset_and_length(&self.buffer, start, values.len() as u32).copy_from(values);
    }

    fn wide(&mut self, values: &[u64]) {
        let start = self.pass(values.len(), 8);
        BigUint64Array::new_with_byte_offset_and_length(&self.buffer, start, values.len() as u32).copy_from(values);
    }

    fn narrow(&mut self, values: &[u32]) {
        let start = self.pass(values.len(), 4);
        Uint32Array::new_with_byte_offset_and_length(&self.buffer, start, values.len() as u32).copy_from(values);
    }
}

#[cfg(test)]
mod tests {
    use parkbench_engine::{Simulation, preset};
    use parkbench_trace::Trace;
    use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

    use super::*;

    wasm_bindgen_test_configure!(run_in_browser);

    fn recording() -> Recording {
        let mut scenario = preset("io-bound").unwrap();
        scenario.tasks[0].count = 20;
        Simulation::new(&scenario, 1).unwrap().run()
    }

    fn written() -> Vec<u8> {
        let (buffer, bytes) = write(&recording(), &JsValue::NULL);
        Uint8Array::new_with_byte_offset_and_length(&buffer, 0, bytes).to_vec()
    }

    /// Spoils the bytes of a recording and expects an error that begins so, from the buffer or from the records.
    #[track_caller]
    fn check(spoil: impl FnOnce(Vec<u8>) -> Vec<u8>, expect: &str) {
        let bytes = spoil(written());
        let buffer = Uint8Array::from(bytes.as_slice()).buffer();
        let error = read(&buffer.into(), bytes.len() as u32).and_then(Trace::new).unwrap_err().to_string();
        assert!(error.starts_with(expect), "{error}");
    }

    fn changed(at: usize, value: u8) -> impl FnOnce(Vec<u8>) -> Vec<u8> {
        move |mut bytes| {
            bytes[at] = value;
            bytes
        }
    }

    #[wasm_bindgen_test]
    fn a_buffer_reads_back() {
        let (buffer, bytes) = write(&recording(), &JsValue::NULL);
        assert_eq!(read(&buffer.into(), bytes), Ok(recording()));
    }

    #[wasm_bindgen_test]
    fn a_buffer_is_used_again_where_it_has_room() {
        let bytes = written().len() as u32;
        for (room, again) in [(bytes - 1, false), (bytes, true), (bytes + 9, true)] {
            let used = Uint8Array::new_with_length(room);
            used.fill(0xfe, 0, room);
            let (buffer, end) = write(&recording(), &used.buffer());
            assert_eq!((buffer == used.buffer(), end), (again, bytes), "{room}");
            assert_eq!(read(&buffer.into(), end), Ok(recording()), "{room}");
        }
        assert!(keep(JsValue::NULL).is_none());
        assert!(keep(ArrayBuffer::new(MOST_KEPT).into()).is_some());
        assert!(keep(ArrayBuffer::new(MOST_KEPT + 1).into()).is_none());
    }

    #[wasm_bindgen_test]
    fn a_buffer_that_was_cut_short_is_refused() {
        let length = written().len();
        for left in [0, 7, 31, 32, 100, length / 2, length - 8, length - 1] {
            check(|bytes| bytes[..left].to_vec(), &format!("length: {left} bytes; allowed: "));
        }
    }

    #[wasm_bindgen_test]
    fn a_buffer_with_another_length_is_refused() {
        // The lengths of the header, of the records of tasks and of those of threads, each in its lowest and highest byte.
        for at in [8, 11, 16, 23, 24, 31] {
            check(changed(at, 0xfe), "length: ");
        }
        check(changed(0, b'p'), "magic: ");
        check(changed(4, 9), "version: 9; allowed: 1");
        check(changed(32, b'['), "header: ");
        let last = written().len() - 1;
        check(changed(last, 0xff), "threads");
    }

    #[wasm_bindgen_test]
    fn what_is_no_buffer_is_refused() {
        for value in
            [JsValue::NULL, JsValue::UNDEFINED, "text".into(), 5.into(), Uint8Array::new_with_length(40).into()]
        {
            let error = read(&value, 40).unwrap_err().to_string();
            assert!(error.starts_with("length: 0 bytes; allowed: "), "{error}");
        }
    }
}
