#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The commands of ./pqnetsim as a user calls them: exit statuses, what goes to which stream, that equal calls give equal
# bytes, and that a sweep survives what happens to sweeps.
# shellcheck disable=SC2016 # conditions in single quotes are run by eval, after the call they are about
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
p=./pqnetsim
passed=0 failed=0

# test NAME CONDITION...: the condition is a command
test_that() {
  name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAIL  %s\n      status %s\n' "$name" "$status"
    sed 's/^/      out | /' "$work/out" | head -n 5
    sed 's/^/      err | /' "$work/err" | head -n 5
  fi
}
# call ARGS...: runs the program; status, $work/out and $work/err
call() {
  status=0
  "$p" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
}
exits() { [ "$status" = "$1" ]; }
says() { grep -q -e "$1" "$work/out"; }
warns() { grep -q -e "$1" "$work/err"; }
silent() { [ ! -s "$work/$1" ]; }
ends() { exits "$1" && warns "$2"; } # status, and why
same() { cmp -s "$1" "$2"; }
export_of() { "$p" export "$1"; }

cat >"$work/small.yaml" <<'END'
scenario: e2
replications: 5
path: {delay: 5ms}
sweep:
  - ipsec.kex: [x25519, mlkem768]
  - path.delay: [1ms, 10ms]
END
# Long enough to be interrupted: a few seconds on one core.
cat >"$work/long.yaml" <<'END'
scenario: e2
replications: 3000
sweep:
  - path.delay: {from: 1ms, to: 60ms, steps: 60}
metrics: [tunnel_setup, success]
END

# ---- usage
call
test_that 'no command: usage on stderr' ends 2 '^Usage: '
test_that 'no command: nothing on stdout' silent out
call --help
test_that '--help goes to stdout' says '^Usage: '
test_that '--help is no error' exits 0
call --version
test_that '--version' says '^pqnetsim [0-9][0-9.]*$'
call swep
test_that 'unknown command' ends 2 "unknown command 'swep'; did you mean 'sweep'?"
for command in run sweep plot export show list params init check 'calibrate fit' 'calibrate import' 'calibrate measure' 'calibrate scale' 'calibrate show' validate; do
  call $command --help
  test_that "$command --help has examples" says "^  pqnetsim $command "
  test_that "$command --help is no error" exits 0
  call $command --no-such-option
  test_that "$command refuses unknown options" exits 2
done
for command in run sweep plot export show list init check calibrate 'calibrate fit' 'calibrate import' 'calibrate scale' 'calibrate show'; do
  call $command
  test_that "$command needs its argument" ends 2 'is missing'
done
call run a.yaml b.yaml
test_that 'one file at a time' ends 2 "unexpected argument 'b.yaml'"
call run "$work/small.yaml" --backend ns2
test_that 'unknown backend' ends 2 "allowed native|ns3; did you mean 'ns3'?"
call sweep "$work/small.yaml" -o x.db --jobs 0
test_that '--jobs 0' ends 2 'allowed whole numbers from 1'
call sweep "$work/small.yaml" -o x.db --jobs 2x
test_that '--jobs 2x' ends 2 "found '2x'"
call sweep "$work/small.yaml"
test_that 'sweep without -o' ends 2 '-o STUDY.db is missing'
call run "$work/none.yaml"
test_that 'no such file' ends 2 'none.yaml'
call run "$work/small.yaml" --set path.dely=1ms
test_that 'unknown key of --set' ends 2 'path.delay'
call list algorithm
test_that 'unknown list' ends 2 "did you mean 'algorithms'?"
call params e3
test_that 'unknown domain' ends 2 "did you mean 'e2'?"

