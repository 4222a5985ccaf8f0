#include "impls/foundry/method/memory/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>
#include <string_view>
#include <unordered_map>

#include "impls/foundry/method/memory/size_text.hpp"
#include "suite/base/error.hpp"

namespace assay::foundry {
namespace {

using Words = std::vector<std::string_view>;

/// Of a line, without its comment.
Words words_in(std::string_view line) {
    constexpr std::string_view blanks = " \t\r";
    Words words;
    while (true) {
        line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
        if (line.empty() || line.front() == '#') return words;
        words.push_back(line.substr(0, line.find_first_of(blanks)));
        line.remove_prefix(words.back().size());
    }
}

std::string_view form_of(Step step) {
    switch (step) {
        case Step::alloc:
            return "alloc ID BYTES";
        case Step::free:
            return "free ID";
        case Step::reserve:
            return "reserve ID BYTES ALIGN";
        case Step::boundary:
            return "boundary";
        case Step::begin:
            return "begin GRAPH";
        case Step::end:
            return "end";
        case Step::load:
            return "load GRAPH";
    }
    return "";
}

std::size_t words_of_form(Step step) { return words_in(form_of(step)).size(); }

class TraceReader {
  public:
    /// `save`: the trace is one of LOAD, beside it.
    TraceReader(std::istream& in, const std::string& name, const Trace* save)
        : in_(in), trace_{name, {}}, save_(save) {
        if (save == nullptr) return;
        for (std::size_t i = 0; i < save->events.size(); ++i)
            if (save->events[i].step == Step::begin) windows_.emplace(save->events[i].name, i + 1);
    }

    Trace read() {
        for (std::string line; std::getline(in_, line);) {
            ++line_;
            if (const Words words = words_in(line); !words.empty()) take(event_of(words));
        }
        if (in_.bad()) throw UserError(fmt::format("{}: reading it failed", trace_.file));
        if (!open_window_.empty())
            fail(open_since_,
                 fmt::format("window {} is left open; end it with `end`", open_window_));
        if (boundary_line_ == 0)
            fail(std::max<std::size_t>(line_, 1),
                 "there is no boundary; write `boundary` where start-up is over");
        return std::move(trace_);
    }

  private:
    struct Known {
        std::size_t line = 0;  ///< 0: known from a loaded window
        enum { allocated, reserved, freed } state = allocated;
    };

    [[noreturn]] void fail(std::size_t line, const std::string& what) const {
        throw UserError(fmt::format("{}:{}: {}", trace_.file, line, what));
    }
    [[noreturn]] void fail(const std::string& what) const { fail(line_, what); }

    TraceEvent event_of(const Words& words) const {
        for (const std::string_view& word : words)
            if (std::any_of(word.begin(), word.end(), [](char c) { return c < '!' || c > '~'; }))
                fail(fmt::format("word {} has letters that are not printable ASCII; use others",
                                 1 + (&word - words.data())));
        const auto step = of_word<Step>(words[0]);
        if (!step)
            fail(fmt::format("\"{}\" is no step; known are {}", words[0].substr(0, 40),
                             words_of<Step>()));
        if (words.size() != words_of_form(*step))
            fail(fmt::format("write it as `{}`", form_of(*step)));
        TraceEvent event{.step = *step, .line = line_};
        if (words.size() > 1) event.name = words[1];
        if (words.size() > 2) event.bytes = bytes_in(words[2]);
        if (words.size() > 3) {
            event.alignment = number_in(words[3]);
            if (!std::has_single_bit(event.alignment))
                fail(fmt::format("alignment {} is no power of two", words[3]));
        }
        return event;
    }

    std::uint64_t number_in(std::string_view word) const {
        const auto number = parse_number(word);
        if (!number)
            fail(fmt::format("\"{}\" is no whole number of bytes below 2^64; write its digits",
                             word.substr(0, 40)));
        return *number;
    }

