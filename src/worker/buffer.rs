//! Recordings in buffers of JavaScript, which travel between worker and page without being copied: their columns are
//! filled directly, so that the bytes of a recording are never in the module's memory as a whole.

use js_sys::{ArrayBuffer, BigUint64Array, Uint8Array, Uint32Array};
use parkbench_engine::Recording;
use parkbench_trace::{Encoder, Sink, Source, TraceError, decode_from};
use wasm_bindgen::{JsCast as _, JsValue};

/// A recording as the container of `parkbench_trace`.
pub(super) fn write(recording: &Recording) -> ArrayBuffer {
    let encoder = Encoder::new(recording);
    let buffer = ArrayBuffer::new(encoder.length() as u32);
    encoder.write(&mut Place { buffer: buffer.clone(), at: 0 });
    buffer
}

/// The recording in a buffer; what is no buffer has no bytes.
pub(super) fn read(value: &JsValue) -> Result<Recording, TraceError> {
    let buffer = value.dyn_ref().cloned().unwrap_or_else(|| ArrayBuffer::new(0));
    decode_from(&mut Place { buffer, at: 0 })
}

/// How far a buffer has been read or written. An array of 64-bit numbers may only begin at a multiple of 8 bytes, which
/// the container promises and `decode_from` checks.
struct Place {
    buffer: ArrayBuffer,
    /// [bytes] From its start.
    at: u32,
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
        (self.buffer.byte_length() - self.at) as usize
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
