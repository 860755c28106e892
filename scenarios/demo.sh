#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# make demo: sweeps the shipped E2 studies into output/demo/, draws them and prints published against simulated values.
#
# usage: scenarios/demo.sh [PROGRAM [FOLDER]]        from the top of a checkout
set -eu
program=${1:-./pqnetsim} out=${2:-output/demo}
here=$(dirname "$0")
mkdir -p "$out"

for study in e2-ipsec e2-causes e2-strongswan e2-fragmentation e2-rtt e2-loops e2-loops-limit e2-storm e2-migration; do
  # Yesterday's demo of another version would be refused, not mixed with today's.
  rm -f "$out/$study.db"
  "$program" sweep "$here/$study.yaml" -o "$out/$study.db" >"$out/$study.log"
  "$program" export "$out/$study.db" >"$out/$study.csv"
done

plot() { # FIGURE STUDY arguments
  figure=$1 study=$2
  shift 2
  "$program" plot "$out/$study.db" -o "$out/$figure.svg" "$@"
  "$program" plot "$out/$study.db" -o "$out/$figure.png" "$@"
}
plot e2-ike-init e2-ipsec --kind bar --y ike_init.mean --x ipsec.kex --by testbed
plot e2-breakdown e2-ipsec --kind breakdown --y tunnel_setup --x ipsec.kex --where testbed=oran
plot e2-data-latency e2-ipsec --kind bar --y data_latency.mean --x ipsec.kex --by testbed
plot e2-causes e2-causes --kind bar --y ike_establish.mean --x ipsec.kex --by cause --where path.mtu=1500B
plot e2-rtt e2-rtt --kind line --y ike_establish.p50 --x path.delay --by ipsec.kex --where path.loss=0%
plot e2-loss e2-rtt --kind line --y ike_establish.mean --x path.delay --by ipsec.kex --where path.loss=3%
plot e2-loops-limit e2-loops-limit --y deadline_miss --x e2.nodes --by condition
plot e2-storm e2-storm --y recovered_95 --x e2.nodes --by suite
plot e2-migration e2-migration --kind bar --y hndl_exposed --x stage

printf '\nSEED: Towards Quantum-Safe O-RAN, published against simulated\n'
"$program" validate --set oran-e2 --all
printf '\nIts extra milliseconds: set-up with each candidate cause alone, ms (arithmetic: the Xeon and the wires; the others add to it)\n'
"$program" show "$out/e2-causes.db" tunnel_setup.mean --where path.mtu=1500B
printf '\nALL: everything published or measured that the models can answer\n'
"$program" validate -o "$out/validation.png" | tee "$out/validation.txt"
echo
echo "studies and plots: $out (open validation.png, e2-ike-init.svg, e2-causes.svg, e2-rtt.svg, e2-storm.svg, e2-loops-limit.svg)"