    std::uint64_t bytes_in(std::string_view word) const {
        const std::uint64_t bytes = number_in(word);
        if (bytes == 0) fail("zero bytes; give at least one, or leave the line out");
        return bytes;
    }

    void take(TraceEvent event) {
        switch (event.step) {
            case Step::alloc:
            case Step::reserve:
                introduce(event);
                break;
            case Step::free:
                release(event.name);
                break;
            case Step::boundary:
                pass_boundary();
                break;
            case Step::begin:
                open_window(event.name);
                break;
            case Step::end:
                close_window();
                break;
            case Step::load:
                load_window(event.name);
                break;
        }
        trace_.events.push_back(std::move(event));
    }

    void introduce(const TraceEvent& event) {
        Known& known = known_[event.name];
        if (known.line != 0)
            fail(
                fmt::format("ID {} stands in line {} already; an address is not given out again, "
                            "so name it anew",
                            event.name, known.line));
        known.line = line_;
        known.state = event.step == Step::alloc ? Known::allocated : Known::reserved;
    }

    void release(const std::string& id) {
        const auto known = known_.find(id);
        if (known == known_.end() || known->second.state == Known::freed)
            fail(
                fmt::format("{} is not allocated here; free only what a line above allocates", id));
        if (known->second.state == Known::reserved)
            fail(fmt::format("{} is a reservation; only allocations are freed", id));
        known->second.state = Known::freed;
    }

    void pass_boundary() {
        if (boundary_line_ != 0)
            fail(
                fmt::format("a second boundary, after that of line {}; leave one", boundary_line_));
        if (!open_window_.empty())
            fail(fmt::format("window {} of line {} is left open at the boundary; end it above",
                             open_window_, open_since_));
        boundary_line_ = line_;
    }

    void open_window(const std::string& graph) {
        if (save_ != nullptr) fail("`begin` in a trace of LOAD; write `load GRAPH` for a window");
        if (!open_window_.empty())
            fail(fmt::format("window {} of line {} is open; end it first", open_window_,
                             open_since_));
        const auto [window, is_new] = windows_.emplace(graph, line_);
        if (!is_new)
            fail(fmt::format("a second window {}, after that of line {}; a graph has one", graph,
                             window->second));
        open_window_ = graph;
        open_since_ = line_;
    }

    void close_window() {
        if (save_ != nullptr) fail("`end` in a trace of LOAD; write `load GRAPH` for a window");
        if (open_window_.empty()) fail("`end` without `begin`");
        open_window_.clear();
    }

    void load_window(const std::string& graph) {
        if (save_ == nullptr) fail("`load` in a trace of SAVE; write `begin GRAPH` … `end`");
        const auto window = windows_.find(graph);
        if (window == windows_.end())
            fail(fmt::format("{} has no window {}; load one that it has", save_->file, graph));
        for (const TraceEvent& event : std::span(save_->events).subspan(window->second)) {
            if (event.step == Step::end) break;
            // A window may free what this run left out, such as warm-up: that is no mistake.
            known_[event.name].state = event.step == Step::alloc  ? Known::allocated
                                       : event.step == Step::free ? Known::freed
                                                                  : Known::reserved;
        }
    }

    std::istream& in_;
    Trace trace_;
    const Trace* save_;
    std::size_t line_ = 0, boundary_line_ = 0, open_since_ = 0;
    std::string open_window_;  ///< empty: none
    std::unordered_map<std::string, Known> known_;
    /// SAVE: each window's line. LOAD: its first event in SAVE.
    std::unordered_map<std::string, std::size_t> windows_;
};

}  // namespace

Trace read_save_trace(std::istream& in, const std::string& name) {
    return TraceReader(in, name, nullptr).read();
}

Trace read_load_trace(std::istream& in, const std::string& name, const Trace& save) {
    return TraceReader(in, name, &save).read();
}

}  // namespace assay::foundry
