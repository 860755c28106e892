#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# calibrate scale and calibrate show as a user calls them: files, messages, exit statuses.
# shellcheck disable=SC2016 # conditions in single quotes are run by eval, after the call they are about
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
p=./pqnetsim
passed=0 failed=0

# test_that NAME CONDITION...: the condition is a command
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
# call ARGS...: runs the program; status, $work/out and $work/err
call() {
  status=0
  "$p" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
}
exits() { [ "$status" = "$1" ]; }
says() { grep -q -e "$1" "$work/out"; }
warns() { grep -q -e "$1" "$work/err"; }
ends() { exits "$1" && warns "$2"; } # status, and why
holds() { grep -q -e "$2" "$1"; }
absent() { [ ! -e "$work/absent.csv" ]; }
# refused NAME WHY ARGS...: status 2, and no file
refused() {
  name=$1 why=$2
  shift 2
  call calibrate scale "$@" -o "$work/absent.csv"
  test_that "scale: $name" eval 'ends 2 "$why" && absent'
}

# ---- scale. 44 us for decaps: 44000 / 32278 = 1.3632 of what epyc-zen5 takes; keygen there has the median 32659: 44519.
call calibrate scale epyc-zen5 -o "$work/router.csv" --title 'My router' --anchor mlkem768.decaps=44us --anchor p256.sign=61us \
  --anchor aes256gcm.seal@1350B=2.1us
test_that 'scale' exits 0
test_that 'scale: title' holds "$work/router.csv" '^# title: My router$'
test_that 'scale: an anchor stays' holds "$work/router.csv" '^ML-KEM-768,decaps,0,44000,,measured,own,constant,stated by --anchor$'
test_that 'scale: a signature, not the curve of that name' holds "$work/router.csv" '^ECDSA-P256,sign,0,61000,,measured'
test_that 'scale: an estimate' holds "$work/router.csv" '^ML-KEM-768,keygen,0,.* 0.5:44519 .*,,estimated,own,epyc-zen5 scaled,epyc-zen5 x 1.363: ratio of ML-KEM-768 decaps$'
test_that 'scale: a weak one' holds "$work/router.csv" '^RSA-2048,sign,.*geometric mean of all 3 anchors; weak: no near kin is stated$'
test_that 'scale: an anchor among the sizes' eval '[ "$(grep -c "^AES-256-GCM,seal," "$work/router.csv")" = 6 ] && holds "$work/router.csv" "^AES-256-GCM,seal,1350,2100,,measured"'
test_that 'scale: tells of weak rows' warns 'of 210 rows are weak .*RSA-2048'
test_that 'scale: tells what is left out' warns 'rows of epyc-zen5 left out.*: software path;'
test_that 'scale: prints the rows' says '^ML-KEM-768 *keygen *0 *32659 *1.363 *44519 *estimated *ML-KEM-768 decaps$'
cp "$work/router.csv" "$work/router.copy"
call calibrate scale epyc-zen5 -o "$work/router.csv" --anchor mlkem768.decaps=44us
test_that 'scale replaces no file' eval 'ends 2 "router.csv: is there already" && cmp -s "$work/router.csv" "$work/router.copy"'
call calibrate scale epyc-zen5 -o "$work/again.csv" --title 'My router' --anchor mlkem768.decaps=44us --anchor p256.sign=61us --anchor aes256gcm.seal@1350B=2.1us
test_that 'scale: the same again' cmp -s "$work/router.csv" "$work/again.csv"
printf 'scenario: e2\nreplications: 5\nplatform: {initiator: ./router.csv}\n' >"$work/scaled.yaml"
call run "$work/scaled.yaml"
test_that 'a scenario runs on the scaled platform' exits 0
call calibrate scale epyc-zen5 -o "$work/source.csv" --source lelegard-pqcbench --anchor mlkem768.decaps=44us
test_that 'scale: a published anchor' holds "$work/source.csv" '^ML-KEM-768,decaps,0,44000,,published,lelegard-pqcbench'
call calibrate scale epyc-zen5 -o "$work/pi.csv" --anchors raspberry-pi4
test_that 'scale by a platform: estimated rows are no anchors' eval 'exits 0 && holds "$work/pi.csv" "^ML-KEM-768,keygen,.*estimated,lelegard-pqcbench,.*x 4.965: ratio of ML-KEM-768 decaps"'
test_that 'scale by a platform: its published rows stay' eval '[ "$(grep -c ,published, "$work/pi.csv")" = 34 ]'
call calibrate scale xeon-6242r -o "$work/mixed.csv" --anchors "$work/source.csv" --anchor x25519.derive=99us
test_that 'scale by a file and more' eval 'exits 0 && holds "$work/mixed.csv" "^X25519,derive,0,99000,,measured,own" && holds "$work/mixed.csv" "^ML-KEM-768,decaps,0,44000,,published,lelegard-pqcbench"'
test_that 'scale: an estimate of an estimate' holds "$work/mixed.csv" '^X25519,keygen,.*weak: the base itself is an estimate here'

