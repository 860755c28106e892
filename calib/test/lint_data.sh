#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Checks the CSV files of a data folder (default: calib/data). Every file is one of those listed in BEGIN below, by name and
# columns; every row names a source of sources.csv, in its column `source` or in the line `# source: ID` of its file; cells
# that must hold something or a number do; no path of a machine is left in. Platform files also have kinds, quantiles that
# rise, and a base that exists.
# Prints FILE:LINE: problem for each; exit 1 if there is any. Sources that no row names are warned of on stderr.
# usage: lint_data.sh [DIR]
dir=${1:-$(dirname "$0")/../data}
files=$(find "$dir" -name '*.csv' ! -path "$dir/sources.csv" | LC_ALL=C sort)
if [ ! -r "$dir/sources.csv" ]; then
  echo "$dir/sources.csv:1: is missing"
  exit 1
fi
# shellcheck disable=SC2086 # file names here have no spaces
LC_ALL=C awk -v dir="$dir" '
# A kind of file: its name below the folder (* is any name), its columns in any order, the keys of its `# key: value` lines.
# NAME! holds something in every row, NAME# a number; NAME? may be left out; ... allows further columns.
function known(name, columns, keys) {
  kinds++
  gsub(/\./, "\\.", name)
  gsub(/\*/, "[^/]*", name)
  pattern[kinds] = "^" name "$"
  columns_of[kinds] = columns
  keys_of[kinds] = keys
}
BEGIN {
  known("sources.csv", "id! kind! author title! year where! licence note")
  known("platforms/*.csv", "algorithm! operation! size_bytes quantiles_ns? quantiles_cycles? energy_nj? peak_stack_bytes? kind! source! family note", "title base cpu date note device tls-stack")
  known("devices.csv", "device! quantity! value# unit! condition! source! note", "note")
  known("validation/*.csv", "id! quantity! scenario settings minus metric stat published# unit given? tolerance? role! source! note", "title note")
  known("validation/page/contradictions.csv", "number# contradiction! says! cannot! source!")
  known("validation/page/costs.csv", "id! unit! platform! operations! source!")
  known("validation/page/runs.csv", "id! quantity! scenario! settings minus metric! stat! published unit! source!", "title")
  known("validation/page/tested.csv", "what! values# test! source!")
  known("validation/page/unmodelled.csv", "family! values# holds! source!")

  known("measured/crypto/ops_x86.csv", "algorithm! operation! size_bytes# samples# batch# min_ns# p5_ns# p25_ns# median_ns# mean_ns# p75_ns# p95_ns# p99_ns# " \
    "max_ns# sd_ns# cpu! library! note", "source")
  known("measured/crypto/ops_x86_botan371.csv", "algorithm! operation! ops_per_s# ms_per_op# cycles_per_op# cpu! library!", "source")
  known("measured/tls/tls_truth.csv", "section! server_groups client_groups! auth! cert! chain_intermediates# mode! nodelay# path! rtt_ms# loss initcwnd_srv# " \
    "rate_mbps n# fails CH HRR_SH CH2 SH EE CertReq Cert_s CV_s Fin_s Cert_c CV_c Fin_c NST_total c2s_payload s2c_payload c2s_segs s2c_segs " \
    "c2s_ip_pkts s2c_ip_pkts c2s_ip_bytes s2c_ip_bytes flights tcp_med_us hs_min_us hs_p5_us hs_p25_us hs_med_us hs_mean_us hs_p75_us hs_p95_us " \
    "hs_p99_us hs_max_us hs_sd_us tls_med_us req_med_us req_mean_us req_p95_us note", "source")
  known("measured/tls/tls_drop.csv", "cert! chain_intermediates# group! rtt_ms# dropped! dropped_packet hs_ms_rep1# hs_ms_rep2# hs_ms_rep3# " \
    "req_ms_rep1# req_ms_rep2# req_ms_rep3#", "source")
  known("measured/tls/tls_cpu.csv", "cert! chain_intermediates# group! auth! mode! threads# n# wall_s# handshakes_per_s# server_cpu_us_per_hs# " \
    "client_cpu_us_per_hs#", "source")
  known("measured/tls/tls_residual.csv", "cert! group! measured_tls_med_us# measured_tls_mean_us# keygen_us# server_kex_us# client_kex_us# sign_us# verify_x3_us# " \
    "sum_of_op_medians_us# residual_us# residual_vs_mean_us#", "source")
  known("measured/http2/h2_truth.csv", "section! tool! group! cert! chain_intermediates# auth! rtt_ms# conn! n# c2s_payload_B s2c_payload_B c2s_data_segs " \
    "s2c_data_segs c2s_ip_pkts s2c_ip_pkts c2s_ip_bytes s2c_ip_bytes tcp_med_us appconnect_med_us ttfb_med_us total_min_us total_p25_us total_med_us " \
    "total_mean_us total_p75_us total_p95_us total_max_us note", "source")
  known("measured/http2/sidecar_truth.csv", "deployment! proxy! policy! group cert chain nodelay rtt_ms# n quantity! min p5 p25 median mean# p75 p95 max iqr cv " \
    "unit! note", "source")
  known("measured/ike/ike_truth.csv", "section! ike! kex! auth! chain# childless fragment_size rtt_ms# loss n fails exchange! message_id direction! " \
    "ike_messages udp_payload_B ip_packets ip_bytes max_ip_pkt retransmits time_min_us time_p25_us time_med_us time_mean_us time_p75_us time_p95_us " \
    "time_max_us note", "source")
  known("measured/sctp/sctp_truth.csv", "row# section! quantity! value min max rto_initial rto_min rto_max init_max init_timeout association_max path_max " \
    "heartbeat rtt sack_delay sack_every gap size count nodelay unordered loss lib! kind! detail! unit n p5 p25 median mean p75 p95 p99 config! note", "source")
  known("measured/e2/e2ap_sizes_flexric.csv", "message! config e2sm_header_bytes e2sm_msg_bytes e2ap_pdu_bytes#", "source")
  known("measured/sbi/sbi_calls_open5gs.csv", "seq# client! server! operation! procedure! req_HEADERS_bytes# req_DATA_bytes# resp_HEADERS_bytes# " \
    "resp_DATA_bytes# start_s# latency_ms_incl_nested# source!")
  known("measured/sbi/sbi_calls_free5gc.csv", "seq# client! server! operation! procedure! req_HEADERS_bytes req_DATA_bytes resp_HEADERS_bytes resp_DATA_bytes " \
    "start_s latency_ms_incl_nested source! version! evidence!")
  known("measured/sbi/sbi_calls_free5gc_detail.csv", "version! seq client! server! operation! procedure! status tcp_stream# h2_stream# new_tcp_conn# " \
    "syn_to_req_ms latency_to_resp_HEADERS_ms latency_to_last_DATA_ms self_ms_excl_nested path! source!")

  known("published/network/published_network.csv", "id! area! source! condition! quantity! value# unit! spread verified!")
  known("published/results/published_results.csv", "paper! quantity! config value! unit source! place! verified!")
  known("published/devices/nrf52840.csv", "quantity! value! unit conditions source! place! verified!")
  known("published/devices/pqm4_cycles.csv", "scheme! op! cycles_mean cycles_min cycles_max impl! executions stack_bytes hash_pct ms_at_64MHz_or_measured# " \
    "verified! source! place!")
}

