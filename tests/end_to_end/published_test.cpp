// The published set of results: what this program runs and claims today is what was recorded.
// Where one of these fails, scripts/publish-results records an experiment again, or writes the
// table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include "tests/cli/program_test.hpp"

namespace assay::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::filesystem::path source = ASSAY_SOURCE;
const std::string published = (source / "results/published.db").string();

std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// "mro {"model":"gpt-l"} 0 1": a sample's variant, case, round and seed.
std::string point(const json& sample) {
    return sample["variant"].get<std::string>() + " " + sample["case"].dump() + " " +
           sample.value("scenario", "") + " " + std::to_string(sample["seed"].get<std::uint64_t>());
}

/// results/published.txt: of each experiment what `assay run` gets beside it, once for each of its
/// lines, and what those need that are not recorded.
struct PublishedLines {
    std::map<std::string, std::vector<std::vector<std::string>>> arguments;
    std::map<std::string, std::string> needs;
};

PublishedLines published_lines() {
    PublishedLines found;
    std::istringstream lines(text_of(source / "results/published.txt"));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream text(line);
        const std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
        if (words.empty() || words.front().front() == '#') continue;
        const auto rest = std::find_if(words.begin(), words.end(),
                                       [](const std::string& word) { return word[0] == '-'; });
        for (auto id = words.begin(); id != rest; ++id) {
            if (rest != words.end() && *rest == "--")
                found.needs[*id] = line.substr(line.find(" -- ") + 4);
            else
                found.arguments[*id].emplace_back(rest, words.end());
        }
    }
    return found;
}

class PublishedTest : public ProgramTest {
  protected:
    PublishedTest() : ProgramTest(ASSAY_PROGRAM) {}
    void SetUp() override {
        if (!std::filesystem::exists(published))
            GTEST_SKIP() << "not recorded yet: scripts/publish-results";
    }

    std::set<std::string> experiments() const {
        std::set<std::string> ids;
        for (const json& sample : samples()) ids.insert(sample["experiment"].get<std::string>());
        return ids;
    }
    /// All of them, those without a result too.
    const json& samples() const {
        if (!samples_.empty()) return samples_;
        std::set<std::string> sessions;
        std::istringstream csv(assay({"export", "--csv", "--db", published}).out);
        std::string line;
        std::getline(csv, line);  // the header
        while (std::getline(csv, line)) sessions.insert(line.substr(0, line.find(',')));
        for (const std::string& session : sessions)
            for (const json& sample : json::parse(
                     assay({"export", "--json", "--session", session, "--db", published}).out))
                samples_.push_back(sample);
        return samples_;
    }

  private:
    mutable json samples_ = json::array();
};

std::size_t columns_of(const std::string& line) {
    return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
    }));
}

/// What stands between the marks of a table that scripts/publish-results writes into a page.
std::string table_in(const std::string& page, const std::string& name) {
    const std::string text = text_of(source / page);
    const std::string begin = "<!-- " + name + ": written by scripts/publish-results -->\n";
    const auto from = text.find(begin);
    const auto to = text.find("<!-- end of " + name + " -->", from);
    if (from == std::string::npos || to == std::string::npos) return page + " has no " + begin;
    return text.substr(from + begin.size(), to - from - begin.size());
}

TEST_F(PublishedTest, ThePagesHaveTheirTables) {
    const EnvironmentVariable read("ASSAY_DB", published);  // commands of readers are without --db
    EXPECT_EQ(table_in("README.md", "headlines"), assay({"headlines", "--markdown"}).out)
        << "scripts/publish-results --table writes it";
    EXPECT_EQ(table_in("results/README.md", "verdicts"),
              assay({"claims", "--again", "--summary", "--markdown"}).out)
        << "scripts/publish-results --table writes it";
}

