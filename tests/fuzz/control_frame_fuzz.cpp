// Frames of the control channel. The same stream must give the same frames, or be refused, whether
// it comes at once or byte by byte; a message that parses must survive being sent again.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "suite/cluster/processes/frame.hpp"

namespace {

using namespace assay::cluster;

struct Outcome {
    std::vector<std::string> frames;
    bool refused = false;
    bool operator==(const Outcome&) const = default;
};

Outcome read_stream(const char* data, std::size_t size, std::size_t piece) {
    FrameReader reader;
    Outcome outcome;
    try {
        for (std::size_t at = 0; at < size; at += piece) {
            reader.feed(data + at, std::min(piece, size - at));
            while (auto frame = reader.next()) {
                outcome.frames.push_back(char(frame->kind) + frame->payload);
            }
        }
    } catch (const FrameError&) {
        outcome.refused = true;
    }
    return outcome;
}

void send_again(const std::string& payload) {
    nlohmann::json body;
    try {
        body = decode_message({FrameKind::message, payload});
    } catch (const FrameError&) {
        return;
    }
    const std::string once = encode_message(body);
    FrameReader reader;
    reader.feed(once.data(), once.size());
    const auto frame = reader.next();
    if (!frame || encode_message(decode_message(*frame)) != once) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto* text = reinterpret_cast<const char*>(data);
    const Outcome whole = read_stream(text, size, size + 1);
    if (!(whole == read_stream(text, size, 1))) std::abort();
    for (const std::string& frame : whole.frames) send_again(frame.substr(1));
    send_again(std::string(text, size));
    return 0;
}
