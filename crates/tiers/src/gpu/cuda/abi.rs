//! The driver's library: found when it is asked for, with every function that is used, or not at all.
//!
//! Of cudarc there are the types and the search for the library. Its functions are not called: they panic where the
//! library or one of its symbols is missing, and take an answer that they do not know for one that they do.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use cudarc::driver::sys;

use super::code::Code;
use super::error::CudaError;

/// A function of the driver answers with a number; which ones there are grows with its versions.
pub(super) type Raw = c_uint;

/// Declares a table of functions, and how it is filled from a library.
macro_rules! functions {
    ($($field:ident = $symbol:literal ($($kind:ty),*);)*) => {
        /// The functions that are used.
        pub(super) struct Functions {
            $(pub(super) $field: unsafe extern "C" fn($($kind),*) -> Raw,)*
        }

        impl Functions {
            fn find() -> Result<Self, CudaError> {
                Ok(Self { $($field: required($symbol)?,)* })
            }
        }
    };
}

functions! {
    init = c"cuInit"(c_uint);
    driver_version = c"cuDriverGetVersion"(*mut c_int);
    device_count = c"cuDeviceGetCount"(*mut c_int);
    device_get = c"cuDeviceGet"(*mut sys::CUdevice, c_int);
    device_name = c"cuDeviceGetName"(*mut c_char, c_int, sys::CUdevice);
    error_name = c"cuGetErrorName"(Raw, *mut *const c_char);
    context_retain = c"cuDevicePrimaryCtxRetain"(*mut sys::CUcontext, sys::CUdevice);
    context_release = c"cuDevicePrimaryCtxRelease_v2"(sys::CUdevice);
    context_enter = c"cuCtxSetCurrent"(sys::CUcontext);
    memory_info = c"cuMemGetInfo_v2"(*mut usize, *mut usize);
    memory_alloc = c"cuMemAlloc_v2"(*mut sys::CUdeviceptr, usize);
    memory_free = c"cuMemFree_v2"(sys::CUdeviceptr);
    host_register = c"cuMemHostRegister_v2"(*mut c_void, usize, c_uint);
    host_unregister = c"cuMemHostUnregister"(*mut c_void);
    stream_create = c"cuStreamCreate"(*mut sys::CUstream, c_uint);
    stream_destroy = c"cuStreamDestroy_v2"(sys::CUstream);
    stream_wait = c"cuStreamSynchronize"(sys::CUstream);
    event_create = c"cuEventCreate"(*mut sys::CUevent, c_uint);
    event_destroy = c"cuEventDestroy_v2"(sys::CUevent);
    event_record = c"cuEventRecord"(sys::CUevent, sys::CUstream);
    event_query = c"cuEventQuery"(sys::CUevent);
    event_wait = c"cuEventSynchronize"(sys::CUevent);
    copy_in = c"cuMemcpyHtoDAsync_v2"(sys::CUdeviceptr, *const c_void, usize, sys::CUstream);
    copy_out = c"cuMemcpyDtoHAsync_v2"(*mut c_void, sys::CUdeviceptr, usize, sys::CUstream);
}

/// As of CUDA 13.
pub(super) type BatchNew = unsafe extern "C" fn(
    *mut sys::CUdeviceptr,
    *mut sys::CUdeviceptr,
    *mut usize,
    usize,
    *mut sys::CUmemcpyAttributes,
    *mut usize,
    usize,
    sys::CUstream,
) -> Raw;

/// As of CUDA 12.8: it also says which copy was the first that failed.
pub(super) type BatchOld = unsafe extern "C" fn(
    *mut sys::CUdeviceptr,
    *mut sys::CUdeviceptr,
    *mut usize,
    usize,
    *mut sys::CUmemcpyAttributes,
    *mut usize,
    usize,
    *mut usize,
    sys::CUstream,
) -> Raw;

/// Many copies by one call, in the form that the driver has.
#[derive(Clone, Copy)]
pub(super) enum Batch {
    New(BatchNew),
    Old(BatchOld),
}

/// The library with its functions.
pub(super) struct Driver {
    pub(super) functions: Functions,
    pub(super) batch: Option<Batch>,
    stand_in: bool,
}

#[expect(unsafe_code, reason = "loading a library runs its initialisers")]
fn is_there() -> bool {
    // SAFETY: the names asked for are those of NVIDIA's driver, which may be loaded by any program.
    unsafe { sys::is_culib_present() }
}

/// A symbol as a function of this type, which must be the one that the driver documents for it.
#[expect(unsafe_code, reason = "a symbol has no type")]
fn optional<T: Copy>(symbol: &CStr) -> Option<T> {
    // SAFETY: the caller has seen that the library is there; `T` is a function pointer of the documented type, and the
    // library is never unloaded.
    unsafe { sys::culib().get::<T>(symbol.to_bytes_with_nul()).ok().map(|found| *found) }
}

fn required<T: Copy>(symbol: &'static CStr) -> Result<T, CudaError> {
    optional(symbol).ok_or_else(|| CudaError::MissingSymbol { name: symbol.to_string_lossy().into_owned() })
}

impl Driver {
    /// The driver of this machine, initialised.
    pub(super) fn load() -> Result<&'static Self, CudaError> {
        static DRIVER: OnceLock<Driver> = OnceLock::new();
        if let Some(driver) = DRIVER.get() {
            return Ok(driver);
        }
        if !is_there() {
            return Err(CudaError::NoDriver);
        }
        let functions = Functions::find()?;
        let new = optional::<BatchNew>(c"cuMemcpyBatchAsync_v2").map(Batch::New);
        let batch = new.or_else(|| optional::<BatchOld>(c"cuMemcpyBatchAsync").map(Batch::Old));
        let stand_in = optional::<*const c_void>(c"tierscope_stand_in").is_some();
        let driver = DRIVER.get_or_init(|| Self { functions, batch, stand_in });
        driver.init().map_err(|code| driver.refused("initialise the driver", code))?;
        Ok(driver)
    }

    /// Whether it is the double of this project's tests.
    pub(super) fn is_stand_in(&self) -> bool {
        self.stand_in
    }

    /// Whether it copies many blocks by one call.
    pub(super) fn has_batches(&self) -> bool {
        self.batch.is_some()
    }

    /// A call's failure, for people.
    pub(super) fn refused(&self, doing: &'static str, code: Code) -> CudaError {
        CudaError::Refused { doing, code: code.0, name: self.name_of(code) }
    }
}
