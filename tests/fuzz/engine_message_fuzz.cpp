// Messages between an engine in a process of its own and its caller, one a line, as either end
// reads them: a MessageError, or one that its own JSON reproduces. Whatever an engine is told, it
// does or refuses; whatever it says, its caller believes it or finds it out.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "impls/decode/pool/choosers.hpp"
#include "impls/decode/pool/local_seat.hpp"
#include "impls/decode/service/engine_host.hpp"
#include "impls/decode/service/engine_role.hpp"
#include "impls/decode/service/journal.hpp"
#include "suite/base/error.hpp"

namespace {

using namespace assay;
using namespace assay::decode;

template <class M>
std::optional<M> read(const nlohmann::json& document) {
    try {
        M message = drive::message_to<M>(document);
        const std::string once = drive::to_message(message).dump();
        const auto again = drive::message_to<M>(nlohmann::json::parse(once));
        if (drive::to_message(again).dump() != once) std::abort();
        return message;
    } catch (const drive::MessageError&) {
        return std::nullopt;
    }
}

/// As if its keys were rotated: what becomes of links, and not of their keys and values.
class LinkingBackEnd final : public BackEnd {
  public:
    int vocabulary() const override { return model_.vocabulary(); }
    int context() const override { return model_.context(); }
    int blocks() const override { return model_.blocks(); }
    std::size_t block_bytes() const override { return model_.block_bytes(); }
    void run(std::span<const Slice> slices, std::span<Outcome> out) override {
        model_.run(slices, out);
    }
    void copy_block(int from, int to, int positions) override {
        model_.copy_block(from, to, positions);
    }
    bool can_link() const override { return true; }
    void link(const LinkedPositions& linked) override {
        model_.copy_block(linked.from, linked.to, linked.positions);
    }
    void read_block(int block, std::span<std::byte> out) const override {
        model_.read_block(block, out);
    }
    void write_block(int block, std::span<const std::byte> in) override {
        model_.write_block(block, in);
    }
    double step_seconds() const override { return model_.step_seconds(); }
    std::string identity() const override { return model_.identity(); }
    bool fits(const ModelWeights& weights) const override { return model_.fits(weights); }
    void use(std::shared_ptr<ModelWeights> weights) override { model_.use(std::move(weights)); }

  private:
    ModelledBackEnd model_{
        ModelledSettings{.vocabulary = 50, .context = 30, .blocks = 6, .cost = {}}};
};

EngineModel model() {
    return {.load = [](const EngineSettings&,
                       const WeightsOrigin& origin) -> std::shared_ptr<ModelWeights> {
                const auto* const name = std::get_if<std::string>(&origin);
                if (name == nullptr || name->empty()) throw UserError("there are no such weights");
                return std::make_shared<ModelledWeights>(1);
            },
            .with = [](const EngineSettings&, std::shared_ptr<ModelWeights>)
                -> std::unique_ptr<BackEnd> { return std::make_unique<LinkingBackEnd>(); },
            .texts = numbers_as_texts};
}

/// Weights that it waits for.
void load(service::EngineHost& host, std::vector<service::FromEngine>& answers) {
    if (const auto order = host.take_order())
        host.loaded(service::carry_out(*order, model(), host.settings()), answers);
}

/// Of an engine that has a request that is to move and one that is kept, and had one that was
/// removed.
class Caller {
  public:
    Caller() {
        pool_.there(seat, 0, 1);
        hear(service::Ready{{.model = "m", .vocabulary = 50, .context = 30, .blocks = 4}, 1});
        for (const bool keeps : {false, false, true})
            pool_.ask(
                {.request = {
                     .prompt = {1, 2, 3}, .max_tokens = most, .links = Links{.keep = keeps}}});
        turn();
        pool_.cancel(0);
        journal_.remove(0);
        pool_.taken(seat, 1);
        pool_.there(another, 0, 1);
        pool_.move(1, another, true);
        turn();
    }

    /// Throws service::ProtocolError.
    void hear(const service::FromEngine& message) {
        journal_.on(message, pool_, seat);
        if (const auto* const taken = std::get_if<service::Taken>(&message))
            pool_.taken(seat, taken->request);
        else if (const auto* const refused = std::get_if<service::Refused>(&message))
            pool_.refused(seat, refused->request);
        else if (const auto* const exported = std::get_if<service::Exported>(&message))
            pool_.exported(seat, exported->request, 1);
        else if (const auto* const committed = std::get_if<service::Committed>(&message))
            pool_.version(seat, committed->version);
        else if (const auto* const made = std::get_if<service::Made>(&message))
            for (const SaidOfRequest& said : by_request(made->tokens, made->ended))
                pool_.made(seat, said.request, said.tokens, made->waiting, said.ended);
        turn();
    }

    /// What it had goes on elsewhere with what is known of it.
    void lose() {
        pool_.lost(seat);
        for (const Order& order : turn()) {
            const auto* const give = std::get_if<Give>(&order);
            if (!give) continue;
            const RequestState state = pool_.state(*give, "m");
            if (request_state_from(to_bytes(state)).ids.size() != give->from || give->from > most)
                std::abort();
        }
        for (const Number request : {0, 1, 2})
            if (!pool_.over(request) && pool_.seat(request) != another) std::abort();
    }

  private:
    static constexpr Seat seat = 0, another = 1;
    static constexpr int most = 2;  // tokens of each
    std::vector<Order> turn() {
        std::vector<Order> orders;
        FewestGiven chooser(pool_);
        pool_.turn(chooser, orders);
        return orders;
    }
    Pool pool_;
    service::Journal journal_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::istringstream lines(std::string(reinterpret_cast<const char*>(data), size));
    std::vector<service::FromEngine> answers;
    service::EngineHost host(
        {.options = {.max_batch = 4, .model = "m"}, .weights = "w", .pace = StepCost{}},
        {.offer = [](const std::string&, const Bytes&) {},
         .accept = [](const std::string&, const Bytes&) {},
         .withdraw = [](const std::string&) {}});
    load(host, answers);
    Caller caller;
    bool found_out = false;
    int messages = 0;
    for (std::string line; std::getline(lines, line) && ++messages <= 100;) {
        const auto document = nlohmann::json::parse(line, nullptr, false);
        if (document.is_discarded()) continue;
        try {
            drive::from_json<EngineSettings>(document);
        } catch (const drive::MessageError&) {
        }
        if (const auto told = read<service::ToEngine>(document)) {
            host.on(*told, answers);
            load(host, answers);
            for (int i = 0; i < 3 && host.works(); ++i) host.step(answers);
        }
        if (const auto said = read<service::FromEngine>(document); said && !found_out) {
            try {
                caller.hear(*said);
            } catch (const service::ProtocolError&) {
                found_out = true;
            }
        }
    }
    caller.lose();
    // What it answers is what its caller reads.
    for (const service::FromEngine& answer : answers)
        if (!read<service::FromEngine>(drive::to_message(answer))) std::abort();
    return 0;
}
