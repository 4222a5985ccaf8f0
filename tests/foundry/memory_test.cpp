// Deterministic memory: traces placed, LOAD judged, pointers audited; against a map of pages that
// knows no cursor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "impls/foundry/commands/memory_output.hpp"
#include "suite/base/error.hpp"

namespace assay::foundry {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::uint64_t mib = std::uint64_t{1} << 20, gib = std::uint64_t{1} << 30;

Trace save_trace(const std::string& text) {
    std::istringstream in(text);
    return read_save_trace(in, "save");
}

SavedMemory placed(const std::string& save, const RegionSettings& settings = {}) {
    return replay_save(save_trace(save), settings);
}

LoadVerdict judged(const std::string& save, const std::string& load,
                   const RegionSettings& settings = {}) {
    const Trace saved = save_trace(save);
    std::istringstream in(load);
    return replay_load(read_load_trace(in, "load", saved), replay_save(saved, settings));
}

template <class Action>
std::string refusal(const Action& action) {
    try {
        action();
    } catch (const UserError& error) {
        return error.what();
    }
    return "accepted";
}

// The page map: which page of the region belongs to which ID. Pages are searched one by one.

using Steps = std::vector<std::vector<std::string>>;

Steps steps_of(const std::string& text) {
    Steps steps;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        steps.emplace_back(std::istream_iterator<std::string>(words),
                           std::istream_iterator<std::string>());
    }
    return steps;
}

struct Refused {};

struct PageMap {
    RegionSettings settings;
    std::map<std::uint64_t, std::string> used{}, live{};  // by page
    std::uint64_t floor = 0, outside = settings.base + settings.size, peak = 0;
    std::map<std::string, std::uint64_t> address{}, bytes{};

    std::uint64_t next() const {
        return used.empty() ? floor : std::max(floor, used.rbegin()->first + 1);
    }
    void take(const std::vector<std::string>& step) {
        const auto number = [&](std::size_t word) -> std::uint64_t {
            return std::stoull(step.at(word));
        };
        const std::string& what = step[0];
        if (what == "boundary") {
            if (next() > settings.scratch / granule) throw Refused();
            floor = settings.scratch / granule;
        } else if (what == "free") {
            std::erase_if(live, [&](const auto& page) { return page.second == step[1]; });
        } else if (what == "reserve" && number(2) >= 2 * gib) {
            outside = (outside + number(3) - 1) / number(3) * number(3);
            address[step[1]] = outside;
            outside += number(2);
        } else if (what == "alloc" || what == "reserve") {
            std::uint64_t page = next();
            if (what == "reserve")
                while ((settings.base + page * granule) % number(3) != 0) ++page;
            address[step[1]] = settings.base + page * granule;
            for (std::uint64_t left = number(2); left > 0;
                 left -= std::min(left, granule), ++page) {
                if (page >= settings.size / granule) throw Refused();
                used[page] = step[1];
                if (what == "alloc") live[page] = step[1];
            }
            peak = std::max(peak, live.size() * granule);
        }
        if (what == "alloc" || what == "reserve")
            bytes[step[1]] = (number(2) / granule + (number(2) % granule != 0)) * granule;
    }
    std::vector<Range> ranges() const {
        std::vector<Range> all;
        for (const auto& [page, id] : live)
            all.push_back({settings.base + page * granule, settings.base + (page + 1) * granule});
        for (std::size_t i = 0; i < all.size(); ++i)
            for (std::size_t k = 0; k < all.size(); ++k)
                if (i != k && all[i].hi == all[k].lo) {
                    all[i].hi = all[k].hi;
                    all.erase(all.begin() + static_cast<std::ptrdiff_t>(k));
                    i = k = 0;
                }
        std::sort(all.begin(), all.end(),
                  [](const Range& one, const Range& other) { return one.lo < other.lo; });
        return all;
    }
    std::uint64_t final() const { return settings.base + next() * granule; }
};

struct Saved {
    PageMap end;
    std::map<std::string, std::pair<PageMap, PageMap>> windows{};  // as they begin and end
};

Saved save_pages(const Steps& steps, const RegionSettings& settings) {
    Saved saved{.end = {.settings = settings}};
    std::string window;
    for (const auto& step : steps) {
        if (step[0] == "begin") saved.windows[window = step[1]].first = saved.end;
        if (step[0] == "end") saved.windows[window].second = saved.end;
        saved.end.take(step);
    }
    return saved;
}

