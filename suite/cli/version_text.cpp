#include "suite/cli/version_text.hpp"

#include <fmt/format.h>

#include "suite/measure/build_info.hpp"

namespace assay::cli {

std::string version_text() {
    const measure::BuildInfo info = measure::build_info();
    std::string text = fmt::format("assay {}", info.version);
    if (!info.commit.empty()) text += fmt::format(", commit {}", info.commit);
    text += fmt::format("\nbuilt by {}, {}", info.compiler, info.build_type);
    if (!info.torch.empty()) text += fmt::format(", with libtorch {}", info.torch);
    text += fmt::format("\nbuild id {}", measure::build_id());
    for (const measure::BuildPart& part : info.parts)
        if (part.state != measure::BuildPart::State::built_in)
            text += fmt::format("\nwithout {}: {}", part.name, part.says);
    return text;
}

}  // namespace assay::cli
