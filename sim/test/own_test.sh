#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What users bring along: platforms put together from several files, and algorithms of their own. An exchange with an algorithm
# that has the sizes and costs of a shipped one must equal that one's to the byte and the nanosecond, in every way to run it.
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
exits() { [ "$status" = "$1" ]; }
says() { grep -q -F -e "$1" "$work/out"; }
ends() { [ "$status" = "$1" ] && grep -q -F -e "$2" "$work/err"; }
# Results alone: a warning names the platform as it is written.
results() { grep -v '^warning' "$work/out" >"$work/$1"; }
says_that() { grep -q -e "^$1  *$2\$" "$work/out"; }
same() { [ -s "$1" ] && cmp -s "$1" "$2"; }

# ---- platforms put together
cat >"$work/hsm.csv" <<'END'
# title: HSM
algorithm,operation,quantiles_ns,kind,source,note
ECDSA-P256,sign,5000000,measured,own,data sheet
RSA-2048,sign,9000000,measured,own,data sheet
END
# The same by hand: everything of the base, and these two rows instead of its own.
{ sed '1s/$/\n# base: xeon-6242r/' "$work/hsm.csv"; } >"$work/whole.csv"
cat >"$work/plain.yaml" <<'END'
scenario: e2
replications: 20
ipsec: {chain: 2}
END
call run "$work/plain.yaml" --set platform.initiator=./whole.csv --set platform.responder=xeon-6242r
results by_hand
call run "$work/plain.yaml" --set 'platform.initiator={base: xeon-6242r, sign: ./hsm.csv}' --set platform.responder=xeon-6242r
results parts
test_that 'one operation from another file: as a file that says both' same "$work/parts" "$work/by_hand"
call run "$work/plain.yaml" --set 'platform.initiator={base: ./whole.csv, ecdsa-p256.sign: xeon-6242r}' --set platform.responder=xeon-6242r
results back
call run "$work/plain.yaml" --set platform.initiator=xeon-6242r --set platform.responder=xeon-6242r
results plain
test_that 'the base may be a file, and the part of one algorithm' same "$work/plain" "$work/back"
test_that 'and the part made a difference' eval '! cmp -s "$work/plain" "$work/by_hand"'

# ---- a platform that says whose TLS it is
printf '# title: mine\n# base: xeon-d1518\nalgorithm,operation,quantiles_ns,kind,source\n' >"$work/tls.csv"
sed '2s/^/# tls-stack: openssl35\n/' "$work/tls.csv" >"$work/other.csv"
sed '2s/^/# tls-stack: nss\n/' "$work/tls.csv" >"$work/unknown.csv"
printf 'scenario: tls\nplatform: {client: ./tls.csv, server: ./tls.csv}\ntls: {kex: secp521r1, cert: rsa-2048}\n' >"$work/tls.yaml"
handshake() { call run "$work/tls.yaml" "$@" && results "$name_of"; }
name_of=inherited handshake
name_of=set_oqs handshake --set tls.stack=oqs
name_of=set_other handshake --set tls.stack=openssl35
name_of=stated handshake --set platform.server=./other.csv
test_that 'tls-stack of the base decides where tls.stack is not set' same "$work/inherited" "$work/set_oqs"
test_that 'the file itself goes before its base, and the server before the client' same "$work/stated" "$work/set_other"
test_that 'and it made a difference' eval '! cmp -s "$work/stated" "$work/inherited"'
call run "$work/tls.yaml" --set platform.server=./unknown.csv
test_that 'a TLS nobody knows' ends 2 "platform ./unknown.csv: key tls-stack: found 'nss', allowed openssl35, openssl30, single_write, oqs"

cat >"$work/parts.yaml" <<'END'
scenario: e2
replications: 4
platform:
  initiator: {base: xeon-6242r, sign: ./hsm.csv}
  responder.base: xeon-6242r
  responder.rsa-2048.sign: ./hsm.csv
e2: {nodes: 4}
groups: {far: {share: 50%, platform: {initiator: {base: raspberry-pi4, ECDSAP256: {sign: ./hsm.csv}}}}, near: {}}
sweep:
  - platform.responder: [xeon-6242r, {base: xeon-6242r, verify: raspberry-pi4, sign: ./hsm.csv}]
END
call check "$work/parts.yaml"
test_that 'in the file' says_that platform.initiator 'xeon-6242r,sign=./hsm.csv'
test_that 'by dotted keys' says_that platform.responder 'xeon-6242r,rsa-2048.sign=./hsm.csv'
test_that 'in a group' says_that groups.far.platform.initiator 'raspberry-pi4,ecdsa-p256.sign=./hsm.csv'
test_that 'as an axis value' says '2 values: xeon-6242r, xeon-6242r,sign=./hsm.csv,verify=raspberry-pi4'
call sweep "$work/parts.yaml" -o "$work/one.db" --jobs 1
test_that 'sweep' exits 0
call sweep "$work/parts.yaml" -o "$work/two.db" --jobs 2
"$p" export "$work/one.db" >"$work/one.csv"
"$p" export "$work/two.db" >"$work/two.csv"
test_that 'sweep: two workers as one' same "$work/one.csv" "$work/two.csv"
call show "$work/one.db" tunnel_setup --where platform.responder=xeon-6242r,sign=./hsm.csv,verify=raspberry-pi4
test_that 'show --where takes the text' says 'xeon-6242r,sign=./hsm.csv,verify=raspberry-pi4'
sed -i 's/5000000/5000001/' "$work/hsm.csv"
call sweep "$work/parts.yaml" -o "$work/one.db"
test_that 'the content of a part counts' ends 2 'the content of a platform file has changed'
call check "$work/plain.yaml" --set 'platform.initiator={base: xeon-6242r, sgin: ./hsm.csv}'
test_that 'unknown operation' ends 2 '--set platform.initiator.sgin: found '\''sgin'\'', which is no operation; allowed base, an operation'
test_that 'unknown operation: the nearest' ends 2 'did you mean sign?'
call check "$work/plain.yaml" --set 'platform.initiator={sign: ./hsm.csv}'
test_that 'no base' ends 2 'platform.initiator: found a map without base, allowed {base: NAME'
printf 'scenario: e2\nplatform:\n  initiator: {base: xeon-6242r, verify: ./hsm.csv}\n' >"$work/lacks.yaml"
call check "$work/lacks.yaml"
test_that 'the other file does not state it' ends 2 \
  'lacks.yaml:3:14: platform.initiator: verify: platform ./hsm.csv does not state verify of any algorithm; the operations it states are sign'