struct Told {
    std::string verdict;
    std::size_t line = 0;  // 0: none
    bool cursor_equal = false;

    bool operator==(const Told&) const = default;
};
void PrintTo(const Told& told, std::ostream* out) {
    *out << told.verdict << " line " << told.line << " cursor_equal " << told.cursor_equal;
}

/// Frees of what LOAD does not hold, whether or not it comes so far.
void refuse_wrong_frees(const Steps& save, const Steps& load) {
    std::set<std::string> held;
    const auto hold = [&](const std::vector<std::string>& step, bool window) {
        if (step[0] == "alloc") held.insert(step[1]);
        if (step[0] == "free" && held.erase(step[1]) == 0 && !window) throw Refused();
    };
    for (const auto& step : load) {
        bool inside = false;
        if (step[0] == "load")
            for (const auto& saved : save) {
                inside =
                    (inside || (saved[0] == "begin" && saved[1] == step[1])) && saved[0] != "end";
                if (inside) hold(saved, true);
            }
        hold(step, false);
    }
}

Told tell(const Steps& save, const Steps& load, const RegionSettings& settings) {
    const Saved saved = save_pages(save, settings);
    refuse_wrong_frees(save, load);
    const auto is = [](const Steps& steps, const char* what, const std::string& name) {
        return std::find_if(steps.begin(), steps.end(),
                            [&](const auto& step) { return step[0] == what && step[1] == name; });
    };
    const auto introduces = [&](const Steps& steps, const std::string& id) {
        return std::min(is(steps, "alloc", id), is(steps, "reserve", id));
    };
    const auto boundary = [](const Steps& steps) {
        return std::find(steps.begin(), steps.end(), std::vector<std::string>{"boundary"});
    };
    PageMap map{.settings = settings};
    std::optional<Told> told;
    for (auto step = load.begin(); step != load.end(); ++step) {
        const auto line = static_cast<std::size_t>(step - load.begin()) + 1;
        if ((*step)[0] == "load") {
            const auto& [begin, end] = saved.windows.at((*step)[1]);
            if (map.next() > begin.next()) return told ? *told : Told{"overrun", line, false};
            map.floor = end.next();
            map.outside = end.outside;
            continue;
        }
        map.take(*step);
        if (told || ((*step)[0] != "alloc" && (*step)[0] != "reserve")) continue;
        const std::string& id = (*step)[1];
        const auto in_save = introduces(save, id);
        if (in_save == save.end() || in_save < boundary(save) || step < boundary(load)) continue;
        if (map.address[id] != saved.end.address.at(id) || map.bytes[id] != saved.end.bytes.at(id))
            told = {"differs", line, false};
    }
    const bool same = map.final() == saved.end.final();
    if (told) return {told->verdict, told->line, same};
    bool in_window = false;
    for (auto step = boundary(save); step != save.end(); ++step) {
        const auto line = static_cast<std::size_t>(step - save.begin()) + 1;
        if ((*step)[0] == "begin") {
            in_window = true;
            if (is(load, "load", (*step)[1]) == load.end()) return {"missing", line, same};
        }
        if ((*step)[0] == "end") in_window = false;
        if (in_window || ((*step)[0] != "alloc" && (*step)[0] != "reserve")) continue;
        if (is(save, "free", (*step)[1]) == save.end() &&
            introduces(load, (*step)[1]) == load.end())
            return {"missing", line, same};
    }
    return {same ? "equal" : "drift", 0, same};
}

// Random traces.

class Traces {
  public:
    explicit Traces(unsigned seed) : engine_(seed) {}

    std::string save() {
        std::string text;
        for (std::size_t i = below(3); i > 0; --i) step(text);
        if (below(4) == 0) window(text, "early");
        text += "boundary\n";
        for (std::size_t i = below(9); i > 0; --i)
            below(3) == 0 ? window(text, "g" + std::to_string(i)) : step(text);
        return text;
    }

    /// The same run with its windows loaded, and up to two slips.
    std::string load(const Steps& save) {
        std::vector<std::string> lines;
        bool inside = false;
        for (const auto& step : save) {
            if (step[0] == "begin") lines.push_back("load " + step[1]);
            inside = (inside || step[0] == "begin") && step[0] != "end";
            if (inside || step[0] == "end") continue;
            std::string line;
            for (const std::string& word : step) line += word + ' ';
            lines.push_back(line);
        }
        for (std::size_t slips = below(3); slips > 0; --slips) slip(lines);
        std::string text;
        for (const std::string& line : lines) text += line + '\n';
        return text;
    }

