#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The shipped data pass lint_data.sh, and each kind of mistake in a copy is found at its file and line.
here=$(dirname "$0")
copy=$(mktemp -d) || exit 2
trap 'rm -rf "$copy"' EXIT
trap 'exit 1' HUP INT TERM
passed=0 failed=0

ok() { passed=$((passed + 1)); }
bad() {
  failed=$((failed + 1))
  echo "FAIL: $*"
}

if out=$("$here/lint_data.sh" 2>/dev/null); then ok; else bad "shipped data: $out"; fi

fresh() {
  rm -rf "$copy/data"
  mkdir -p "$copy/data/platforms"
  cat >"$copy/data/sources.csv" <<'END'
id,kind,author,title,year,where,licence,note
lab,paper,"A, B","a ""title""",2025,somewhere,,
own,user,,mine,,my files,,
END
  cat >"$copy/data/platforms/box.csv" <<'END'
# title: Box
algorithm,operation,size_bytes,quantiles_ns,energy_nj,kind,source,family,note
X25519,keygen,0,0:1 0.5:2 1:3,,measured,lab,,"a, b"
X25519,derive,0,7,12,estimated,lab,,by hand
END
}

# expect FILE:LINE WORDS: exactly this problem is reported.
expect() {
  if out=$("$here/lint_data.sh" "$copy/data" 2>/dev/null); then
    bad "nothing found, expected $*"
  else
    case $out in
    "$copy/data/$1: "*"$2"*) ok ;;
    *) bad "expected $*, found $out" ;;
    esac
  fi
}

# row TEXT: a third row of box.csv
row() {
  fresh
  printf '%s\n' "$1" >>"$copy/data/platforms/box.csv"
}

fresh
if out=$("$here/lint_data.sh" "$copy/data" 2>/dev/null); then ok; else bad "a good folder: $out"; fi

row 'X448,keygen,0,1,,measured,nobody,,'
expect platforms/box.csv:5 'source "nobody" is not in sources.csv'
row 'X448,keygen,0,1,,measured,,,'
expect platforms/box.csv:5 'column source is empty'
row 'X448,keygen,0,1,,measured,own,,mine'
expect platforms/box.csv:5 'is for users'
row 'X448,keygen,0,1,,guessed,lab,,'
expect platforms/box.csv:5 'kind "guessed" is not known'
row 'X448,keygen,0,1,,assumed,lab,,'
expect platforms/box.csv:5 'must say in note how'
row 'X448,keygen,0,1.5,,measured,lab,,'
expect platforms/box.csv:5 'is no p:ns pair'
row 'X448,keygen,0,0:2 1:1,,measured,lab,,'
expect platforms/box.csv:5 'does not rise'
row 'X448,keygen,0,0:2 0.9:3,,measured,lab,,'
expect platforms/box.csv:5 'from p 0 to p 1'
row 'X448,keygen,,1,,measured,lab,,'
expect platforms/box.csv:5 'size_bytes "" is no whole number'
row 'X448,keygen,0,1,-,measured,lab,,'
expect platforms/box.csv:5 'energy_nj "-" is no whole number'
row 'X448,key gen,0,1,,measured,lab,,'
expect platforms/box.csv:5 'operation is not a name'
row 'X448,keygen,0,1,,measured,lab'
expect platforms/box.csv:5 'has 7 cells, the header has 9 columns'
row 'X448,keygen,0,1,,measured,lab,,"open'
expect platforms/box.csv:5 'a quote is never closed'
row 'X25519,derive,0,9,,measured,lab,,'
expect platforms/box.csv:5 'is already stated in line 4'

