#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs test programs and scripts, each with a time limit, and prints the whole output of those that fail.
# usage: run_tests.sh PROGRAM...     The last line is `N passed, N failed`; exit 1 when one failed.
#
# A cmocka program counts as many tests as it ran. A script that ends with `N passed, N failed` counts as that many,
# another one as one. Exit status 77 skips a script; its last line says why.
cd "$(dirname "$0")/../.." || exit 2
limit=${TEST_SECONDS:-900}
out=$(mktemp) || exit 2
trap 'rm -f "$out"' EXIT
trap 'exit 1' HUP INT TERM
passed=0 failed=0 skipped=

for test in "$@"; do
  case $test in /*) run=$test ;; *) run=./$test ;; esac
  status=0
  timeout -k 10 "$limit" "$run" >"$out" 2>&1 </dev/null || status=$?
  if [ $status = 77 ]; then
    printf 'skip  %s: %s\n' "$test" "$(tail -n 1 "$out")"
    skipped="$skipped $test"
    continue
  fi
  # Its own count of passed and failed tests; one that was begun and did not end well has failed.
  counts=$(awk '
    /^\[ RUN / { begun++ }
    /^\[ +OK \]/ { ok++ }
    /^\[ +SKIPPED \] [^0-9]/ && !listed { ignored++ }
    /^\[==========\].* run\.$/ { listed = 1 }
    /^[0-9]+ passed, [0-9]+ failed$/ { own_ok = $1; own_bad = $3; own = NR }
    END { if (begun) print ok + 0, begun - ok - ignored, ignored + 0; else if (own && own == NR) print own_ok, own_bad, 0; else print 0, 0, 0 }' "$out")
  ok=${counts%% *} bad=${counts#* } ignored=${counts##* }
  bad=${bad% *}
  [ $status = 0 ] || [ "$bad" -gt 0 ] || bad=1
  if [ "$ok" = 0 ] && [ "$bad" = 0 ]; then
    # A silent script speaks by its status; a test program that ran no test has failed.
    case $test in *.sh) ok=1 ;; *) bad=1 ;; esac
  fi
  passed=$((passed + ok)) failed=$((failed + bad))
  if [ "$bad" = 0 ]; then
    [ "$ignored" = 0 ] || skipped="$skipped $test($ignored)"
    printf 'ok    %s (%s)\n' "$test" "$ok"
  else
    case $status in 124 | 137) why="stopped after $limit s" ;; *) why="exit status $status" ;; esac
    printf 'FAIL  %s (%s of %s, %s)\n' "$test" "$bad" $((ok + bad)) "$why"
    sed 's/^/      | /' "$out"
  fi
done

[ -z "$skipped" ] || printf 'skipped:%s\n' "$skipped"
printf '%s passed, %s failed\n' $passed $failed
[ $failed = 0 ]