# ---- run
call run "$work/small.yaml" --json
test_that 'run' exits 0
test_that 'run says that the sweep part is ignored' warns 'sweep part is ignored'
cp "$work/out" "$work/first.json"
call run "$work/small.yaml" --json
test_that 'the same call gives the same bytes' same "$work/out" "$work/first.json"
call run "$work/small.yaml" --json --seed 2
test_that 'another seed is told' says '"seed": 2'
sed 's/"seed": 2/"seed": 1/' "$work/out" >"$work/second.json"
test_that 'another seed gives other values' eval '! same "$work/second.json" "$work/first.json"'
call run "$work/small.yaml" --json --set path.delay=20ms --reps 7
test_that '--set overrides the file' says '"path.delay": "20ms"'
test_that '--reps overrides the file' says '"replications": 7'
call run "$work/small.yaml" --json --seed 1 --set 'replications=5'
test_that '--seed and --set as in the file change nothing' same "$work/out" "$work/first.json"
for reps in 0 -1 1.5 x; do
  call run "$work/small.yaml" --reps=$reps
  test_that "--reps $reps" ends 2 '^--reps: found '
  test_that "--reps $reps prints nothing" silent out
done
call run "$work/small.yaml" --reps 1
test_that 'one replication says n=1' warns 'n=1'
printf 'scenario: e2\n' >"$work/plain.yaml"
call run "$work/plain.yaml"
test_that 'a file without sweep: no remark' eval '! warns sweep'
call run "$work/plain.yaml" --set path.jitter=5ms
test_that 'values that contradict each other' ends 2 '^--set path.jitter: found 5ms, above'
printf 'scenario: e2\npath: {delay: 1ms,\n  jitter: 5ms}\n' >"$work/jitter.yaml"
call run "$work/jitter.yaml"
test_that 'and where in the file' ends 2 'jitter.yaml:3:11: path.jitter: found 5ms, above'
if [ -w /dev/full ]; then
  status=0
  "$p" list algorithms >/dev/full 2>"$work/err" || status=$?
  test_that 'a full disk behind stdout' ends 1 'standard output'
fi

# ---- init, check, params, list
for variant in '' --full; do
  # shellcheck disable=SC2086
  call init e2 $variant
  test_that "init $variant" exits 0
  cp "$work/out" "$work/init.yaml"
  call check "$work/init.yaml"
  test_that "check accepts what init $variant wrote" exits 0
  call run "$work/init.yaml" --json
  grep -v '^ *"warnings"' "$work/out" >"$work/init.json"
  call run "$work/plain.yaml" --json
  grep -v '^ *"warnings"' "$work/out" >"$work/plain.json"
  test_that "init $variant writes the defaults" same "$work/init.json" "$work/plain.json"
done
call check "$work/small.yaml"
test_that 'check counts' says '^4 points, n=5, 20 runs, seed 1, backend native$'
test_that 'check names the axes' says '^axis path.delay, 2 values: 1ms, 10ms$'
call params e2
test_that 'params' says '^e2 *path.delay *time .*0s to'
test_that 'params tells the clock' says 'tunnel_setup *ms *initiation'
call list algorithms
test_that 'list algorithms' says '^mlkem768 .* 1184  *1088  *32  *3 .*FIPS 203'
call list platforms
test_that 'list platforms' says '^epyc-zen5 '
call list scenarios
test_that 'list scenarios' says 'e2-rtt.yaml *e2 '
call list backends
test_that 'list backends' says '^native *yes'
call list sources
test_that 'list sources' exits 0
call list sources pqm5
test_that 'no such source' ends 2 "did you mean 'pqm4'?"
call list platforms --bibtex
test_that 'list platforms --bibtex' ends 2 '--bibtex is for list sources'
call list platforms pqm4
test_that 'list platforms ID' ends 2 'only list sources takes an id'
call list sources --json --bibtex
test_that 'list sources in two forms' ends 2 'ask for one'
for list in algorithms platforms scenarios backends sources; do
  call list $list --json
  test_that "list $list --json" eval 'exits 0 && [ "$(head -c 1 "$work/out")" = "[" ] && [ "$(tail -n 1 "$work/out")" = "]" ]'
done