  private:
    std::size_t below(std::size_t n) { return engine_() % n; }
    std::string size() { return std::to_string(1 + below(7 * mib)); }

    void slip(std::vector<std::string>& lines) {
        const std::size_t at = below(lines.size());
        const auto place = lines.begin() + static_cast<std::ptrdiff_t>(at);
        const bool is_boundary = lines[at].starts_with("boundary");
        switch (below(4)) {
            case 0:
                if (!is_boundary) lines.erase(place);
                break;
            case 1:
                lines.insert(place, "alloc extra" + std::to_string(made_++) + ' ' + size());
                break;
            case 2:
                if (lines[at].starts_with("alloc"))
                    lines[at] = lines[at].substr(0, lines[at].find(' ', 6)) + ' ' + size();
                break;
            case 3:
                if (at + 1 < lines.size()) std::swap(lines[at], lines[at + 1]);
                break;
        }
    }

    void step(std::string& text) {
        const std::string id = "i" + std::to_string(made_++);
        const std::string alignment = std::to_string(1ull << below(25));
        switch (below(5)) {
            case 0:
                text += "reserve " + id + ' ' + size() + ' ' + alignment + '\n';
                return;
            case 1:
                if (below(3) == 0) {
                    text += "reserve " + id + " " + std::to_string(2 * gib + below(2)) + " " +
                            alignment + '\n';
                    return;
                }
                [[fallthrough]];
            case 2:
                if (!held_.empty()) {
                    const std::size_t which = below(held_.size());
                    text += "free " + held_[which] + '\n';
                    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(which));
                    return;
                }
                [[fallthrough]];
            default:
                text += "alloc " + id + ' ' + size() + '\n';
                held_.push_back(id);
        }
    }
    void window(std::string& text, const std::string& graph) {
        text += "begin " + graph + '\n';
        for (std::size_t i = below(4); i > 0; --i) step(text);
        text += "end\n";
    }

    std::mt19937 engine_;
    std::size_t made_ = 0;
    std::vector<std::string> held_;
};

constexpr RegionSettings small{
    .base = 0x7f0000000000, .size = 36 * granule, .scratch = 6 * granule};

TEST(Memory, IsPlacedAsAMapOfPagesSays) {
    std::size_t refused = 0;
    for (unsigned seed = 0; seed < 1500; ++seed) {
        const std::string text = Traces(seed).save();
        SCOPED_TRACE(text);
        std::optional<Saved> pages;
        try {
            pages = save_pages(steps_of(text), small);
        } catch (const Refused&) {
            ++refused;
            EXPECT_THAT(refusal([&] { placed(text, small); }), StartsWith("save:"));
            continue;
        }
        const SavedMemory memory = placed(text, small);
        ASSERT_EQ(memory.ids.size(), pages->end.address.size());
        for (const PlacedId& placed : memory.ids) {
            EXPECT_EQ(placed.address, pages->end.address.at(placed.id)) << placed.id;
            EXPECT_EQ(placed.bytes, pages->end.bytes.at(placed.id)) << placed.id;
        }
        EXPECT_EQ(memory.final, pages->end.final());
        EXPECT_EQ(memory.peak_bytes, pages->end.peak);
        EXPECT_EQ(memory.live, pages->end.ranges());
        ASSERT_EQ(memory.windows.size(), pages->windows.size());
        for (const Window& window : memory.windows) {
            const auto& [begin, end] = pages->windows.at(window.graph);
            EXPECT_EQ(window.start, (Region::Position{begin.final(), begin.outside}));
            EXPECT_EQ(window.end, (Region::Position{end.final(), end.outside}));
        }
    }
    EXPECT_THAT(refused, testing::AllOf(testing::Gt(20U), testing::Lt(700U)));
}