# ---- algorithms of one's own
{
  printf '# title: mine\n# base: epyc-zen5\nalgorithm,operation,size_bytes,quantiles_ns,kind,source,note\n'
  awk -F, -v OFS=, '$1 == "ML-KEM-768" { print "mykem", $2, $3, $4, "measured", "own", "as ML-KEM-768" }
    $1 == "ML-DSA-65" { print "mysig65", $2, $3, $4, "measured", "own", "as ML-DSA-65" }' calib/data/platforms/epyc-zen5.csv
} >"$work/mine.csv"
test_that 'rows were found' [ "$(grep -c '^my' "$work/mine.csv")" -ge 8 ]
cat >"$work/own.yaml" <<'END'
scenario: e2
replications: 20
platform: {initiator: ./mine.csv, responder: ./mine.csv}
path: {loss: 5%}
algorithms:
  mykem: {type: kem, public_key: 1184B, ciphertext: 1088B, nist_category: 3}
  mysig65: {type: signature, public_key: 1952B, signature: 3309B, nist_category: 3}
ipsec: {kex: mykem, auth: mysig65}
sweep:
  - ipsec.kex: [x25519, mykem, x25519-ke1_mykem]
  - ipsec.auth: [mysig65, ecdsa-p256]
END
sed -e '/^algorithms:/d' -e '/  my/d' -e 's/mykem/mlkem768/g; s/mysig65/mldsa65/g; s/\.\/mine.csv/epyc-zen5/g' "$work/own.yaml" >"$work/standard.yaml"
for backend in native ns3; do
  [ $backend = native ] || [ -x ./pqnetsim-ns3 ] || continue
  call run "$work/standard.yaml" --backend $backend
  cp "$work/out" "$work/standard"
  call run "$work/own.yaml" --backend $backend
  test_that "$backend: bytes, times and exposure as the algorithm it is a copy of" same "$work/out" "$work/standard"
  for jobs in 1 2; do
    call sweep "$work/standard.yaml" -o "$work/standard.$backend.$jobs.db" --jobs $jobs --backend $backend
    call sweep "$work/own.yaml" -o "$work/own.$backend.$jobs.db" --jobs $jobs --backend $backend
    test_that "$backend: sweep with $jobs workers" exits 0
    "$p" export "$work/standard.$backend.$jobs.db" >"$work/standard.csv"
    "$p" export "$work/own.$backend.$jobs.db" | sed 's/mykem/mlkem768/g; s/mysig65/mldsa65/g' >"$work/own.csv"
    test_that "$backend: sweep with $jobs workers: as the copied one" same "$work/own.csv" "$work/standard.csv"
  done
done
call sweep "$work/own.yaml" -o "$work/own.native.1.db" --set algorithms.mykem.public_key=1185B
test_that 'another size is another study' ends 2 'The first parameter that differs is algorithms.mykem: {type: kem, title: mykem, public_key: 1184B'
call check "$work/own.yaml"
test_that 'check says what a definition means' says '{type: kem, title: mykem, public_key: 1184B, ciphertext: 1088B, shared_secret: 32B, nist_category: 3, classical_bits: 192, quantum_bits: 96}'
call run "$work/own.yaml" --json
test_that 'so does the JSON' says '"algorithms.mykem": "{type: kem'
call run "$work/own.yaml" --set algorithms.mykem.quantum_bits=0
test_that 'exposed when a quantum computer breaks it' eval "grep -q '^hndl_exposed  *1  *20  *1 ' '$work/out'"
call run "$work/own.yaml"
test_that 'not exposed otherwise' eval "grep -q '^hndl_exposed  *1  *20  *0 ' '$work/out'"
call check "$work/own.yaml" --set platform.responder=epyc-zen5
test_that 'a platform without rows: what to do' ends 2 \
  "--set platform.responder: point 2 (ipsec.kex=mykem, ipsec.auth=mysig65): platform epyc-zen5 states no cost for mykem encaps_full, which this handshake needs; write a row for it into a file of yours, and name it as ./FILE.csv (with a line '# base: NAME' in it) or as {base: NAME, mykem.encaps_full: ./FILE.csv}"
call run "$work/own.yaml" --set 'platform.responder={base: epyc-zen5, mykem.encaps_full: ./mine.csv, mysig65.sign: ./mine.csv, mysig65.verify: ./mine.csv}'
cp "$work/out" "$work/first"
call run "$work/own.yaml"
test_that 'and that is enough' same "$work/out" "$work/first"
call run "$work/plain.yaml" --set platform.responder=./mine.csv
test_that 'a file with rows of an unknown name' ends 2 "column algorithm: found 'mykem', allowed: an algorithm's title, or one of software, qkd, sdn-suite; one of your own is defined in the scenario (algorithms:)"

printf '%s passed, %s failed\n' $passed $failed
[ $failed = 0 ]
