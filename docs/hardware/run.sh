#!/bin/sh
# What Tierscope finds on a machine with a GPU, in at most ten minutes: the suite of all media, a calibration, and a driven run
# that verifies every block, by CUDA and by wgpu. Needs a `tierscope` binary and nothing else; see README.md beside this file.
#
#   sh run.sh TIERSCOPE [RESULTS] [SCENARIO]
#
# RESULTS gets a folder named by the GPU (default: where this file lies). SCENARIO is driven (default: the quickstart).
# Exit: 0 at least one way to the GPU works and nothing is broken; 1 something is broken; 2 no way to a GPU was found.
set -u

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
tierscope=${1:?"usage: sh run.sh TIERSCOPE [RESULTS] [SCENARIO]"}
results=${2:-$here}
scenario=${3:-$here/../../tests/scenarios/drive/quickstart.toml}

# Caps in seconds: 2 x (40 + 130 + 2 x 45 + 10) and 20 for the probe, 560 in all. A calibration is told less than its cap.
suite_max=40
calibrate_max=130
calibrate_told=${CALIBRATE_SECONDS:-100}
drive_max=45
block_bytes=${BLOCK_BYTES:-65536}

die() {
    echo "error: $1" >&2
    echo "  mend: $2" >&2
    exit 2
}

command -v "$tierscope" >/dev/null 2>&1 || die "$tierscope is no program" "cargo build --release -p tierscope --features cuda,wgpu"
command -v timeout >/dev/null 2>&1 || die "there is no \`timeout\` here" "GNU coreutils"
[ -r "$scenario" ] || die "cannot read $scenario" "name a scenario with a [g3] as the third argument"
mkdir -p "$results" || die "cannot make $results" "a folder that can be written to"
"$tierscope" --version >/dev/null 2>&1 ||
    die "$tierscope does not run here: $("$tierscope" --version 2>&1 | head -1)" "it needs glibc 2.35 (Ubuntu 22.04) or the one that it was built with"

work=$(mktemp -d) || die "cannot make a temporary folder" "set TMPDIR"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
out=$work/out
mkdir "$out"

# step NAME SECONDS COMMAND...: runs it with a cap; its output goes to NAME.txt, its end to summary.txt.
step() {
    name=$1
    cap=$2
    shift 2
    begun=$(date +%s)
    timeout -k 5 "$cap" "$@" >"$out/$name.txt" 2>&1
    code=$?
    took=$(($(date +%s) - begun))
    case $code in
    0) word=done ;;
    124 | 137) word="stopped after $cap s" ;;
    *) word="exit code $code" ;;
    esac
    echo "$name: $word, $took s" | tee -a "$out/summary.txt"
    return $code
}

# What the machine is, as far as it says.
machine() {
    uname -srm
    getconf GNU_LIBC_VERSION 2>/dev/null
    sed -n 's/^model name[^:]*: /processor: /p' /proc/cpuinfo 2>/dev/null | head -1
    echo "processors: $(getconf _NPROCESSORS_ONLN 2>/dev/null)"
    sed -n 's/^MemTotal: */memory: /p' /proc/meminfo 2>/dev/null
    echo "may lock (ulimit -l): $(ulimit -l 2>/dev/null)"
    echo "load: $(cut -d' ' -f1-3 /proc/loadavg 2>/dev/null)"
    "$tierscope" --version
    if command -v nvidia-smi >/dev/null 2>&1; then
        timeout -k 5 20 nvidia-smi --query-gpu=name,driver_version,memory.total,pcie.link.gen.max,pcie.link.width.max --format=csv
    else
        echo "no nvidia-smi"
    fi
}

machine >"$out/machine.txt" 2>&1
gpu=
broken=0

for g1 in ${WAYS:-cuda wgpu}; do
    way=${g1%%:*}
    # The suite is the probe as well: where the way does not exist, it says why within a second.
    step "conform-$way" "$suite_max" "$tierscope" conform --g1 "$g1" --g3 "$work/suite-$way"
    case $? in
    0) ;;
    2)
        echo "  $way: $(grep -m1 '^error' "$out/conform-$way.txt")" | tee -a "$out/summary.txt"
        continue
        ;;
    *)
        broken=1
        continue
        ;;
    esac
    name=$(sed -n "s/^G1  $way: \([^,(]*\).*/\1/p" "$out/conform-$way.txt" | head -1)
    [ -n "$gpu" ] || gpu=$name

    # In lock-step, every block verified; what the scenario has for an object store is a folder here.
    set -- --g1 "$g1" --g3 "$work/blocks-$way" --g4 "file://$work/objects-$way" --block-bytes "$block_bytes"
    step "drive-$way" "$drive_max" "$tierscope" drive "$scenario" "$@" --json "$out/drive-$way.json" || broken=1

    mkdir -p "$work/calibrate-$way"
    step "calibrate-$way" "$calibrate_max" "$tierscope" calibrate --g1 "$g1" --g3 "$work/calibrate-$way" \
        --seconds "$calibrate_told" --out "$out/hardware-$way.toml"
    case $? in
    # On the clock, and what the calibration predicts of it.
    0)
        step "drive-wall-$way" "$drive_max" "$tierscope" drive "$scenario" "$@" --clock wall \
            --json "$out/drive-wall-$way.json" || broken=1
        step "predict-$way" 10 "$tierscope" run "$scenario" --hardware "$out/hardware-$way.toml" \
            --json "$out/predict-$way.json" || broken=1
        ;;
    # Whoever stands in for a GPU is refused: that is how it has to be, and is said.
    2) echo "  $way: $(grep -m1 '^error' "$out/calibrate-$way.txt")" | tee -a "$out/summary.txt" ;;
    *) broken=1 ;;
    esac
done

[ -n "$gpu" ] || gpu="no GPU"
folder=$(printf %s "$gpu" | tr '[:upper:]' '[:lower:]' | tr -cs '[:alnum:]' '-' | sed 's/^-*//; s/-*$//' | cut -c1-60)
number=
while [ -e "$results/$folder$number" ]; do
    number=$((${number:--1} - 1))
done
cp -R "$out" "$results/$folder$number" || die "cannot write to $results" "a folder that can be written to"
echo "results: $results/$folder$number"

[ "$broken" -eq 0 ] || exit 1
[ "$gpu" != "no GPU" ] || exit 2
exit 0