TEST(Memory, LoadIsJudgedAsAMapOfPagesSays) {
    std::map<std::string, std::size_t> seen;
    for (unsigned seed = 0; seed < 4000; ++seed) {
        Traces traces(seed);
        const std::string save = traces.save();
        const std::string load = traces.load(steps_of(save));
        SCOPED_TRACE(save + "---\n" + load);
        Told told;
        try {
            told = tell(steps_of(save), steps_of(load), small);
        } catch (const Refused&) {
            ++seen["refused"];
            EXPECT_NE(refusal([&] { judged(save, load, small); }), "accepted");
            continue;
        }
        ++seen[told.verdict];
        const LoadVerdict load_verdict = judged(save, load, small);
        EXPECT_EQ((Told{std::string(to_string(load_verdict.verdict)), load_verdict.line.value_or(0),
                        load_verdict.cursor_equal}),
                  told);
    }
    for (const char* what : {"equal", "drift", "missing", "differs", "overrun", "refused"})
        EXPECT_GT(seen[what], 50U) << what;
}

// What slips come to, known without a model.

constexpr const char* run =
    "alloc start 100\nboundary\nalloc w 5000000\nalloc warm 9\nbegin g1\nfree warm\nalloc t 1\n"
    "free t\nalloc kept 1\nend\nbegin g2\nreserve far 4294967296 4096\nend\nalloc o 64\n";

struct Slip {
    const char *load, *verdict;
    std::size_t line;
    bool cursor_equal;
};

TEST(Memory, SlipsOfLoad) {
    for (const auto& [load, verdict, line, cursor_equal] : std::initializer_list<Slip>{
             // Start-up may differ, warm-up be left out, and windows hand over what they hold.
             {"boundary\nalloc w 5000000\nload g1\nload g2\nalloc o 64\n", "equal", 0, true},
             {"alloc x 9\nboundary\nalloc w 6000000\nload g1\nfree kept\nload g2\nalloc o 64\n",
              "equal", 0, true},
             {"boundary\nalloc w 5000000\nload g1\nload g2\nalloc o 64\nalloc more 1\n", "drift", 0,
              false},
             {"boundary\nalloc w 5000000\nload g1\nalloc o 64\n", "missing", 11, true},
             {"boundary\nalloc o 64\nalloc w 5000000\nload g1\nload g2\n", "differs", 2, false},
             {"boundary\nload g1\nload g2\nalloc o 64\n", "missing", 3, true},
             {"boundary\nalloc w 5000000\nload g1\nload g2\n", "missing", 14, false},
             // The size counts, in granules, and of a reservation too.
             {"boundary\nalloc w 4194305\nload g1\nload g2\nalloc o 64\n", "equal", 0, true},
             {"boundary\nalloc w 4194304\nload g1\nload g2\nalloc o 64\n", "differs", 2, true},
             {"boundary\nalloc w 5000000\nload g1\nreserve far 4294967297 1\nload g2\nalloc o 64\n",
              "differs", 4, true},
             {"boundary\nalloc w 5000000\nload g1\nload g1\nload g2\nalloc o 64\n", "overrun", 4,
              false},
             {"boundary\nalloc w 5000000\nload g2\nload g1\nfree kept\n", "overrun", 4, false},
             // The first of the two counts; LOAD ends at the window all the same.
             {"boundary\nalloc w 9000000\nload g1\nfree kept\nalloc x 999999999999\n", "differs", 2,
              false},
             {"boundary\nalloc x 9000000\nload g1\nalloc w 1\n", "overrun", 3, false}}) {
        const LoadVerdict told = judged(run, load);
        EXPECT_EQ(
            (Told{std::string(to_string(told.verdict)), told.line.value_or(0), told.cursor_equal}),
            (Told{verdict, line, cursor_equal}))
            << load;
    }
}

