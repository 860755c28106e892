#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# calib/VALIDATION.md is what ./pqnetsim validate --page writes today. The picture in it is not looked at: its bytes are gnuplot's.
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
if ! ./pqnetsim validate --page "$work/page.md" >"$work/out" 2>"$work/err"; then
  cat "$work/err"
  echo "FAIL: ./pqnetsim validate --page wrote no page"
  exit 1
fi
if ! diff -u calib/VALIDATION.md "$work/page.md" >"$work/diff"; then
  head -n 60 "$work/diff"
  echo "FAIL: calib/VALIDATION.md is not current; ./pqnetsim validate --page calib/VALIDATION.md -o calib/validation.png writes it anew"
  exit 1
fi