# ---- calibrate
{
  printf 'algorithm,operation,size_bytes,ns\r\n'
  # quantiles of an exponential from 40 us; samples in two places; too few of one value
  awk 'BEGIN { for (i = 0; i < 400; i++) {
    printf "ml-dsa-65,sign,0,%.1f\r\n", 40000 - 9000 * log(1 - (i + 0.5) / 400)
    printf "X25519,derive_full,,%d\r\n", i % 2 ? 20000 + i : 60000 + i
    if (i < 12) printf "ML-KEM-768,keygen,0,63000\r\n"
  } }'
} >"$work/samples.csv"
call calibrate fit "$work/samples.csv" -o "$work/fitted.csv" --base raspberry-pi4 --title 'My router'
test_that 'calibrate fit' exits 0
test_that 'calibrate fit: the family' says '^ML-DSA-65 *sign *0 *400 .*shifted-exponential'
test_that 'calibrate fit: a constant' says '^ML-KEM-768 *keygen *0 *12 .*constant'
test_that 'calibrate fit: two modes' warns 'X25519 derive_full, 0 B: no family fits .*(empirical)$'
test_that 'calibrate fit: few samples' warns 'ML-KEM-768 keygen, 0 B: 12 samples are too few'
test_that 'calibrate fit: the row' grep -q '^ML-KEM-768,keygen,0,63000,,fitted,own,constant,"n 12, mean 63000 sd 0; mean 63000; AIC 2.0; KS distance 0.0000, limit ' "$work/fitted.csv"
cp "$work/fitted.csv" "$work/again.copy"
call calibrate fit "$work/samples.csv" -o "$work/fitted.csv"
test_that 'calibrate fit replaces no file' eval 'ends 2 "fitted.csv: is there already" && same "$work/fitted.csv" "$work/again.copy"'
printf 'scenario: e2\nreplications: 5\nplatform: {initiator: ./fitted.csv}\n' >"$work/fitted.yaml"
call run "$work/fitted.yaml"
test_that 'a scenario runs on the fitted platform' exits 0
call calibrate fit "$work/samples.csv" -o "$work/plain.csv" --family constant
test_that 'calibrate fit: a constant of dispersed samples' eval 'exits 0 && warns "ML-DSA-65 sign, 0 B: a constant for samples that vary by 18 %"'
call calibrate fit "$work/samples.csv"
test_that 'calibrate fit without -o' ends 2 'calibrate fit: -o FILE.csv is missing'
call calibrate fit "$work/samples.csv" -o "$work/absent.csv" --source nobody
test_that 'calibrate fit: unknown source' ends 2 "^--source: found 'nobody'"
call calibrate fit "$work/samples.csv" -o "$work/absent.csv" --base nowhere
test_that 'calibrate fit: unknown base' eval 'ends 2 nowhere && [ ! -e "$work/absent.csv" ]'
printf 'algorithm,operation,size_bytes,ns\nML-KEM-76,keygen,0,5\nX25519,keygen,0,1e3\nX25519,keygen,0\n' >"$work/crooked.csv"
call calibrate fit "$work/crooked.csv" -o "$work/absent.csv"
test_that 'calibrate fit: bad samples' eval 'exits 2 && [ ! -e "$work/absent.csv" ]'
test_that 'a bad name' warns "crooked.csv:2: column algorithm: found 'ML-KEM-76', allowed: .*did you mean 'ML-KEM-768'"
test_that 'a bad number' warns "crooked.csv:3: column ns: found '1e3', allowed: "
test_that 'a short line' warns 'crooked.csv:4: found 3 cells'
call calibrate fti "$work/samples.csv" -o "$work/absent.csv"
test_that 'calibrate: unknown task' ends 2 "unknown 'fti'; did you mean 'fit'?"