// The front page: of every system one to four of its paper's own numbers, whatever became of them.
TEST_F(PublishedTest, EverySystemHasOneToFourHeadlines) {
    std::map<std::string, std::vector<json>> by_system;
    for (const char* systems : {"all", "decode", "rlboost"})
        for (const json& row : assay_json({"headlines", systems, "--db", published})) {
            by_system[row["system"]].push_back(row);
            EXPECT_LE(columns_of(row["why"]), 200U) << row;
            EXPECT_FALSE(row["why"].get<std::string>().empty()) << row;
            EXPECT_TRUE(row["ours"].is_null() || !row["provenance"].is_null()) << row;
            if (!row["low"].is_null()) {
                EXPECT_LE(row["low"], row["ours"]) << row;
                EXPECT_GE(row["high"], row["ours"]) << row;
            }
        }
    std::set<std::string> with_claims;
    for (const auto& file : std::filesystem::directory_iterator(source / "datasets/claims"))
        if (file.path().extension() == ".toml") with_claims.insert(file.path().stem());
    std::set<std::string> with_headlines;
    for (const auto& [system, rows] : by_system) {
        with_headlines.insert(system);
        EXPECT_LE(rows.size(), 4U) << system;
    }
    EXPECT_EQ(with_headlines, with_claims);
    std::set<double> hetermoe;
    for (const json& row : by_system["hetermoe"])
        if (!row["paper"].is_null()) hetermoe.insert(row["paper"].get<double>());
    EXPECT_TRUE(hetermoe.contains(2.3) && hetermoe.contains(1.4));
    // A verdict is that of `assay claims --again`.
    std::map<std::string, std::string> verdicts;
    for (const json& claim : assay_json({"claims", "all", "--again", "--db", published}))
        verdicts[claim["id"]] = claim["verdict"];
    for (const json& row : assay_json({"headlines", "--db", published}))
        EXPECT_EQ(row["verdict"], verdicts[row["claim"]]) << row;
}

TEST_F(PublishedTest, ItHasTheSamplesThatTheExperimentsMakeToday) {
    const std::set<std::string> published_ids = experiments();
    ASSERT_FALSE(published_ids.empty());
    for (const auto& [id, lines] : published_lines().arguments) {
        if (!published_ids.contains(id)) continue;
        std::set<std::string> today, recorded;
        for (const std::vector<std::string>& arguments : lines) {
            std::vector<std::string> command{"run", id, "--dry-run", "--json"};
            command.insert(command.end(), arguments.begin(), arguments.end());
            const Printed planned = assay(command);
            if (planned.exit_code != 0) continue;  // a part that this build lacks
            const json plan = json::parse(planned.out);
            for (const json& sample : plan["samples"]) today.insert(point(sample));
        }
        if (today.empty()) continue;
        for (const json& sample : samples())
            if (sample["experiment"] == id) recorded.insert(point(sample));
        EXPECT_EQ(recorded, today) << id << ": scripts/publish-results " << id;
    }
}

// What two cores can run in ten minutes is in the set; of anything else a line says what it needs.
TEST_F(PublishedTest, EveryExperimentHasSamplesOrALineThatSaysWhatItNeeds) {
    const PublishedLines lines = published_lines();
    const std::set<std::string> published_ids = experiments();
    for (const auto& [id, arguments] : lines.arguments) {
        EXPECT_TRUE(published_ids.contains(id)) << "scripts/publish-results " << id;
        EXPECT_FALSE(lines.needs.contains(id)) << id << " is recorded";
    }
    for (const auto& [id, needs] : lines.needs) EXPECT_GT(needs.size(), 10U) << id << ": " << needs;
    for (const char* listed : {"list", "list decode"}) {
        std::istringstream words(listed);
        for (const json& row : assay_json({std::istream_iterator<std::string>(words), {}})) {
            const std::string id = row["id"];
            EXPECT_TRUE(lines.arguments.contains(id) || lines.needs.contains(id)) << id;
        }
    }
}

// Samples that are measured say how often: a line names its rounds, and trainings have three.
TEST_F(PublishedTest, MeasuredLinesNameTheirRounds) {
    std::map<std::string, std::set<std::uint64_t>> seeds;
    for (const json& sample : samples())
        if (sample["provenance"] == "measured")
            seeds[sample["experiment"]].insert(sample["seed"].get<std::uint64_t>());
    for (const auto& [id, found] : seeds) {
        const auto lines = published_lines().arguments[id];
        EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const auto& arguments) {
            return std::find(arguments.begin(), arguments.end(), "--rounds") != arguments.end();
        })) << id;
    }
}

