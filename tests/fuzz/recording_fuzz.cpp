// Recorded decisions: UserError, or a recording that is written as it was read.
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "impls/lazarus/policy/controller/controller.hpp"
#include "impls/lazarus/policy/controller/protocol_json.hpp"
#include "suite/base/error.hpp"
#include "suite/drive/recording.hpp"

namespace {

using namespace assay;

constexpr const char* policy = "lazarus/controller";

std::string written_again(const std::string& text) {
    std::istringstream in(text);
    const auto recording =
        drive::read_recording<lazarus::Controller, lazarus::ControllerConfig>(in, policy);
    return drive::recording_text(policy, recording.settings, recording.decisions);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const std::string once = written_again({reinterpret_cast<const char*>(data), size});
        if (written_again(once) != once) std::abort();
    } catch (const assay::UserError&) {
    }
    return 0;
}
