//! Files that are no ordinary ones, or change while they are read.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::faults::expected::{Seen, without};
use crate::faults::lab::Lab;
use crate::faults::process::{Ended, run, start, start_to};
use crate::{Failure, files};

const FIT: [&str; 3] = ["fit", "--lambda", "0.1"];

/// Nothing that is written to the device is kept, and the writer gets an error.
pub(super) fn full_device(lab: &Lab) -> Result<Vec<Seen>, Failure> {
    const FAULT: &str = "`/dev/full`";
    let (full, data) = ("/dev/full", ["--data", "small.csv"]);
    let folder = lab.new_folder()?;
    let mut rows = Vec::new();
    for (shown, options) in
        [("margins fit --out", ["--out", full]), ("margins fit --report", ["--report", full])]
    {
        let ended = run(&mut lab.margins(&[&FIT[..], &data, &options].concat()))?;
        rows.push(Seen::refused(FAULT, shown, &ended, full, folder.path()));
    }
    let device = File::options().write(true).open(full).map_err(files::naming(Path::new(full)))?;
    let mut fit = lab.margins(&[&FIT[..], &data].concat());
    fit.stdout(device);
    let ended = start_to(&mut fit, tempfile::tempfile()?)?.end()?;
    rows.push(Seen::refused(FAULT, "margins fit >", &ended, "standard output", folder.path()));
    for (shown, start) in CHECKPOINTS {
        let ended = run(&mut lab.margins(&[start, &data, &["--checkpoint", full]].concat()))?;
        rows.push(Seen::refused(FAULT, shown, &ended, full, folder.path()));
    }
    Ok(rows)
}

/// The commands that go on from a file.
const CHECKPOINTS: [(&str, &[&str]); 2] = [
    ("margins cv --checkpoint", &["cv", "--lambdas", "1:0.1:2"]),
    ("margins focus --checkpoint", &["focus", "--max-steps", "1000"]),
];

/// A device without content takes everything and gives nothing back.
pub(super) fn empty_device(lab: &Lab) -> Result<Vec<Seen>, Failure> {
    const FAULT: &str = "`/dev/null`";
    let (null, folder) = ("/dev/null", lab.new_folder()?);
    let mut rows = Vec::new();
    let ended =
        run(&mut lab.margins(&[&FIT[..], &["--data", null, "--data-format", "csv"]].concat()))?;
    rows.push(Seen::refused(FAULT, "margins fit --data", &ended, null, folder.path()));
    let predict = ["predict", "--data", "small.csv", "--model", null];
    let ended = run(&mut lab.margins(&predict))?;
    rows.push(Seen::refused(FAULT, "margins predict --model", &ended, null, folder.path()));
    for (shown, start) in CHECKPOINTS {
        let options = ["--data", "small.csv", "--checkpoint", null];
        let ended = run(&mut lab.margins(&[start, &options].concat()))?;
        rows.push(Seen::refused(FAULT, shown, &ended, null, folder.path()));
    }
    let ended =
        run(&mut lab.margins(&[&FIT[..], &["--data", "small.csv", "--out", null]].concat()))?;
    let is_device = !Path::new(null).metadata().map_err(files::naming(Path::new(null)))?.is_file();
    let holds = ended.code() == Some(0) && is_device;
    rows.push(Seen::new(FAULT, "margins fit --out", ended.describe(), holds));
    Ok(rows)
}

/// Runs a command while another one writes to the pipe that it reads.
fn fed(pipe: &Path, feed: &str, command: &mut Command) -> Result<Ended, Failure> {
    let running = start(command)?;
    let mut feeder = Command::new("sh");
    feeder.args(["-c", &format!("{feed} > \"$0\"")]).arg(pipe);
    let feeder = start(&mut feeder)?;
    let ended = running.end()?;
    // A feeder whose reader never came still waits for one.
    feeder.end_by(Instant::now() + Duration::from_secs(1))?;
    Ok(ended)
}

