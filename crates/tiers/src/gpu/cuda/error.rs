//! Why a GPU could not be opened.

use std::fmt;
use std::io;

/// Why a GPU could not be opened. Each text has what was found and a mend.
#[derive(Debug)]
pub enum CudaError {
    /// There is no driver library on this machine.
    NoDriver,
    /// The library that was found lacks a function.
    MissingSymbol {
        /// Its name.
        name: String,
    },
    /// There is no device of this number.
    NoDevice {
        /// The number asked for.
        ordinal: u32,
        /// How many there are.
        found: u32,
    },
    /// A call was refused.
    Refused {
        /// What was to be done.
        doing: &'static str,
        /// The driver's number for it.
        code: u32,
        /// And its word.
        name: String,
    },
    /// The device has not enough memory that is free.
    NoMemory {
        /// Bytes asked for.
        asked: usize,
        /// Bytes free.
        free: usize,
        /// Bytes that there are.
        total: usize,
    },
    /// So many blocks of this size make no pool.
    BadSizes {
        /// Blocks asked for.
        slots: u32,
        /// Bytes of each.
        block_bytes: usize,
    },
    /// The system starts no threads.
    Threads(io::Error),
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDriver => f.write_str(
                "G1, cuda: this machine has no CUDA driver: no libcuda.so is found\n  mend: where there is an NVIDIA GPU, \
                 install its driver or add the folder of libcuda.so.1 to LD_LIBRARY_PATH; else let host memory stand in \
                 (--g1 host)",
            ),
            Self::MissingSymbol { name } => write!(
                f,
                "G1, cuda: the library libcuda.so that was found has no function {name}\n  mend: a driver of CUDA 11 or \
                 later, and no other file of that name before it on LD_LIBRARY_PATH"
            ),
            Self::NoDevice { ordinal, found } => write!(
                f,
                "G1, cuda: there is no device {ordinal}; the driver sees {found}\n  mend: {}",
                match found {
                    0 => "let this process see a GPU (CUDA_VISIBLE_DEVICES, the container's --gpus)".to_owned(),
                    _ => format!("a number from 0 to {}", found - 1),
                }
            ),
            Self::Refused { doing, code, name } => {
                write!(f, "G1, cuda: the driver does not {doing}: {name} ({code})\n  mend: {}", mend(*code))
            }
            Self::NoMemory { asked, free, total } => write!(
                f,
                "G1, cuda: {asked} bytes are asked for, and {free} of the device's {total} are free\n  mend: fewer or \
                 smaller blocks of G1 (--block-bytes), or end what else uses the device"
            ),
            Self::BadSizes { slots, block_bytes } => write!(
                f,
                "G1, cuda: {slots} blocks of {block_bytes} bytes make no pool\n  mend: at least one block, of a size that \
                 is the arena's, and together less than can be addressed"
            ),
            Self::Threads(error) => {
                write!(f, "G1, cuda: the system starts no threads: {error}\n  mend: fewer threads (--threads)")
            }
        }
    }
}

impl std::error::Error for CudaError {}

/// What can be done about the commoner refusals.
fn mend(code: u32) -> &'static str {
    use cudarc::driver::sys::CUresult;
    const IS: fn(CUresult) -> u32 = |code| code as u32;
    match code {
        code if code == IS(CUresult::CUDA_ERROR_STUB_LIBRARY) => {
            "the library found is the toolkit's stub: put the driver's own libcuda.so.1 before it on LD_LIBRARY_PATH"
        }
        code if code == IS(CUresult::CUDA_ERROR_NO_DEVICE) => {
            "let this process see a GPU (CUDA_VISIBLE_DEVICES, the container's --gpus)"
        }
        code if code == IS(CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH) => {
            "the library and the kernel's module are of different versions: restart the machine after an update of the driver"
        }
        code if code == IS(CUresult::CUDA_ERROR_OUT_OF_MEMORY) => {
            "fewer or smaller blocks of G1, or end what else uses the device"
        }
        _ => "see that `nvidia-smi` works as this user, and that nothing else has the device to itself",
    }
}
