//! What do real tiers take? Measures lanes, fits what the simulator's links are made of, and says how well that predicts.
//!
//! [`Plan`] says what is measured, in how much time; `rig` has the media of one size of block and the books of their slots;
//! `measure` takes one point; [`LinkFit`] is a pure function of points; `mixed` is a load that was not fitted; [`Calibration`]
//! is all that came of it, and [`hardware_toml`] its file. `campaign` goes from the one to the other ([`calibrate`]).
//!
//! Invariants: nothing is measured before it was warmed up, nothing is read before it was written; what could not be measured
//! is told with its reason; the fit depends on the measurements alone.

mod campaign;
mod error;
mod fit;
mod held_out;
mod least;
mod measure;
mod mixed;
mod plan;
mod point;
mod profile;
mod rig;

pub use campaign::{Opened, Options, Sizes, calibrate};
pub use error::CalibrateError;
pub use fit::{LaneFit, LinkFit};
pub use held_out::Prediction;
pub use plan::{Kind, Plan, Shape};
pub use point::{Calibration, Missed, Point, Repeated, Sample, Subject};
pub use profile::hardware_toml;
