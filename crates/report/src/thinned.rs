//! Samples over time, bounded: a bucket of time keeps its last sample; when there are too many, the bucket doubles and
//! neighbours merge. What is kept is a function of the samples alone, whatever slices the run was made in.

/// Most samples kept.
pub const MAX_SAMPLES: usize = 2_048;

/// Something that was so at a time.
pub trait Timed: Copy {
    /// When, in nanoseconds since the run began.
    fn at_ns(&self) -> u64;
}

/// A series of at most [`MAX_SAMPLES`].
#[derive(Clone, Debug)]
pub struct Thinned<T> {
    samples: Vec<T>,
    /// A bucket is 2^shift nanoseconds.
    shift: u32,
}

impl<T> Default for Thinned<T> {
    fn default() -> Self {
        Self { samples: Vec::new(), shift: 0 }
    }
}

impl<T: Timed> Thinned<T> {
    /// The samples kept, in order of time.
    pub fn samples(&self) -> &[T] {
        &self.samples
    }

    /// The newest sample: not before the one before it.
    #[inline]
    pub fn push(&mut self, sample: T) {
        match self.samples.last_mut() {
            Some(last) if last.at_ns() >> self.shift == sample.at_ns() >> self.shift => *last = sample,
            _ => self.samples.push(sample),
        }
        while self.samples.len() > MAX_SAMPLES {
            self.double();
        }
    }

    #[cold]
    fn double(&mut self) {
        self.shift += 1;
        let shift = self.shift;
        self.samples.dedup_by(|later, kept| {
            let same = later.at_ns() >> shift == kept.at_ns() >> shift;
            if same {
                *kept = *later;
            }
            same
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Mark {
        at_ns: u64,
        index: usize,
    }

    impl Timed for Mark {
        fn at_ns(&self) -> u64 {
            self.at_ns
        }
    }

    proptest! {
        /// However long the run: few samples, in order, the last state kept, each one a real state.
        #[test]
        fn samples_stay_few_ordered_and_real(gaps in proptest::collection::vec(0u64..1_000_000, 1..9_000)) {
            let mut series = Thinned::default();
            let mut at = 0;
            let mut times = Vec::new();
            for (index, gap) in gaps.iter().enumerate() {
                at += gap;
                times.push(at);
                series.push(Mark { at_ns: at, index });
            }
            let samples = series.samples();
            prop_assert!(samples.len() <= MAX_SAMPLES);
            prop_assert!(samples.windows(2).all(|pair| pair[0].at_ns < pair[1].at_ns));
            prop_assert_eq!(samples.last(), Some(&Mark { at_ns: at, index: gaps.len() - 1 }));
            for sample in samples {
                prop_assert_eq!(times[sample.index], sample.at_ns);
            }
        }
    }
}
