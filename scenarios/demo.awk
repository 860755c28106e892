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

function show(role, title,    i, error, sum, within, most) {
  printf "\n%s\n%-50s %10s %10s %8s\n", title, "quantity", "published", "simulated", "error"
  sum = 0; within = 0; most = 0
  for (i = 1; i <= count; i++) {
    if (roles[i] != role) continue
    error = (simulated[i] / published[i] - 1) * 100
    printf "%-50s %7.3f ms %7.3f ms %+7.1f %%  %s\n", quantity[i], published[i], simulated[i], error, note[i]
    sum++
    if (error < 0) error = -error
    if (error <= 3) within++
    if (error > most) most = error
  }
  printf "%d values, %d within 3 %%, largest error %.1f %%\n", sum, within, most
}

function cause(kex, name, mtu, part) {
  return lookup("e2-causes", part == "" ? "ike_init" : part, "mean", "cause=" name ";ipsec.kex=" kex ";path.mtu=" mtu)
}

function show_causes(    k, kex, published, base, whole) {
  printf "\nSeed study: what each candidate cause alone adds to X25519's time, ms\n"
  printf "%-11s %9s %18s %18s %18s %18s %18s\n", "", "published", "KEM arithmetic", "IP fragmentation", "extra round trip", "VM path", "daemon"
  split("mlkem768 mlkem1024", kexes, " ")
  split("3.0 4.7", publishes, " ")
  for (k = 1; k <= 2; k++) {
    kex = kexes[k]
    printf "%-11s %9.1f %18.3f %18.3f %18.3f %18.3f %18.3f\n", kex, publishes[k],
      cause(kex, "arithmetic", 1500) - cause("x25519", "arithmetic", 1500),
      cause(kex, "arithmetic", 1280) - cause(kex, "arithmetic", 1500),
      cause("x25519-ke1_" kex, "vm_path", 1500, "ike_establish") - cause(kex, "vm_path", 1500, "ike_establish"),
      cause(kex, "vm_path", 1500) - cause("x25519", "vm_path", 1500),
      cause(kex, "daemon", 1500) - cause("x25519", "daemon", 1500)
  }
  print "Extra round trip: RFC 9370's IKE_INTERMEDIATE over the testbed's virtual path, against the same KEM in IKE_SA_INIT."
  print "IP fragmentation: MTU 1280 instead of 1500, so that IKE_SA_INIT is cut on the wire."
  print "The paper ascribes the difference to computation; on its CPU class arithmetic explains under 0.2 ms of it."
}

BEGIN { n = split(studies, list, " "); for (i = 1; i <= n; i++) load(list[i]) }
NR == 1 { n = cells($0, c); for (i = 1; i <= n; i++) at[c[i]] = i; next }
{
  cells($0, c)
  count++
  quantity[count] = c[at["quantity"]]; roles[count] = c[at["role"]]; note[count] = c[at["note"]]
  published[count] = c[at["published"]]
  simulated[count] = lookup(c[at["scenario"]], c[at["metric"]], c[at["stat"]], c[at["where"]])
  if (c[at["minus_where"]] != "") simulated[count] -= lookup(c[at["scenario"]], c[at["metric"]], c[at["stat"]], c[at["minus_where"]])
}
END {
  show("predict", "PREDICT: not used to set any parameter")
  show("fit", "FIT: used to set the platform's software costs")
  show_causes()
}
