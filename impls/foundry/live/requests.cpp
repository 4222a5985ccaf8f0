#include "impls/foundry/live/requests.hpp"

namespace assay::foundry {

std::uint64_t decode_request(const toy::DecodeSettings& settings, int request, int batch, int steps,
                             const DecodeRows& decode) {
    std::uint64_t hash = 0xcbf29ce484222325;
    std::vector<toy::Row> rows(static_cast<std::size_t>(batch));
    const int blocks = table_blocks(settings);
    for (int row = 0; row < batch; ++row) {
        auto& [token, position, of_row] = rows[static_cast<std::size_t>(row)];
        token = static_cast<int>(
            (static_cast<unsigned>(request) * 7919u + static_cast<unsigned>(row) * 104729u) %
            static_cast<unsigned>(settings.vocabulary));
        // Blocks of a sequence lie scattered, each belongs to one.
        for (int block = 0; block < blocks && block * batch + row < settings.cache_blocks; ++block)
            of_row.push_back((block * batch + row + request) % settings.cache_blocks);
    }
    for (int step = 0; step < steps; ++step) {
        const toy::RandomState random{.seed = static_cast<std::uint64_t>(request) + 1,
                                      .offset = static_cast<std::uint64_t>(step)};
        const std::vector<int> tokens = decode(rows, random);
        for (std::size_t row = 0; row < rows.size(); ++row) {
            hash = (hash ^ static_cast<std::uint64_t>(tokens[row])) * 0x100000001b3;
            rows[row].token = tokens[row];
            ++rows[row].position;
        }
    }
    return hash;
}

}  // namespace assay::foundry
