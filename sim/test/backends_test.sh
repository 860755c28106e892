#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every shipped scenario over datagrams on both backends: each metric of each point must agree within 50 us (times), or exactly (counts,
# bytes, shares). Draws are keyed, so the lossy points are compared as well. TCP is each backend's own: models/domain/test/tls_ns3_test.c.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
[ -x "$top/pqnetsim-ns3" ] || { echo "built without ns-3: backends not compared"; echo "0 passed, 0 failed"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
# Fleets take ns-3 long: one replication, and loops for a while only.
shorter() { # SCENARIO
  case $1 in
  e2-loops) echo "--reps 1 --set duration=6s" ;;
  e2-loops-limit) echo "--reps 1 --set duration=1500ms --set kpm.period=500ms" ;;
  e2-storm | e2-migration) echo "--reps 1" ;;
  *) echo "--reps 5" ;;
  esac
}
for scenario in "$top"/scenarios/e2-*.yaml; do
  name=$(basename "$scenario" .yaml)
  for backend in native ns3; do
    "$top/pqnetsim" sweep "$scenario" -o "$work/$name-$backend.db" --backend $backend $(shorter "$name") --jobs 2 >/dev/null 2>"$work/messages" ||
      { cat "$work/messages"; exit 1; }
    "$top/pqnetsim" export "$work/$name-$backend.db" >"$work/$backend.csv"
  done
  # Column by column: labels equal, numbers within 0.05 ms where the row's unit is ms, equal otherwise.
  if awk -F, '
    NR == FNR { line[FNR] = $0; rows = FNR; next }
    FNR == 1 { if ($0 != line[1]) { print "headers differ"; bad = 1 }; for (i = 1; i <= NF; i++) if ($i == "unit") unit = i; next }
    {
      split(line[FNR], other, ",")
      for (i = 1; i <= NF; i++) {
        if ($i == other[i]) continue
        d = $i - other[i]
        if ($unit != "ms" || $i == "" || other[i] == "" || d > 0.05 || d < -0.05) { print "native " line[FNR]; print "ns3    " $0; bad = 1; break }
      }
    }
    END { if (rows < 2 || FNR != rows) { print "rows differ: " rows " and " FNR; bad = 1 }; exit bad }' "$work/native.csv" "$work/ns3.csv"; then
    passed=$((passed + 1))
  else
    echo "$name: backends differ"
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
