#!/usr/bin/env bash
# Runs the suites of the installed scikit-learn that test meta-estimators, searches, splits and displays, with classifiers of margins_learn
# instead of its own. It takes the environment that test.sh has built, or the program in PYTHON; arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")"
python="${PYTHON:-$(cd ../.. && pwd)/target/margins-learn/bin/python}"
mapfile -t suites < <("$python" -c 'import peer_suites; print(*peer_suites.SUITES, sep="\n")')
# An empty configuration: the settings of neither package are for the other's tests.
PYTHONPATH="$PWD:$PWD/python${PYTHONPATH:+:$PYTHONPATH}" exec "$python" -m pytest -c /dev/null --rootdir "$PWD" -p no:cacheprovider -p peer_suites \
    -q -rfExX -W ignore --pyargs "${suites[@]}" "$@"
