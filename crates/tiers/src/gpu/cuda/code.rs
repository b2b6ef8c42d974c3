//! What the driver answers, and what that means for a block.

use cudarc::driver::sys::CUresult;

use crate::fault::Fault;

/// An answer that is not "success".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code(pub(super) u32);

/// What came of a call.
pub(super) type Answer<T = ()> = Result<T, Code>;

/// After one of these no call of the process on this device succeeds any more.
const LOST: &[CUresult] = &[
    CUresult::CUDA_ERROR_DEINITIALIZED,
    CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE,
    CUresult::CUDA_ERROR_NO_DEVICE,
    CUresult::CUDA_ERROR_INVALID_CONTEXT,
    CUresult::CUDA_ERROR_ECC_UNCORRECTABLE,
    CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE,
    CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED,
    CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
    CUresult::CUDA_ERROR_LAUNCH_TIMEOUT,
    CUresult::CUDA_ERROR_ASSERT,
    CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR,
    CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
    CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
    CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE,
    CUresult::CUDA_ERROR_INVALID_PC,
    CUresult::CUDA_ERROR_LAUNCH_FAILED,
    CUresult::CUDA_ERROR_SYSTEM_NOT_READY,
    CUresult::CUDA_ERROR_EXTERNAL_DEVICE,
    CUresult::CUDA_ERROR_UNKNOWN,
];

impl Code {
    pub(super) fn answer(code: u32) -> Answer {
        if code == CUresult::CUDA_SUCCESS as u32 { Ok(()) } else { Err(Self(code)) }
    }

    pub(super) fn is(self, code: CUresult) -> bool {
        self.0 == code as u32
    }

    /// Whether the device is gone for good.
    pub(super) fn is_lost(self) -> bool {
        LOST.iter().any(|&code| self.is(code))
    }

    /// What it means for a block that was under way.
    pub(super) fn fault(self) -> Fault {
        if self.is_lost() {
            Fault::Gone
        } else if self.is(CUresult::CUDA_ERROR_OUT_OF_MEMORY) {
            Fault::NoSpace
        } else {
            Fault::Device
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_their_meaning_also_those_of_later_drivers() {
        assert_eq!(Code::answer(0), Ok(()));
        let fault = |code: u32| Code::answer(code).expect_err("no success").fault();
        // Out of memory, a lost context, an illegal address, an invalid value, and a number that nobody knows yet.
        let found = [2, 709, 700, 1, 12_345].map(fault);
        assert_eq!(found, [Fault::NoSpace, Fault::Gone, Fault::Gone, Fault::Device, Fault::Device]);
    }
}
