#include "suite/compare/arm.hpp"

namespace assay::compare {

std::string SeriesName::text() const {
    std::string all;
    for (const std::string& part : {experiment, variant, assay::to_string(axes)}) {
        if (part.empty()) continue;
        if (!all.empty()) all += ' ';
        all += part;
    }
    return all;
}

}  // namespace assay::compare