# ---- sweep
call sweep "$work/small.yaml" --dry-run
test_that '--dry-run prints the points' says '^ *3  mlkem768  *10$'
test_that '--dry-run counts' says '^4 points, n=5: 20 runs$'
test_that '--dry-run estimates' says '^about .* with --jobs .* a study file of about '
call sweep "$work/small.yaml" -o "$work/one.db" --jobs 1
test_that 'sweep' exits 0
test_that 'sweep prints nothing on stdout' silent out
test_that 'sweep says where the study is' warns "one.db: 4 points with n=5; next: pqnetsim show"
call sweep "$work/small.yaml" -o "$work/two.db" --jobs 2
export_of "$work/one.db" >"$work/one.csv"
export_of "$work/two.db" >"$work/two.csv"
test_that 'one worker and two give the same export' eval '[ -s "$work/one.csv" ] && same "$work/one.csv" "$work/two.csv"'
call sweep "$work/small.yaml" -o "$work/two.db"
test_that 'a finished study has nothing to do' ends 0 '(4 were there)'
call sweep "$work/small.yaml" -o "$work/two.db" --reps 9
test_that 'replications can be added' exits 0
call sweep "$work/small.yaml" -o "$work/nine.db" --reps 9
export_of "$work/two.db" >"$work/two.csv"
export_of "$work/nine.db" >"$work/nine.csv"
test_that 'added replications equal those run at once' same "$work/two.csv" "$work/nine.csv"
call sweep "$work/small.yaml" -o "$work/two.db" --reps 9 --seed 2
test_that 'another seed is another study' ends 2 'seed'
export_of "$work/two.db" >"$work/two.csv"
test_that 'and leaves the old one alone' same "$work/two.csv" "$work/nine.csv"
call sweep "$work/small.yaml" -o "$work/huge.db" --reps 1000000
test_that 'a million runs ask' ends 2 'need --yes'
test_that 'and write nothing' [ ! -e "$work/huge.db" ]
printf 'scenario: e2\nsweep:\n  - path.jitter: [0ms, 1ms, 5ms]\n' >"$work/bad.yaml"
call sweep "$work/bad.yaml" -o "$work/bad.db"
test_that 'every bad point is listed' eval '[ "$(grep -c "point [12] (path.jitter=" "$work/err")" = 2 ]'
test_that 'bad points exit 2' exits 2
test_that 'bad points: nothing is written' [ ! -e "$work/bad.db" ]
call check "$work/bad.yaml"
test_that 'check finds them too, with the place' ends 2 'bad.yaml:3:29: point 2 (path.jitter=5ms): path.jitter: found 5ms'
for name in id RUN_key replications Point; do
  printf 'scenario: e2\nsweep:\n  - %s: {a: {path.delay: 1ms}, b: {path.delay: 2ms}}\n' $name >"$work/name.yaml"
  call check "$work/name.yaml"
  test_that "an axis called $name is refused by check" ends 2 "name.yaml:3:5: $name: "
done

# ---- files that are not ours
echo 'shopping list' >"$work/note.db"
cp "$work/note.db" "$work/note.copy"
call sweep "$work/small.yaml" -o "$work/note.db"
test_that 'a foreign file is refused' exits 2
test_that 'and kept' same "$work/note.db" "$work/note.copy"
call sweep "$work/small.yaml" -o "$work"
test_that 'a folder is no study' eval '[ "$status" != 0 ] && [ -s "$work/err" ]'
call sweep "$work/small.yaml" -o "$work/none/x.db"
test_that 'a missing folder is named' eval '[ "$status" != 0 ] && warns none'
for command in export show; do
  call $command "$work/note.db"
  test_that "$command refuses a foreign file" exits 2
  call $command "$work/absent.db"
  test_that "$command refuses an absent file" exits 2
  test_that "$command does not create it" [ ! -e "$work/absent.db" ]
done

