# SPDX-License-Identifier: GPL-3.0-or-later
# Reads calib/data/published_e2.csv and the exported studies; prints published against simulated values, fit and predict
# apart, and what the candidate causes of the seed's extra milliseconds give.

# Cells of a CSV line into c[1..n]; quoted cells may hold commas.
function cells(line, c,    n, cell) {
  n = 0
  while (line != "" || n == 0) {
    if (match(line, /^"([^"]|"")*"/)) {
      cell = substr(line, 2, RLENGTH - 2)
      gsub(/""/, "\"", cell)
    } else {
      match(line, /^[^,]*/)
      cell = substr(line, 1, RLENGTH)
    }
    c[++n] = cell
    line = substr(line, RLENGTH + 1)
    if (line == ",") { c[++n] = ""; break }
    line = substr(line, 2)
  }
  return n
}

function load(study,    file, line, n, i, r) {
  file = folder "/" study ".csv"
  r = 0
  while ((getline line < file) > 0) {
    n = cells(line, row)
    if (r++ == 0) {
      for (i = 1; i <= n; i++) { name = row[i]; sub(/ \[.*\]$/, "", name); column[study, name] = i }
    } else
      for (i = 1; i <= n; i++) value[study, r - 1, i] = row[i]
  }
  close(file)
  if (r < 2) { print "demo: nothing in " file > "/dev/stderr"; exit 1 }
  rows[study] = r - 1
}

# The statistic of a metric at the only point that fits `where` ("axis=value;axis=value").
function lookup(study, metric, stat, where,    r, i, n, parts, pair, fits) {
  n = split(where, parts, ";")
  for (r = 1; r <= rows[study]; r++) {
    if (value[study, r, column[study, "metric"]] != metric) continue
    fits = 1
    for (i = 1; i <= n; i++) {
      split(parts[i], pair, "=")
      if (value[study, r, column[study, pair[1]]] != pair[2]) fits = 0
    }
    if (fits) return value[study, r, column[study, stat]]
  }
  print "demo: no " metric " for " where " in " study > "/dev/stderr"
  exit 1
}

function sort(list, n,    i, k, x) {
  for (i = 2; i <= n; i++) {
    x = list[i]
    for (k = i - 1; k >= 1 && list[k] > x; k--) list[k + 1] = list[k]
    list[k + 1] = x
  }
}

# Rows of one role, by family; a row with configured delay in it shows the error of the rest as well.
function show(role, title,    i, f, families, seen, of, error, rest, errors, n) {
  printf "\n%s\n", title
  families = 0
  for (i = 1; i <= count; i++)
    if (roles[i] == role && !((role, family[i]) in seen)) { seen[role, family[i]] = 1; of[++families] = family[i] }
  for (f = 1; f <= families; f++) {
    printf "  %-52s %10s %10s %8s %16s\n", of[f], "published", "simulated", "error", "beyond the delay"
    n = 0
    for (i = 1; i <= count; i++) {
      if (roles[i] != role || family[i] != of[f]) continue
      error = (simulated[i] / published[i] - 1) * 100
      rest = given[i] > 0 ? sprintf("%+14.1f %%", ((simulated[i] - given[i]) / (published[i] - given[i]) - 1) * 100) : sprintf("%16s", "")
      printf "    %-50s %7.3f ms %7.3f ms %+6.1f %% %s  %s\n", quantity[i], published[i], simulated[i], error, rest, note[i]
      errors[++n] = error < 0 ? -error : error
    }
    sort(errors, n)
    printf "    %d value%s, median error %.1f %%, largest %.1f %%\n", n, n == 1 ? "" : "s", n % 2 ? errors[(n + 1) / 2] : (errors[n / 2] + errors[n / 2 + 1]) / 2, errors[n]
  }
}

function cause(kex, name, mtu, metric) {
  return lookup("e2-causes", metric, "mean", "cause=" name ";ipsec.kex=" kex ";path.mtu=" mtu)
}

# How much more than X25519 a key exchange takes when `name` is all there is.
function added(kex, name, metric) {
  return cause(kex, name, 1500, metric) - cause("x25519", name, 1500, metric)
}

# A difference below half a microsecond is rounding of printed values.
function clean(x) { return x > -0.0005 && x < 0.0005 ? 0 : x }

function show_causes(    k, kex, kexes, published_ms) {
  printf "\nSEED: what each candidate cause alone adds to X25519's set-up, ms\n"
  printf "%-10s %10s %11s %14s %13s %13s %10s %14s\n", "", "published", "arithmetic", "fragmentation", "round trip", "VM path", "daemon", "cost per byte"
  split("mlkem768 mlkem1024", kexes, " ")
  split("3.0 4.7", published_ms, " ")
  for (k = 1; k <= 2; k++) {
    kex = kexes[k]
    printf "%-10s %10.1f %11.3f %14.3f %13.3f %13.3f %10.3f %14.3f\n", kex, published_ms[k],
      added(kex, "arithmetic", "tunnel_setup"),
      cause(kex, "arithmetic", 1500, "tunnel_setup") - cause(kex, "arithmetic", 9000, "tunnel_setup"),
      cause("x25519-ke1_" kex, "vm_path", 1500, "tunnel_setup") - cause(kex, "vm_path", 1500, "tunnel_setup"),
      clean(added(kex, "vm_path", "tunnel_setup") - added(kex, "arithmetic", "tunnel_setup")),
      clean(added(kex, "daemon", "tunnel_setup") - added(kex, "arithmetic", "tunnel_setup")),
      added(kex, "per_byte", "tunnel_setup") - added(kex, "daemon", "tunnel_setup")
  }
  print "arithmetic: all three KEM operations against both peers' X25519, on the Xeon. fragmentation: MTU 1500 against 9000."
  print "round trip: the same KEM in an IKE_INTERMEDIATE of its own, over the VM path. VM path and daemon: what they add to the"
  print "difference (a latency per datagram and a cost per message are the same for every key exchange)."
  print "Arithmetic explains under 0.2 ms; only a cost that grows with the bytes, or extra round trips, reaches milliseconds."
}

BEGIN { n = split(studies, list, " "); for (i = 1; i <= n; i++) load(list[i]) }
NR == 1 { n = cells($0, c); for (i = 1; i <= n; i++) at[c[i]] = i; next }
{
  cells($0, c)
  count++
  quantity[count] = c[at["quantity"]]; family[count] = c[at["family"]]; given[count] = c[at["given_ms"]]; roles[count] = c[at["role"]]; note[count] = c[at["note"]]
  published[count] = c[at["published"]]
  simulated[count] = lookup(c[at["scenario"]], c[at["metric"]], c[at["stat"]], c[at["where"]])
  if (c[at["minus_where"]] != "") simulated[count] -= lookup(c[at["scenario"]], c[at["metric"]], c[at["stat"]], c[at["minus_where"]])
}
END {
  show("predict", "PREDICT: not used to set any parameter")
  show("fit", "FIT: used to set the platform's software costs")
  show_causes()
}
