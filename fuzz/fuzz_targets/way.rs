//! libFuzzer chooses the bytes that come in by the way of the variable `FUZZ_WAY`.

#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
mod guided {
    use libfuzzer_sys::fuzz_target;
    use margins_fuzz::Way;

    thread_local! {
        static WAY: Way = std::env::var("FUZZ_WAY")
            .ok()
            .and_then(|name| margins_fuzz::find(&name))
            .expect("FUZZ_WAY must name a way in");
    }

    fuzz_target!(|bytes: &[u8]| {
        WAY.with(|way| {
            // An error is as good as a result.
            let _ = (way.check)(bytes);
            let _ = (way.check)(&(way.seal)(bytes.to_vec()));
        });
    });
}

#[cfg(not(fuzzing))]
fn main() {
    eprintln!("this program was built without libFuzzer: see docs/fuzzing.md");
    std::process::exit(2);
}
