//! The driver's functions, by its names and with its arguments.

#![expect(unsafe_code, reason = "these are functions of a C library")]

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::Arc;

use crate::stream::{Copy, Event, Stream};
use crate::world::{State, World, code};

/// The one context.
const CONTEXT: usize = 0x1000;

thread_local! {
    /// The calling thread's context.
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

type Answer = Result<(), u32>;

/// What each call begins with: its orders, and whether the device is lost.
fn call(name: &'static str, run: impl FnOnce(&'static World) -> Answer) -> u32 {
    let world = World::get();
    if world.misread {
        return code::INVALID_VALUE;
    }
    if let Some(ordered) = world.ordered(name) {
        return ordered;
    }
    run(world).err().unwrap_or(code::SUCCESS)
}

/// As [`call`], of a thread that has entered the context of a device that is not lost.
fn inside(name: &'static str, run: impl FnOnce(&'static World) -> Answer) -> u32 {
    call(name, |world| {
        if world.is_lost() {
            return Err(code::ILLEGAL_ADDRESS);
        }
        if CURRENT.get() != CONTEXT {
            return Err(code::INVALID_CONTEXT);
        }
        run(world)
    })
}

unsafe fn put<T>(place: *mut T, value: T) -> Answer {
    if place.is_null() {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: who calls the driver gives a place for the value.
    unsafe { place.write(value) };
    Ok(())
}

/// By this symbol the double is known.
#[unsafe(no_mangle)]
static tierscope_stand_in: u8 = 1;

#[unsafe(no_mangle)]
unsafe extern "C" fn cuInit(_flags: c_uint) -> u32 {
    call("cuInit", |world| if world.orders.devices > 0 { Ok(()) } else { Err(code::NO_DEVICE) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> u32 {
    call("cuDriverGetVersion", |_| unsafe { put(version, 13_000) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> u32 {
    call("cuDeviceGetCount", |world| unsafe { put(count, world.orders.devices) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> u32 {
    call("cuDeviceGet", |world| {
        if !(0..world.orders.devices).contains(&ordinal) {
            return Err(code::INVALID_DEVICE);
        }
        unsafe { put(device, ordinal) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, length: c_int, _device: c_int) -> u32 {
    call("cuDeviceGetName", |_| {
        let text = b"stand-in: no GPU\0";
        if name.is_null() || (length as usize) < text.len() {
            return Err(code::INVALID_VALUE);
        }
        // SAFETY: there is room for `length` characters.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr().cast(), name, text.len()) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorName(error: u32, name: *mut *const c_char) -> u32 {
    let text = match error {
        code::SUCCESS => c"CUDA_SUCCESS",
        code::INVALID_VALUE => c"CUDA_ERROR_INVALID_VALUE",
        code::OUT_OF_MEMORY => c"CUDA_ERROR_OUT_OF_MEMORY",
        code::NO_DEVICE => c"CUDA_ERROR_NO_DEVICE",
        code::INVALID_DEVICE => c"CUDA_ERROR_INVALID_DEVICE",
        code::INVALID_CONTEXT => c"CUDA_ERROR_INVALID_CONTEXT",
        code::OPERATING_SYSTEM => c"CUDA_ERROR_OPERATING_SYSTEM",
        code::INVALID_HANDLE => c"CUDA_ERROR_INVALID_HANDLE",
        code::NOT_READY => c"CUDA_ERROR_NOT_READY",
        code::ILLEGAL_ADDRESS => c"CUDA_ERROR_ILLEGAL_ADDRESS",
        code::ALREADY_REGISTERED => c"CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
        code::NOT_REGISTERED => c"CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
        _ => return code::INVALID_VALUE,
    };
    call("cuGetErrorName", |_| unsafe { put(name, text.as_ptr()) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDevicePrimaryCtxRetain(context: *mut usize, _device: c_int) -> u32 {
    call("cuDevicePrimaryCtxRetain", |world| {
        world.state().users += 1;
        unsafe { put(context, CONTEXT) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDevicePrimaryCtxRelease_v2(_device: c_int) -> u32 {
    call("cuDevicePrimaryCtxRelease_v2", |world| {
        let mut state = world.state();
        state.users = state.users.checked_sub(1).ok_or(code::INVALID_CONTEXT)?;
        if state.users == 0 && world.orders.say {
            eprintln!("{}", state.left());
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuCtxSetCurrent(context: usize) -> u32 {
    call("cuCtxSetCurrent", |world| {
        if context != 0 && (context != CONTEXT || world.state().users == 0) {
            return Err(code::INVALID_CONTEXT);
        }
        CURRENT.set(context);
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> u32 {
    inside("cuMemGetInfo_v2", |world| {
        let total_bytes = world.orders.memory;
        let free_bytes = total_bytes.saturating_sub(world.state().used());
        unsafe { put(free, free_bytes).and_then(|()| put(total, total_bytes)) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemAlloc_v2(base: *mut usize, bytes: usize) -> u32 {
    inside("cuMemAlloc_v2", |world| {
        let mut state = world.state();
        if bytes == 0 {
            return Err(code::INVALID_VALUE);
        }
        if bytes > world.orders.memory.saturating_sub(state.used()) {
            return Err(code::OUT_OF_MEMORY);
        }
        // Not zero: what was never stored is seen if it is served.
        let mut words = vec![0xdead_beef_dead_beef_u64; bytes.div_ceil(8)];
        let at = words.as_mut_ptr() as usize;
        state.memory.insert(at, words);
        unsafe { put(base, at) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemFree_v2(base: usize) -> u32 {
    inside("cuMemFree_v2", |world| world.state().memory.remove(&base).map(|_| ()).ok_or(code::INVALID_VALUE))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemHostRegister_v2(base: *mut c_void, bytes: usize, _flags: c_uint) -> u32 {
    inside("cuMemHostRegister_v2", |world| {
        let (mut state, at) = (world.state(), base as usize);
        if bytes == 0 || base.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let overlaps = |(&other, &length): (&usize, &usize)| other < at + bytes && at < other + length;
        if state.registered.iter().any(overlaps) {
            return Err(code::ALREADY_REGISTERED);
        }
        state.registered.insert(at, bytes);
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemHostUnregister(base: *mut c_void) -> u32 {
    inside("cuMemHostUnregister", |world| {
        world.state().registered.remove(&(base as usize)).map(|_| ()).ok_or(code::NOT_REGISTERED)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuStreamCreate(stream: *mut usize, _flags: c_uint) -> u32 {
    inside("cuStreamCreate", |world| {
        let started = Stream::start(world).map_err(|_| code::OPERATING_SYSTEM)?;
        let mut state = world.state();
        let handle = state.handle();
        state.streams.insert(handle, started);
        unsafe { put(stream, handle) }
    })
}

/// Also of a lost device: as with the driver, its handles can be given back.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuStreamDestroy_v2(stream: usize) -> u32 {
    call("cuStreamDestroy_v2", |world| {
        let ended = world.state().streams.remove(&stream).ok_or(code::INVALID_HANDLE)?;
        ended.end();
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuStreamSynchronize(stream: usize) -> u32 {
    inside("cuStreamSynchronize", |world| {
        let event = Arc::new(Event::default());
        world.state().streams.get(&stream).ok_or(code::INVALID_HANDLE)?.record(&event);
        event.wait();
        if world.is_lost() { Err(code::ILLEGAL_ADDRESS) } else { Ok(()) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuEventCreate(event: *mut usize, _flags: c_uint) -> u32 {
    inside("cuEventCreate", |world| {
        let mut state = world.state();
        let handle = state.handle();
        state.events.insert(handle, Arc::default());
        unsafe { put(event, handle) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuEventDestroy_v2(event: usize) -> u32 {
    call("cuEventDestroy_v2", |world| {
        world.state().events.remove(&event).map(|_| ()).ok_or(code::INVALID_HANDLE)
    })
}

fn event_of(state: &State, event: usize) -> Result<Arc<Event>, u32> {
    state.events.get(&event).map(Arc::clone).ok_or(code::INVALID_HANDLE)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuEventRecord(event: usize, stream: usize) -> u32 {
    inside("cuEventRecord", |world| {
        let state = world.state();
        let event = event_of(&state, event)?;
        state.streams.get(&stream).ok_or(code::INVALID_HANDLE)?.record(&event);
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuEventQuery(event: usize) -> u32 {
    inside("cuEventQuery", |world| {
        let over = event_of(&world.state(), event)?.is_over();
        if world.is_lost() {
            return Err(code::ILLEGAL_ADDRESS);
        }
        if over { Ok(()) } else { Err(code::NOT_READY) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuEventSynchronize(event: usize) -> u32 {
    inside("cuEventSynchronize", |world| {
        let event = event_of(&world.state(), event)?;
        event.wait();
        if world.is_lost() { Err(code::ILLEGAL_ADDRESS) } else { Ok(()) }
    })
}

/// Begins a copy of which one end has to be the device's.
fn begin(world: &World, stream: usize, to: usize, from: usize, bytes: usize, device: usize) -> Answer {
    let state = world.state();
    if bytes == 0 || !state.on_device(device, bytes) {
        return Err(code::INVALID_VALUE);
    }
    let stream = state.streams.get(&stream).ok_or(code::INVALID_HANDLE)?;
    stream.copy(Copy { to, from, bytes, number: world.next_copy() });
    Ok(())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemcpyHtoDAsync_v2(
    to: usize,
    from: *const c_void,
    bytes: usize,
    stream: usize,
) -> u32 {
    inside("cuMemcpyHtoDAsync_v2", |world| begin(world, stream, to, from as usize, bytes, to))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: usize, bytes: usize, stream: usize) -> u32 {
    inside("cuMemcpyDtoHAsync_v2", |world| begin(world, stream, to as usize, from, bytes, from))
}

/// Copies in the order of the list: the driver promises none.
unsafe fn batch(
    world: &World,
    to: *mut usize,
    from: *mut usize,
    bytes: *mut usize,
    count: usize,
    stream: usize,
) -> Answer {
    if to.is_null() || from.is_null() || bytes.is_null() || count == 0 {
        return Err(code::INVALID_VALUE);
    }
    for at in 0..count {
        // SAFETY: three lists of so many.
        let (to, from, bytes) = unsafe { (*to.add(at), *from.add(at), *bytes.add(at)) };
        let into_device = world.state().on_device(to, bytes);
        let (device, host) = if into_device { (to, from) } else { (from, to) };
        if !world.state().is_registered(host, bytes) {
            return Err(code::INVALID_VALUE);
        }
        begin(world, stream, to, from, bytes, device)?;
    }
    Ok(())
}

/// As of CUDA 13.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemcpyBatchAsync_v2(
    to: *mut usize,
    from: *mut usize,
    bytes: *mut usize,
    count: usize,
    _attributes: *mut c_void,
    _first: *mut usize,
    kinds: usize,
    stream: usize,
) -> u32 {
    inside("cuMemcpyBatchAsync_v2", |world| {
        if kinds != 1 {
            return Err(code::INVALID_VALUE);
        }
        // SAFETY: as the driver's documentation has it.
        unsafe { batch(world, to, from, bytes, count, stream) }
    })
}

/// As of CUDA 12.8.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemcpyBatchAsync(
    to: *mut usize,
    from: *mut usize,
    bytes: *mut usize,
    count: usize,
    _attributes: *mut c_void,
    _first: *mut usize,
    kinds: usize,
    failed: *mut usize,
    stream: usize,
) -> u32 {
    inside("cuMemcpyBatchAsync", |world| {
        if kinds != 1 {
            return Err(code::INVALID_VALUE);
        }
        // SAFETY: as the driver's documentation has it.
        unsafe { put(failed, usize::MAX).and_then(|()| batch(world, to, from, bytes, count, stream)) }
    })
}