TEST(Memory, RefusalsNameTheLine) {
    struct Case {
        const char *save, *load, *says;
    };
    for (const Case& of : std::initializer_list<Case>{
             {"boundary\nalloc a 1\nfree a\nalloc a 1\n", "", "save:4: ID a stands in line 2"},
             {"reserve a 1 1\nboundary\nalloc a 1\n", "", "save:3: ID a stands in line 1"},
             {"begin g\nend\nboundary\nbegin g\nend\n", "",
              "save:4: a second window g, after that "
              "of line 1"},
             {"boundary\n\nalloc a 0\n", "", "save:3: zero bytes"},
             {"reserve a 0 1\nboundary\n", "", "save:1: zero bytes"},
             {"# why\nreserve a 1 3\nboundary\n", "", "save:2: alignment 3 is no power of two"},
             {"reserve a 1 0\nboundary\n", "", "save:1: alignment 0 is no power of two"},
             {"alloc a 1\n# end\n", "", "save:2: there is no boundary"},
             {"", "", "save:1: there is no boundary"},
             {"boundary\nboundary\n", "", "save:2: a second boundary, after that of line 1"},
             {"boundary\nbegin g\nalloc a 1\n", "", "save:2: window g is left open"},
             {"begin g\nalloc a 1\nboundary\nend\n", "", "save:3: window g of line 1 is left open"},
             {"boundary\nbegin g\nbegin h\nend\n", "", "save:3: window g of line 2 is open"},
             {"boundary\nend\n", "", "save:2: `end` without `begin`"},
             {"boundary\nfree a\n", "", "save:2: a is not allocated"},
             {"boundary\nalloc a 1\nfree a\nfree a\n", "", "save:4: a is not allocated"},
             {"boundary\nreserve a 1 1\nfree a\n", "", "save:3: a is a reservation"},
             {"boundary\nload g\n", "", "save:2: `load` in a trace of SAVE"},
             {"boundary\nallocate a 1\n", "", "save:2: \"allocate\" is no step; known are alloc"},
             {"boundary\nalloc a\n", "", "save:2: write it as `alloc ID BYTES`"},
             {"boundary now\n", "", "save:1: write it as `boundary`"},
             {"boundary\nalloc a 1 1\n", "", "save:2: write it as `alloc ID BYTES`"},
             {"boundary\nalloc a -1\n", "", "save:2: \"-1\" is no whole number"},
             {"boundary\nalloc a 1.5\n", "", "save:2: \"1.5\" is no whole number"},
             {"boundary\nalloc a 0x10\n", "", "save:2: \"0x10\" is no whole number"},
             {"boundary\nalloc a 18446744073709551616\n", "",
              "save:2: \"18446744073709551616\" is"},
             {"boundary\nalloc \xff 1\n", "", "save:2: word 2 has letters that are not printable"},
             {"boundary\nalloc a 18446744073709551615\n", "", "save:2: 1.678e+07 TiB aligned"},
             {"boundary\nalloc a 1\nalloc b 274877906944\n", "",
              "save:3: 256 GiB aligned to 2 MiB "
              "do not fit"},
             {"alloc a 1073741825\nboundary\n", "", "save:2: what was allocated before"},
             {run, "boundary\nload g9\n", "load:2: save has no window g9"},
             {run, "boundary\nbegin g1\nend\n", "load:2: `begin` in a trace of LOAD"},
             {run, "boundary\nend\n", "load:2: `end` in a trace of LOAD"},
             {run, "boundary\nload g1\nfree t\n", "load:3: t is not allocated"},
             {run, "boundary\nfree kept\nload g1\n", "load:2: kept is not allocated"},
             {run, "boundary\nload g2\nfree far\n", "load:3: far is a reservation"},
             {run, "alloc w 1\nboundary\nfree w\nalloc w 1\n", "load:4: ID w stands in line 1"},
             {run, "load g1\n", "load:1: there is no boundary"},
             {run, "load g1\nboundary\n", "load:2: what was allocated before the boundary"},
             {run, "boundary\nalloc x 274877906944\n", "load:2: 256 GiB aligned"}})
        EXPECT_THAT(refusal([&] {
                        *of.load == '\0' ? void(placed(of.save)) : void(judged(of.save, of.load));
                    }),
                    StartsWith(of.says));
}

TEST(Memory, LinesOfOtherEditors) {
    const SavedMemory memory =
        placed("\tboundary \r\n\r\n  # größer\r\nalloc a#1  1\t#2\r\nalloc b 1 # kept");
    ASSERT_EQ(memory.ids.size(), 2U);
    EXPECT_EQ(memory.ids[0].id, "a#1");
    EXPECT_EQ(memory.ids[1].line, 5U);
}

