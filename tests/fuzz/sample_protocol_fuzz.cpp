// The lines of a sample's process: nothing that arrives may do more than throw ProtocolError, and
// what is accepted comes back the same.
#include <cstdint>
#include <cstdlib>

#include "suite/runner/sample/sample_protocol.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay::runner;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    LineSplitter splitter;
    splitter.feed(bytes, [](std::string_view line) {
        Message message;
        try {
            message = decode(line);
        } catch (const ProtocolError&) {
            return;
        }
        const std::string once = encode(message);
        if (encode(decode(once)) != once) std::abort();
    });
    return 0;
}