# ---- require
cp "$work/small.yaml" "$work/require.yaml"
echo "require: ['tunnel_setup.p95 <= 30ms', 'success.mean >= 1', 'retransmissions.max < 1']" >>"$work/require.yaml"
# Five exchanges of one-way delays at 10 ms are over 30 ms, at 1 ms they are not.
call sweep "$work/require.yaml" -o "$work/require.db"
test_that 'a requirement that does not hold: exit 1' exits 1
test_that 'where it fails' says '^FAIL  tunnel_setup.p95 <= 30ms  found [0-9.]* ms, margin -[0-9.]* ms  at point 3 (ipsec.kex=mlkem768, path.delay=10ms)$'
test_that 'where it passes' says '^pass  tunnel_setup.p95 <= 30ms  found [0-9.]* ms, margin [0-9.]* ms  at point 0 '
test_that 'the sum' says '^require: 10 of 12 hold$'
call run "$work/require.yaml" --set path.delay=10ms
test_that 'run: a requirement that does not hold' eval 'exits 1 && says "^FAIL  tunnel_setup"'
call run "$work/require.yaml" --set path.delay=1ms
test_that 'run: requirements that hold' eval 'exits 0 && says "^pass  tunnel_setup"'
call run "$work/require.yaml" --set path.delay=10ms --json
test_that 'run --json: verdicts on stderr' eval 'exits 1 && warns "^FAIL  tunnel_setup" && ! says FAIL'

# ---- groups
cat >"$work/fleet.yaml" <<'END'
scenario: e2
e2: {nodes: 20, setup: no}
replications: 2
groups:
  macro: {path: {rtt: 8ms}}
  rural: {share: 15%, path: {rtt: 40ms, mtu: 1400}}
  legacy: {share: 40%, ipsec: {kex: mlkem768}}
sweep:
  - stage: {today: {groups.legacy.share: 80%}, done: {groups.legacy.share: 0%}}
  - groups.rural.path.rtt: [20ms, 40ms]
skip: [{stage: done, groups.rural.path.rtt: 20ms}]
metrics: [tunnel_setup, 'success@rural']
require: ['tunnel_setup@rural.p95 <= 1s']
END
call check "$work/fleet.yaml"
test_that 'check: groups' eval 'exits 0 && says "^3 points" && says "^groups.rural.path.delay  *20ms" && says "^groups.legacy.share  *40%"'
test_that 'check: what a group does not set is not listed' eval '! says "^groups.macro.path.loss"'
call run "$work/fleet.yaml"
test_that 'run: metrics of groups' eval 'exits 0 && says "^tunnel_setup@rural  *ms  *6 " && says "^success@rural" && ! says "^success@macro"'
test_that 'run: a requirement of a group' says '^pass  tunnel_setup@rural.p95 <= 1s'
# 15 % and 40 % of 20 nodes are 3 and 8; two replications.
test_that 'run: as many nodes as the shares say' eval 'says "^tunnel_setup@legacy  *ms  *16 " && says "^tunnel_setup  *ms  *40 "'
call run "$work/fleet.yaml" --json --set groups.rural.path.loss=1% --set groups.legacy.share=0%
test_that 'run --json: resolved keys of groups, in order' eval \
  '[ "$(tr -d "\n" <"$work/out" | grep -o "\"groups[^,}]*" | tr "\n" ";")" = "\"groups.macro.path.delay\": \"4ms\";\"groups.rural.share\": \"15%\";\"groups.rural.path.delay\": \"20ms\";\"groups.rural.path.loss\": \"1%\";\"groups.rural.path.mtu\": \"1400B\";\"groups.legacy.share\": \"0%\";\"groups.legacy.ipsec.kex\": \"mlkem768\";" ]'