/// A pipe can be read once, and has no size.
pub(super) fn pipes(lab: &Lab) -> Result<Vec<Seen>, Failure> {
    const FAULT: &str = "a FIFO";
    let folder = lab.new_folder()?;
    let pipe = folder.path().join("pipe.csv");
    if run(Command::new("mkfifo").arg(&pipe))?.code() != Some(0) {
        return Err(format!("{}: mkfifo failed", pipe.display()).into());
    }
    let (name, input) = (pipe.display().to_string(), lab.input("small.csv").display().to_string());
    let fit = |data: &str| lab.margins(&[&FIT[..], &["--data", data, "--format", "json"]].concat());
    let mut rows = Vec::new();
    let file = run(&mut fit("small.csv"))?;
    let whole = fed(&pipe, &format!("cat '{input}'"), &mut fit(&name))?;
    let text = |ended: &Ended| String::from_utf8_lossy(&ended.out).into_owned();
    let same = text(&whole).replace(&name, &input) == text(&file);
    let seen = if same { "the fit of the file".to_owned() } else { whole.describe() };
    rows.push(Seen::new(FAULT, "margins fit --data", seen, same && whole.code() == Some(0)));

    let cut = fed(&pipe, &format!("head -c 1001 '{input}'"), &mut fit(&name))?;
    let fault = "a FIFO that ends in a row";
    rows.push(Seen::refused(fault, "margins fit --data", &cut, &name, folder.path()));

    let mut predict = lab.margins(&["predict", "--data", "small.csv", "--model", &name]);
    let ended = fed(&pipe, &format!("cat '{input}'"), &mut predict)?;
    let fault = "a FIFO without a model";
    rows.push(Seen::refused(fault, "margins predict --model", &ended, &name, folder.path()));
    for (shown, start) in CHECKPOINTS {
        let options = ["--data", "small.csv", "--checkpoint", &name];
        let ended = run(&mut lab.margins(&[start, &options].concat()))?;
        rows.push(Seen::refused(FAULT, shown, &ended, &name, folder.path()));
    }
    Ok(rows)
}

/// What is done to a file that is read.
type Change = fn(&Path) -> std::io::Result<()>;

/// A file that shrinks or grows at moments of the run: what is read of it is a table or is not.
pub(super) fn changing_file(lab: &Lab) -> Result<Vec<Seen>, Failure> {
    const MOMENTS: u32 = 10;
    let changes: [(&str, Change); 2] = [
        ("a file that shrinks while it is read", |path| {
            let file = File::options().write(true).open(path)?;
            file.set_len(file.metadata()?.len() / 2)
        }),
        ("a file that grows while it is read", |path| {
            File::options().append(true).open(path)?.write_all(b"0.5,0.25")
        }),
    ];
    let folder = lab.new_folder()?;
    let path = folder.path().join("data.csv");
    let name = path.display().to_string();
    let fit = || lab.margins(&[&FIT[..], &["--data", &name]].concat());
    let mut rows = Vec::new();
    for (fault, change) in changes {
        let copy = || std::fs::copy(lab.input("large.csv"), &path).map_err(files::naming(&path));
        copy()?;
        let time = run(&mut fit())?.time;
        let (mut fitted, mut refusal, mut broken) = (0, None, None);
        for moment in 0..MOMENTS {
            copy()?;
            let running = start(&mut fit())?;
            std::thread::sleep(time * moment / MOMENTS);
            change(&path).map_err(files::naming(&path))?;
            let ended = running.end()?;
            match ended.code() {
                Some(0) => fitted += 1,
                Some(1) if ended.words.contains(&name) => refusal = Some(ended.describe()),
                _ => broken = Some(ended.describe()),
            }
        }
        let words = broken
            .as_ref()
            .or(refusal.as_ref())
            .map_or(String::new(), |words| format!("; {}", without(words, folder.path())));
        let seen = format!("fitted at {fitted} of {MOMENTS} moments{words}");
        rows.push(Seen::new(fault, "margins fit --data", seen, broken.is_none()));
    }
    Ok(rows)
}
