#include "impls/foundry/method/archive/manifest.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "suite/base/error.hpp"
#include "suite/base/json_text.hpp"

namespace assay::foundry {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

ordered_json to_json(const std::optional<Fingerprint>& fingerprint) {
    if (!fingerprint) return nullptr;
    ordered_json object;
    for_each_field(*fingerprint, [&](std::string_view name, const auto& field) {
        object[std::string(name)] = field ? ordered_json(*field) : ordered_json(nullptr);
    });
    return object;
}

ordered_json to_json(const std::optional<SavedRegion>& region) {
    if (!region) return nullptr;
    auto live = ordered_json::array();
    for (const Range& range : region->live) live.push_back({range.lo, range.hi});
    return {{"base", region->settings.base},
            {"size", region->settings.size},
            {"scratch", region->settings.scratch},
            {"final", region->final},
            {"live", live}};
}

ordered_json groups_json(const GraphEncoder& graphs) {
    auto groups = ordered_json::array();
    for (const GraphEncoder::Group& group : graphs.groups())
        groups.push_back(
            {{"key", group.key}, {"template", group.template_batch}, {"members", group.members}});
    return groups;
}

ordered_json to_json(const std::vector<GoldenResult>& golden) {
    auto results = ordered_json::array();
    for (const auto& [batch, result] : golden) results.push_back({batch, result});
    return results;
}

ordered_json to_json(const RankTags& tags) {
    auto words = ordered_json::array();
    for (const auto& [kernel, offset, holds] : tags.words)
        words.push_back({kernel, offset, to_string(holds)});
    return {{"rank", tags.rank},
            {"ranks", tags.ranks},
            {"heap", tags.heap},
            {"stride", tags.stride},
            {"words", words}};
}

std::optional<Fingerprint> fingerprint(const json& value) {
    if (value.is_null()) return std::nullopt;
    Fingerprint result;
    for_each_field(result, [&]<class T>(std::string_view name, std::optional<T>& field) {
        if (const json& given = value.at(std::string(name)); !given.is_null())
            field = given.get<T>();
    });
    return result;
}

std::optional<SavedRegion> region(const json& value) {
    if (value.is_null()) return std::nullopt;
    SavedRegion result{.settings = {.base = value.at("base"),
                                    .size = value.at("size"),
                                    .scratch = value.at("scratch")},
                       .final = value.at("final"),
                       .live = {}};
    for (const json& range : value.at("live"))
        result.live.push_back({.lo = range.at(0), .hi = range.at(1)});
    return result;
}

/// Numbers that the type can hold: json would take others modulo its size.
template <class Number>
Number whole_number(const json& value, const std::string& name) {
    if (value.is_number_unsigned() && std::in_range<Number>(value.get<std::uint64_t>()))
        return static_cast<Number>(value.get<std::uint64_t>());
    throw DamagedArchive(name, "of its ranks, " + value.dump() + " is no such number");
}

RankTags rank_tags(const json& value, const std::string& name) {
    RankTags tags{.rank = whole_number<int>(value.at("rank"), name),
                  .ranks = whole_number<int>(value.at("ranks"), name),
                  .heap = whole_number<std::uint64_t>(value.at("heap"), name),
                  .stride = whole_number<std::uint64_t>(value.at("stride"), name),
                  .words = {}};
    for (const json& word : value.at("words")) {
        const auto holds = of_word<RankWord::Holds>(word.at(2).get<std::string>());
        if (!holds) throw DamagedArchive(name, "of its ranks, a word holds " + word.at(2).dump());
        tags.words.push_back({.kernel = word.at(0),
                              .offset = whole_number<std::uint32_t>(word.at(1), name),
                              .holds = *holds});
    }
    if (const std::string why = mistake(tags); !why.empty()) throw DamagedArchive(name, why);
    return tags;
}

}  // namespace

std::string sum_line(std::string_view sha256, std::string_view name) {
    return fmt::format("{}  {}\n", sha256, name);
}

std::string to_text(const Manifest& manifest, const GraphEncoder& graphs) {
    ordered_json files;
    for (const FileRecord& file : manifest.files)
        files[file.name] = {{"bytes", file.bytes}, {"sha256", file.sha256}};
    ordered_json whole{{"version", archive_version},
                       {"fingerprint", to_json(manifest.fingerprint)},
                       {"region", to_json(manifest.region)},
                       {"golden", to_json(manifest.golden)},
                       {"batches", graphs.batches()},
                       {"groups", groups_json(graphs)},
                       {"files", files}};
    if (manifest.ranks) whole["ranks"] = to_json(*manifest.ranks);
    std::string text;
    for (const auto& [key, value] : whole.items())
        text += fmt::format("{}\"{}\": {}", text.empty() ? "{" : ",\n ", key, value.dump());
    return text + "}\n";
}

Manifest read_manifest(std::string_view text, const std::string& name) {
    try {
        const json whole = parse_json(text);
        if (const json& version = whole.at("version"); version != archive_version)
            throw UserError(
                fmt::format("{}: the archive is of version {}, and this program reads "
                            "version {}; make it again with `assay archive pack`",
                            name, version.dump(), archive_version));
        Manifest manifest{.fingerprint = fingerprint(whole.at("fingerprint")),
                          .region = region(whole.at("region")),
                          .golden = {},
                          .ranks = {},
                          .files = {}};
        if (const auto ranks = whole.find("ranks"); ranks != whole.end())
            manifest.ranks = rank_tags(*ranks, name);
        for (const json& each : whole.at("golden"))
            manifest.golden.push_back({.batch = each.at(0), .result = each.at(1)});
        for (const auto& [file, record] : whole.at("files").items())
            manifest.files.push_back(
                {.name = file, .bytes = record.at("bytes"), .sha256 = record.at("sha256")});
        return manifest;
    } catch (const JsonError& error) {
        throw DamagedArchive(name, error.what());
    } catch (const json::exception& error) {
        throw DamagedArchive(name, json_reason(error));
    }
}

}  // namespace assay::foundry
