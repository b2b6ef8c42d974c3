//! Which GPU: by a part of its name or by its number; without either, the first that is more than a CPU.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use wgpu::{Adapter, Backends, DeviceType, Instance, InstanceDescriptor, InstanceFlags};

use super::error::WgpuError;

/// The GPU that is meant: `None` is the first that is more than a CPU; otherwise a part of a name, or a number.
pub type AdapterChoice = Option<String>;

/// What is known of a GPU before it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuInfo {
    /// Its name.
    pub name: String,
    /// Its driver, with the driver's version.
    pub driver: String,
    /// Whether it is a CPU in the role of a GPU.
    pub is_software: bool,
}

impl fmt::Display for GpuInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, driver, is_software } = self;
        write!(f, "{name} ({driver}{})", if *is_software { "; a CPU in the role of a GPU" } else { "" })
    }
}

/// Every GPU that wgpu finds, in the order of their numbers.
pub fn list() -> Vec<GpuInfo> {
    adapters().iter().map(info).collect()
}

pub(super) fn info(adapter: &Adapter) -> GpuInfo {
    let info = adapter.get_info();
    let driver = [info.driver.as_str(), info.driver_info.as_str()].join(" ").trim().to_owned();
    GpuInfo { name: info.name, driver, is_software: info.device_type == DeviceType::Cpu }
}

/// The adapter that is meant.
pub(super) fn choose(choice: &AdapterChoice) -> Result<Adapter, WgpuError> {
    let adapters = adapters();
    let infos: Vec<GpuInfo> = adapters.iter().map(info).collect();
    let Some(at) = place(&infos, choice.as_deref()) else {
        return Err(WgpuError::NoAdapter { asked: choice.clone(), found: infos });
    };
    adapters.into_iter().nth(at).ok_or_else(|| WgpuError::NoAdapter { asked: choice.clone(), found: infos })
}

fn place(found: &[GpuInfo], asked: Option<&str>) -> Option<usize> {
    let Some(asked) = asked else { return found.iter().position(|info| !info.is_software) };
    if let Ok(number) = asked.parse::<usize>() {
        return (number < found.len()).then_some(number);
    }
    let asked = asked.to_lowercase();
    found.iter().position(|info| info.name.to_lowercase().contains(&asked))
}

fn adapters() -> Vec<Adapter> {
    let mut wanted = InstanceDescriptor::new_without_display_handle();
    wanted.backends = Backends::VULKAN;
    // No validation layers: builds for tests ask for the same things as those for users.
    wanted.flags = InstanceFlags::empty();
    at_once(Instance::new(wanted).enumerate_adapters(Backends::VULKAN)).unwrap_or_default()
}

/// What a future of wgpu comes to: on this side of the browser all of them are ready when they are made.
pub(super) fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// Bytes of the adapter's own memory, if its driver says so.
#[expect(unsafe_code, reason = "wgpu has no word for it; Vulkan has")]
pub(super) fn memory_bytes(adapter: &Adapter) -> Option<u64> {
    /// `VK_MEMORY_HEAP_DEVICE_LOCAL_BIT`
    const DEVICE_LOCAL: u32 = 1;
    // SAFETY: the handle is only read from, and not kept.
    let vulkan = unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }?;
    let instance = vulkan.shared_instance().raw_instance();
    // SAFETY: the physical device is one of this instance, and both live as long as the adapter.
    let memory = unsafe { instance.get_physical_device_memory_properties(vulkan.raw_physical_device()) };
    let heaps = memory.memory_heaps_as_slice().iter();
    heaps.filter(|heap| heap.flags.as_raw() & DEVICE_LOCAL != 0).map(|heap| heap.size).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_a_number_or_the_first_that_is_no_cpu() {
        let gpu =
            |name: &str, is_software| GpuInfo { name: name.to_owned(), driver: String::new(), is_software };
        let found = [gpu("llvmpipe (LLVM 15)", true), gpu("NVIDIA H200", false), gpu("AMD W7900", false)];
        assert_eq!(place(&found, None), Some(1));
        assert_eq!(place(&found, Some("w79")), Some(2));
        assert_eq!(place(&found, Some("llvm")), Some(0));
        assert_eq!(place(&found, Some("0")), Some(0));
        assert_eq!(place(&found, Some("3")), None);
        assert_eq!(place(&found, Some("arc")), None);
        assert_eq!(place(&found[..1], None), None, "a CPU is taken only when it is asked for");
    }
}
