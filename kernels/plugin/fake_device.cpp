// A stand-in for a GPU: the CPU back end of the program that loads it, behind the plug-in's name,
// with recordings that keep the calls and make them again. The program must export its symbols.
#include <functional>
#include <vector>

#include "kernels/assay_kernels.h"

struct AssayRecording {
    std::vector<std::function<AssayStatus()>> calls;
};

namespace {

AssayRecording* under_way = nullptr;

const AssayKernels& cpu() { return *assay_cpu_kernels(nullptr); }

/// Makes a call, or keeps it where a recording is under way.
template <class Body>
AssayStatus kept_or_made(const Body& body) {
    if (!under_way) return body();
    under_way->calls.push_back(body);
    return ASSAY_OK;
}

AssayStatus gemv(AssayContext* context, const AssayGemv* call) {
    return kept_or_made([context, call = *call] { return cpu().gemv(context, &call); });
}
AssayStatus router(AssayContext* context, const AssayRouter* call) {
    return kept_or_made([context, call = *call] { return cpu().router(context, &call); });
}
AssayStatus sparse_ffn(AssayContext* context, const AssaySparseFfn* call) {
    return kept_or_made([context, call = *call] { return cpu().sparse_ffn(context, &call); });
}
AssayStatus dispatch(AssayContext* context, const AssayDispatch* call) {
    return kept_or_made([context, call = *call] { return cpu().dispatch(context, &call); });
}
AssayStatus shuffle(AssayContext* context, const AssayRowMove* call) {
    return kept_or_made([context, call = *call] { return cpu().shuffle(context, &call); });
}
AssayStatus unshuffle(AssayContext* context, const AssayRowMove* call) {
    return kept_or_made([context, call = *call] { return cpu().unshuffle(context, &call); });
}
AssayStatus row_scores(AssayContext* context, const AssayRowScores* call) {
    return kept_or_made([context, call = *call] { return cpu().row_scores(context, &call); });
}
AssayStatus weight_gradient(AssayContext* context, const AssayWeightGradient* call) {
    return kept_or_made([context, call = *call] { return cpu().weight_gradient(context, &call); });
}
AssayStatus copy(AssayContext* context, void* to, const void* from, size_t bytes) {
    return kept_or_made([=] { return cpu().copy(context, to, from, bytes); });
}
AssayStatus gather(AssayContext* context, void* to, const void* from, const int32_t* ids,
                   int32_t count, size_t piece_bytes) {
    return kept_or_made([=] { return cpu().gather(context, to, from, ids, count, piece_bytes); });
}

/// What a stream that records does not allow.
template <auto member, class... Arguments>
AssayStatus outside_recordings(AssayContext* context, Arguments... arguments) {
    return under_way ? ASSAY_DEVICE_ERROR : (cpu().*member)(context, arguments...);
}

AssayStatus begin_recording(AssayContext*) {
    if (under_way) return ASSAY_DEVICE_ERROR;
    under_way = new AssayRecording;
    return ASSAY_OK;
}
AssayStatus end_recording(AssayContext*, AssayRecording** recording) {
    if (!under_way) return ASSAY_DEVICE_ERROR;
    *recording = under_way;
    under_way = nullptr;
    return ASSAY_OK;
}
AssayStatus replay(AssayContext*, AssayRecording* recording) {
    for (const auto& call : recording->calls)
        if (const AssayStatus status = call(); status != ASSAY_OK) return status;
    return ASSAY_OK;
}
void destroy_recording(AssayContext*, AssayRecording* recording) { delete recording; }

/// Parts as asked for, on the stream of all.
AssayStatus divide(AssayContext*, AssayPart* parts, int32_t count, AssayDivision** division) {
    static int only;
    for (int32_t i = 0; i < count; ++i) parts[i].stream = nullptr;
    *division = reinterpret_cast<AssayDivision*>(&only);
    return ASSAY_OK;
}
void reunite(AssayContext*, AssayDivision*) {}

}  // namespace

extern "C" const AssayKernels* assay_cuda_kernels() {
    static const AssayKernels kernels = [] {
        AssayKernels table = cpu();
        table.name = "cuda/stand-in";
        table.gemv = gemv;
        table.router = router;
        table.sparse_ffn = sparse_ffn;
        table.dispatch = dispatch;
        table.shuffle = shuffle;
        table.unshuffle = unshuffle;
        table.row_scores = row_scores;
        table.weight_gradient = weight_gradient;
        table.copy = copy;
        table.gather = gather;
        table.synchronise = outside_recordings<&AssayKernels::synchronise>;
        table.upload = outside_recordings<&AssayKernels::upload, void*, const void*, size_t>;
        table.download = outside_recordings<&AssayKernels::download, void*, const void*, size_t>;
        table.begin_timing = outside_recordings<&AssayKernels::begin_timing>;
        table.end_timing = outside_recordings<&AssayKernels::end_timing, double*>;
        table.begin_recording = begin_recording;
        table.end_recording = end_recording;
        table.replay = replay;
        table.destroy_recording = destroy_recording;
        table.divide = divide;
        table.reunite = reunite;
        return table;
    }();
    return &kernels;
}
