#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# run --sensitivity: on a chain of constants the change of each row is known by hand.
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
# call METRIC ARGS...: ranks on the chain below
call() {
  metric=$1
  shift
  status=0
  "$p" run "$work/chain.yaml" --sensitivity "$metric" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
}
says() { [ "$status" = 0 ] && grep -q -e "$1" "$work/out"; }
silent_about() { [ "$status" = 0 ] && ! grep -q -e "$1" "$work/out"; }
refuses() { [ "$status" = 2 ] && [ ! -s "$work/out" ] && grep -q -e "$1" "$work/err"; }
# change PLATFORM ALGORITHM OPERATION: the table's last but one column
change() { awk -v p="$1" -v a="$2" -v o="$3" '$1 ~ /^[0-9]+$/ && index($0, p) && index($0, a) && index($0, " " o " ") { print $(NF - 1) }' "$work/out"; }
moves() { [ "$status" = 0 ] && [ "$(change "$1" "$2" "$3")" = "$4" ]; }

# 1 ms a row but the hash of the far side, which nothing uses.
platform() { # FILE KIND_OF_KEYGEN
  cat >"$work/$1.csv" <<END
# title: $1
algorithm,operation,quantiles_ns,kind,source,note
X25519,keygen,1000000,$2,own,by hand
X25519,derive_full,1000000,published,own,by hand
AES-256-GCM,seal,1000000,estimated,own,by hand
AES-256-GCM,open,1000000,estimated,own,by hand
SHA-256,hash,1000000,assumed,own,by hand
END
}
platform near measured
platform far assumed
cat >"$work/chain.yaml" <<'END'
scenario: e2
replications: 3
platform: {initiator: ./near.csv, responder: ./far.csv}
path: {delay: 5ms}
ipsec: {kex: x25519, auth: psk}
probe: {packets: 0}
e2: {setup: no}
sweep:
  - path.delay: [1ms, 2ms]
END

# ike_establish: request out, responder's keygen and derive_full, response, initiator's derive_full, IKE_AUTH. The
# initiator's keygen lies before the clock. +10 % of 1 ms is 0.1 ms each.
call ike_establish
test_that 'keygen of the responder, once' moves ./far.csv X25519 keygen 0.1000
test_that 'derive_full of the responder, once' moves ./far.csv X25519 derive_full 0.1000
test_that 'derive_full of the initiator, once' moves ./near.csv X25519 derive_full 0.1000
test_that 'keygen of the initiator is before the clock' moves ./near.csv X25519 keygen ''
test_that 'hidden rows are summed up' says '^and 1 row drawn from, without effect on it$'
test_that 'rows that are not drawn from are not counted' silent_about 'SHA-256'
test_that 'all of a kind at once' says '^published rows together (2, all at once) move it by 0.2000 ms '
test_that 'measured ones move nothing' says '^measured rows together (1, all at once) move it by 0 ms '
test_that 'what to measure first' says '^Measure first: X25519 keygen of ./far.csv (responder; assumed): 10 % of it move ike_establish.mean by 0.1000 ms'

# tunnel_setup begins before the initiator's keygen.
call tunnel_setup.p50
test_that 'a hidden row counts where the clock has it' moves ./near.csv X25519 keygen 0.1000

# One platform for both sides: the row is used twice, once by each.
call ike_establish --set platform.responder=./near.csv
test_that 'a row used twice counts twice' moves ./near.csv X25519 derive_full 0.2000
test_that 'keygen counts once: the other one is hidden' moves ./near.csv X25519 keygen 0.1000
test_that 'both roles are named' says 'initiator, responder'
test_that 'nothing weak' says '^No assumed or estimated row moves it'

# A base: its rows are moved once for both platforms that have them, and said to stand in it.
printf '# title: heir\n# base: ./near.csv\nalgorithm,operation,quantiles_ns,kind,source,note\nX25519,keygen,2000000,assumed,own,by hand\n' >"$work/heir.csv"
call tunnel_setup --set platform.responder=./heir.csv
test_that 'an inherited row is its base'"'"'s' moves ./near.csv X25519 derive_full 0.2000
test_that 'a row of the heir' moves ./heir.csv X25519 keygen 0.2000

# A group with a platform of its own, half of the fleet; a core for each node, so that none waits for another.
call ike_establish@rural --set groups.rural.share=50% --set groups.rural.platform.responder=./heir.csv --set groups.city.share=50% --set e2.nodes=4 \
  --set gateway.cores=4
test_that 'groups: the row of a group' moves ./heir.csv X25519 keygen 0.2000
test_that 'groups: the role says whose' says 'responder@rural'
test_that 'groups: what another group draws from has no effect' moves ./far.csv X25519 keygen ''

# Common random numbers: a loss of 10 % leaves the change of a constant row exact, whatever it adds in retransmissions. The
# responder's work is hidden where its response is lost and a timer runs meanwhile: in one replication of these 50.
call ike_establish.mean --set path.loss=10% --reps 50 --seed 3
test_that 'loss does not blur the change' moves ./near.csv X25519 derive_full 0.10000
test_that 'work behind a retransmission timer counts zero' moves ./far.csv X25519 keygen 0.09800
cp "$work/out" "$work/first"
call ike_establish.mean --set path.loss=10% --reps 50 --seed 3
test_that 'a second call prints the same bytes' cmp -s "$work/first" "$work/out"

call ike_establish --json
test_that 'JSON: value of the metric' says '"metric": "ike_establish", "stat": "mean", "unit": "ms",.*"value": 23.00'
test_that 'JSON: a row' says '"platform": "./far.csv", "algorithm": "X25519", "operation": "keygen", "sizes": 1, "kind": "assumed", "source": "own", "median_us": 1000, "largest_size_us": null, "change": 0.1,'
test_that 'JSON: the kinds' says '{"kind": "published", "rows": 2, "change": 0.2,'
test_that 'JSON: what to measure first is a rank' says '"measure_first": [1-9]'
call success
test_that 'a share without any effect' says '^4 rows drawn from, without effect on it$'

call ike_estalish
test_that 'unknown metric' refuses "no metric ike_estalish; .*did you mean 'ike_establish'"
call ike_establish.p51
test_that 'unknown statistic' refuses 'no statistic p51; there are: mean sd'
call ike_init --set ipsec.kex=none
test_that 'a metric that this run has not' refuses 'this run has no ike_init'
call ike_init --set path.loss=100%
test_that 'a metric that always failed' refuses 'all 3 of ike_init failed'
call ike_init.ci95 --reps 1
test_that 'an interval from one replication' refuses 'ike_init.ci95 has no value with 1 samples in 1 replication'
if [ -x ./pqnetsim-ns3 ]; then
  call ike_init --backend ns3
  test_that 'ns3' refuses 'found --backend ns3, allowed native'
fi

printf '%s passed, %s failed\n' $passed $failed
[ $failed = 0 ]
