#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `calibrate measure` against `openssl speed` of the same library on the same core, in turns: medians of rounds, ratios of pairs measured
# one after the other. Exit 1 when a pair that is like for like is more than 10 % apart.
# usage: speed_bench.sh [ROUNDS] [CORE]      (default: 5 rounds, core 0; `make bench` builds what it needs)
#
# Ours is the mean of the row a platform file gets (quantiles up to p95, so without preemptions), openssl's is user time by operations.
# Not like for like, and shown for what it is: signatures of RSA-2048 and P-256. Ours sign as TLS does (a new context, SHA-256 over 130
# bytes, RSA with PSS), openssl's take bytes that are not hashed (36 with PKCS#1 v1.5, 20 for ECDSA) in a context reused. For these
# build/calib/test/speed_bench does as openssl does, by our clock and sample plan, and is held to the 10 %.
cd "$(dirname "$0")/../.." || exit 2
rounds=${1:-5} core=${2:-0}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

if ! command -v openssl >/dev/null; then
  echo "speed_bench: no openssl command to compare with (Debian: apt-get install openssl)" >&2
  exit 77
fi

# What is compared: our operation, the algorithm for openssl, its line and field (after cutting at ':'), whether like for like.
cat >"$work/pairs" <<'ROWS'
X25519/derive ecdhx25519 F5 4 1
P-256/derive ecdhp256 F5 4 1
ECDSA-P256/sign ecdsap256 F4 4 0
ECDSA-P256/verify ecdsap256 F4 5 0
plain/ecdsap256/sign ecdsap256 F4 4 1
plain/ecdsap256/verify ecdsap256 F4 5 1
RSA-2048/sign rsa2048 F2 4 0
RSA-2048/verify rsa2048 F2 5 0
plain/rsa2048/sign rsa2048 F2 4 1
plain/rsa2048/verify rsa2048 F2 5 1
ML-KEM-768/keygen ML-KEM-768 F9 3 1
ML-KEM-768/encaps ML-KEM-768 F9 4 1
ML-KEM-768/decaps ML-KEM-768 F9 5 1
ML-DSA-65/sign ML-DSA-65 F10 4 1
ML-DSA-65/verify ML-DSA-65 F10 5 1
ROWS

# Lines "OPERATION mean_ns" of the operations of one algorithm, from the rows of a platform file: straight lines between quantiles.
ours() { # ALGORITHM
  rm -f "$work/ours.csv"
  ./pqnetsim calibrate measure -o "$work/ours.csv" --keep --core "$core" --seconds 2 --ops "$(awk -v a="$1" '$2 == a && $1 !~ /^plain/ { print $1 }' "$work/pairs" | paste -sd,)" \
    >/dev/null 2>"$work/err" || [ -s "$work/ours.csv" ] || return 1
  sed -n 's/^# note: \(OpenSSL [^,]*\),.*/\1/p' "$work/ours.csv" >"$work/library"
  awk -F, '!/^#/ && $1 != "algorithm" { n = split($4, pair, " "); mean = 0
    for (i = 1; i <= n; i++) { split(pair[i], v, ":"); if (i > 1) mean += (v[1] - p) * (v[2] + ns) / 2; p = v[1]; ns = v[2] }
    print $1 "/" $2, mean }' "$work/ours.csv"
  if grep -q "^plain/$1/" "$work/pairs"; then build/calib/test/speed_bench "$1" "$core" | sed "s|^|plain/$1/|"; fi
}
# Lines "OPERATION mean_ns" of openssl.
theirs() { # ALGORITHM
  taskset -c "$core" openssl speed -mr -seconds 1 "$1" 2>/dev/null >"$work/speed" || return 1
  awk -v a="$1" -v file="$work/speed" '$2 == a { while ((getline line <file) > 0) if (split(line, f, ":") && f[1] == "+" $3) { print $1, 1e9 / f[$4]; break }
    close(file) }' "$work/pairs"
}

: >"$work/log"
algorithms=$(awk '!seen[$2]++ { print $2 }' "$work/pairs")
for algorithm in $algorithms; do
  if ! ours "$algorithm" >"$work/a"; then
    echo "left out: $algorithm ($(sed -n 's/^pqnetsim: not measured: [^:]*: //p; $p' "$work/err" | head -n 1))"
    continue
  fi
  if [ "$(cat "$work/library")" != "$(openssl version | cut -d' ' -f1,2)" ]; then
    echo "speed_bench: pqnetsim uses $(cat "$work/library"), the openssl command is $(openssl version): not the same library" >&2
    exit 2
  fi
  for ((round = 1; round <= rounds; round++)); do
    if [ $((round % 2)) = 1 ]; then
      ours "$algorithm" >"$work/a" && theirs "$algorithm" >"$work/b" || exit 1
    else
      theirs "$algorithm" >"$work/b" && ours "$algorithm" >"$work/a" || exit 1
    fi
    sort "$work/a" >"$work/a.sorted"
    sort "$work/b" | join "$work/a.sorted" - >>"$work/log"
  done
done

echo "$(cat "$work/library"), $rounds rounds: median [least..greatest]"
awk '
function median(v, n, i, j, t) {
  for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
  least = v[1]; greatest = v[n]
  return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
NR == FNR { name[++names] = $1; like[$1] = $5; next }
{ a[$1, ++n[$1]] = $2 / 1000; b[$1, n[$1]] = $3 / 1000 }
END {
  for (i = 1; i <= names; i++) {
    k = name[i]
    if (!n[k]) continue
    for (r = 1; r <= n[k]; r++) { x[r] = a[k, r]; y[r] = b[k, r]; q[r] = a[k, r] / b[k, r] }
    mx = median(x, n[k]); my = median(y, n[k]); mq = median(q, n[k])
    shown = k
    sub("^plain/", "as openssl speed: ", shown)
    good = mq > 0.9 && mq < 1 / 0.9
    if (like[k] && !good) bad = 1
    printf "%-34s measure %9.2f us, openssl speed %9.2f us, ratio %.3f [%.3f..%.3f] %s\n", shown, mx, my, mq, least, greatest, \
      !like[k] ? "(not like for like)" : good ? "within 10 %" : "MORE THAN 10 % APART"
  }
  exit bad
}' "$work/pairs" "$work/log"
