#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Checks the CSV files of a data folder (default: calib/data): every row of every file names a source of sources.csv,
# platform files have their columns, their kinds, quantiles that rise, and a base that exists.
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
  platform = index(FILENAME, dir "/platforms/") == 1
}
function read_header(n, i) {
  header = FNR
  width = n
  split("", column)
  for (i = 1; i <= n; i++) column[cell[i]] = i
  if (FILENAME == dir "/sources.csv" && $0 != "id,kind,author,title,year,where,licence,note")
    problem("columns must be id,kind,author,title,year,where,licence,note")
  if (platform && $0 != "algorithm,operation,size_bytes,quantiles_ns,energy_nj,kind,source,family,note")
    problem("columns must be algorithm,operation,size_bytes,quantiles_ns,energy_nj,kind,source,family,note")
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
function check_quantiles(text, n, i, pair, part, p, ns) {
  if (text ~ /^[0-9]+$/) return
  n = split(text, pair, " ")
  for (i = 1; i <= n; i++) {
    if (pair[i] !~ /^(0|1|0\.[0-9]+):[0-9]+$/) { problem("quantiles_ns \"" pair[i] "\" is no p:ns pair"); return }
    split(pair[i], part, ":")
    if (i > 1 && (part[1] + 0 <= p || part[2] + 0 < ns)) { problem("quantiles_ns \"" pair[i] "\" does not rise"); return }
    p = part[1] + 0
    ns = part[2] + 0
  }
  if (n < 2 || pair[1] !~ /^0:/ || pair[n] !~ /^1:/) problem("quantiles_ns must be a whole number or run from p 0 to p 1")
}
function check_row(id) {
  id = cell[column["source"]]
  if (!(id in kind_of)) problem("source \"" id "\" is not in sources.csv")
  else if (kind_of[id] == "user") problem("source \"" id "\" is for users; shipped rows name a source of their own")
  if (!platform) return
  if (cell[1] == "" || cell[2] !~ /^[a-z0-9_]+$/) problem("algorithm or operation is not a name")
  if (cell[3] !~ /^[0-9]+$/) problem("size_bytes \"" cell[3] "\" is no whole number")
  if (cell[5] !~ /^[0-9]*$/) problem("energy_nj \"" cell[5] "\" is no whole number")
  if (!one_of(cell[6], "measured published fitted estimated assumed")) problem("kind \"" cell[6] "\" is not known")
  if (one_of(cell[6], "estimated assumed") && cell[9] == "") problem("an " cell[6] " row must say in note how")
  check_quantiles(cell[4])
  if ((FILENAME, cell[1], cell[2], cell[3]) in stated) problem(cell[1] " " cell[2] " " cell[3] " is already stated in line " stated[FILENAME, cell[1], cell[2], cell[3]])
  stated[FILENAME, cell[1], cell[2], cell[3]] = FNR
}
FNR == 1 { begin_file() }
{ sub(/\r$/, "") }
FNR == 1 { sub(/^\357\273\277/, "") }
/^[ \t]*$/ { next }
!header && /^#/ {
  if ($0 !~ /^# (title|base|cpu|date|note): ./) problem("a remark is \"# key: value\" with key title, base, cpu, date or note")
  if (/^# title:/) title = 1
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