test_that 'run --json: no metric of an empty group' eval 'says "\"tunnel_setup@rural\": {" && ! says "@legacy"'
call run "$work/plain.yaml" --set groups.far.share=20% --set 'groups.near={}' --set e2.nodes=5 --json
test_that '--set alone makes groups' eval 'exits 0 && says "\"tunnel_setup@far\"" && says "\"tunnel_setup@near\""'
call sweep "$work/fleet.yaml" -o "$work/fleet.db" --jobs 2
test_that 'sweep: groups' eval 'exits 0 && says "^require: 3 of 3 hold$"'
call show "$work/fleet.db" tunnel_setup@rural.mean --where groups.rural.path.rtt=40ms
test_that 'show: a metric of a group' eval 'exits 0 && says "tunnel_setup@rural.mean" && says "^ *2  *done  *40 "'
call export "$work/fleet.db"
test_that 'export: metrics of groups' eval 'exits 0 && says "^0,today,20,tunnel_setup@legacy,ms,"'
call plot "$work/fleet.db" -o "$work/fleet.svg" --y tunnel_setup@rural.p95 --x stage
test_that 'plot: a metric of a group' eval 'exits 0 && grep -q "tunnel_setup@rural" "$work/fleet.svg"'
call sweep "$work/fleet.yaml" -o "$work/fleet.db" --set groups.rural.path.mtu=1300
test_that 'a changed group is another study' eval 'exits 2 && warns groups.rural.path.mtu'
call sweep "$work/fleet.yaml" -o "$work/fleet.db"
test_that 'an unchanged one is finished' ends 0 '(3 were there)'
call check "$work/fleet.yaml" --set groups.rural.share=120%
test_that 'a share of 120 %' ends 2 '^--set groups.rural.share: found 120%, allowed 0% to 100%$'
sed 's/mtu: 1400/mtv: 1400/; s/  legacy:/  rural:/; s/  macro:/  my macros:/' "$work/fleet.yaml" >"$work/broken.yaml"
call check "$work/broken.yaml"
test_that 'a group twice' ends 2 'broken.yaml:7:3: rural: given twice, first at line 6'
sed -i '7s/rural/legacy/' "$work/broken.yaml"
call check "$work/broken.yaml"
test_that 'an unknown key in a group' ends 2 'broken.yaml:6:41: groups.rural.path.mtv: unknown key; did you mean groups.rural.path.mtu?'
test_that 'a name with a space' ends 2 "broken.yaml:5:3: groups: found the name 'my macros'"
call check "$work/fleet.yaml" --set groups.rural.path.jitter=30ms
test_that 'a contradiction in a group' ends 2 '--set groups.rural.path.jitter: point 0 (stage=today, groups.rural.path.rtt=20ms): found 30ms, above'
call params e2
test_that 'params tells of groups' eval 'says "groups.NAME.share " && says "groups.NAME.KEY .* path, platform, ipsec"'
call init e2
sed -n 's/^# groups:/groups:/p; t; p' "$work/out" >"$work/grouped.yaml"
call check "$work/grouped.yaml"
test_that 'init has an example of groups that check accepts' eval 'exits 0 && says "^groups.far.share  *20%"'

# ---- show, plot
call show "$work/one.db" tunnel_setup.p95 --where path.delay=10ms
test_that 'show' eval 'exits 0 && says tunnel_setup.p95'
test_that 'show --where leaves points out' eval '[ "$(grep -c mlkem768 "$work/out")" = 1 ]'
call show "$work/one.db" no_such_metric
test_that 'show: unknown metric' ends 2 no_such_metric
call show "$work/one.db" --where path.delay
test_that 'show: --where without value' ends 2 'allowed KEY=VALUE'
call export "$work/one.db" --format json
test_that 'export json' exits 0
call plot "$work/one.db" -o "$work/figure.svg" --y tunnel_setup --x path.delay --by ipsec.kex
test_that 'plot' eval 'exits 0 && [ -s "$work/figure.svg" ] && [ -s "$work/figure.gp" ]'
call plot "$work/one.db" --y tunnel_setup
test_that 'plot without -o' ends 2 'is missing'

# ---- interruptions
begin() {
  "$p" sweep "$work/long.yaml" -o "$1" --jobs 2 >"$work/out" 2>"$work/err" </dev/null &
  sweep=$!
}
# Some points are stored, not all of them. Waits for at most half a minute.
until_some_are_stored() {
  waits=0
  while [ $waits -lt 300 ] && kill -0 $sweep 2>/dev/null; do
    [ -f "$1" ] && [ "$("$p" export "$1" 2>/dev/null | wc -l)" -gt 4 ] && return 0
    sleep 0.1
    waits=$((waits + 1))
  done
  return 1
}
finish() {
  status=0
  wait $sweep 2>/dev/null || status=$?
}
children_of() {
  for stat in /proc/[0-9]*/stat; do
    # fields behind the name in parentheses: state, parent
    sed 's/^\([0-9]*\) (.*) . \([0-9]*\) .*/\2 \1/' "$stat" 2>/dev/null
  done | sed -n "s/^$1 //p"
}

