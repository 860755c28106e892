#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Checks the CSV files of a data folder (default: calib/data): every row of every file names a source of sources.csv,
# platform files have their columns, their kinds, quantiles that rise, a base that exists, and a device where they state cycles.
# Prints FILE:LINE: problem for each; exit 1 if there is any.
# usage: lint_data.sh [DIR]
dir=${1:-$(dirname "$0")/../data}
files=$(find "$dir" -name '*.csv' ! -path "$dir/sources.csv" | LC_ALL=C sort)
if [ ! -r "$dir/sources.csv" ]; then
  echo "$dir/sources.csv:1: is missing"
  exit 1
fi
# shellcheck disable=SC2086 # file names here have no spaces
LC_ALL=C awk -v dir="$dir" '
function problem(text) { print FILENAME ":" FNR ": " text; bad = 1 }

# Splits a CSV line into cell[1..n]; quotes may hold commas and doubled quotes, not line breaks.
function cut(line, n, c, i, quoted) {
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
function begin_file() {
  header = 0
  title = 0
  clocked = 0
  platform = index(FILENAME, dir "/platforms/") == 1
}
function read_header(n, i) {
  header = FNR
  width = n
  split("", column)
  for (i = 1; i <= n; i++) column[cell[i]] = i
  if (FILENAME == dir "/sources.csv" && $0 != "id,kind,author,title,year,where,licence,note")
    problem("columns must be id,kind,author,title,year,where,licence,note")
  if (platform && $0 != NS_COLUMNS && $0 != CYCLE_COLUMNS) problem("columns must be " NS_COLUMNS " or " CYCLE_COLUMNS)
  if (FILENAME == dir "/devices.csv" && $0 != DEVICE_COLUMNS) problem("columns must be " DEVICE_COLUMNS)
  if (platform && !title) problem("the line \"# title: ...\" is missing")
  if (FILENAME != dir "/sources.csv" && !("source" in column)) problem("column source is missing")
}
function read_source() {
  if (cell[1] !~ /^[a-z0-9-]+$/) problem("id \"" cell[1] "\": small letters, digits and - only")
  if (cell[1] in kind_of) problem("id \"" cell[1] "\" is there twice")
  if (!one_of(cell[2], "measurement paper repository standard datasheet thread seed user")) problem("kind \"" cell[2] "\" is not known")
  if (cell[4] == "" || cell[6] == "") problem("title or where is empty")
  kind_of[cell[1]] = cell[2]
}
function check_quantiles(name, text, n, i, pair, part, p, ns) {
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
function check_device() {
  if (cell[1] !~ /^[a-z0-9-]+$/) problem("device \"" cell[1] "\": small letters, digits and - only")
  if (!(cell[2] in unit_of)) problem("quantity \"" cell[2] "\" is not known; clock, voltage, current")
  else if (!one_of(cell[4], unit_of[cell[2]])) problem("unit \"" cell[4] "\" of a " cell[2] " is none of " unit_of[cell[2]])
  if (cell[3] !~ /^[0-9]+(\.[0-9]+)?$/ || cell[3] + 0 <= 0) problem("value \"" cell[3] "\" is no number above 0")
  if (cell[5] == "") problem("condition is empty")
  if ((cell[1], cell[2]) in device_stated) problem(cell[2] " of " cell[1] " is already stated in line " device_stated[cell[1], cell[2]])
  device_stated[cell[1], cell[2]] = FNR
  devices[cell[1]] = 1
}
function check_row(id) {
  id = cell[column["source"]]
  if (!(id in kind_of)) problem("source \"" id "\" is not in sources.csv")
  else if (kind_of[id] == "user") problem("source \"" id "\" is for users; shipped rows name a source of their own")
  if (FILENAME == dir "/devices.csv") check_device()
  if (!platform) return
  if (cell[1] == "" || cell[2] !~ /^[a-z0-9_]+$/) problem("algorithm or operation is not a name")
  if (cell[3] !~ /^[0-9]+$/) problem("size_bytes \"" cell[3] "\" is no whole number")
  if (value("energy_nj") !~ /^[0-9]*$/) problem("energy_nj \"" value("energy_nj") "\" is no whole number")
  if (value("peak_stack_bytes") !~ /^[0-9]*$/) problem("peak_stack_bytes \"" value("peak_stack_bytes") "\" is no whole number")
  if (!one_of(value("kind"), "measured published fitted estimated assumed")) problem("kind \"" value("kind") "\" is not known")
  if (one_of(value("kind"), "estimated assumed") && value("note") == "") problem("an " value("kind") " row must say in note how")
  if ("quantiles_cycles" in column && !clocked) problem("cycles need a line \"# device: ...\"")
  check_quantiles("quantiles_cycles" in column ? "quantiles_cycles" : "quantiles_ns", cell[4])
  if ((FILENAME, cell[1], cell[2], cell[3]) in stated) problem(cell[1] " " cell[2] " " cell[3] " is already stated in line " stated[FILENAME, cell[1], cell[2], cell[3]])
  stated[FILENAME, cell[1], cell[2], cell[3]] = FNR
}
BEGIN {
  NS_COLUMNS = "algorithm,operation,size_bytes,quantiles_ns,energy_nj,kind,source,family,note"
  CYCLE_COLUMNS = "algorithm,operation,size_bytes,quantiles_cycles,peak_stack_bytes,kind,source,family,note"
  DEVICE_COLUMNS = "device,quantity,value,unit,condition,source,note"
  unit_of["clock"] = "GHz MHz kHz Hz"
  unit_of["voltage"] = "V mV uV"
  unit_of["current"] = "A mA uA nA"
}
FNR == 1 { begin_file() }
{ sub(/\r$/, "") }
FNR == 1 { sub(/^\357\273\277/, "") }
/^[ \t]*$/ { next }
!header && /^#/ {
  if ($0 !~ /^# (title|base|cpu|date|note|device): ./) problem("a remark is \"# key: value\" with key title, base, cpu, date, note or device")
  if (/^# title:/) title = 1
  device = $0
  if (sub(/^# device: */, "", device)) {
    clocked = 1
    if (!(device in devices)) problem("device \"" device "\" is not in devices.csv")
  }
  base = $0
  if (sub(/^# base: */, "", base)) {
    file = dir "/platforms/" base ".csv"
    if ((getline text <file) <= 0) problem("base \"" base "\" is not shipped")
    close(file)
  }
  next
}
{ n = cut($0) }
!header { read_header(n); next }
n != width { problem("has " n " cells, the header has " width " columns"); next }
FILENAME == dir "/sources.csv" { read_source(); next }
{ check_row() }
END { exit bad }
' "$dir/sources.csv" $files
