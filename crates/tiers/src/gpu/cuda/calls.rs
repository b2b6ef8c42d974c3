//! The driver's functions as safe ones: what they need of each other is in the types that own what they make.

#![expect(unsafe_code, reason = "every function of the driver is foreign")]

use std::ffi::{CStr, c_char, c_int};
use std::ptr;

use cudarc::driver::sys;

use super::abi::{Batch, Driver, Functions, Raw};
use super::code::{Answer, Code};

/// Room for a device's name.
const NAME_BYTES: usize = 256;

/// Copies that are begun by one call: three lists of one length.
#[derive(Default)]
pub(super) struct Copies {
    pub(super) to: Vec<sys::CUdeviceptr>,
    pub(super) from: Vec<sys::CUdeviceptr>,
    pub(super) bytes: Vec<usize>,
}

impl Copies {
    pub(super) fn clear(&mut self) {
        self.to.clear();
        self.from.clear();
        self.bytes.clear();
    }

    pub(super) fn push(&mut self, to: u64, from: u64, bytes: usize) {
        self.to.push(to);
        self.from.push(from);
        self.bytes.push(bytes);
    }
}

impl Driver {
    /// Calls a function; the closure says why its arguments are right.
    fn call(&self, call: impl FnOnce(&Functions) -> Raw) -> Answer {
        Code::answer(call(&self.functions))
    }

    pub(super) fn init(&self) -> Answer {
        // SAFETY: the one flag that there is.
        self.call(|f| unsafe { (f.init)(0) })
    }

    /// The CUDA version that the driver has: 13000 is 13.0.
    pub(super) fn version(&self) -> Answer<u32> {
        let mut version: c_int = 0;
        // SAFETY: a place for an int.
        self.call(|f| unsafe { (f.driver_version)(&mut version) })?;
        Ok(version.max(0) as u32)
    }

    pub(super) fn device_count(&self) -> Answer<u32> {
        let mut count: c_int = 0;
        // SAFETY: a place for an int.
        self.call(|f| unsafe { (f.device_count)(&mut count) })?;
        Ok(count.max(0) as u32)
    }

    pub(super) fn device(&self, ordinal: u32) -> Answer<sys::CUdevice> {
        let mut device = 0;
        // SAFETY: a place for a device; a number that is too large is answered, not followed.
        self.call(|f| unsafe { (f.device_get)(&mut device, ordinal as c_int) })?;
        Ok(device)
    }

    pub(super) fn device_name(&self, device: sys::CUdevice) -> Answer<String> {
        let mut name = [0 as c_char; NAME_BYTES];
        // SAFETY: room for as many characters as are said, the last of which stays 0.
        self.call(|f| unsafe { (f.device_name)(name.as_mut_ptr(), NAME_BYTES as c_int - 1, device) })?;
        let bytes = name.iter().map(|&byte| byte as u8).take_while(|&byte| byte != 0);
        Ok(String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned())
    }

    /// The driver's word for an answer.
    pub(super) fn name_of(&self, code: Code) -> String {
        let mut name: *const c_char = ptr::null();
        // SAFETY: a place for the address of a text.
        let answer = self.call(|f| unsafe { (f.error_name)(code.0, &mut name) });
        if answer.is_err() || name.is_null() {
            return "an answer that this driver has no word for".to_owned();
        }
        // SAFETY: the driver's own texts end with 0 and are never freed.
        unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
    }

    pub(super) fn retain(&self, device: sys::CUdevice) -> Answer<sys::CUcontext> {
        let mut context = ptr::null_mut();
        // SAFETY: a place for a context, of a device that the driver gave.
        self.call(|f| unsafe { (f.context_retain)(&mut context, device) })?;
        Ok(context)
    }

    pub(super) fn release(&self, device: sys::CUdevice) -> Answer {
        // SAFETY: once for each time that it was retained: `Context` sees to that.
        self.call(|f| unsafe { (f.context_release)(device) })
    }

    pub(super) fn enter(&self, context: sys::CUcontext) -> Answer {
        // SAFETY: a context that is retained.
        self.call(|f| unsafe { (f.context_enter)(context) })
    }