function problem(text) { print FILENAME ":" FNR ": " text; bad = 1 }

# Splits a CSV line into cell[1..n]; quotes may hold commas and doubled quotes, not line breaks.
function cut(line, n, c, i, quoted) {
  if (line !~ /"/) return split(line, cell, ",")
  split("", cell)
  n = 1
  for (i = 1; i <= length(line); i++) {
    c = substr(line, i, 1)
    if (c == "\"" && quoted && substr(line, i + 1, 1) == "\"") { cell[n] = cell[n] c; i++ }
    else if (c == "\"") quoted = !quoted
    else if (c == "," && !quoted) n++
    else cell[n] = cell[n] c
  }
  if (quoted) problem("a quote is never closed")
  return n
}
function one_of(text, list) { return index(" " list " ", " " text " ") > 0 && text !~ / / && text != "" }
function begin_file(name, i) {
  header = 0
  split("", remark)
  split("", column)
  name = substr(FILENAME, length(dir) + 2)
  for (kind = 1; kind <= kinds && name !~ pattern[kind]; kind++);
  if (kind > kinds) problem("is no file that lint_data.sh knows: add its name and columns there and to README.md")
  is_sources = name == "sources.csv"
  is_platform = name ~ /^platforms\//
  is_devices = name == "devices.csv"
}
function read_remark(key, file, text) {
  key = $0
  if (!sub(/^# /, "", key) || !sub(/: +[^ ].*$/, "", key) || !one_of(key, keys_of[kind])) {
    problem("a remark is \"# key: value\" with key " (keys_of[kind] != "" ? keys_of[kind] : "(none here)"))
    return
  }
  remark[key] = $0
  sub(/^# [a-z]+: */, "", remark[key])
  if (key == "source") check_source(remark[key])
  if (key == "device" && !(remark[key] in devices)) problem("device \"" remark[key] "\" is not in devices.csv")
  if (key != "base") return
  file = dir "/platforms/" remark[key] ".csv"
  if ((getline text <file) <= 0) problem("base \"" remark[key] "\" is not shipped")
  close(file)
}
function read_header(n, i, m, want, name, mark, open, missing) {
  header = FNR
  width = n
  split("", must)
  for (i = 1; i <= n; i++) {
    if (cell[i] in column) problem("column " cell[i] " is there twice")
    column[cell[i]] = i
  }
  m = split(columns_of[kind], want, " ")
  split("", named)
  for (i = 1; i <= m; i++) {
    if (want[i] == "...") { open = 1; continue }
    name = want[i]
    mark = substr(name, length(name))
    if (mark ~ /[!#?]/) name = substr(name, 1, length(name) - 1)
    named[name] = 1
    if (name in column && mark ~ /[!#]/) must[name] = mark
    else if (!(name in column) && mark != "?") problem("column " name " is missing")
  }
  for (i = 1; i <= n; i++) if (!open && !(cell[i] in named)) problem("column \"" cell[i] "\" is not known here")
  if (is_platform) check_platform_header()
  if (!is_sources && !("source" in column) && !("source" in remark)) problem("neither a column source nor a line \"# source: ID\"")
}
function check_platform_header() {
  if (!("title" in remark)) problem("the line \"# title: ...\" is missing")
  if (("quantiles_ns" in column) == ("quantiles_cycles" in column)) problem("one of the columns quantiles_ns and quantiles_cycles must be there")
  if ("quantiles_cycles" in column && !("device" in remark)) problem("cycles need a line \"# device: ...\"")
}
function check_source(id) {
  if (!(id in kind_of)) problem("source \"" id "\" is not in sources.csv")
  else if (kind_of[id] == "user") problem("source \"" id "\" is for users; shipped rows name a source of their own")
  used[id] = 1
}
function check_cells(n, i, name) {
  for (name in must) {
    if (cell[column[name]] == "") problem("column " name " is empty")
    else if (must[name] == "#" && cell[column[name]] !~ /^[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?$/)
      problem("column " name ": \"" cell[column[name]] "\" is no number")
  }
  for (i = 1; i <= n; i++) if (tolower(cell[i]) ~ /^[-+]?(nan|inf|infinity)$/) problem("\"" cell[i] "\" is no value")
}
function check_id(id) {
  if ((FILENAME, id) in id_line) problem("id \"" id "\" is there twice, in line " id_line[FILENAME, id] " too")
  id_line[FILENAME, id] = FNR
}
function read_source(id) {
  id = cell[column["id"]]
  if (id !~ /^[a-z0-9-]+$/) problem("id \"" id "\": small letters, digits and - only")
  if (!one_of(cell[column["kind"]], "measurement paper repository standard datasheet thread page seed user"))
    problem("kind \"" cell[column["kind"]] "\" is not known")
  kind_of[id] = cell[column["kind"]]
}
function check_quantiles(name, text, n, i, pair, part, p, ns) {
  text = cell[column[name]]
  if (text ~ /^[0-9]+$/) return
  n = split(text, pair, " ")
  for (i = 1; i <= n; i++) {
    if (pair[i] !~ /^(0|1|0\.[0-9]+):[0-9]+$/) { problem(name " \"" pair[i] "\" is no " (name == "quantiles_ns" ? "p:ns" : "p:cycles") " pair"); return }
    split(pair[i], part, ":")
    if (i > 1 && (part[1] + 0 <= p || part[2] + 0 < ns)) { problem(name " \"" pair[i] "\" does not rise"); return }
    p = part[1] + 0
    ns = part[2] + 0
  }
  if (n < 2 || pair[1] !~ /^0:/ || pair[n] !~ /^1:/) problem(name " must be a whole number or run from p 0 to p 1")
}
function value(name) { return name in column ? cell[column[name]] : "" }
function check_device(device, quantity, unit, amount) {
  device = value("device")
  quantity = value("quantity")
  unit = value("unit")
  amount = value("value")
  if (device !~ /^[a-z0-9-]+$/) problem("device \"" device "\": small letters, digits and - only")
  if (!(quantity in unit_of)) problem("quantity \"" quantity "\" is not known; clock, voltage, current")
  else if (!one_of(unit, unit_of[quantity])) problem("unit \"" unit "\" of a " quantity " is none of " unit_of[quantity])
  if (amount + 0 <= 0) problem("value \"" amount "\" is no number above 0")
  if ((device, quantity) in device_stated) problem(quantity " of " device " is already stated in line " device_stated[device, quantity])
  device_stated[device, quantity] = FNR
  devices[device] = 1
}
function check_platform(algorithm, operation, size, row_kind) {
  algorithm = cell[column["algorithm"]]
  operation = cell[column["operation"]]
  size = cell[column["size_bytes"]]
  row_kind = cell[column["kind"]]
  if (operation !~ /^[a-z0-9_]+$/) problem("operation is not a name")
  if (size !~ /^[0-9]+$/) problem("size_bytes \"" size "\" is no whole number")
  if (value("energy_nj") !~ /^[0-9]*$/) problem("energy_nj \"" value("energy_nj") "\" is no whole number")
  if (value("peak_stack_bytes") !~ /^[0-9]*$/) problem("peak_stack_bytes \"" value("peak_stack_bytes") "\" is no whole number")
  if (!one_of(row_kind, "measured published fitted estimated assumed")) problem("kind \"" row_kind "\" is not known")
  if (one_of(row_kind, "estimated assumed") && cell[column["note"]] == "") problem("an " row_kind " row must say in note how")
  check_quantiles("quantiles_cycles" in column ? "quantiles_cycles" : "quantiles_ns")
  if ((FILENAME, algorithm, operation, size) in stated)
    problem(algorithm " " operation " " size " is already stated in line " stated[FILENAME, algorithm, operation, size])
  stated[FILENAME, algorithm, operation, size] = FNR
}
BEGIN {
  unit_of["clock"] = "GHz MHz kHz Hz"
  unit_of["voltage"] = "V mV uV"
  unit_of["current"] = "A mA uA nA"
}
FNR == 1 { begin_file() }
kind > kinds { next }
{ sub(/\r$/, "") }
FNR == 1 { sub(/^\357\273\277/, "") }
/(^|[^A-Za-z0-9_.-])\/(home|root|tmp|work|mnt|srv|Users)\// { problem("holds a path of somebody\047s machine") }
/^[ \t]*$/ { next }
!header && /^#/ { read_remark(); next }
{ n = cut($0) }
!header { read_header(n); next }
n != width { problem("has " n " cells, the header has " width " columns"); next }
{ check_cells(n) }
"id" in column { check_id(cell[column["id"]]) }
is_sources { read_source(); next }
"source" in column { check_source(cell[column["source"]]) }
is_platform { check_platform() }
is_devices { check_device() }
END {
  sources = dir "/sources.csv"
  for (id in kind_of)
    if (!(id in used) && kind_of[id] != "user") print sources ":" id_line[sources, id] ": warning: no row names source \"" id "\"" | "sort -t: -k2n >&2"
  exit bad
}
' "$dir/sources.csv" $files
