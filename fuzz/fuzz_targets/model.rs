//! libFuzzer chooses the bytes.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use margins_model::Registry;

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::standard);

fuzz_target!(|bytes: &[u8]| {
    // An error is as good as a model.
    let _ = margins_fuzz::check(bytes, &REGISTRY);
    let _ = margins_fuzz::check(&margins_fuzz::sealed(bytes.to_vec()), &REGISTRY);
});