fresh
sed '1d' "$copy/data/platforms/box.csv" >"$copy/box" && mv "$copy/box" "$copy/data/platforms/box.csv"
expect platforms/box.csv:1 'title'
fresh
sed '1s/title/titel/' "$copy/data/platforms/box.csv" >"$copy/box" && mv "$copy/box" "$copy/data/platforms/box.csv"
expect platforms/box.csv:1 'a remark is'
fresh
sed '1s/$/\n# base: nowhere/' "$copy/data/platforms/box.csv" >"$copy/box" && mv "$copy/box" "$copy/data/platforms/box.csv"
expect platforms/box.csv:2 'base "nowhere" is not shipped'
fresh
sed '2s/,family//' "$copy/data/platforms/box.csv" >"$copy/box" && mv "$copy/box" "$copy/data/platforms/box.csv"
expect platforms/box.csv:2 'column family is missing'
fresh
sed '2s/family/famous/' "$copy/data/platforms/box.csv" >"$copy/box" && mv "$copy/box" "$copy/data/platforms/box.csv"
expect platforms/box.csv:2 'column "famous" is not known here'
fresh
sed '2s/note/kind/' "$copy/data/platforms/box.csv" >"$copy/box" && mv "$copy/box" "$copy/data/platforms/box.csv"
expect platforms/box.csv:2 'column kind is there twice'
fresh
echo 'lab,paper,,again,,there,,' >>"$copy/data/sources.csv"
expect sources.csv:4 'is there twice'
fresh
echo 'new,hearsay,,t,,there,,' >>"$copy/data/sources.csv"
expect sources.csv:4 'kind "hearsay" is not known'
fresh
echo 'new,paper,,,,there,,' >>"$copy/data/sources.csv"
expect sources.csv:4 'column title is empty'

# ---- Files beside the platforms

# published TEXT: the text is the third row of a published file; good TEXT: nothing is found then.
published() {
  fresh
  mkdir -p "$copy/data/published/network"
  {
    echo id,area,source,condition,quantity,value,unit,spread,verified
    echo 'a,tls,lab,"{""rtt"":1}",time,1.5e-3,ms,,y'
    printf '%s\n' "$1"
  } >"$copy/data/published/network/published_network.csv"
}
good() {
  if out=$("$here/lint_data.sh" "$copy/data" 2>/dev/null); then ok; else bad "$1: $out"; fi
}

published 'b,tls,lab,"{""rtt"":1}",time,-7,ms,,n'
good 'a published file'
published 'b,tls,gone,"{""rtt"":1}",time,1,ms,,y'
expect published/network/published_network.csv:3 'source "gone" is not in sources.csv'
published 'a,tls,lab,"{""rtt"":1}",time,1,ms,,y'
expect published/network/published_network.csv:3 'id "a" is there twice, in line 2 too'
published 'b,tls,lab,"{""rtt"":1}",time,,ms,,y'
expect published/network/published_network.csv:3 'column value is empty'
published 'b,tls,lab,"{""rtt"":1}",time,fast,ms,,y'
expect published/network/published_network.csv:3 'column value: "fast" is no number'
published 'b,tls,lab,"{""rtt"":1}",time,1,ms,NaN,y'
expect published/network/published_network.csv:3 '"NaN" is no value'
published 'b,tls,lab,"{""file"":""/home/me/x""}",time,1,ms,,y'
expect published/network/published_network.csv:3 'path of somebody'
published 'b,tls,lab,"{""file"":""https://example.org/home/x""}",time,1,ms,,y'
good 'an address is no path'

# sizes LINE HEADER: a measured file whose first line names the source.
sizes() {
  fresh
  mkdir -p "$copy/data/measured/e2"
  printf '%s\n%s\nack,,9,8,22\n' "$1" "$2" >"$copy/data/measured/e2/e2ap_sizes_flexric.csv"
}
columns=message,config,e2sm_header_bytes,e2sm_msg_bytes,e2ap_pdu_bytes
sizes '# source: lab' $columns
good 'a measured file'
sizes '# source: gone' $columns
expect measured/e2/e2ap_sizes_flexric.csv:1 'source "gone" is not in sources.csv'
sizes '# author: lab' $columns
expect measured/e2/e2ap_sizes_flexric.csv:1 'with key source'
sizes '' $columns
expect measured/e2/e2ap_sizes_flexric.csv:2 'neither a column source nor a line'
fresh
printf 'id,value,source\na,1,lab\n' >"$copy/data/mine.csv"
expect mine.csv:1 'is no file that lint_data.sh knows'

