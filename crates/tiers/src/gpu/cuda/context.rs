//! A device that is in use.

use cudarc::driver::sys::{CUcontext, CUdevice};

use super::abi::Driver;
use super::code::Answer;
use super::error::CudaError;

/// The device's primary context, retained once. All that lies on the device is dropped before it.
pub(super) struct Context {
    pub(super) driver: &'static Driver,
    device: CUdevice,
    context: CUcontext,
}

#[expect(unsafe_code, reason = "a context is a handle of the driver, which any thread may use")]
// SAFETY: the driver's functions may be called by any thread; a context is made current on each that needs it.
unsafe impl Send for Context {}
#[expect(unsafe_code, reason = "as above")]
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// The device of this number.
    pub(super) fn open(ordinal: u32) -> Result<Self, CudaError> {
        let driver = Driver::load()?;
        let found = driver.device_count().map_err(|code| driver.refused("count its devices", code))?;
        if ordinal >= found {
            return Err(CudaError::NoDevice { ordinal, found });
        }
        let device = driver.device(ordinal).map_err(|code| driver.refused("give the device", code))?;
        let context = driver.retain(device).map_err(|code| driver.refused("open the device", code))?;
        let opened = Self { driver, device, context };
        opened.enter().map_err(|code| driver.refused("enter the device's context", code))?;
        Ok(opened)
    }

    /// From now on the calling thread's calls are about this device.
    pub(super) fn enter(&self) -> Answer {
        self.driver.enter(self.context)
    }

    /// The device's name and the CUDA version of its driver.
    pub(super) fn name(&self) -> String {
        let name = self.driver.device_name(self.device);
        let name =
            name.unwrap_or_else(|code| format!("a device without a name ({})", self.driver.name_of(code)));
        match self.driver.version() {
            Ok(version) => format!("{name}, CUDA {}.{}", version / 1_000, version % 1_000 / 10),
            Err(_) => name,
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // Of a device that is lost there is nothing to give back.
        let _ = self.driver.release(self.device);
    }
}
