#!/usr/bin/env bash
# Builds the wheel, installs it into a fresh environment under target/, and runs the tests there.
set -euo pipefail
cd "$(dirname "$0")"
target="$(cd ../.. && pwd)/target"
environment="$target/margins-learn"
rm -rf "$environment" "$target/wheels"
python3 -m venv "$environment"
"$environment/bin/pip" install --quiet --disable-pip-version-check "maturin==1.16.*"
"$environment/bin/maturin" build --quiet --locked --profile dev --target-dir "$target" --out "$target/wheels"
"$environment/bin/pip" install --quiet --disable-pip-version-check \
    "$(echo "$target"/wheels/margins_learn-*.whl)[test]" "scikit-learn==${SCIKIT_LEARN:-1.9}.*"
if [ $# != 0 ]; then
    exec "$environment/bin/python" -m pytest "$@"
fi
# Without it scikit-learn skips its checks of arrays that are not of numpy.
export SCIPY_ARRAY_API=1
# Every package that tests ask for is there, but Ray, which is large and not everywhere to be had: a test that is left out for want of
# one is a failure.
MARGINS_TESTS=all "$environment/bin/python" -m pytest -rs --ignore tests/test_ray.py
if "$environment/bin/pip" install --quiet --disable-pip-version-check "ray>=2.50"; then
    MARGINS_TESTS=all "$environment/bin/python" -m pytest -rs tests/test_ray.py
else
    echo 'Ray does not install here: the fits that it carries are not tested'
fi
