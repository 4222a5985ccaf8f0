// Messages of a protocol (Lazarus', which has every kind of field): MessageError, or one that its
// own JSON reproduces.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "impls/lazarus/policy/controller/protocol_json.hpp"

namespace {

using namespace assay;

template <class T>
void read(const nlohmann::json& document) {
    try {
        const std::string once = drive::to_json(drive::from_json<T>(document)).dump();
        const auto again = drive::from_json<T>(nlohmann::json::parse(once));
        if (drive::to_json(again).dump() != once) std::abort();
    } catch (const drive::MessageError&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto document = nlohmann::json::parse(data, data + size, nullptr, false);
    if (document.is_discarded()) return 0;
    read<lazarus::Event>(document);
    read<lazarus::Action>(document);
    read<lazarus::ControllerConfig>(document);
    return 0;
}
