//! Tells the linker of macOS that the interpreter will provide the symbols of Python.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
