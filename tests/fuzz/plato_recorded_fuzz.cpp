// Recorded answers: a malformed file is a UserError, anything else has an answer for every node.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "impls/plato/plans/recorded.hpp"
#include "suite/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
    try {
        for (const auto& answer : assay::plato::read_recorded(in, "answers.md")) {
            if (answer.plan.empty() || answer.plan.size() != answer.answers.size()) std::abort();
            for (std::size_t i = 0; i < answer.plan.size(); ++i)
                for (const int before : answer.plan[i].dependencies)
                    if (before < 1 || before > static_cast<int>(i)) std::abort();
        }
    } catch (const assay::UserError&) {
    }
    return 0;
}
