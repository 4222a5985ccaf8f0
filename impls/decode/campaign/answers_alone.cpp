#include "impls/decode/campaign/answers_alone.hpp"

#include <fmt/format.h>

namespace assay::decode {

BatchEngine& AnswersAlone::engine(const EngineSettings& settings, const std::string& weights) {
    auto& engine = engines_[weights];
    if (!engine)
        engine = std::make_unique<BatchEngine>(
            model_.model.back_end(settings, weights),
            BatchOptions{.max_batch = 1, .prefix = false, .model = settings.options.model},
            model_.model.texts(settings));
    return *engine;
}

void AnswersAlone::check(const HeardRequest& request, const EngineSettings& settings,
                         const std::function<std::string(int version)>& weights_of) {
    const RequestState& heard = request.state;
    RequestState known = heard;
    known.keep_first(0);
    known.request.links.reset();  // it keeps nothing there
    const auto compare = [&](const MadeToken& token) {
        const std::size_t i = known.ids.size();
        if (heard.ids[i] != token.id || heard.log_probabilities[i] != token.log_probability ||
            heard.sampled_log_probabilities[i] != token.sampled_log_probability)
            throw BrokenRule{fmt::format("token {} of a request is {}, and alone {}", i,
                                         heard.ids[i], token.id)};
        known.append(token.id, heard.versions[i], token.log_probability,
                     token.sampled_log_probability);
    };
    std::optional<Finish> end;
    while (known.ids.size() < heard.ids.size()) {
        if (end) throw BrokenRule{"a request went on behind its end"};
        // What follows is of one version, as far as it does.
        const int version = heard.versions[known.ids.size()];
        BatchEngine& one = engine(settings, weights_of(version));
        const RequestId id = one.resume(known);
        for (StepReport report; !end && known.ids.size() < heard.ids.size() &&
                                heard.versions[known.ids.size()] == version;
             report.clear()) {
            one.step(report);
            for (const MadeToken& token : report.tokens) compare(token);
            if (!report.ended.empty()) end = report.ended.front().why;
        }
        if (!end) one.remove(id);
    }
    check_end(request, end);
}

}  // namespace assay::decode
