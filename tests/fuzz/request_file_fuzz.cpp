// Request files of `assay model batch`: a UserError that names the line, or requests that an engine
// takes as they are.
#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "impls/decode/modelled/modelled_back_end.hpp"
#include "impls/decode/requests/request_file.hpp"
#include "suite/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay::decode;
    std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
    std::vector<NamedJob> jobs;
    try {
        jobs = read_requests(
            in, "r.jsonl",
            {.vocabulary = 50,
             .context = 30,
             .blocks = 4,
             .stop_ids = {2},
             .encode = [](const std::string& text) { return std::vector<int>(text.size(), 7); }});
    } catch (const assay::UserError& error) {
        if (!std::string_view(error.what()).starts_with("r.jsonl:")) std::abort();
        return 0;
    }
    BatchEngine engine(std::make_unique<ModelledBackEnd>(
                           ModelledSettings{.vocabulary = 50, .context = 30, .blocks = 4}),
                       {.max_requests = 1 << 30}, [](int) { return std::string("x"); });
    for (const NamedJob& each : jobs) engine.submit(each.job.request);
    return 0;
}