TEST(Memory, RegionKeepsItsEdges) {
    constexpr std::uint64_t top = ~std::uint64_t{0};
    Region region({.base = 4 * mib, .size = 8 * mib, .scratch = 8 * mib});
    const Region::Position start = region.position();
    for (const std::uint64_t bytes : {top, top - granule + 1, top - granule, 8 * mib + 1}) {
        EXPECT_THROW(region.allocate(bytes), RegionFull) << bytes;
        EXPECT_THROW(region.reserve(bytes, 4 * mib), RegionFull) << bytes;
    }
    EXPECT_THROW(region.reserve(1, std::uint64_t{1} << 63), RegionFull);
    EXPECT_THROW(region.reserve(1, 16 * mib), RegionFull);
    EXPECT_EQ(region.position(), start);
    EXPECT_EQ(region.reserve(1, 8 * mib), 8 * mib);
    EXPECT_EQ(region.cursor(), 10 * mib);
    EXPECT_EQ(region.allocate(2 * mib), 10 * mib);
    EXPECT_THROW(region.allocate(1), RegionFull);
    region.pass_boundary();
    EXPECT_EQ(region.reserve(2 * gib, 16 * mib), 16 * mib);
    EXPECT_EQ(region.hint(), 16 * mib + 2 * gib);
    EXPECT_THROW(region.move_to({.cursor = 4 * mib}), std::logic_error);
    // The next granule begins past the region's end, and sizes would wrap around to it.
    EXPECT_THROW(Region({.base = 1, .size = 1, .scratch = 0}).allocate(top - granule + 1),
                 RegionFull);
    EXPECT_THROW(Region({.base = top - mib, .size = 2 * mib, .scratch = 0}), std::logic_error);
    EXPECT_THROW(Region({.base = 0, .size = 1, .scratch = 2}), std::logic_error);
}

TEST(Memory, RegionAsTyped) {
    const RegionSettings usual = region_settings("", "", "");
    EXPECT_EQ(usual.base, 0x600000000000U);
    EXPECT_EQ(usual.size, 256 * gib);
    EXPECT_EQ(usual.scratch, gib);
    const RegionSettings typed = region_settings("0x2F0000000000", "6MiB", "2097152");
    EXPECT_EQ(typed.base, 0x2f0000000000U);
    EXPECT_EQ(typed.size, 6 * mib);
    EXPECT_EQ(typed.scratch, 2 * mib);
    EXPECT_EQ(region_settings("4096", "1TiB", "3KiB").size, 1024 * gib);
    struct Case {
        const char *base, *size, *scratch, *says;
    };
    for (const Case& of : std::initializer_list<Case>{
             {"0x", "", "", "--base: \"0x\""},
             {"-1", "", "", "--base: \"-1\""},
             {"", "256 parsec", "", "--size: \"256 parsec\""},
             {"", "1.5GiB", "", "--size: \"1.5GiB\""},
             {"", "4mB", "", "--size: \"4mB\""},
             {"", "", "17179869184GiB", "--scratch: \"17179869184GiB\""},
             {"", "0", "0", "--size: the region is empty"},
             {"", "2MiB", "3MiB", "--scratch: 3 MiB do not lie in"},
             {"0xffffffffffffffff", "", "", "--base, --size: 256 GiB from 0xffffffffffffffff"}})
        EXPECT_THAT(refusal([&] { region_settings(of.base, of.size, of.scratch); }),
                    StartsWith(of.says));
}

// The example of the specification, 3.12.1.

constexpr const char* example =
    "alloc c 3000000\nboundary\nalloc w 5000000\nbegin g1\nalloc t 100\nfree t\nend\nalloc o 64\n";

Graph example_graph(std::int64_t batch, const std::string& params) {
    Graph graph{.batch = batch, .nodes = {{}, {}}, .edges = {{0, 1}}};
    graph.nodes[0].type = NodeType::memset;
    graph.nodes[0].fields = {{"dst", Integer::of(std::uint64_t{105554190008320})}};
    graph.nodes[1].type = NodeType::kernel;
    for (std::size_t i = 0; i + 1 < params.size(); i += 2)
        graph.nodes[1].launch.params.push_back(
            static_cast<std::byte>(std::stoi(params.substr(i, 2), nullptr, 16)));
    return graph;
}

std::vector<AuditItem> example_audit() {
    const SavedMemory memory = placed(example);
    std::vector<AuditItem> all;
    for (const Graph& graph :
         {example_graph(2,
                        "ffff5f400060000000006040006000000000000000000040006000000000000000000040"
                        "0060"),
          example_graph(1, "000000000060000000000000406000000000a040006000000000804000600000")})
        for (const AuditItem& item : audit(graph, memory.settings.range(), memory.live))
            all.push_back(item);
    return all;
}

