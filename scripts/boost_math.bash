# Sourced by scripts/offline-bundle: the part of Boost that Boost.Math needs. Needs: g++, steps.bash.

# boost_math_headers FROM TO: copies out of the include folder FROM all of boost/math, boost/config
# (chosen by compiler, and the host's may be another one) and whatever distributions, special functions
# and statistics include in the end. Prints how many files that are.
boost_math_headers() {
    local from=$1 to list
    to=$(realpath "$2")
    [[ -d $from/boost/math ]] || fail "there is no boost/math in the package of Boost"
    list=$(mktemp)
    (
        cd "$from" || exit 1
        # Entry points that need parts of Boost or libraries of their own, or refuse this standard, are
        # left out one by one: -M fails for those alone.
        find boost/math -mindepth 2 -maxdepth 2 -name '*.hpp' |
            while read -r header; do
                echo "#include <$header>" | g++ -std=c++20 -x c++ -M -MG -I . - 2>/dev/null || true
            done | grep -o 'boost/[^ ]*' >"$list"
        find boost/math boost/config -type f >>"$list"
        sort -u "$list" | while read -r header; do
            if [[ -f $header ]]; then echo "$header"; fi
        done >"$list.there"
        xargs -a "$list.there" cp --parents -t "$to"
    )
    printf '%d headers' "$(wc -l <"$list.there")"
    rm -f "$list" "$list.there"
}