call sweep "$work/long.yaml" -o "$work/whole.db" --jobs 2
test_that 'an uninterrupted sweep' exits 0
export_of "$work/whole.db" >"$work/whole.csv"

begin "$work/int.db"
test_that 'points are stored while it runs' until_some_are_stored "$work/int.db"
kill -TERM $sweep
finish
test_that 'SIGTERM: exit 1 and how to resume' ends 1 'interrupted: [0-9]* of 60 points are stored in .*; to resume: ./pqnetsim sweep '
resume=$(sed -n 's/.*to resume: //p' "$work/err")
status=0
sh -c "$resume" >"$work/out" 2>"$work/err" || status=$?
test_that 'the command it names resumes' ends 0 'were there'
export_of "$work/int.db" >"$work/int.csv"
test_that 'and ends like the uninterrupted one' same "$work/int.csv" "$work/whole.csv"

begin "$work/kill.db"
until_some_are_stored "$work/kill.db" || echo 'note: the sweep was over before kill -9'
workers=$(children_of $sweep)
kill -KILL $sweep
finish
call export "$work/kill.db"
test_that 'after kill -9 the file opens' exits 0
sleep 1
gone=${workers:+yes}
for worker in $workers; do
  case $(tr '\0' ' ' 2>/dev/null <"/proc/$worker/cmdline") in *"$work/kill.db"*) gone=no ;; esac
done
test_that 'after kill -9 no worker is left' [ "$gone" = yes ]
call sweep "$work/long.yaml" -o "$work/kill.db"
test_that 'the next call completes it' ends 0 'were there'
export_of "$work/kill.db" >"$work/kill.csv"
test_that 'and ends like the uninterrupted one' same "$work/kill.csv" "$work/whole.csv"

begin "$work/child.db"
until_some_are_stored "$work/child.db" || echo 'note: the sweep was over before its worker was killed'
for worker in $(children_of $sweep); do
  kill -KILL "$worker"
  break
done
finish
test_that 'a killed worker fails its point with the reason' ends 1 'point [0-9]* (path.delay=[0-9]*ms) failed: .*signal 9 (Killed)'
test_that 'and no other' warns '^1 of 60 points failed; to run them again: '
call sweep "$work/long.yaml" -o "$work/child.db"
test_that 'the next call runs it again' ends 0 '(59 were there)'
export_of "$work/child.db" >"$work/child.csv"
test_that 'and ends like the uninterrupted one' same "$work/child.csv" "$work/whole.csv"

