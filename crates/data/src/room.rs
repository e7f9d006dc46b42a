//! Checks that memory is free before it is allocated: a system promises more than it has, and
//! ends a program that takes it.

use std::fmt;

use thiserror::Error;

use crate::{Memory, parallel};

/// More memory than this process can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub struct Shortage {
    /// The memory that is needed.
    pub needed: Memory,
    /// The free memory, if the system reports it.
    pub free: Option<Memory>,
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "about {} are needed", self.needed)?;
        match self.free {
            Some(free) => write!(f, ", and {free} are free"),
            None => Ok(()),
        }
    }
}

impl Memory {
    /// The memory below which nothing is checked.
    const FEW: usize = 8 << 20;
    /// The memory of everything else beside a large table: the process, and the blocks of each thread.
    const REST: usize = 8 << 20;
    const REST_OF_A_THREAD: usize = 4 << 20;

    /// Returns an error if this process cannot allocate the amount beside what it uses already. A few
    /// megabytes always pass, and everything does if the system does not report its free memory.
    ///
    /// ```
    /// use margins_data::Memory;
    ///
    /// assert!(Memory::from_bytes(1000).check_free().is_ok());
    /// # #[cfg(target_os = "linux")]
    /// assert!("1000000TB".parse::<Memory>()?.check_free().is_err());
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// There is not so much.
    pub fn check_free(self) -> Result<(), Shortage> {
        if self.bytes() <= Self::FEW {
            return Ok(());
        }
        let rest = Self::REST + Self::REST_OF_A_THREAD * parallel::threads_begun();
        let with_rest = Memory::from_bytes(self.bytes().saturating_add(rest));
        with_rest.check_within(Memory::free())
    }

    /// Returns an error if the amount does not fit in this much memory.
    pub(crate) fn check_within(self, free: Option<Memory>) -> Result<(), Shortage> {
        /// The bytes that no process has addresses for.
        const BEYOND: usize = 1 << 47;
        let fits = self.bytes() < BEYOND && free.is_none_or(|free| self <= free);
        if fits { Ok(()) } else { Err(Shortage { needed: self, free }) }
    }
}

/// Reserves memory for more items of a growing list: twice the present size, or little more than
/// needed if that does not fit in memory.
pub(crate) fn make_room<T>(list: &mut Vec<T>, more: usize) -> Result<(), Shortage> {
    let needed = list.len().saturating_add(more);
    if needed <= list.capacity() {
        return Ok(());
    }
    let twice = needed.max(list.capacity().saturating_mul(2));
    grow_to(list, twice).or_else(|_| grow_to(list, needed.saturating_add(needed / 8)))
}

fn grow_to<T>(list: &mut Vec<T>, length: usize) -> Result<(), Shortage> {
    let bytes = |items: usize| Memory::from_bytes(items.saturating_mul(size_of::<T>()));
    bytes(length - list.capacity()).check_free()?;
    let refused = |_| Shortage { needed: bytes(length), free: Memory::free() };
    list.try_reserve_exact(length - list.len()).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_both_amounts() {
        let needed = Memory::from_bytes(100 << 20);
        let free = |megabytes: usize| Some(Memory::from_bytes(megabytes << 20));
        assert!(needed.check_within(None).is_ok());
        assert!(needed.check_within(free(100)).is_ok());
        let shortage = needed.check_within(free(99)).unwrap_err();
        let words = "about 104.9 MB are needed, and 103.8 MB are free";
        assert_eq!(shortage.to_string(), words);
        assert_eq!(Shortage { needed, free: None }.to_string(), "about 104.9 MB are needed");
    }

    #[test]
    fn lists_grow_by_what_is_there() {
        let mut list = vec![0_u64; 10];
        make_room(&mut list, 1).unwrap();
        assert!(list.capacity() >= 20 && list.len() == 10);
        make_room(&mut list, 100).unwrap();
        assert!(list.capacity() >= 110);
        let refused = make_room(&mut list, usize::MAX / 8).unwrap_err();
        assert!(refused.needed.bytes() >= usize::MAX / 8, "{refused}");
        assert_eq!(list, [0; 10]);
    }
}
