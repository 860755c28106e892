#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `calibrate measure` as a user calls it, with few samples of few operations: what is written loads, says what it is and is what an IKE run
# uses; what is bad or missing is told. How long anything took is not looked at.
# shellcheck disable=SC2016 # conditions in single quotes are run by eval, after the call they are about
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
p=./pqnetsim
passed=0 failed=0

test_that() { # NAME CONDITION...
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
measure() { # ARGS...: status, $work/out and $work/err
  status=0
  "$p" calibrate measure "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
}
exits() { [ "$status" = "$1" ]; }
says() { grep -q -e "$1" "$work/out"; }
warns() { grep -q -e "$1" "$work/err"; }
ends() { exits "$1" && warns "$2"; }
has() { grep -q -e "$2" "$work/$1"; }
rows() { grep -vc -e '^#' -e '^algorithm,' "$work/$1"; }
# 0, or 1 when a sample was bad and told: on a busy machine that may be.
measured() { exits 0 || ends 1 '^pqnetsim: warning: '; }

few='X25519,P-256/import_pub,ECDSA-P256,AES-256-GCM/seal,HKDF-SHA256/extract'

# ---- a platform file
measure -o "$work/a.csv" --ops "$few" --samples 40 --seconds 1 --keep --title 'Test bench' --raw "$work/raw.csv"
test_that 'measures' measured
test_that 'a row for each operation and size' eval '[ "$(rows a.csv)" = 15 ]'
test_that 'the title is the one given' has a.csv '^# title: Test bench$'
test_that 'the head has the processor' has a.csv '^# cpu: .'
test_that 'the head has the day' has a.csv '^# date: 20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]$'
test_that 'the head has library, kernel and clock' has a.csv "^# note: OpenSSL [0-9.]*, Linux .* calibrate measure, .* of overhead subtracted$"
test_that 'kind, source, family and a note' has a.csv '^X25519,derive,0,0:[0-9 :.]*,,measured,own,quantiles to p95,".*mean [0-9]* sd [0-9]* n 40'
test_that 'p95 is there at p 1 again' eval 'sed -n "s/^X25519,keygen,0,.* 0.95:\([0-9]*\) 1:\([0-9]*\),,.*/\1 \2/p" "$work/a.csv" | grep -q "^\([0-9]*\) \1$"'
test_that 'short operations are timed in batches' has a.csv '^AES-256-GCM,seal,64,.*(batches of [0-9]*)'
test_that 'the table has them too' eval '[ "$(grep -c "^[A-Z]" "$work/out")" = 15 ]'
status=0
"$p" calibrate fit "$work/raw.csv" -o "$work/fitted.csv" >"$work/out" 2>"$work/err" || status=$?
test_that 'calibrate fit reads the samples' exits 0
test_that 'all of them' eval '[ "$(rows raw.csv)" = $((15 * 40)) ] && [ "$(rows fitted.csv)" = 15 ]'
cp "$work/a.csv" "$work/before.csv"
measure -o "$work/a.csv" --ops X25519
test_that 'nothing is replaced' ends 2 'is there already, and calibrate replaces nothing'
test_that 'the file is as it was' cmp -s "$work/a.csv" "$work/before.csv"
measure -o "$work/b.csv" --raw "$work/raw.csv" --ops X25519
test_that 'nor are samples' ends 2 'raw.csv: is there already'
measure -o "$work/none/b.csv" --ops X25519
test_that 'a folder that is not there is told before' ends 2 'none/b.csv: cannot be written'
measure -o "$work/b.csv" --ops X25519/keygen --samples 40 --json --keep
test_that '--json' says '"algorithm": "X25519", "operation": "keygen", "size_bytes": 0, "n": 40,'

# ---- mistakes
measure
test_that '-o is needed' ends 2 '-o FILE.csv is missing'
measure -o "$work/c.csv" --ops X25591
test_that 'an unknown operation' ends 2 "found 'X25591'.*did you mean 'X25519'?"
measure -o "$work/c.csv" --ops 'X25519,,P-256'
test_that 'an empty pattern' ends 2 "found ''"
measure -o "$work/c.csv" --ops X25519 --core 4095
test_that 'a core that is not there' ends 2 '^--core: found 4095, allowed the cores'
measure -o "$work/c.csv" --ops X25519 --base no-such
test_that 'a base that is not there' ends 2 'no-such'
measure -o "$work/c.csv" --ops X25519 --title ''
test_that 'no title' ends 2 '^--title: found'
measure -o "$work/c.csv" --samples 0
test_that 'no samples' ends 2 'allowed whole numbers from 1'
test_that 'no mistake leaves a file' eval '[ ! -e "$work/c.csv" ]'

# ---- bad measurements
measure -o "$work/c.csv" --ops X25519/keygen --samples 8
test_that 'too few samples' ends 1 'warning: X25519 keygen, 0 B: 8 samples are too few, 30 are needed.*; left out, --keep would write it'
test_that 'and nothing good enough to write' eval 'warns "c.csv is not written" && [ ! -e "$work/c.csv" ]'
test_that 'the table tells it too' says ' too few'
measure -o "$work/c.csv" --ops X25519/keygen --samples 8 --keep
test_that '--keep' ends 1 'written all the same, and marked in its note'
test_that 'the note is marked' has c.csv '"BAD MEASUREMENT (too few[a-z, ]*); mean '

# ---- interrupted: nothing half-written
status=0
timeout -s INT 2 "$p" calibrate measure -o "$work/d.csv" --raw "$work/d.raw" --ops 'RSA-4096/keygen' --samples 1000 >"$work/out" 2>"$work/err" || status=$?
test_that 'interrupted: no file' eval '[ ! -e "$work/d.csv" ] && [ ! -e "$work/d.raw" ] && [ "$status" != 0 ]'

# ---- what this library lacks
measure -o "$work/e.csv" --ops 'ML-KEM-768/keygen,ML-KEM-768/encaps,X25519/keygen' --samples 40 --keep --base epyc-zen5 --json
test_that 'what can be measured is' has e.csv '^X25519,keygen,0,.*,measured,own,'
if has e.csv '^# note: OpenSSL 3\.[0-4]\.'; then
  test_that 'missing: what, why, what answers' warns '^pqnetsim: not measured: ML-KEM-768 keygen encaps: OpenSSL 3.*has no ML-KEM-768 (it came with 3.5); the base epyc-zen5 states all of them$'
  test_that 'missing: no row' eval '! has e.csv "^ML-KEM-768"'
  test_that 'missing: in JSON' says '"ML-KEM-768", "operation": "encaps", .*"mean_ns": null, .*"verdict": "missing"'
  measure -o "$work/f.csv" --ops ML-KEM-768
  test_that 'nothing to measure' eval 'ends 2 "can do none of the operations asked for" && [ ! -e "$work/f.csv" ]'
  test_that 'what to use instead' warns 'what to use instead: --base NAME .* Debian 13'
else
  test_that 'ML-KEM is measured' has e.csv '^ML-KEM-768,encaps,0,.*,measured,own,'
  test_that 'nothing is said to be missing' eval '! warns "not measured"'
fi

# ---- the student's comparison
measure --student --samples 40 --seconds 1
test_that '--student' exits 0
test_that 'RSA-2048 beside the published run' says '^RSA-2048  *RSA-2048 decrypt  *[0-9.]*  *[0-9.]*  *[0-9.]*  *21257900'
test_that 'the published run is flagged' says 'most likely a build without optimisation'
test_that 'not like for like' says 'not like for like with a KEM and an AEAD'
test_that 'published ratio' says '202 in the published run' # 1292944.5 / 6385.3 us
if grep -q '^# note: OpenSSL 3\.[0-4]\.' "$work/e.csv"; then
  test_that 'ML-KEM is missing and no figure takes its place' eval 'says "ML-KEM-768 keygen  *1889700.*  missing$" && says "total  *6385300.* incomplete$" && says "not known here"'
else
  test_that 'the total of ML-KEM and AES' says '^ML-KEM-768 + AES-256-GCM  *total  *[0-9.]*  *6385300'
fi
measure --student --ops X25519
test_that '--student takes its own operations' ends 2 '^--ops: has no use with --student'

# ---- an IKE run with it is one with a file written by hand
cp scenarios/e2-ipsec.yaml "$work/e2.yaml"
measure -o "$work/measured.csv" --ops 'X25519,ECDSA-P256,P-256,AES-256-GCM/*/64,AES-256-GCM/*/1350,HKDF-*,SHA-256' --samples 40 --seconds 1 --keep --base epyc-zen5
test_that 'measured for IKE' measured
{
  printf '# title: By hand\n# base: epyc-zen5\nnote,kind,quantiles_ns,size_bytes,operation,algorithm,source\n'
  grep -v -e '^#' -e '^algorithm,' "$work/measured.csv" | awk -F, '{ print "typed in,published," $4 "," $3 "," $2 "," $1 ",own" }' | sort -r
} >"$work/hand.csv"
sed 's/^\(typed in,published,\)[0-9].*,\(0,derive_full,X25519,own\)$/\19000000,\2/' "$work/hand.csv" >"$work/other.csv"
run_ike() { # NAME
  status=0
  "$p" run "$work/e2.yaml" --json --reps 50 --set platform.initiator="./$1.csv" --set platform.responder="./$1.csv" >"$work/out" 2>"$work/err" || status=$?
  sed "s|\./$1\.csv|./PLATFORM.csv|g" "$work/out" >"$work/$1.json"
}
run_ike measured
test_that 'an IKE run with the measured platform' eval 'exits 0 && says "tunnel_setup"'
run_ike hand
test_that 'a file of the same numbers by hand gives the same bytes' eval 'exits 0 && cmp -s "$work/measured.json" "$work/hand.json"'
run_ike other
test_that 'one of other numbers does not' eval 'exits 0 && ! cmp -s "$work/measured.json" "$work/other.json"'

printf '%s passed, %s failed\n' $passed $failed
[ $failed = 0 ]
