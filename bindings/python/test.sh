#!/usr/bin/env bash
# Builds the module as the tests of the workspace build it, installs what the package needs into a fresh environment under target/, and
# runs the tests there. Arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")"
target="$(cd ../.. && pwd)/target"
environment="$target/margins-learn"
cargo build --workspace --all-features --lib --bins --tests --locked --target-dir "$target"
cp "$target/debug/lib_native.so" python/margins_learn/_native.abi3.so
rm -rf "$environment"
python3 -m venv "$environment"
mapfile -t needs < <("$environment/bin/python" -c '
import tomllib
project = tomllib.load(open("pyproject.toml", "rb"))["project"]
print(*project["dependencies"], *project["optional-dependencies"]["test"], sep="\n")')
"$environment/bin/pip" install --quiet --disable-pip-version-check "${needs[@]}" "scikit-learn==${SCIKIT_LEARN:-1.9}.*"
export PYTHONPATH="$PWD/python"
if [ $# != 0 ]; then
    exec "$environment/bin/python" -m pytest "$@"
fi
# Without it scikit-learn skips its checks of arrays that are not of numpy.
export SCIPY_ARRAY_API=1
# Every package that tests ask for is there, but Ray, which is large and not everywhere to be had: a test that is left out for want of
# one is a failure.
MARGINS_TESTS=all "$environment/bin/python" -m pytest -rs --ignore tests/test_ray.py
