//! libFuzzer chooses the bytes.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use margins::Registry;

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::standard);

fuzz_target!(|bytes: &[u8]| {
    margins_fuzz::check(bytes, &REGISTRY);
    margins_fuzz::check(&margins_fuzz::sealed(bytes.to_vec()), &REGISTRY);
});
