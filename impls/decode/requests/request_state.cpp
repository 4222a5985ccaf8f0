#include "impls/decode/requests/request_state.hpp"

#include <cstring>
#include <type_traits>

#include "suite/base/error.hpp"
#include "suite/base/sha256.hpp"

namespace assay::decode {
namespace {

constexpr std::string_view magic = "assay request 2\n";
constexpr std::size_t digest_bytes = 64;

// Both directions in one description: visit(field) for each in order.
template <class State, class Visit>
void each_field(State& state, Visit&& visit) {
    visit(state.model);
    auto& request = state.request;
    visit(request.prompt);
    visit(request.max_tokens);
    visit(request.sampling.temperature);
    visit(request.sampling.top_k);
    visit(request.sampling.top_p);
    visit(request.sampling.seed);
    visit(request.stop_ids);
    visit(request.stops);
    visit(request.forced_ids);
    visit(request.allowed);
    visit(request.priority);
    visit(request.prompt_log_probabilities);
    std::vector<std::int64_t> links;  // none: there are no links
    if (request.links) links = to_numbers(*request.links);
    visit(links);
    if constexpr (!std::is_const_v<State>)
        if (!links.empty()) request.links = links_from(links);
    visit(state.ids);
    visit(state.log_probabilities);
    visit(state.sampled_log_probabilities);
    visit(state.versions);
    visit(state.prompt_log_probabilities);
    visit(state.reused);
    visit(state.preemptions);
    visit(state.admitted);
    visit(state.kv_identity);
    visit(state.kv_positions);
    visit(state.kv);
}

class Writer {
  public:
    template <class T>
    void operator()(const T& value) {
        if constexpr (std::is_arithmetic_v<T>) {
            put(&value, sizeof value);
        } else {
            const std::uint64_t count = value.size();
            put(&count, sizeof count);
            put(value.data(), value.size() * sizeof value[0]);
        }
    }
    void operator()(const std::vector<std::string>& values) {
        (*this)(static_cast<std::uint64_t>(values.size()));
        for (const std::string& value : values) (*this)(value);
    }
    void put(const void* data, std::size_t size) {
        if (size > 0) bytes_.append(static_cast<const char*>(data), size);
    }
    const std::string& bytes() const { return bytes_; }

  private:
    std::string bytes_;
};

[[noreturn]] void refuse(const char* why) {
    throw UserError(std::string("the state of a request ") + why +
                    "; export it again, or submit the request anew");
}

class Reader {
  public:
    explicit Reader(std::string_view bytes) : left_(bytes) {}

    template <class T>
    void operator()(T& value) {
        if constexpr (std::is_same_v<T, bool>) {
            const char byte = *take(1);
            if (byte != 0 && byte != 1) refuse("is damaged: a truth value is neither");
            value = byte == 1;
        } else if constexpr (std::is_arithmetic_v<T>) {
            std::memcpy(&value, take(sizeof value), sizeof value);
        } else {
            std::uint64_t count = 0;
            (*this)(count);
            if (count > left_.size() / sizeof value[0]) refuse("is damaged: it ends too early");
            value.resize(static_cast<std::size_t>(count));
            const std::size_t size = value.size() * sizeof value[0];
            if (size > 0) std::memcpy(value.data(), take(size), size);
        }
    }
    void operator()(std::vector<std::string>& values) {
        std::uint64_t count = 0;
        (*this)(count);
        if (count > left_.size() / sizeof count) refuse("is damaged: it ends too early");
        values.resize(static_cast<std::size_t>(count));
        for (std::string& value : values) (*this)(value);
    }
    bool over() const { return left_.empty(); }

  private:
    const char* take(std::size_t size) {
        if (size > left_.size()) refuse("is damaged: it ends too early");
        const char* const here = left_.data();
        left_.remove_prefix(size);
        return here;
    }
    std::string_view left_;
};

}  // namespace

void RequestState::append(int id, int version, float log_probability,
                          float sampled_log_probability) {
    ids.push_back(id);
    versions.push_back(version);
    log_probabilities.push_back(log_probability);
    sampled_log_probabilities.push_back(sampled_log_probability);
}

void RequestState::keep_first(std::size_t tokens) {
    ids.resize(tokens);
    versions.resize(tokens);
    log_probabilities.resize(tokens);
    sampled_log_probabilities.resize(tokens);
}

void RequestState::forget_cache() {
    kv_identity.clear();
    kv_positions = 0;
    kv = std::vector<std::byte>();  // with its memory
}

std::vector<std::byte> to_bytes(const RequestState& state) {
    Writer writer;
    writer.put(magic.data(), magic.size());
    each_field(state, writer);
    const std::string digest = sha256_hex(writer.bytes());
    writer.put(digest.data(), digest.size());
    std::vector<std::byte> bytes(writer.bytes().size());
    std::memcpy(bytes.data(), writer.bytes().data(), bytes.size());
    return bytes;
}

RequestState request_state_from(std::span<const std::byte> bytes) {
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.size() < magic.size() + digest_bytes) refuse("is damaged: it ends too early");
    if (!text.starts_with(magic)) refuse("is none that this version writes");
    const std::string_view digest = text.substr(text.size() - digest_bytes);
    text.remove_suffix(digest_bytes);
    if (sha256_hex(text) != digest) refuse("is damaged: its checksum does not fit");
    RequestState state;
    Reader reader(text.substr(magic.size()));
    each_field(state, reader);
    if (!reader.over()) refuse("is damaged: it goes on behind its end");
    return state;
}

}  // namespace assay::decode
