//! libFuzzer chooses the bytes for the target that the variable `FUZZ_TARGET` names.

#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
mod guided {
    use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
    use margins_fuzz::Target;
    use margins_fuzz::change::changed_from;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    thread_local! {
        static TARGET: Target = std::env::var("FUZZ_TARGET")
            .ok()
            .and_then(|name| margins_fuzz::find(&name))
            .expect("FUZZ_TARGET must name a target");
    }

    // To hand so little work to another thread would take most of the time.
    fn on_this_thread() {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        threads.build_global().expect("no other code has started threads");
    }

    fuzz_target!(init: on_this_thread(), |bytes: &[u8]| {
        // An error is as good as a result.
        let _ = TARGET.with(|target| (target.check)(bytes));
    });

    // Half of the changes are ours, which know words and checksums.
    fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
        if seed.is_multiple_of(2) {
            return fuzzer_mutate(data, size, max_size);
        }
        let mut random = ChaCha8Rng::seed_from_u64(seed.into());
        let bytes = TARGET.with(|target| changed_from(data[..size].to_vec(), target, &mut random));
        let length = bytes.len().min(max_size);
        data[..length].copy_from_slice(&bytes[..length]);
        length
    });
}

#[cfg(not(fuzzing))]
fn main() {
    eprintln!("this program was built without libFuzzer: see docs/fuzzing.md");
    std::process::exit(2);
}