# ---- validate
call validate --set oran-e2
test_that 'validate: fit and predict apart' eval 'exits 0 && says "^predict  oran-e2  *1 " && says "^fit  *oran-e2  *5 " && silent err'
call validate --set oran-e2 --all
test_that 'validate --all: every value' eval 'exits 0 && says "^PREDICT" && says "^FIT" && [ "$(grep -c "^oran-[1-6] " "$work/out")" = 6 ]'
call validate --set oran-e2 --json
test_that 'validate --json' eval 'exits 0 && [ "$(head -c 1 "$work/out")" = "[" ] && [ "$(tail -n 1 "$work/out")" = "]" ] && [ "$(grep -c "\"role\": \"fit\"" "$work/out")" = 5 ]'
test_that 'validate --json: the members' says '{"id": "oran-3", "set": "oran-e2", "quantity": ".*", "condition": "e2-ipsec: .*", "published": 4.7, "simulated": [0-9.]*, "unit": "ms", "error_pct": -[0-9.]*, .*"role": "predict", "source": "seed-oran-e2"'
cp "$work/out" "$work/first.json"
call validate --set oran-e2 --json
test_that 'validate: equal calls, equal bytes' same "$work/out" "$work/first.json"
call validate --set oran
test_that 'validate: unknown set' ends 2 "^--set: found 'oran', allowed aws-s2n, field-cases, .*oran-e2"
call validate --set sbi-http2
test_that 'validate: a family that is not modelled' ends 2 'sbi-http2 is not modelled yet'
cat >"$work/lab.csv" <<'END'
# title: Our lab
scenario,settings,metric,published,unit
./plain.yaml,path.rtt=20ms,ike_packets_i2r,2,1
e2-ipsec,ipsec.kex=x25519;path.rtt=20ms,success,100,%
END
call validate --data "$work/lab.csv" --all
test_that 'validate --data' eval 'exits 0 && says "^line-3 .* 2 .*+0.0 %" && says "^predict  lab  *2  *1 of 1 .* 1 of 1"'
cat >"$work/bad.csv" <<'END'
scenario,settings,metric,stat,published,unit,minus
e2-ipsec,ipsec.kexx=x25519,tunnel_setup,,44.9,ms,
nowhere,,tunnel_setup,,44.9,ms,
e2-ipsec,,tunnel_set,,44.9,ms,
e2-ipsec,,tunnel_setup,p51,44.9,ms,
e2-ipsec,,tunnel_setup,,44.9,s,
e2-ipsec,,tunnel_setup,,44.9,ms,path.rtt=5
END
call validate --data "$work/bad.csv"
test_that 'validate --data: every mistake at once' eval 'exits 2 && silent out && [ "$(grep -c "bad.csv:[2-7]: column " "$work/err")" = 6 ]'
test_that 'validate --data: a key' warns 'bad.csv:2: column settings: --set ipsec.kexx: unknown key; did you mean ipsec.kex'
test_that 'validate --data: a metric' warns "bad.csv:4: column metric: found 'tunnel_set', .*did you mean 'tunnel_setup'"
call validate --data "$work/lab.csv" --set oran-e2
test_that 'validate: --data or --set' ends 2 '^--set and --data'
echo mine >"$work/page.md"
call validate --page "$work/page.md"
test_that 'validate --page writes over no foreign file' eval 'ends 2 "page.md: is there already" && [ "$(cat "$work/page.md")" = mine ]'
call validate --set oran-e2 -o "$work/fig.svg"
test_that 'validate -o' eval 'exits 0 && grep -q "<svg" "$work/fig.svg"'

# ---- ns-3
mkdir "$work/alone"
cp "$p" "$work/alone"
status=0
PQNETSIM_DATA=$PWD/calib/data "$work/alone/pqnetsim" run "$work/plain.yaml" --backend ns3 >"$work/out" 2>"$work/err" || status=$?
test_that 'without pqnetsim-ns3 beside it: how to get it' ends 2 'libns3-dev'
if [ -x ./pqnetsim-ns3 ]; then
  call run "$work/small.yaml" --backend ns3 --json
  test_that 'ns3' eval 'exits 0 && says "\"backend\": \"ns3\""'
  cp "$work/out" "$work/first.json"
  call run "$work/small.yaml" --backend ns3 --json
  test_that 'ns3: the same call gives the same bytes' same "$work/out" "$work/first.json"
  call sweep "$work/small.yaml" -o "$work/ns1.db" --backend ns3 --jobs 1
  test_that 'ns3: sweep' exits 0
  call sweep "$work/small.yaml" -o "$work/ns2.db" --backend ns3 --jobs 2
  export_of "$work/ns1.db" >"$work/ns1.csv"
  export_of "$work/ns2.db" >"$work/ns2.csv"
  test_that 'ns3: one worker and two give the same export' eval '[ -s "$work/ns1.csv" ] && same "$work/ns1.csv" "$work/ns2.csv"'
  call sweep "$work/small.yaml" -o "$work/one.db" --backend ns3
  test_that 'a study has one backend' ends 2 'backend'
  call run "$work/fleet.yaml" --backend ns3
  test_that 'ns3: groups' eval 'exits 0 && says "^tunnel_setup@rural  *ms  *6 " && says "^tunnel_setup@legacy  *ms  *16 "'
  call list backends
  test_that 'list backends knows ns3' says '^ns3 *yes'
fi

printf '%s passed, %s failed\n' $passed $failed
[ $failed = 0 ]
