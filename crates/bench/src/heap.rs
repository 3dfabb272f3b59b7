//! The allocator of the benchmark: the system's, with the bytes in use and their peak counted.

#![allow(unsafe_code, reason = "an allocator cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
#[cfg(test)]
static HANDED_OUT: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call goes to the system's allocator with the arguments that came in; the counters touch no memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // While it is copied both exist, in WebAssembly always and natively for all but the largest blocks.
        add(size);
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(block, layout, size) }
    }
}

fn add(size: usize) {
    let now = IN_USE.fetch_add(size, Relaxed) + size;
    PEAK.fetch_max(now, Relaxed);
    #[cfg(test)]
    HANDED_OUT.fetch_add(size, Relaxed);
}

/// [bytes] In use now.
pub(crate) fn in_use() -> usize {
    IN_USE.load(Relaxed)
}

/// [bytes] Handed out since the start of the process, with what has been given back since.
#[cfg(test)]
pub(crate) fn handed_out() -> usize {
    HANDED_OUT.load(Relaxed)
}

/// [bytes] What `work` leaves in use, and the most that it had in use at once, beyond what there was before.
pub(crate) fn measure<T>(work: impl FnOnce() -> T) -> (T, usize, usize) {
    let before = in_use();
    PEAK.store(before, Relaxed);
    let result = work();
    (result, in_use().saturating_sub(before), PEAK.load(Relaxed).saturating_sub(before))
}
