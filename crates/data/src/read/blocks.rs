//! Runs a function over blocks of a file on several threads, and takes the results in order.

use super::lines::Block;
use crate::{Error, parallel};

/// The blocks that are worked on at a time, as many as give every thread some of them. Those before and
/// those that follow are held as well.
const BATCH: usize = 16;

/// A block, and what was made of it.
struct Turn<T> {
    block: Option<Block>,
    result: Option<T>,
}

/// Some blocks, and what comes after them: nothing, an error, or further blocks.
struct Batch<T> {
    turns: Vec<Turn<T>>,
    end: Option<Result<(), Error>>,
}

impl<T: Send> Batch<T> {
    fn read(mut next: impl FnMut() -> Result<Option<Block>, Error>) -> Self {
        let mut turns = Vec::with_capacity(BATCH);
        while turns.len() < BATCH {
            match next() {
                Ok(Some(block)) => turns.push(Turn { block: Some(block), result: None }),
                Ok(None) => return Batch { turns, end: Some(Ok(())) },
                Err(error) => return Batch { turns, end: Some(Err(error)) },
            }
        }
        Batch { turns, end: None }
    }

    fn work(&mut self, turn: impl Fn(Block) -> T + Sync) {
        parallel::for_each_chunk(&mut self.turns, 1, |_, turns| {
            for at in turns {
                at.result = at.block.take().map(&turn);
            }
        });
    }

    fn results(self) -> impl Iterator<Item = T> {
        self.turns.into_iter().filter_map(|at| at.result)
    }
}

/// Calls `turn` for every block, several at the same time, and `take` for the results in the order of
/// the blocks. Meanwhile the calling thread takes the results before and reads on. Where no further
/// block can be had for an error, those before are taken first.
pub(super) fn in_blocks<T: Send, E: From<Error>>(
    mut next: impl FnMut() -> Result<Option<Block>, Error>,
    turn: impl Fn(Block) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let mut done = None;
    let mut batch = Batch::read(&mut next);
    loop {
        let is_last = batch.end.is_some();
        let take_and_read = || -> Result<Option<Batch<T>>, E> {
            done.take().map_or(Ok(()), |done: Batch<T>| done.results().try_for_each(&mut take))?;
            Ok((!is_last).then(|| Batch::read(&mut next)))
        };
        let (further, ()) = parallel::beside(take_and_read, || batch.work(&turn));
        match further? {
            Some(further) => done = Some(std::mem::replace(&mut batch, further)),
            None => break,
        }
    }
    let end = batch.end.take();
    batch.results().try_for_each(take)?;
    end.map_or(Ok(()), |end| end.map_err(E::from))
}