fresh
mkdir -p "$copy/data/validation"
{
  echo id,quantity,scenario,settings,minus,metric,stat,published,unit,role,source,note
  echo a,time,tls,x=1,,handshake,p50,1.5,ms,predict,lab,
} >"$copy/data/validation/tls.csv"
good 'validation'

fresh
echo 'idle,paper,,t,,there,,' >>"$copy/data/sources.csv"
if out=$("$here/lint_data.sh" "$copy/data" 2>&1); then ok; else bad "a source without rows is an offence: $out"; fi
case $out in
"$copy/data/sources.csv:4: warning: no row names source \"idle\"") ok ;;
*) bad "a source without rows: $out" ;;
esac

# cycles TEXT: a platform in cycles whose device is TEXT; devices TEXT: one more row of devices.csv
cycles() {
  fresh
  printf 'device,quantity,value,unit,condition,source,note\nchip,clock,64,MHz,always,lab,\nchip,current,3.3,mA,"running, DC/DC",lab,\n' >"$copy/data/devices.csv"
  cat >"$copy/data/platforms/chip.csv" <<END
# title: Chip
# device: $1
algorithm,operation,size_bytes,quantiles_cycles,peak_stack_bytes,kind,source,family,note
X25519,keygen,0,0:1 0.5:2 1:3,600,measured,lab,,
END
}
devices() {
  cycles chip
  printf '%s\n' "$1" >>"$copy/data/devices.csv"
}
cycles chip
if out=$("$here/lint_data.sh" "$copy/data"); then ok; else bad "a folder with a device: $out"; fi
cycles chop
expect platforms/chip.csv:2 'device "chop" is not in devices.csv'
cycles chip
sed 2d "$copy/data/platforms/chip.csv" >"$copy/box" && mv "$copy/box" "$copy/data/platforms/chip.csv"
expect platforms/chip.csv:2 'cycles need a line "# device: ..."'
cycles chip
echo 'X448,keygen,0,1.5,,measured,lab,,' >>"$copy/data/platforms/chip.csv"
expect platforms/chip.csv:5 'is no p:cycles pair'
cycles chip
echo 'X448,keygen,0,1,x,measured,lab,,' >>"$copy/data/platforms/chip.csv"
expect platforms/chip.csv:5 'peak_stack_bytes "x" is no whole number'
devices 'chip,clock,32,MHz,always,lab,'
expect devices.csv:4 'clock of chip is already stated in line 2'
devices 'chip,power,3,W,always,lab,'
expect devices.csv:4 'quantity "power" is not known'
devices 'chip,voltage,3,A,always,lab,'
expect devices.csv:4 'unit "A" of a voltage is none of V mV uV'
devices 'chip,voltage,-3,V,always,lab,'
expect devices.csv:4 'value "-3" is no number above 0'
devices 'chip,voltage,3,V,,lab,'
expect devices.csv:4 'condition is empty'
devices 'chip,voltage,3,V,always,gone,'
expect devices.csv:4 'source "gone" is not in sources.csv'
fresh
rm "$copy/data/sources.csv"
expect sources.csv:1 'is missing'

# ---- README.md says what each shipped file of measurements or published rows is
data=$here/../data
for file in $(cd "$data" && find measured published -name '*.csv' | LC_ALL=C sort); do
  if grep -q "^| \`$file\` |" "$data/README.md"; then ok; else bad "README.md has no row for $file"; fi
done
for file in $(sed -n 's/^| `\([a-z0-9]*\/[a-z0-9/_]*\.csv\)` |.*/\1/p' "$data/README.md"); do
  if [ -f "$data/$file" ]; then ok; else bad "README.md names $file, which is not there"; fi
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