TEST_F(PublishedTest, ItsMetricsAreThoseThatAreDeclaredToday) {
    std::map<std::string, std::set<std::string>> recorded, provenances;
    for (const json& sample : samples()) {
        const std::string id = sample["experiment"].get<std::string>();
        provenances[id].insert(sample["provenance"].get<std::string>());
        for (const auto& [name, value] : sample["metrics"].items())
            recorded[id].insert(name.substr(0, name.find('{')));
    }
    std::map<std::string, std::set<std::string>> declared;
    for (const auto& [id, made] : provenances) {
        const json described = assay_json({"describe", id});
        for (const json& metric : described["metrics"])
            if (!metric.contains("only") ||
                std::any_of(metric["only"].begin(), metric["only"].end(),
                            [&](const json& one) { return made.contains(one.get<std::string>()); }))
                declared[id].insert(metric["name"].get<std::string>());
    }
    // Of profile paper and of exchanges as flows, of faults and profiles that are not published,
    // and of machines that tell their bandwidth.
    const std::map<std::string, std::set<std::string>> elsewhere{
        {"lazarus/fig6", {"rate_at_ends", "restarts_at_ends", "samples_total_at_ends"}},
        {"lazarus/fig7", {"rate_at_ends", "restarts_at_ends", "samples_total_at_ends"}},
        {"lazarus/fig11", {"flows_over_closed_form"}},
        {"lazarus/fig12", {"rate_at_ends", "restarts_at_ends", "samples_total_at_ends"}},
        {"lazarus/fig14", {"rate_at_ends", "restarts_at_ends", "samples_total_at_ends"}},
        {"lte/x_product", {"bound_share"}},
        {"hetermoe/x_live", {"detect_s", "regroup_s"}}};
    for (const auto& [id, names] : elsewhere)
        for (const std::string& name : names)
            if (!recorded[id].contains(name)) declared[id].erase(name);
    EXPECT_EQ(recorded, declared) << "scripts/publish-results EXPERIMENT";
}

/// The data sets of this program with every text of the claim files replaced, or every review gone.
class OtherClaimFiles {
  public:
    OtherClaimFiles(const std::filesystem::path& folder, const std::string& pattern,
                    const std::string& replacement) {
        std::filesystem::copy(source / "datasets", folder,
                              std::filesystem::copy_options::recursive);
        const std::regex expression(pattern);
        for (const auto& file : std::filesystem::directory_iterator(folder / "claims")) {
            if (file.path().extension() != ".toml") continue;
            const std::string text =
                std::regex_replace(text_of(file.path()), expression, replacement);
            changed = changed || text != text_of(file.path());
            std::ofstream(file.path(), std::ios::binary) << text;
        }
        use.emplace("ASSAY_DATASETS", folder.string());
    }
    bool changed = false;
    std::optional<EnvironmentVariable> use;
};

// What a claim says, explains or cites is for people; what decides is data.
TEST_F(PublishedTest, NoTextOfAClaimFileChangesAVerdict) {
    const std::vector<std::string> command{"claims", "--again", "--db", published};
    const auto verdicts = [&] {
        std::map<std::string, std::string> all;
        for (const json& claim : assay_json(command))
            all[claim["id"]] =
                claim["verdict"].get<std::string>() + " " + claim["obtained"].dump() + " " +
                (claim["explained"].is_null() ? json() : claim["explained"]["holds"]).dump();
        return all;
    };
    const auto today = verdicts();
    ASSERT_GT(today.size(), 500U);
    {
        const OtherClaimFiles reworded(
            folder / "reworded",
            R"re(\b(says|source|not_checkable|because|unit) = "([^"\\\n]|\\.)*")re",
            R"($1 = "supported, contradicted, calibrated, 99 % at most")");
        EXPECT_TRUE(reworded.changed);
        EXPECT_EQ(verdicts(), today);
    }
    const OtherClaimFiles unreviewed(folder / "unreviewed", R"re(\nreview = "[^"\n]*")re", "");
    EXPECT_TRUE(unreviewed.changed);
    for (const auto& [id, verdict] : verdicts())
        EXPECT_TRUE(verdict == today.at(id) || today.at(id).starts_with("undecided"))
            << id << ": a review only takes a verdict back";
}

// Those that are computed in a moment.
TEST_F(PublishedTest, ComputedValuesAreThoseOfToday) {
    ASSERT_EQ(assay({"run", "lazarus/fig4", "lazarus/fig5", "lazarus/fig8", "lazarus/fig10b",
                     "lazarus/x_theorem1", "lte/tab1"})
                  .exit_code,
              0);
    const std::string own = (folder / "results.db").string();
    std::size_t compared = 0;
    for (const json& row : assay_json({"compare", published, own})) {
        if (row["n_a"] == 0 || row["n_b"] == 0) continue;  // what was not run here
        EXPECT_EQ(row["verdict"], "same") << row;
        ++compared;
    }
    EXPECT_GT(compared, 100U);
}

TEST_F(PublishedTest, ReadingCommandsOpenItAndImportTakesIt) {
    const std::string before = text_of(published);
    for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
             {"claims", "lazarus/fig8"},
             {"report", "-o", (folder / "report.html").string()},
             {"history", "lazarus/fig8", "--metric", "recovery_probability"},
             {"export", "--svg", "lazarus/fig8", "-o", (folder / "fig8.svg").string()},
             {"db", "check"}}) {
        std::vector<std::string> arguments = command;
        arguments.insert(arguments.end(), {"--db", published});
        const Printed printed = assay(arguments);
        EXPECT_EQ(printed.exit_code, 0) << command.front() << ": " << printed.err;
    }
    EXPECT_THAT(text_of(folder / "report.html"), HasSubstr("checked hold"));
    EXPECT_EQ(assay({"import", published}).exit_code, 0);
    const std::size_t ok = static_cast<std::size_t>(
        std::count_if(samples().begin(), samples().end(),
                      [](const json& sample) { return sample["status"] == "ok"; }));
    EXPECT_EQ(json::parse(assay({"export", "--json"}).out).size(), ok);
    EXPECT_TRUE(text_of(published) == before) << "reading must not change it";
    EXPECT_FALSE(std::filesystem::exists(published + "-wal"));
}

