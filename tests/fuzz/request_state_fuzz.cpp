// States of requests as another engine hands them on: a UserError, or a state that is written as it
// was read; and whatever a state says, with its checksum made to fit, an engine takes it or
// refuses.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "impls/decode/batch_engine.hpp"
#include "impls/decode/modelled/modelled_back_end.hpp"
#include "suite/base/error.hpp"
#include "suite/base/sha256.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay::decode;
    const auto* const first = reinterpret_cast<const std::byte*>(data);
    std::vector<std::byte> bytes(first, first + size);
    for (const bool fitting : {false, true}) {
        if (fitting) {
            if (size < 64) return 0;
            const std::string digest =
                assay::sha256_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size() - 64});
            std::memcpy(bytes.data() + bytes.size() - 64, digest.data(), 64);
        }
        try {
            const RequestState state = request_state_from(bytes);
            if (to_bytes(state) != bytes) std::abort();
            BatchEngine engine(std::make_unique<ModelledBackEnd>(
                                   ModelledSettings{.vocabulary = 50, .context = 30, .blocks = 4}),
                               {.model = "m"});
            engine.resume(state);
            StepReport report;
            for (int i = 0; i < 100 && !engine.idle(); ++i) engine.step(report);
        } catch (const assay::UserError&) {
        }
    }
    return 0;
}
