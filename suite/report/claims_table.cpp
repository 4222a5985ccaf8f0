// The claims of a paper beside what was obtained, for the terminal.
#include "suite/report/report.hpp"
#include "suite/report/utf8.hpp"

namespace assay::report {

std::string claims_table(const Registry& registry, std::span<const ClaimCheck> checks) {
    Grid rows{{"verdict", "paper", "ours", "how", "claim"}};
    std::vector<std::string> reasons;
    for (const ClaimCheck& check : checks) {
        const Claim* claim = registry.claim(check.claim);
        rows.push_back({std::string(to_string(check.verdict)),
                        claim && claim->value ? number(*claim->value) : "–",
                        check.obtained ? number(*check.obtained) : "–",
                        check.provenance ? std::string(to_string(*check.provenance)) : "–",
                        check.claim});
        reasons.push_back(check.reason);
    }
    // The reasons go below their rows, because a column of sentences would not fit a terminal.
    const std::string table = text_table(rows);
    constexpr std::size_t reason_columns = 94;
    std::string out;
    std::size_t line = 0;
    for (std::size_t at = 0; at < table.size(); ++line) {
        const std::size_t end = table.find('\n', at) + 1;
        out += table.substr(at, end - at);
        at = end;
        if (line < 2 || line - 2 >= reasons.size() || reasons[line - 2].empty()) continue;
        const std::size_t row = line - 2;
        // Neighbours with one reason have it below the last of them.
        if (row + 1 < reasons.size() && reasons[row + 1] == reasons[row]) continue;
        for (const std::string& piece : wrapped(reasons[row], reason_columns))
            out += "    " + piece + '\n';
    }
    return out;
}

}  // namespace assay::report
