#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What the spread of an operation does to a run: intervals, warnings, and how little of a key exchange is arithmetic.
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
    sed 's/^/      out | /' "$work/out" | head -n 20
    sed 's/^/      err | /' "$work/err" | head -n 5
  fi
}
call() {
  status=0
  "$p" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
}
# number METRIC KEY: from run --json; KEY may be a part of the breakdown
number() { tr -d '\n' <"$work/out" | sed -n "s/.*\"$1\": {\"unit\".*/&/; s/.*\"$1\": {\"unit\"/{/; s/^\\([^}]*\\)}.*/\\1/; s/.*\"$2\": \\(-\\{0,1\\}[0-9.e+-]*\\).*/\\1/p"; }
between() { awk -v x="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(x != "" && x + 0 >= low && x + 0 <= high) }'; }
says() { grep -q -e "$1" "$work/out"; }
warns() { grep -q -e "$1" "$work/err"; }

# A tunnel whose initiator searches for primes as Mbed TLS does (calib/data/platforms/raspberry-pi4-mbedtls.csv): its keygen row under
# the name of the exchange. Nothing else takes noticeable time, so tunnel_setup has the row's CV of 0.7, and the 95 % interval of the
# mean is 1.96 x 0.705 / sqrt(n): 5.0 % of it at n = 753.
quantiles=$(awk -F, '$1 == "RSA-2048" { print $4 }' calib/data/platforms/raspberry-pi4-mbedtls.csv)
platform() { # FILE QUANTILES
  cat >"$work/$1.csv" <<END
# title: $1
algorithm,operation,quantiles_ns,kind,source,note
X25519,keygen,$2,estimated,own,as long as an RSA key
X25519,derive_full,1,assumed,own,nothing
AES-256-GCM,seal,1,assumed,own,nothing
AES-256-GCM,open,1,assumed,own,nothing
END
}
platform slow "$quantiles"
platform fast 1
cat >"$work/keygen.yaml" <<'END'
scenario: e2
platform: {initiator: ./slow.csv, responder: ./fast.csv}
path: {delay: 1us}
ipsec: {kex: x25519, auth: psk}
probe: {packets: 0}
e2: {setup: no}
END
call run "$work/keygen.yaml" --reps 753 --json
mean=$(number tunnel_setup mean)
half=$(number tunnel_setup ci95)
test_that '753 replications: the interval holds the published mean' eval 'between 548.9 "$(awk -v m="$mean" -v h="$half" "BEGIN { print m - h }")" "$(awk -v m="$mean" -v h="$half" "BEGIN { print m + h }")"'
test_that '753 replications: CV 0.60 to 0.80' between "$(number tunnel_setup cv)" 0.60 0.80
test_that '753 replications: an interval of +-5 %' between "$(awk -v h="$half" -v m="$mean" 'BEGIN { print h / m }')" 0.045 0.055
call run "$work/keygen.yaml" --reps 188 --json
mean=$(number tunnel_setup mean)
half=$(number tunnel_setup ci95)
test_that 'a quarter of them: +-10 %' between "$(awk -v h="$half" -v m="$mean" 'BEGIN { print h / m }')" 0.09 0.11

# The mean alone, as a constant, is told of.
cat >"$work/mean.csv" <<'END'
# title: mean
# base: raspberry-pi4
algorithm,operation,quantiles_ns,kind,source
RSA-2048,keygen,548900000,published,mbedtls-10830
END
call run "$work/keygen.yaml" --set platform.responder=./mean.csv --reps 2
test_that 'run warns of a constant for RSA key generation' says '^warning: platform.responder: ./mean.csv states a constant for RSA-2048 keygen'
call run "$work/keygen.yaml" --set platform.responder=./mean.csv --set platform.initiator=./mean.csv --reps 2
test_that 'one warning for one platform' eval '[ "$(grep -c "states a constant" "$work/out")" = 1 ]'
call check "$work/keygen.yaml" --set platform.responder=./mean.csv
test_that 'check does too' warns 'platform.responder: ./mean.csv states a constant for RSA-2048 keygen'
call run "$work/keygen.yaml" --set platform.responder=./mean.csv --reps 2 --json
test_that 'and JSON' says '"warnings": \[.*states a constant for RSA-2048 keygen'
call run "$work/keygen.yaml" --set platform.responder=raspberry-pi4-mbedtls --reps 2
test_that 'its distribution is fine' eval '[ "$status" = 0 ] && ! says "states a constant"'

# On a small x86 server the arithmetic of a key exchange is no milliseconds: of IKE_SA_INIT, the responder's part.
cat >"$work/server.yaml" <<'END'
scenario: e2
platform: {initiator: small-x86-server, responder: small-x86-server}
path: {delay: 500us}
ipsec: {auth: psk}
probe: {packets: 0}
e2: {setup: no}
END
for kex in x25519 mlkem768 mlkem1024 x25519-ke1_mlkem768; do
  call run "$work/server.yaml" --set "ipsec.kex=$kex" --reps 20 --json
  test_that "$kex: cryptography in ike_init is below 0.2 ms" between "$(number ike_init crypto)" 0.01 0.2
  test_that "$kex: ike_init lasts a round trip and little more" between "$(number ike_init mean)" 1.0 1.3
done
# Initiator: ike_establish holds the responder's whole and the initiator's second half. tunnel_setup adds the key generation, before
# the clock of the former: 25 us with X25519, 34 us with ML-KEM-768.
call run "$work/server.yaml" --set ipsec.kex=x25519 --reps 20 --json
test_that 'X25519: both sides, 2 x 54 us' between "$(number tunnel_setup crypto)" 0.0972 0.1188
call run "$work/server.yaml" --set ipsec.kex=mlkem768 --reps 20 --json
test_that 'ML-KEM-768: initiator 64 us, and the responder' between "$(number tunnel_setup crypto)" 0.064 0.110

printf '%s passed, %s failed\n' $passed $failed
[ $failed = 0 ]
