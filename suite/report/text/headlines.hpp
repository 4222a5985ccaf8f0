// The front page: the paper's own headline numbers beside ours, a row for each.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "suite/report/text/claims_summary.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::report {

/// A claim, what became of it, and why in one line: headline_why().
struct Headline {
    const Claim* claim;
    ClaimCheck check;
    std::string why;
};

/// Of the checks those of claims with `headline = true`, in their order. They are best those of
/// checks_of_today(): stored ones have no interval.
std::vector<Headline> headlines(const Registry&, std::span<const ClaimCheck>,
                                const NeedIsHere& here = data::is_here);

/// One line of at most 200 characters: of a contradicted claim what explains it, else what the
/// verdict rests on (where it holds, over how many seeds, which fit determines it), or what is
/// missing and the command that makes it.
std::string headline_why(const Registry&, const Claim&, const ClaimCheck&,
                         const NeedIsHere& here = data::is_here);

/// One line of at most `most` characters: text that is longer ends with its last whole sentence,
/// or where that would leave less than a quarter, with its last whole word and "…", before a
/// command in backquotes that does not fit.
std::string brief(std::string_view text, std::size_t most);

std::string system_of(const Claim&);
/// What the paper prints; nothing where there is none, and of what we promise ourselves.
std::optional<double> paper_value(const Claim&);

/// The 95 % interval of what was obtained, where there is one.
SeedRange seed_range(const ClaimCheck&);

/// {"system","claim","says","paper","ours","low","high","provenance","verdict","why"}; paper, ours,
/// low, high and provenance are null where there is none.
nlohmann::json headline_json(const Headline&);

/// A row for each, a line long: system, what the paper says (brief), paper, ours (with its interval
/// and provenance), verdict, why (brief).
Grid headlines_grid(const std::vector<Headline>&);

/// For a terminal: paper, ours and verdict of each, below it what the paper says and why.
std::string headlines_table(const std::vector<Headline>&, std::size_t columns);

}  // namespace assay::report