call calibrate scale epyc-zen5 --anchors xeon-6242r --check
test_that 'scale --check' eval 'exits 0 && says "^Each of 31 known values estimated from the others: median error 4.3 %, nine of ten within 10.1 %, worst 13.5 % (RSA-2048 verify)"'
call calibrate scale epyc-zen5 --anchors xeon-6242r --check --json
test_that 'scale --check --json' eval 'exits 0 && says "\"median_error_percent\": 4.3, " && [ "$(tail -c 2 "$work/out")" = "}" ]'
call calibrate scale epyc-zen5 --check --anchor mlkem768.decaps=44us -o "$work/absent.csv"
test_that 'scale --check of one anchor' eval 'ends 2 "leaving one out needs two operations or more" && absent'

refused 'no anchors' '--anchor ALGORITHM.OPERATION=TIME or --anchors FILE.csv is missing' epyc-zen5
refused 'no such base' "platform 'nowhere' is not shipped" nowhere --anchor mlkem768.decaps=44us
refused 'no unit' "found '44' without a unit" epyc-zen5 --anchor mlkem768.decaps=44
refused 'no time' 'allowed ALGORITHM.OPERATION' epyc-zen5 --anchor mlkem768.decaps
refused 'a slip of units' 'ML-KEM-768 decaps: 82800000000000 ns is 2.57e+09 times .* is the unit right' epyc-zen5 --anchor mlkem768.decaps=23h
refused 'too long for a row' 'RSA-4096 keygen, 0 B: .* is no duration' epyc-zen5 --anchor mlkem768.decaps=30s
refused 'unknown algorithm' "no algorithm is called 'mlkem76'; did you mean 'mlkem768'" epyc-zen5 --anchor mlkem76.decaps=44us
refused 'unknown operation' 'epyc-zen5 states of ML-KEM-768: keygen, import_pub, encaps, decaps, encaps_full, decaps_full$' epyc-zen5 --anchor mlkem768.sign=44us
refused 'algorithm the base lacks' 'Falcon-512\|whose algorithm epyc-zen5 does not state' epyc-zen5 --anchor falcon512.sign=44us
refused 'twice' 'ML-KEM-768 decaps is stated twice' epyc-zen5 --anchor mlkem768.decaps=44us --anchor ML-KEM-768.decaps=45us
refused 'size missing' 'SHA-256 hash, 0 B: its cost depends on size' epyc-zen5 --anchor sha256.hash=1us
refused 'size too many' 'leave out the size' epyc-zen5 --anchor mlkem768.decaps@5B=1us
refused 'two lines of title' '^--title: ' epyc-zen5 --anchor mlkem768.decaps=44us --title 'a
b'
refused 'unknown source' "^--source: found 'nobody'" epyc-zen5 --anchor mlkem768.decaps=44us --source nobody
: >"$work/empty.csv"
refused 'empty file of anchors' 'empty.csv: holds no table' epyc-zen5 --anchors "$work/empty.csv"
printf '# title: t\nalgorithm,operation,quantiles_ns,kind,source,note\nML-KEM-768,decaps,0,measured,own,a\n' >"$work/zero.csv"
refused 'base of zeros' '0 of the anchors can be compared' "$work/zero.csv" --anchor mlkem768.decaps=44us
refused 'anchors of zeros' '0 of the anchors can be compared' epyc-zen5 --anchors "$work/zero.csv"
call calibrate scale epyc-zen5 -o "$work/no/where.csv" --anchor mlkem768.decaps=44us
test_that 'scale: no such folder' ends 2 'no/where.csv: cannot be written: '
(trap '' XFSZ && ulimit -f 4 && "$p" calibrate scale epyc-zen5 -o "$work/absent.csv" --anchor mlkem768.decaps=44us) >"$work/out" 2>"$work/err"
status=$?
test_that 'scale: a full disk leaves no file' eval 'ends 1 "absent.csv: cannot be written" && absent'

