#include "tests/lazarus/data/smartmoe_folder.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <random>
#include <stdexcept>

namespace assay::lazarus {

namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t n) { return random() % n; }

/// Deals a row's tokens out to `count` lists of equal sums: in even shares, the rest at random, so
/// that what remains can always be dealt to the lists that are left.
std::vector<LoadRow> deal(LoadRow left, std::size_t count, std::uint64_t tokens, Random& random) {
    std::vector<LoadRow> lists;
    std::vector<std::size_t> order(left.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t lists_left = count; lists_left > 0; --lists_left) {
        LoadRow list(left.size());
        std::uint64_t dealt = 0;
        for (std::size_t e = 0; e < left.size(); ++e) dealt += list[e] = left[e] / lists_left;
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t e : order) {
            if (dealt == tokens) break;
            if (left[e] % lists_left == 0) continue;
            ++list[e];
            ++dealt;
        }
        if (dealt != tokens) throw std::logic_error("a row of another sum");
        for (std::size_t e = 0; e < left.size(); ++e) left[e] -= list[e];
        lists.push_back(std::move(list));
    }
    return lists;
}

/// Exchanges that leave every sum as it is: lists become as uneven as those of a training.
void exchange(std::vector<LoadRow>& lists, Random& random) {
    for (std::size_t round = 0; round < 4 * lists.size(); ++round) {
        LoadRow& one = lists[below(random, lists.size())];
        LoadRow& other = lists[below(random, lists.size())];
        const std::size_t e = below(random, one.size()), f = below(random, one.size());
        if (&one == &other || e == f) continue;
        const std::uint64_t moved = below(random, std::min(one[e], other[f]) / 4 + 2);
        if (moved > std::min(one[e], other[f])) continue;
        one[e] -= moved, other[e] += moved;
        other[f] -= moved, one[f] += moved;
    }
}

}  // namespace

std::string smartmoe_line(std::size_t layer, const std::vector<LoadRow>& lists) {
    std::string line = std::to_string(layer) + ":[";
    for (const LoadRow& list : lists) {
        line += line.back() == '[' ? "[" : ", [";
        for (std::size_t e = 0; e < list.size(); ++e)
            line += (e == 0 ? "" : ", ") + std::to_string(list[e]) + ".0";
        line += ']';
    }
    return line + ']';
}

std::vector<LoadRow> random_loads(const SmartmoeLogs& logs, std::uint64_t seed) {
    Random random(seed);
    std::vector<LoadRow> rows;
    for (auto i = logs.first_iteration; i <= logs.last_iteration; i += logs.iteration_step)
        for (std::size_t layer = 0; layer < logs.layers; ++layer) {
            LoadRow row(logs.experts);
            for (std::uint64_t t = logs.ranks * logs.micro_batches * logs.tokens; t > 0; --t)
                ++row[below(random, 1 + below(random, logs.experts))];
            rows.push_back(row);
        }
    return rows;
}

void write_smartmoe_folder(const std::filesystem::path& folder, const SmartmoeLogs& logs,
                           const std::vector<LoadRow>& rows, std::uint64_t seed) {
    Random random(seed);
    auto row = rows.begin();
    for (auto i = logs.first_iteration; i <= logs.last_iteration; i += logs.iteration_step) {
        std::vector<std::string> text(logs.ranks);
        for (std::size_t layer = 0; layer < logs.layers; ++layer, ++row) {
            auto lists = deal(*row, logs.ranks * logs.micro_batches, logs.tokens, random);
            exchange(lists, random);
            for (std::size_t rank = 0; rank < logs.ranks; ++rank) {
                const auto first =
                    lists.begin() + static_cast<std::ptrdiff_t>(rank * logs.micro_batches);
                const auto end = first + static_cast<std::ptrdiff_t>(logs.micro_batches);
                text[rank] += smartmoe_line(layer, {first, end}) + '\n';
            }
        }
        for (std::size_t rank = 0; rank < logs.ranks; ++rank) {
            std::ofstream out(folder / ("table_iter" + std::to_string(i) + "_rank" +
                                        std::to_string(rank) + ".log"));
            if (!(out << text[rank] << std::flush)) throw std::runtime_error("the disk is full");
        }
    }
}

std::string loads_csv(const SmartmoeLogs& logs, const std::vector<LoadRow>& rows) {
    std::string csv = "iteration,layer";
    for (std::size_t e = 0; e < logs.experts; ++e) csv += ",e" + std::to_string(e);
    csv += '\n';
    auto row = rows.begin();
    for (auto i = logs.first_iteration; i <= logs.last_iteration; i += logs.iteration_step)
        for (std::size_t layer = 0; layer < logs.layers; ++layer, ++row) {
            csv += std::to_string(i) + ',' + std::to_string(layer);
            for (const std::uint64_t tokens : *row) csv += ',' + std::to_string(tokens);
            csv += '\n';
        }
    return csv;
}

}  // namespace assay::lazarus