    /// Bytes of the device that are free, and all of them.
    pub(super) fn memory(&self) -> Answer<(usize, usize)> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: places for two sizes.
        self.call(|f| unsafe { (f.memory_info)(&mut free, &mut total) })?;
        Ok((free, total))
    }

    pub(super) fn alloc(&self, bytes: usize) -> Answer<sys::CUdeviceptr> {
        let mut base = 0;
        // SAFETY: a place for an address.
        self.call(|f| unsafe { (f.memory_alloc)(&mut base, bytes) })?;
        Ok(base)
    }

    pub(super) fn free(&self, base: sys::CUdeviceptr) -> Answer {
        // SAFETY: once for each allocation, after the last copy: `Pool` sees to that.
        self.call(|f| unsafe { (f.memory_free)(base) })
    }

    pub(super) fn register(&self, base: *mut u8, bytes: usize) -> Answer {
        // SAFETY: memory that outlives its registration: `Registered` sees to that.
        self.call(|f| unsafe { (f.host_register)(base.cast(), bytes, sys::CU_MEMHOSTREGISTER_PORTABLE) })
    }

    pub(super) fn unregister(&self, base: *mut u8) -> Answer {
        // SAFETY: memory that was registered, after the last copy: `Registered` sees to that.
        self.call(|f| unsafe { (f.host_unregister)(base.cast()) })
    }

    pub(super) fn new_stream(&self) -> Answer<sys::CUstream> {
        let mut stream = ptr::null_mut();
        let apart = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: a place for a stream.
        self.call(|f| unsafe { (f.stream_create)(&mut stream, apart) })?;
        Ok(stream)
    }

    pub(super) fn end_stream(&self, stream: sys::CUstream) -> Answer {
        // SAFETY: once for each stream: `Lane` sees to that.
        self.call(|f| unsafe { (f.stream_destroy)(stream) })
    }

    pub(super) fn wait_for_all(&self, stream: sys::CUstream) -> Answer {
        // SAFETY: a lane's, and live.
        self.call(|f| unsafe { (f.stream_wait)(stream) })
    }

    pub(super) fn new_event(&self) -> Answer<sys::CUevent> {
        let mut event = ptr::null_mut();
        let flags = sys::CUevent_flags::CU_EVENT_BLOCKING_SYNC as u32
            | sys::CUevent_flags::CU_EVENT_DISABLE_TIMING as u32;
        // SAFETY: a place for an event.
        self.call(|f| unsafe { (f.event_create)(&mut event, flags) })?;
        Ok(event)
    }

    pub(super) fn end_event(&self, event: sys::CUevent) -> Answer {
        // SAFETY: once for each event: `Lane` sees to that.
        self.call(|f| unsafe { (f.event_destroy)(event) })
    }

    pub(super) fn record(&self, event: sys::CUevent, stream: sys::CUstream) -> Answer {
        // SAFETY: both are a lane's, and live.
        self.call(|f| unsafe { (f.event_record)(event, stream) })
    }

    pub(super) fn query(&self, event: sys::CUevent) -> Answer {
        // SAFETY: a lane's, and live.
        self.call(|f| unsafe { (f.event_query)(event) })
    }

    pub(super) fn wait(&self, event: sys::CUevent) -> Answer {
        // SAFETY: a lane's, and live.
        self.call(|f| unsafe { (f.event_wait)(event) })
    }

    /// Begins a copy into the device.
    ///
    /// # Safety
    ///
    /// Both addresses have so many bytes, the source is not written and the destination not touched until the stream
    /// has been waited for.
    pub(super) unsafe fn copy_in(&self, to: u64, from: u64, bytes: usize, stream: sys::CUstream) -> Answer {
        // SAFETY: as the caller promises.
        self.call(|f| unsafe { (f.copy_in)(to, from as *const _, bytes, stream) })
    }

    /// Begins a copy out of the device.
    ///
    /// # Safety
    ///
    /// As [`Driver::copy_in`].
    pub(super) unsafe fn copy_out(&self, to: u64, from: u64, bytes: usize, stream: sys::CUstream) -> Answer {
        // SAFETY: as the caller promises.
        self.call(|f| unsafe { (f.copy_out)(to as *mut _, from, bytes, stream) })
    }

    /// Begins many copies by one call, in no order.
    ///
    /// # Safety
    ///
    /// As [`Driver::copy_in`], for each.
    pub(super) unsafe fn copy_batch(&self, copies: &mut Copies, stream: sys::CUstream) -> Answer {
        let place = sys::CUmemLocation { type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_INVALID, id: 0 };
        let mut attributes = sys::CUmemcpyAttributes {
            srcAccessOrder: sys::CUmemcpySrcAccessOrder::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
            srcLocHint: place,
            dstLocHint: place,
            flags: 0,
        };
        // One kind of copy, from the first on.
        let mut first = 0_usize;
        let count = copies.to.len().min(copies.from.len()).min(copies.bytes.len());
        let (to, from) = (copies.to.as_mut_ptr(), copies.from.as_mut_ptr());
        let bytes = copies.bytes.as_mut_ptr();
        match self.batch {
            // SAFETY: as the caller promises; three lists of `count`, one of 1.
            Some(Batch::New(batch)) => {
                Code::answer(unsafe { batch(to, from, bytes, count, &mut attributes, &mut first, 1, stream) })
            }
            Some(Batch::Old(batch)) => {
                let mut failed = 0_usize;
                // SAFETY: as above, and a place for a number.
                Code::answer(unsafe {
                    batch(to, from, bytes, count, &mut attributes, &mut first, 1, &mut failed, stream)
                })
            }
            None => Err(Code(sys::CUresult::CUDA_ERROR_NOT_SUPPORTED as u32)),
        }
    }
}