# ---- show
call calibrate show xeon-6242r epyc-zen5 "$work/router.csv" --algorithm mlkem768 --algorithm mldsa65
test_that 'show' exits 0
test_that 'show: kinds and sources' says '^ML-KEM-768 *decaps *33.1 us p1 *32.3 us m2 *x0.99-1.01 *44.0 us m3'
test_that 'show: spread' says '^ML-DSA-65 *sign *784 us p1 *x0.42-3.17 '
test_that 'show: titles' says '^.*/router.csv: My router$'
test_that 'show: legend' says '^  1  lelegard-pqcbench: Thierry Lelegard, '
# 157 ns at 1350 B, 411 at 8192: at 4771, half way, 285
call calibrate show epyc-zen5 --algorithm aes128gcm --operation seal --size 4771
test_that 'show: a size between two' says '^AES-128-GCM *seal *4771 *285 ns m1'
call calibrate show epyc-zen5 --algorithm p256 --json
test_that 'show --json' eval 'exits 0 && says "\"platform\": \"epyc-zen5\", \"algorithm\": \"ECDSA-P256\", \"operation\": \"sign\", .*\"quantiles_ns\": \[\[0, .*\"source\": \"pqnetsim-ops-2026\"" && says "\"algorithm\": \"P-256\"" && [ "$(tail -n 1 "$work/out")" = "]" ]'
printf '# title: t\nalgorithm,operation,quantiles_ns,energy_nj,kind,source,note\nML-KEM-768,keygen,0,12,measured,own,x\nX25519,derive,0:0 0.5:0 1:5,,assumed,own,x\n' >"$work/energy.csv"
call calibrate show "$work/energy.csv"
test_that 'show: energy, and zeros' eval 'exits 0 && says "^ML-KEM-768 *keygen *0 ns m1 *0.012 uJ$" && says "^X25519 *derive *0 ns a1$"'
call calibrate show epyc-zen5 xeon-6242r "$work/router.csv" -o "$work/kem.svg" --algorithm mlkem768
test_that 'show: a figure' eval 'exits 0 && holds "$work/kem.svg" ML-KEM-768 && holds "$work/kem.gp" "ML-KEM-768 decaps" && holds "$work/kem.dat" "^3	33135	NaN	NaN	0	ML-KEM-768 decaps"'
call calibrate show epyc-zen5 -o "$work/none.svg"
test_that 'show: a figure too large' eval 'ends 2 "a figure of 211 operations and 1 platforms cannot be read.*--algorithm" && [ ! -e "$work/none.svg" ]'
call calibrate show "$work/energy.csv" -o "$work/none.svg"
test_that 'show: a figure of zeros' eval 'ends 2 "every duration is 0" && [ ! -e "$work/none.svg" ]'
call calibrate show epyc-zen5 -o "$work/none.txt" --algorithm mlkem768
test_that 'show: no figure' ends 2 'none.txt: the name of a figure ends in'
call calibrate show nowhere
test_that 'show: no such platform' ends 2 "platform 'nowhere' is not shipped"
call calibrate show epyc-zen5 --algorithm mlkem76
test_that 'show: unknown algorithm' ends 2 "^--algorithm: found 'mlkem76'.*did you mean 'mlkem768'"
call calibrate show epyc-zen5 --algorithm mlkem768 --operation sign
test_that 'show: operation it has not' ends 2 'operations there are: keygen, import_pub, encaps, decaps, encaps_full, decaps_full$'
call calibrate show epyc-zen5 --algorithm falcon512
test_that 'show: algorithm nobody states' ends 2 'algorithms there are: ML-KEM-512, '

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
