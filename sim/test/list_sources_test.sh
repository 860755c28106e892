#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# list sources: its BibTeX against entries written by hand, and the shipped bibliography as a whole: one entry a source,
# keys unique, braces in pairs, nothing that TeX would trip over; text of at most 100 columns; BibTeX itself where it is installed.
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
passed=0 failed=0

# same NAME WANT GOT: two files.
same() {
  if cmp -s "$2" "$3"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL: $1"
    diff "$2" "$3" | head -20
  fi
}
# equal NAME WANT GOT: two words.
equal() {
  if [ "$2" = "$3" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL: $1: expected $2, found $3"
  fi
}

# ---- By hand
mkdir -p "$work/data/platforms"
cat >"$work/data/sources.csv" <<'END'
id,kind,author,title,year,where,licence,note
lab,measurement,"A & B, The_Lab","100 % of ""all"" {x}_1 ^2 ~ $5 #3 \n <1 >2",2026,calib/data/x_y.csv,,
people,paper,"Ann Lee, Bo Ek et al.",Key sizes,2025,"doi:10.1/a_b, arXiv:2501.00001",,seen
journal,paper,,On paper,,Annals 3 (2),,
code,repository,Org,tool,,"github.com/Org/a_b-c src/x.c at 123abc, github.com/Org/second",MIT,
chip,datasheet,Maker,Chip,2020,docs.maker.com/a%20b,,
spec,standard,,Spec,,"RFC 1, README.md",,
END
cat >"$work/data/platforms/box.csv" <<'END'
# title: Box
algorithm,operation,quantiles_ns,kind,source,note
X25519,keygen,7,measured,lab,
X25519,derive_full,9,measured,lab,
X448,keygen,9,published,people,
END
cat >"$work/data/platforms/lid.csv" <<'END'
# title: Lid
# base: box
algorithm,operation,quantiles_ns,kind,source,note
X448,keygen,9,published,people,
END
cat >"$work/want" <<'END'
@misc{lab,
  author = {{A \& B} and {The\_Lab}},
  title = {{100 \% of ``all'' {\textbraceleft}x{\textbraceright}\_1 {\textasciicircum}2 {\textasciitilde} \$5 \#3 {\textbackslash}n {\textless}1 {\textgreater}2}},
  year = {2026},
  howpublished = {calib/data/x\_y.csv}
}
@misc{people,
  author = {Ann Lee and Bo Ek and others},
  title = {{Key sizes}},
  year = {2025},
  doi = {10.1/a_b},
  eprint = {2501.00001},
  archiveprefix = {arXiv},
  annote = {seen}
}
@article{journal,
  title = {{On paper}},
  journal = {Annals 3 (2)}
}
@misc{code,
  author = {{Org}},
  title = {{tool}},
  howpublished = {github.com/Org/a\_b-c src/x.c at 123abc, github.com/Org/second},
  url = {https://github.com/Org/a_b-c}
}
@manual{chip,
  author = {{Maker}},
  title = {{Chip}},
  year = {2020},
  url = {https://docs.maker.com/a%20b}
}
@manual{spec,
  title = {{Spec}},
  note = {RFC 1, README.md}
}
END
PQNETSIM_DATA=$work/data "$top/pqnetsim" list sources --bibtex >"$work/got"
same 'BibTeX by hand' "$work/want" "$work/got"

# An inherited row counts once, for the platform that states it.
cat >"$work/want" <<'END'
people  paper, 2025, 2 platform rows
    Ann Lee, Bo Ek et al.: Key sizes
    doi:10.1/a_b, arXiv:2501.00001
    seen
END
PQNETSIM_DATA=$work/data "$top/pqnetsim" list sources people >"$work/got"
same 'one source' "$work/want" "$work/got"

# ---- The shipped ones
"$top/pqnetsim" list sources --bibtex >"$work/all.bib"
"$top/pqnetsim" list sources --json >"$work/all.json"
sed -n 's/^@[a-z]*{\(.*\),$/\1/p' "$work/all.bib" >"$work/keys"
sed -n 's/^ {"id": "\([^"]*\)".*/\1/p' "$work/all.json" >"$work/ids"
same 'an entry for each source, in the same order' "$work/ids" "$work/keys"
sort "$work/keys" | uniq -d >"$work/twice"
same 'keys are unique' /dev/null "$work/twice"
# Braces as BibTeX counts them: a backslash does not hide one. Every entry ends at depth 0, and no field before its line does.
awk '
  { depth += gsub(/{/, "{") - gsub(/}/, "}") }
  depth < 0 || (/^}/ && depth != 0) || (/^  / && depth != 1) { print FILENAME ":" FNR ": " $0 }
  END { if (depth) print "depth " depth " at the end" }
' "$work/all.bib" >"$work/braces"
same 'braces are in pairs' /dev/null "$work/braces"
grep -vE '^  (url|doi|eprint) = ' "$work/all.bib" | grep -E '(^|[^\])[&%_#$]|[~^<>"]' >"$work/special"
same 'what TeX would trip over is escaped' /dev/null "$work/special"
grep -vE '^(@(misc|article|manual)\{[a-z0-9-]+,|  (author|title|year|howpublished|journal|note|doi|eprint|archiveprefix|url|annote) = \{.+\},?|\})$' "$work/all.bib" >"$work/odd"
same 'every line is of an entry' /dev/null "$work/odd"
"$top/pqnetsim" list sources >"$work/text"
equal 'text fits 100 columns' 0 "$(LC_ALL=C.UTF-8 grep -cE '^.{101,}$' "$work/text")"
equal 'text names every source' "$(wc -l <"$work/ids")" "$(grep -cE '^[a-z0-9-]+  [a-z]+' "$work/text")"
equal 'rows are counted' "$(cat "$top"/calib/data/platforms/*.csv | grep -c ',pqnetsim-ops-2026,')" \
  "$(sed -n 's/^pqnetsim-ops-2026 .*, \([0-9]*\) platform rows$/\1/p' "$work/text")"

if command -v bibtex >/dev/null; then
  printf '%s\n' '\citation{*}' '\bibstyle{plain}' '\bibdata{all}' >"$work/all.aux"
  (cd "$work" && bibtex -terse all) >"$work/bibtex" 2>&1
  equal 'BibTeX finds no error' 0 "$(grep -c 'error message\|---line' "$work/bibtex")"
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
