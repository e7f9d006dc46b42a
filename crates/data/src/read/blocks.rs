use super::lines::Block;
use crate::{Error, parallel};

/// The most blocks that are held at a time, for as many threads as can have some of them.
const BATCH: usize = 16;

/// A block, and what was made of it.
struct Turn<T> {
    block: Option<Block>,
    result: Option<T>,
}

/// Calls `turn` for every block, several at the same time, and `take` for the results in the order of
/// the blocks. Where no further block can be had for an error, those before are taken first.
pub(super) fn in_blocks<T: Send, E: From<Error>>(
    mut next: impl FnMut() -> Result<Option<Block>, Error>,
    turn: impl Fn(Block) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    loop {
        let mut batch = Vec::with_capacity(BATCH);
        let mut after = Ok(None);
        while batch.len() < BATCH {
            after = next();
            match &mut after {
                Ok(block @ Some(_)) => batch.push(Turn { block: block.take(), result: None }),
                _ => break,
            }
        }
        let complete = batch.len() == BATCH;
        parallel::for_each_chunk(&mut batch, 1, |_, turns| {
            for at in turns {
                at.result = at.block.take().map(&turn);
            }
        });
        batch.into_iter().filter_map(|at| at.result).try_for_each(&mut take)?;
        after?;
        if !complete {
            return Ok(());
        }
    }
}
