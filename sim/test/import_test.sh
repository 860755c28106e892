#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# calibrate import: a table in, a platform out that scenarios use; what it warns of and refuses.
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
p=./pqnetsim
passed=0 failed=0

test_that() {
  name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAIL  %s\n      status %s\n' "$name" "$status"
    sed 's/^/      out | /' "$work/out" | head -n 5
    sed 's/^/      err | /' "$work/err" | head -n 5
  fi
}
call() {
  status=0
  "$p" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
}
says() { [ "$status" = 0 ] && grep -q -e "$1" "$work/out"; }
warns() { [ "$status" = 0 ] && grep -q -e "$1" "$work/err"; }
refuses() { [ "$status" = 2 ] && [ ! -s "$work/out" ] && grep -q -e "$1" "$work/err" && [ ! -e "$work/absent.csv" ]; }
holds() { grep -q -e "$2" "$work/$1"; }

cat >"$work/server.csv" <<'END'
algorithm,keygen,encaps_full,decaps_full,derive_full,sign,note
x25519,1000,,,1000,,by hand
ML_KEM_768,2000,3000,4000,,,
mldsa65,,,,,500,"a ""mean"", they say"
END
call calibrate import "$work/server.csv" --source own --unit us -o "$work/mine.csv" --base xeon-6242r --title 'My server'
test_that 'a table' says '^ML-KEM-768 *decaps_full *0 *4000 *constant *4000 us$'
test_that 'a constant for rejection sampling' warns 'ML-DSA-65 sign: a constant for what takes another time each time (rejection sampling)'
test_that 'no other warning' eval '[ "$(wc -l <"$work/err")" = 1 ]'
test_that 'title and base' eval 'holds mine.csv "^# title: My server$" && holds mine.csv "^# base: xeon-6242r$"'
test_that 'a row' holds mine.csv '^X25519,derive_full,0,1000000,,published,own,constant,"1000 us; by hand"$'
test_that 'a quote in a note' holds mine.csv '"500 us; a ""mean"", they say"$'
cat >"$work/s.yaml" <<'END'
scenario: e2
platform: {initiator: ./mine.csv, responder: ./mine.csv}
path: {delay: 5ms}
ipsec: {kex: x25519, auth: psk}
probe: {packets: 0}
e2: {setup: no}
replications: 1
END
# keygen and derive_full at the responder, 1 ms each, and one round trip of 10 ms
call run "$work/s.yaml" --json
test_that 'a scenario runs with it' says '"ike_init": {"unit": "ms",.*"mean": 12.000[0-9]*, .*"crypto": 2,'
test_that 'and is told of the constant' says 'mine.csv states a constant for ML-DSA-65 sign'

printf 'algorithm,operation,min,median,max,mean\nRSA-2048,keygen,59.7,439,1673.8,548.9\n' >"$work/rsa.csv"
call calibrate import "$work/rsa.csv" --source mbedtls-10830 --unit ms --kind measured -o "$work/rsa-out.csv" --json
test_that 'quantiles, JSON' says '"operation": "keygen", "size_bytes": 0, "mean_us": 652875, "shape": "quantiles"'
test_that 'straight lines that miss the mean' warns 'have the mean 652875 us, the table states 548900 us (+19 %)'
test_that 'the row' holds rsa-out.csv '^RSA-2048,keygen,0,0:59700000 0.5:439000000 1:1673800000,,measured,mbedtls-10830,quantiles,'
printf 'algorithm,keygen\nmlkem768,988722\n' >"$work/m4.csv"
call calibrate import "$work/m4.csv" --source pqm4 --unit cycles --clock 64MHz -o "$work/m4-out.csv"
# 988722 cycles / 64 MHz = 15,448,781.25 ns
test_that 'cycles' holds m4-out.csv '^ML-KEM-768,keygen,0,15448781,'

call calibrate import "$work/m4.csv" --source pqm4 -o "$work/m4-out.csv"
test_that 'nothing is replaced' refuses 'm4-out.csv: is there already'
call calibrate import "$work/m4.csv" -o "$work/absent.csv"
test_that 'without --source' refuses '^calibrate import: --source ID is missing'
call calibrate import "$work/m4.csv" --source pqm5 -o "$work/absent.csv"
test_that 'unknown source' refuses "^--source: found 'pqm5', .*did you mean 'pqm4'"
call calibrate import "$work/m4.csv" --source pqm4
test_that 'without -o' refuses '^calibrate import: -o FILE.csv is missing'
call calibrate import "$work/m4.csv" --source pqm4 --unit cycles -o "$work/absent.csv"
test_that 'cycles without a clock' refuses '^--unit cycles: --clock is missing'
call calibrate import "$work/m4.csv" --source pqm4 --clock 64MHz -o "$work/absent.csv"
test_that 'a clock without cycles' refuses "^--clock: found '64MHz', allowed only with --unit cycles"
call calibrate import "$work/m4.csv" --source pqm4 --unit cycles --clock 64 -o "$work/absent.csv"
test_that 'a clock without unit' refuses "^--clock: found '64', allowed a frequency"
call calibrate import "$work/m4.csv" --source pqm4 --base nowhere -o "$work/absent.csv"
test_that 'unknown base' refuses "platform 'nowhere' is not shipped"
call calibrate import "$work/none.csv" --source pqm4 -o "$work/absent.csv"
test_that 'no such table' refuses 'none.csv: '
printf 'algorithm,keygen\nmlkem,5\nmlkem768,x\n' >"$work/bad.csv"
call calibrate import "$work/bad.csv" --source pqm4 -o "$work/absent.csv"
test_that 'all bad lines' eval 'refuses "bad.csv:2: column algorithm" && refuses "bad.csv:3: column keygen: found .x."'

printf '%s passed, %s failed\n' $passed $failed
[ $failed = 0 ]
