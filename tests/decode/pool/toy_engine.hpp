// An engine without steps or weights: it answers orders late and in order. All that a request is
// like follows from its number, so that whatever becomes of it, its tokens are known.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "impls/decode/pool/pool.hpp"

namespace assay::decode {

inline Token toy_token(Number request, std::size_t position, int version) {
    const auto id =
        static_cast<int>((request * 7919 + static_cast<Number>(position) * 31 + version) % 50021);
    return {id, -static_cast<float>(id), -1.0f / static_cast<float>(version)};
}
inline std::size_t toy_length(Number request) { return 3 + static_cast<std::size_t>(request % 7); }
inline bool toy_keeps(Number request) { return request % 5 == 1; }

/// What an engine says, heard later.
struct Said {
    enum class What { taken, refused, exported, made, version };
    What what = What::made;
    Number attempt = -1;
    std::vector<Token> tokens{};
    std::optional<EndedRequest> ended{};
    int waiting = 0, version = 0;
    std::uint64_t handle = 0;
};

struct ToyWork {
    Number request = -1;
    std::size_t made = 0;
};
/// That were exported, by handle.
struct ToyStates {
    std::map<std::uint64_t, ToyWork> states;
    std::uint64_t last = 0;
};

struct ToyEngine {
    int version = 1;
    std::deque<Order> inbox;
    std::deque<Said> outbox;
    std::map<Number, ToyWork> works;  // by attempt
    std::set<Number> kept;            // attempts

    /// The first of its orders. refuses: to take or to export.
    void answer(ToyStates& states, bool refuses) {
        const Order order = std::move(inbox.front());
        inbox.pop_front();
        if (const auto* const give = std::get_if<Give>(&order)) {
            const auto state = states.states.find(give->handle);
            // A state that was discarded meanwhile does not come.
            refuses = refuses || (give->handle != 0 && state == states.states.end());
            if (!refuses)
                works[give->attempt] =
                    give->handle != 0 ? state->second : ToyWork{give->request, give->from};
            say(refuses ? Said::What::refused : Said::What::taken, give->attempt);
        } else if (const auto* const remove = std::get_if<Remove>(&order)) {
            works.erase(remove->attempt);
            kept.erase(remove->attempt);
        } else if (const auto* const unkeep = std::get_if<Unkeep>(&order)) {
            kept.erase(unkeep->kept);
        } else if (const auto* const wanted = std::get_if<Export>(&order)) {
            const auto work = works.find(wanted->attempt);
            if (work == works.end()) return;
            if (refuses) return say(Said::What::refused, wanted->attempt);
            states.states[++states.last] = work->second;
            say(Said::What::exported, wanted->attempt);
            outbox.back().handle = states.last;
            works.erase(work);
        }
    }

    /// Tokens of one request, up to its end; or none, and its end where that fails.
    void make(Number attempt, std::size_t most, bool fails) {
        ToyWork& work = works.at(attempt);
        say(Said::What::made, attempt);
        Said& said = outbox.back();
        said.waiting = static_cast<int>(works.size()) / 2;
        const std::size_t length = toy_length(work.request);
        for (std::size_t n = 0; !fails && n < most && work.made < length; ++n)
            said.tokens.push_back(toy_token(work.request, work.made++, version));
        if (!fails && work.made < length) return;
        said.ended =
            EndedRequest{.request = attempt, .why = fails ? Finish::no_blocks : Finish::length};
        if (!fails && toy_keeps(work.request)) kept.insert(attempt);
        works.erase(attempt);
    }

    void use(int next) {
        version = next;
        say(Said::What::version, -1);
        outbox.back().version = next;
    }

  private:
    void say(Said::What what, Number attempt) {
        outbox.push_back({.what = what, .attempt = attempt});
    }
};

}  // namespace assay::decode