TEST(Memory, JsonOfTheExample) {
    EXPECT_EQ(to_json(placed(example), std::nullopt).dump(),
              R"({"address":{"c":105553116266496,"w":105554190008320,"t":105554196299776,)"
              R"("o":105554198396928},"final":105554200494080,"live":[[105553116266496,)"
              R"(105553120460800],[105554190008320,105554196299776],[105554198396928,)"
              R"(105554200494080]],"peak_bytes":12582912,"load":null})");
    const auto load = [](const std::string& text) {
        return to_json(placed(example), judged(example, text))["load"].dump();
    };
    EXPECT_EQ(load("boundary\nalloc w 5000000\nload g1\nalloc o 64\n"),
              R"({"verdict":"equal","line":null,"cursor_equal":true})");
    EXPECT_EQ(load("boundary\nalloc w 9000000\nload g1\n"),
              R"({"verdict":"differs","line":2,"cursor_equal":false})");
    EXPECT_EQ(to_json(placed("boundary\n"), std::nullopt).dump(),
              R"({"address":{},"final":105554190008320,"live":[],"peak_bytes":0,"load":null})");
}

TEST(Memory, AuditOfTheExample) {
    EXPECT_EQ(to_json(example_audit()).dump(),
              R"([{"batch":2,"node":1,"offset":0,"range":[105554190008320,105554196299776]},)"
              R"({"batch":2,"node":1,"offset":8,"range":null},)"
              R"({"batch":1,"node":1,"offset":0,"range":[105553116266496,105553120460800]},)"
              R"({"batch":1,"node":1,"offset":16,"range":null},)"
              R"({"batch":1,"node":1,"offset":24,"range":[105554198396928,105554200494080]}])");
    EXPECT_EQ(to_json(std::span<const AuditItem>()).dump(), "[]");
}

TEST(Memory, TextOfTheExample) {
    const LoadVerdict load = judged(example, "boundary\nalloc w 9000000\nload g1\n");
    EXPECT_EQ(
        to_text(placed(example), load, {.save = "save", .load = "load"}, 90),
        R"(region of 256 GiB at 0x600000000000, scratch 1 GiB; at most 12 MiB allocated at once,
final cursor 0x600040a00000
differs: load:2: w is 10 MiB at 0x600040000000 in LOAD and 6 MiB at 0x600040000000 in
SAVE; restored graphs would give wrong tokens without an error. From the boundary to that
line, look for the first allocation that only one of them has, or has larger

ID         address   size  at the end
──  ──────────────  ─────  ──────────
c   0x600000000000  4 MiB  live
w   0x600040000000  6 MiB  live
t   0x600040600000  2 MiB  freed
o   0x600040800000  2 MiB  live

live at the end                 size
─────────────────────────────  ─────
0x600000000000–0x600000400000  4 MiB
0x600040000000–0x600040600000  6 MiB
0x600040800000–0x600040a00000  2 MiB
)");
    EXPECT_EQ(
        to_text(example_audit(), 90),
        R"(addresses of the region in kernel parameters: 5, of them where no memory is live at the
end of SAVE: 2
keep allocated what they point to, or restored graphs use memory that is not there

batch  node  offset         address
─────  ────  ──────  ──────────────
    2     1       8  0x600040600000
    1     1      16  0x600040a00000
)");
}

TEST(Memory, SentenceOfEachVerdict) {
    const auto says = [](const char* load) {
        return sentence(judged(run, load), {.save = "save", .load = "load"});
    };
    EXPECT_THAT(says("boundary\nalloc w 5000000\nload g1\nload g2\nalloc o 1\n"),
                StartsWith("equal: "));
    EXPECT_THAT(says("boundary\nalloc w 5000000\nload g1\nload g2\nalloc o 1\nalloc p 1\n"),
                HasSubstr("ends at 0x600041000000, not at 0x600040e00000"));
    EXPECT_THAT(says("boundary\nload g1\n"), StartsWith("missing: save:3: LOAD never allocates w"));
    EXPECT_THAT(says("boundary\nalloc w 5000000\n"),
                StartsWith("missing: save:5: LOAD never loads window g1"));
    EXPECT_THAT(says("boundary\nalloc x 9000000\nload g1\n"),
                AllOf(StartsWith("overrun: load:3: LOAD is at 0x600040a00000 already, past "
                                 "0x600040800000 where window g1 begins"),
                      HasSubstr("2 MiB too much")));
}

}  // namespace
}  // namespace assay::foundry
