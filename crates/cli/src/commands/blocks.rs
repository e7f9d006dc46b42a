//! The command that writes data as a block file.

use margins::data::blocks::BlockFile;
use margins::data::{AtomicFile, Listed};

use crate::arguments::blocks::BlocksArguments;
use crate::failure::Failure;
use crate::output::files::{check_files, inputs, is_standard, output, report};
use crate::output::table;

pub(super) fn blocks(arguments: &BlocksArguments) -> Result<(), Failure> {
    let source = arguments.source();
    check_files(
        inputs("--data", source.file.files()).chain([output("--out", Some(&arguments.out))]),
    )?;
    if is_standard(&arguments.out) || AtomicFile::descriptor(&arguments.out).is_some() {
        let out = arguments.out.display();
        return Err(Failure::usage(format!(
            "--out {out} is a stream, but a block file needs a name"
        )));
    }
    source.write_blocks(arguments.settings(), &arguments.out)?;
    let file = BlockFile::open(&arguments.out)?;
    let (rows, features, blocks) = (file.rows(), file.features(), file.partitions());
    let facts = [
        ("block file", arguments.out.display().to_string()),
        ("rows x features", format!("{rows} x {features}")),
        ("classes", Listed(file.classes()).to_string()),
        ("blocks", blocks.to_string()),
    ];
    report([], |out| table::facts(out, &facts))
}
