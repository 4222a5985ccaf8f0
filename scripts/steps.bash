# Sourced by the other scripts: says each step and how long it took, keeps long output in a log file.
# Needs: bash, the current folder is the root of the project.

# step TEXT: opens a step.
step() { printf '\n==> %s\n' "$*"; }

# fail TEXT: one sentence that helps, then the end.
fail() {
    printf '\n%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# elapsed SECONDS: "7 s" or "3 min 20 s".
elapsed() {
    if (($1 < 60)); then printf '%d s' "$1"; else printf '%d min %d s' $(($1 / 60)) $(($1 % 60)); fi
}

# logged LOG COMMAND…: runs the command with its output in the file LOG. On a terminal the last line of
# the output is shown and kept current; elsewhere one line appears every half minute. Afterwards: how
# long it took, or the end of the log. Returns the command's status.
logged() {
    local log=$1 started=$SECONDS shown=$SECONDS status=0 child line
    shift
    mkdir -p "$(dirname "$log")"
    # Job control gives the child a process group of its own: what Ctrl-C or a kill of this script has
    # to end is all of it, compilers included.
    set -m
    "$@" </dev/null >"$log" 2>&1 9>&- &
    set +m
    child=$!
    trap 'kill -- "-$child" 2>/dev/null || true; wait "$child" 2>/dev/null || true; printf "\nstopped\n" >&2; exit 130' INT TERM
    while kill -0 "$child" 2>/dev/null; do
        sleep 0.5
        if [[ -t 1 ]]; then
            line=$(tail -n 1 "$log" | tr -cd '[:print:]')
            printf '\r\033[K    %s  %s' "$(elapsed $((SECONDS - started)))" "${line:0:90}"
        elif ((SECONDS - shown >= 30)); then
            shown=$SECONDS
            line=$(tail -n 1 "$log" | tr -cd '[:print:]')
            printf '    %s  %s\n' "$(elapsed $((SECONDS - started)))" "${line:0:90}"
        fi
    done
    wait "$child" || status=$?
    trap - INT TERM
    if [[ -t 1 ]]; then printf '\r\033[K'; fi
    if ((status == 0)); then
        printf '    done in %s (log: %s)\n' "$(elapsed $((SECONDS - started)))" "$log"
    else
        printf '    failed after %s with status %d; the end of %s:\n\n' \
            "$(elapsed $((SECONDS - started)))" "$status" "$log" >&2
        tail -n 40 "$log" >&2
    fi
    return "$status"
}
