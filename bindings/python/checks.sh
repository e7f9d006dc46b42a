#!/usr/bin/env bash
# Builds the wheel and runs the checks of scikit-learn on every estimator with several of its versions (1.7, 1.8 and 1.9 unless told),
# each in a fresh environment under target/. It prints a line for each version; the logs lie beside.
set -euo pipefail
cd "$(dirname "$0")"
target="$(cd ../.. && pwd)/target"
rm -rf "$target/wheels"
python3 -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$target/wheels" \
    --config-settings "build-args=--profile dev --locked --target-dir $target" .
wheel="$(echo "$target"/wheels/margins_learn-*.whl)"
if [ $# = 0 ]; then
    set -- 1.7 1.8 1.9
fi
# Without it 1.9 skips its checks of arrays that are not of numpy.
export SCIPY_ARRAY_API=1
for version in "$@"; do
    environment="$target/checks-$version"
    log="$environment.log"
    rm -rf "$environment"
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check "$wheel" "scikit-learn==$version.*" matplotlib pandas pytest
    "$environment/bin/python" -c 'import platform, sklearn; print(f"scikit-learn {sklearn.__version__}, Python {platform.python_version()}", end=": ")'
    # -rsx names what was skipped or failed as expected, with the reason.
    if "$environment/bin/python" -m pytest -rsx tests/test_checks.py > "$log" 2>&1; then
        tail -n 1 "$log"
    else
        echo "failed, see $log"
        exit 1
    fi
done