/// What is pasted stays on one line, and a word or a path that is longer has one of its own.
bool may_be_long(const std::string& line) {
    const auto first = line.find_first_not_of(" (`");
    return line.compare(first, 6, "assay ") == 0 || line.find(' ', first) == std::string::npos ||
           line.starts_with("  here    ");
}

TEST_F(PublishedTest, ReadingCommandsKeepToTheColumns) {
    const EnvironmentVariable narrow{"COLUMNS", "60"};
    const std::string loads = (folder / "loads").string();
    std::ofstream(loads) << "1 2 3 4\n4 1 9 1\n";
    for (const char* command :
         {"claims", "claims --all", "claims lte --verdict no-command", "claims --verdict needs-gpu",
          "claims --summary", "claims --settings", "headlines", "list", "describe all",
          "report lazarus/fig8 --text", "history lazarus/fig8 --metric recovery_probability",
          "data list", "highlights --dry-run",
          "plan trace p3-80min --map delta_clamped --nodes 10 --floor 3",
          "plan trace --generate hourly", "plan lte --shape llama2-7b --device h200 --batch 4",
          "plan lazarus --nodes 9 --slots 3 --loads LOADS",
          "plan lazarus --nodes 9 --slots 3 --placement mro_guarded --loads LOADS",
          "plan lazarus --nodes 9 --slots 3 --layer 1 --loads LOADS"}) {
        std::istringstream words(command);
        std::vector<std::string> arguments{std::istream_iterator<std::string>(words), {}};
        if (arguments.back() == "LOADS") arguments.back() = loads;
        if (arguments[0] == "claims" || arguments[0] == "headlines" || arguments[0] == "report" ||
            arguments[0] == "history")
            arguments.insert(arguments.end(), {"--db", published});
        const Printed printed = assay(arguments);
        EXPECT_EQ(printed.exit_code, 0) << command << ": " << printed.err;
        EXPECT_FALSE(printed.out.empty()) << command;
        std::istringstream lines(printed.out);
        for (std::string line; std::getline(lines, line);)
            EXPECT_TRUE(columns_of(line) <= 60 || may_be_long(line)) << command << ": " << line;
    }
}

TEST_F(PublishedTest, DescriptionsAreNoLongLinesInAPipe) {
    std::istringstream lines(assay({"describe", "all"}).out);
    for (std::string line; std::getline(lines, line);)
        EXPECT_TRUE(columns_of(line) <= 100 || may_be_long(line)) << line;
}

TEST_F(PublishedTest, ItNamesNoFolderOrHostAndIsSmall) {
    const std::string all = text_of(published);
    EXPECT_EQ(all.find("/home/"), std::string::npos);
    EXPECT_EQ(all.find("/"
                       "root/"),
              std::string::npos);
    // A clone carries every version of it: four megabytes at most for each system.
    EXPECT_LT(all.size(), 24'000'000U);
}

// What `assay highlights` promises: every system has one, half a minute each.
class HighlightsTest : public ProgramTest {
  protected:
    HighlightsTest() : ProgramTest(ASSAY_PROGRAM) {}
};

TEST_F(HighlightsTest, EverySystemHasOneOfHalfAMinute) {
    std::set<std::string> systems;
    for (const json& row : assay_json({"list"})) systems.insert(row["system"].get<std::string>());
    for (const std::string& system : systems) {
        const json plan = assay_json({"highlights", system, "--dry-run"});
        EXPECT_LE(plan["seconds"], 35.0) << system;
        EXPECT_FALSE(plan["samples"].empty()) << system;
    }
}

}  // namespace
}  // namespace assay::testing
