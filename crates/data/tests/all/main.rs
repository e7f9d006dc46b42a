//! The integration tests, in one program that is compiled and linked once.

mod block_files;
mod blocks;
mod common;
mod encoding;
mod exact_numbers;
mod malformed_files;
mod other_content;
mod parquet;
mod properties;
mod reading;
mod text_to_blocks;
mod unlabelled_rows;
#[cfg(unix)]
mod written_files;
