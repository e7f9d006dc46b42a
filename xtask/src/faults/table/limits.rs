//! Limits on memory and on open files.

use std::process::Command;

use crate::Failure;
use crate::faults::expected::{Seen, without};
use crate::faults::lab::Lab;
use crate::faults::process::run;

/// A limit of the shell, with the values to try.
struct Limit {
    fault: &'static str,
    option: &'static str,
    values: &'static [u32],
}

const LIMITS: [Limit; 2] = [
    Limit {
        fault: "a limit on memory, `ulimit -v`",
        option: "-v",
        values: &[
            16_000, 20_000, 21_000, 22_000, 24_000, 50_000, 100_000, 200_000, 300_000, 500_000,
            2_000_000,
        ],
    },
    Limit {
        fault: "a limit on open files, `ulimit -n`",
        option: "-n",
        values: &[4, 5, 6, 7, 8, 16],
    },
];

/// The limits of kernels on 3000 rows, whose matrix takes 72 MB.
const OF_KERNELS: Limit = Limit {
    values: &[30_000, 60_000, 80_000, 100_000, 130_000, 160_000, 200_000, 300_000, 500_000],
    ..LIMITS[0]
};

/// Commands that take more memory under the first limits than there is.
const JOBS: [&str; 4] = [
    "fit --data wide.csv --lambda 0.1 --out m.bin",
    "cv --data wide.csv --lambdas 1:0.1:2 --standardize --out m.bin",
    "fit --data large.csv --lambda 0.1 --kernel gaussian --approx rff:m=200 --out m.bin",
    "fit --data mixture:example=3,n=1000000,seed=1 --lambda 0.1 --out m.bin",
];

/// Commands that take more memory under the limits of kernels than there is.
const KERNELS: [&str; 8] = [
    "fit --data mixture:example=1,n=3000,seed=1 --lambda 0.1 --kernel gaussian --out m.bin",
    "fit --data mixture:example=1,n=3000,seed=1 --loss hinge --lambda 0.1 --kernel gaussian --out m.bin",
    "fit --data mixture:example=1,n=3000,seed=1 --lambda 0.1 --kernel gaussian --approx nystrom:m=1500 --out m.bin",
    "fit --data mixture:example=1,n=3000,seed=1 --lambda 0.1 --kernel gaussian --approx cholesky --out m.bin",
    "fit --data mixture:example=1,n=1500,seed=1 --lambda 0.1 --kernel gaussian --solver mm --out m.bin",
    "cv --data mixture:example=1,n=3000,seed=1 --lambdas 1:0.1:2 --kernel gaussian --out m.bin",
    "cv --data mixture:example=1,n=3000,seed=1 --loss hinge --lambdas 1:0.1:2 --kernel gaussian --out m.bin",
    "cv --data mixture:example=1,n=3000,seed=1 --lambdas 1:0.1:2 --kernel gaussian --approx nystrom:m=500 --out m.bin",
];

/// Runs commands under every limit: they do their job, or end by exit 1 with the name of a file or an
/// estimate of the memory that the job takes.
pub(super) fn all(lab: &Lab) -> Result<Vec<Seen>, Failure> {
    let commands = [
        "fit --data large.csv --lambda 0.1 --out m.bin",
        "fit --data small.csv --lambda 0.1 --kernel gaussian --out m.bin",
        "cv --data small.csv --lambdas 1:0.1:2 --checkpoint grid.json",
    ];
    let tries = LIMITS.iter().flat_map(|limit| commands.map(|command| (limit, command)));
    let tries = tries.chain(JOBS.map(|command| (&LIMITS[0], command)));
    let tries = tries.chain(KERNELS.map(|command| (&OF_KERNELS, command)));
    tries.map(|(limit, command)| limit.try_with(lab, command)).collect()
}

impl Limit {
    fn try_with(&self, lab: &Lab, command: &str) -> Result<Seen, Failure> {
        let arguments: Vec<&str> = command.split(' ').collect();
        let (mut tried, mut done, mut holds, mut words) = (0, 0, true, String::new());
        for &value in self.values {
            if !self.loads(lab, value)? {
                continue;
            }
            tried += 1;
            let folder = lab.new_folder()?;
            let ended =
                run(self.limited(&lab.margins(&arguments), value).current_dir(folder.path()))?;
            let names = [
                "small.csv",
                "large.csv",
                "wide.csv",
                "m.bin",
                "grid.json",
                "are needed, and",
                "fewer threads take less memory",
                "allow more memory",
            ];
            let is_named = names.iter().any(|name| ended.words.contains(name));
            match ended.code() {
                Some(0) => done += 1,
                Some(1) if is_named && !holds => {}
                Some(1) if is_named => words = format!("; {}", ended.describe()),
                _ => {
                    holds = false;
                    words = format!("; at {value}: {}", ended.describe());
                }
            }
            let torn = folder.path().join("m.bin").exists() && ended.code() != Some(0);
            holds &= !torn;
            words = without(&without(&words, folder.path()), lab.folder());
        }
        // Limits of which none refuses anything, or all, show nothing.
        holds &= self.option != "-v" || (1..tried).contains(&done);
        let seen = format!("done under {done} of {tried} limits{words}");
        Ok(Seen::new(self.fault, format!("margins {}", shown(&arguments)), seen, holds))
    }

    /// Returns true if the system can load the program under the limit.
    fn loads(&self, lab: &Lab, value: u32) -> Result<bool, Failure> {
        /// The exit status of the shell and of the loader where a program cannot be started.
        const NOT_STARTED: [i32; 2] = [126, 127];
        let ended = run(&mut self.limited(&lab.margins(&["--version"]), value))?;
        Ok(ended.code().is_none_or(|code| !NOT_STARTED.contains(&code)))
    }

    /// Returns the command under the limit.
    fn limited(&self, command: &Command, value: u32) -> Command {
        let mut limited = Command::new("sh");
        limited.args(["-c", &format!("ulimit {} {value}; exec \"$0\" \"$@\"", self.option)]);
        limited.arg(command.get_program()).args(command.get_args());
        limited
    }
}

/// Returns a command without the options that all of these commands have.
fn shown(arguments: &[&str]) -> String {
    const LEFT_OUT: [&str; 4] = ["--lambda", "--lambdas", "--out", "--checkpoint"];
    let options = arguments[1..].chunks(2).filter(|option| !LEFT_OUT.contains(&option[0]));
    let words: Vec<&str> = arguments[..1].iter().chain(options.flatten()).copied().collect();
    words.join(" ")
}
