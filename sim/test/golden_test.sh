#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The points of scenarios/check/*.yaml give the bytes of the .csv beside them, on every machine and for any number of
# workers. A change that is meant to change results renews the file: sim/test/golden_test.sh --renew, and says why.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
for scenario in "$top"/scenarios/check/*.yaml; do
  expected=${scenario%.yaml}.csv
  for jobs in 1 3; do
    "$top/pqnetsim" sweep "$scenario" -o "$work/$jobs.db" --jobs $jobs >/dev/null 2>"$work/messages" || { cat "$work/messages"; exit 1; }
    "$top/pqnetsim" export "$work/$jobs.db" >"$work/$jobs.csv"
    rm -f "$work/$jobs.db"
    if [ "${1:-}" = --renew ]; then cp "$work/$jobs.csv" "$expected"; fi
    if cmp -s "$work/$jobs.csv" "$expected"; then
      passed=$((passed + 1))
    else
      echo "$expected: differs with --jobs $jobs"
      diff "$expected" "$work/$jobs.csv" | head -n 6
      failed=$((failed + 1))
    fi
  done
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
