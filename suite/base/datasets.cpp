#include "suite/base/datasets.hpp"

#include <cstdlib>

#include "suite/base/error.hpp"

namespace assay {
namespace fs = std::filesystem;

namespace {

bool holds_claims(const fs::path& folder) {
    std::error_code ignored;  // an unreadable folder is one that does not hold them
    return fs::is_directory(folder / "claims", ignored);
}

}  // namespace

fs::path datasets_dir() {
    if (const char* given = std::getenv("ASSAY_DATASETS"); given && *given) {
        if (holds_claims(given)) return given;
        throw UserError(
            "ASSAY_DATASETS names " + std::string(given) +
            ", which has no folder 'claims'; set it to Assay's folder 'datasets' or unset it");
    }
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (!error) {
        for (fs::path folder = program.parent_path();; folder = folder.parent_path()) {
            if (holds_claims(folder / "datasets")) return folder / "datasets";
            if (holds_claims(folder / "share/assay/datasets"))
                return folder / "share/assay/datasets";
            if (folder == folder.parent_path()) break;
        }
    }
    if (holds_claims(ASSAY_SOURCE_DATASETS)) return ASSAY_SOURCE_DATASETS;
    throw UserError("the folder 'datasets' with the claims was found neither above " +
                    program.string() +
                    " nor at " ASSAY_SOURCE_DATASETS "; set ASSAY_DATASETS to it");
}

}  // namespace assay
