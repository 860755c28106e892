#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Speed as ratios: native and ns-3 in turns, several rounds, so that a slow moment of the machine meets both.
# usage: bench.sh [ROUNDS]      (5 or more; `make bench` builds what it needs)
cd "$(dirname "$0")/../.." || exit 2
rounds=${1:-5}
work=$(mktemp -d) || exit 2
log=$work/pairs
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

if [ ! -x pqnetsim-ns3 ]; then
  echo "bench: no pqnetsim-ns3 to compare with (configured without ns-3)" >&2
  exit 2
fi

# Median, least and greatest of the numbers on stdin, in FORMAT.
spread() { # FORMAT
  sort -g | awk -v f="$1" '{ v[NR] = $1 } END { m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
    printf f " [" f ".." f "]", m, v[1], v[NR] }'
}

# `sides A B ARGUMENT`: both functions in turns, each round in the other order; lines "a b" of what they print.
sides() {
  round=0
  while [ $round -lt "$rounds" ]; do
    round=$((round + 1))
    if [ $((round % 2)) = 1 ]; then
      a=$("$1" "$3") && b=$("$2" "$3") || exit 1
    else
      b=$("$2" "$3") && a=$("$1" "$3") || exit 1
    fi
    echo "$a $b"
  done >"$log"
}
column() { awk -v c="$1" '{ print $c }' "$log"; }

# Million events a second with N events pending: the last word of the bench's line.
hold_native() { build/sim/core/test/event_bench "$1" | awk '{ print $NF }'; }
hold_ns3() { build/sim/net/test/ns3_hold_bench "$1" | awk '{ print $NF }'; }

# Microseconds per tunnel (no data packets after it) or TLS handshake, from a short and a long call, so that start-up cancels.
tunnel="scenarios/e2-ipsec.yaml --set e2.setup=no --set probe.packets=0"
tls="scenarios/tls-handshake.yaml --set tcp.profile=ns3 --set tls.cert=mldsa65"
nanoseconds_of() { # BACKEND REPLICATIONS WHAT
  begin=$(date +%s%N)
  ./pqnetsim run $3 --backend "$1" --reps "$2" --json >/dev/null 2>&1 || return 1
  echo $(($(date +%s%N) - begin))
}
us_per_run() { # BACKEND FEW MANY WHAT
  if ! few=$(nanoseconds_of "$1" "$2" "$4") || ! many=$(nanoseconds_of "$1" "$3" "$4"); then
    echo "bench: $4 does not run on $1" >&2
    return 1
  fi
  echo "$few $many $2 $3" | awk '{ printf "%.4f\n", ($2 - $1) / ($4 - $3) / 1000 }'
}

# Microseconds of processor time per node of a storm on a gateway that keeps up: of whole runs, and with the program's start (a run
# of one node) taken off. CALLS runs each in a process of its own, so that every node's memory is new.
seconds_of() { # NODES CALLS
  TIMEFORMAT='%U %S'
  { time for ((call = 0; call < $2; call++)); do ./pqnetsim run scenarios/e2-storm.yaml --reps 1 --set e2.nodes="$1" --set gateway.cores=64 >/dev/null 2>&1; done; } 2>&1
}
us_per_node() { # NODES CALLS
  echo "$(seconds_of "$1" "$2") $1 $2" | awk '{ printf "%.2f\n", ($1 + $2) * 1e6 / $3 / $4 }'
}
us_per_node_more() { # NODES CALLS
  echo "$(seconds_of "$1" "$2") $(seconds_of 1 "$2") $1 $2" | awk '{ printf "%.2f\n", ($1 + $2 - $3 - $4) * 1e6 / $5 / $6 }'
}
few_nodes() { us_per_node 1000 20; }
some_nodes() { us_per_node 10000 5; }
many_nodes() { us_per_node 100000 1; }
few_nodes_more() { us_per_node_more 1000 20; }
many_nodes_more() { us_per_node_more 100000 1; }
run_native() { us_per_run native 1000 31000 "$1"; }
run_ns3() { us_per_run ns3 100 1100 "$1"; }

echo "rounds: $rounds; median [least..greatest]; ratios are of pairs measured one after the other"
for n in 10 1000 100000; do
  sides hold_native hold_ns3 $n
  printf 'event queue, N=%s: native %s, ns-3 %s million events/s\n' $n "$(column 1 | spread %.1f)" "$(column 2 | spread %.2f)"
  printf 'event queue vs ns-3 default scheduler, N=%s: %s\n' $n "$(awk '{ print $1 / $2 }' "$log" | spread %.1fx)"
done
sides run_native run_ns3 "$tunnel"
printf 'one tunnel establishment: native %s, ns3 %s us\n' "$(column 1 | spread %.2f)" "$(column 2 | spread %.1f)"
printf 'one tunnel establishment, native vs ns3: %s\n' "$(awk '{ print $2 / $1 }' "$log" | spread %.0fx)"
sides run_native run_ns3 "$tls"
printf 'one TLS handshake without losses: native %s, ns3 %s us\n' "$(column 1 | spread %.2f)" "$(column 2 | spread %.1f)"
printf 'one TLS handshake, native vs ns3: %s\n' "$(awk '{ print $2 / $1 }' "$log" | spread %.0fx)"
sides few_nodes many_nodes -
printf 'a run of a storm, per node: of 1,000 %s, of 100,000 %s us\n' "$(column 1 | spread %.1f)" "$(column 2 | spread %.1f)"
printf 'per node, 100,000 against 1,000: %s\n' "$(awk '{ print $2 / $1 }' "$log" | spread %.2fx)"
sides few_nodes some_nodes -
printf 'per node, 10,000 against 1,000: %s\n' "$(awk '{ print $2 / $1 }' "$log" | spread %.2fx)"
sides few_nodes_more many_nodes_more -
printf 'the same without the start of the program: of 1,000 %s, of 100,000 %s us\n' "$(column 1 | spread %.1f)" "$(column 2 | spread %.1f)"
printf 'without the start, 100,000 against 1,000: %s\n' "$(awk '{ print $2 / $1 }' "$log" | spread %.2fx)"
printf 'store: '
build/output/test/store_bench 20000 10 "$work/study.db"
echo 'calibrate measure against openssl speed:'
calib/test/speed_bench.sh "$rounds" || [ $? = 77 ]
