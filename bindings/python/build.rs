//! Links a module that takes its symbols from the interpreter, as macOS has to be told.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
