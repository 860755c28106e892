#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Checks what the compiler does not: who includes whom, one foreign library in one file, no circles, licence lines,
# purpose blocks, calls that are not wanted. Prints FILE:LINE: offence, then a count; exit 1 if there is any.
# shellcheck disable=SC2086,SC2129 # file names here have no spaces
cd "$(dirname "$0")/../.." || exit 2
found=$(mktemp) || exit 2
trap 'rm -f "$found"' EXIT
trap 'exit 1' HUP INT TERM

sources=$(find sim models calib output -name '*.[ch]' -o -name '*.cc' | LC_ALL=C sort)
scripts="configure Makefile $(find sim models calib output scenarios .ci -name '*.sh' -o -name '*.awk' -o -path '.ci/run' | LC_ALL=C sort)"

LC_ALL=C awk '
function rule(who, whom) { may[who] = whom }
function library(header, files) { owner[header] = files }

# The folder whose rule holds for a file; tests follow the folder they test.
function place(file, dir) {
  if (file in may) return file
  dir = file
  while (sub("/[^/]*$", "", dir)) if (dir in may) return dir
  return ""
}
function allowed(file, target, where, n, i, word) {
  where = place(file)
  n = split(may[where], word, " ")
  for (i = 1; i <= n; i++) if (target == word[i] || index(target, word[i] "/") == 1) return 1
  return 0
}
function offence(text) { print FILENAME ":" FNR ": " text }

function visit(node, path, n, next_node, i) {
  state[node] = 1
  n = split(edges[node], next_node, " ")
  for (i = 1; i <= n; i++) {
    if (!(next_node[i] in state)) visit(next_node[i], path " " node)
    else if (state[next_node[i]] == 1) print edge_at[node, next_node[i]] ": circle of includes:" path " " node " " next_node[i]
  }
  state[node] = 2
}

BEGIN {
  # Who may include whom: folders and single files. The longest entry that holds a file counts, for its tests too.
  rule("sim/core", "sim/core")
  rule("sim/net", "sim/net sim/core")
  rule("sim/net/ns3_main.c", "sim/net sim/core sim/run/worker.h")
  rule("sim/run", "sim/run models sim/net sim/core output/store.h")
  rule("sim/run/run.c", "sim/run/run.h models/domain.h sim/net sim/core")
  rule("sim/run/worker.c", "sim/run/run.h sim/run/worker.h models/domain.h models/crypto/alg_own.h sim/net sim/core")
  rule("models/crypto", "models/crypto sim/core")
  rule("models/transport", "models/transport sim/net sim/core")
  rule("models/security", "models/security models/transport models/crypto sim/core")
  rule("models/application", "models/application models/security models/transport models/crypto sim/net sim/core")
  rule("models/domain", "models sim/net sim/core")
  rule("models/domain/test", "models sim/net sim/core sim/run/run.h")
  rule("models/domain.h", "sim/net sim/core")
  rule("calib", "calib models/crypto sim/core")
  rule("output", "output sim/core")
  rule("sim", "sim models calib output")

  library("yaml.h", "sim/run/yaml.c")
  library("sqlite3.h", "output/store*.c")
  library("gsl", "(output/stats.c|calib/fit.c)")
  library("openssl", "(sim/run/digest.c|calib/operations*.[ch])")
  library("ns3", "(sim/net/net_ns3.cc|sim/net/ns3_stream.(cc|h))")
  library("cmocka.h", "")
  n = split("argp assert ctype errno fcntl float fnmatch inttypes libgen limits locale math poll sched search setjmp signal spawn stdarg stdbool stddef stdint stdio " \
            "stdlib string strings sys/ioctl sys/mman sys/prctl sys/resource sys/stat sys/time sys/types sys/utsname sys/wait termios time unistd dirent getopt", word, " ")
  for (i = 1; i <= n; i++) libc[word[i] ".h"] = 1
  for (i = 1; i < ARGC; i++) present[ARGV[i]] = 1
}

