# Sourced by the tests in this folder, which run in the root of the project.
set -euo pipefail

failures=0

# expect_contains TEXT PART: PART appears in TEXT.
expect_contains() {
    if [[ $1 != *"$2"* ]]; then
        printf 'expected "%s" in:\n%s\n' "$2" "$1" >&2
        failures=$((failures + 1))
    fi
}

# expect_lacks TEXT PART: it does not.
expect_lacks() {
    if [[ $1 == *"$2"* ]]; then
        printf 'did not expect "%s" in:\n%s\n' "$2" "$1" >&2
        failures=$((failures + 1))
    fi
}

# expect_equal GOT WANTED WHAT
expect_equal() {
    if [[ $1 != "$2" ]]; then
        printf '%s: got "%s", wanted "%s"\n' "$3" "$1" "$2" >&2
        failures=$((failures + 1))
    fi
}

# finish: the test's exit status.
finish() { exit $((failures > 0)); }