FNR == 1 {
  is_test = FILENAME ~ "/test/"
  is_header = FILENAME ~ "\\.h$"
  gpl2 = FILENAME ~ "^(sim/core|sim/net|models)/|^sim/run/(roster|run|worker)\\."
  want = gpl2 ? "GPL-2.0-or-later" : "GPL-3.0-or-later"
  if (index($0, "SPDX-License-Identifier: ") == 0) offence("the first line is not an SPDX licence line")
  else if (!is_test && index($0, want) == 0) offence("the licence here is " want)
  if (place(FILENAME) == "") offence("this folder has no include rule")
}
FNR == 2 && is_header {
  base = FILENAME
  sub(".*/", "", base)
  sub("\\.h$", "", base)
  if (index($0, "/* " base ": ") != 1) offence("a header opens with its purpose: /* " base ": ...")
}
/^[ \t]*#[ \t]*include[ \t]*"/ && $0 !~ "\"ns3/" {
  split($0, part, "\"")
  target = part[2]
  if (!(target in present)) offence("\"" target "\" is not a file of this tree; includes are written from its root")
  else if (!allowed(FILENAME, target)) offence("includes " target "; allowed from here: " may[place(FILENAME)])
  edge_at[FILENAME, target] = FILENAME ":" FNR
  edges[FILENAME] = edges[FILENAME] " " target
  next
}
/^[ \t]*#[ \t]*include[ \t]*[<"]/ && !is_test {
  match($0, "[<\"][^>\"]*")
  header = substr($0, RSTART + 1, RLENGTH - 1)
  key = header
  if (!(key in owner)) sub("/.*", "", key)
  if (key in owner) {
    pattern = owner[key]
    gsub("\\.", "\\.", pattern)
    gsub("\\*", "[a-z_]*", pattern)
    if (FILENAME !~ "^" pattern "$") offence("<" header "> belongs in " (owner[key] == "" ? "tests" : owner[key]) " alone")
  } else if (!(header in libc) && FILENAME !~ "\\.cc$") offence("<" header "> is of no library in the table of sim/test/lint.sh")
}
/(^|[^a-z_])setlocale[ \t]*\(/ { offence("setlocale: numbers are the same under every locale") }
/(^|[^a-zA-Z_])(TO[D]O|FIX[M]E|X[X]X|HA[C]K)([^a-zA-Z_]|$)/ { offence("unfinished by its own word") }
FILENAME ~ "^models/" && !is_test && /(^|[^a-z_])(printf|puts|putchar|perror|fprintf)[ \t]*\(/ { offence("models do not print") }

END { for (node in edges) if (!(node in state)) visit(node, "") }
' $sources >>"$found"

for file in $scripts; do
  sed -n 1,2p "$file" | grep -q 'SPDX-License-Identifier: GPL-3.0-or-later' || echo "$file:1: no SPDX licence line in the first two lines"
done >>"$found"

# Lists of objects are explicit; a source that is in none of them is not part of the program.
for file in $sources; do
  object=${file##*/}
  object=${object%.*}.o
  case $file in
    */test/* | *.h) ;;
    *) awk -v object="$object" '{ gsub("[(),]", " "); for (i = 1; i <= NF; i++) if ($i == object || substr($i, length($i) - length(object)) == "/" object) found = 1 }
         END { exit !found }' Makefile || echo "$file:1: the Makefile does not name its object" ;;
  esac
done >>"$found"

if [ -f calib/test/lint_data.sh ]; then
  sh calib/test/lint_data.sh >"$found.data" 2>&1 || { cat "$found.data"; echo "calib/test/lint_data.sh:1: the data do not pass"; } >>"$found"
  rm -f "$found.data"
fi

# Long files are worth a look, and no offence.
wc -l $sources | awk '$1 > 650 && $2 != "total" { print $2 ":" $1 ": note: over 650 lines" }'

cat "$found"
count=$(grep -c . "$found")
echo "lint: $count offences in $(echo "$sources" | wc -l) files"
[ "$count" = 0 ]
