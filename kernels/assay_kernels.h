/* The versioned C interface between kernels and whoever calls them: raw pointers, a stream, a
 * workspace, no C++ and no libtorch types. The CPU back end is linked in; the CUDA back end is a
 * plug-in, libassay_kernels_cuda.so, loaded at run time where a GPU is.
 *
 * Layout of weights: row-major, one row per output (GEMV) or per neuron (sparse FFN), rows
 * contiguous. Every pointer of a CUDA call is a device pointer unless said otherwise. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_KERNELS_VERSION 4

/* q types: GGUF's blocks of 32 weights (impls/nn/files/stored_tensor.hpp). */
typedef enum AssayType {
    ASSAY_F32 = 0,
    ASSAY_F16 = 1,
    ASSAY_BF16 = 2,
    ASSAY_Q8_0 = 3,
    ASSAY_Q4_0 = 4,
    ASSAY_Q4_1 = 5
} AssayType;

typedef enum AssayActivation {
    ASSAY_SWIGLU = 0, /* silu(gate·x) * (up·x) */
    ASSAY_GELU = 1,   /* tanh form */
    ASSAY_RELU = 2
} AssayActivation;

typedef enum AssayStatus {
    ASSAY_OK = 0,
    ASSAY_UNSUPPORTED = 1, /* this type, shape or batch has no kernel in this back end */
    ASSAY_BAD_ARGUMENT = 2,
    ASSAY_DEVICE_ERROR = 3
} AssayStatus;

/* A back end's state: worker threads (CPU), or device and stream (CUDA). */
typedef struct AssayContext AssayContext;
/* Calls recorded once to be replayed (a CUDA graph). */
typedef struct AssayRecording AssayRecording;

/* y[b][r] = sum_c w[r][c] * x[b][c] (+ bias[r]); fp32 accumulation. x, y, bias: fp32. */
typedef struct AssayGemv {
    int32_t rows, columns; /* columns: multiple of 32 for q types */
    AssayType type;
    const void* weights;
    const float* bias; /* may be null */
    int32_t batch;     /* 1 … 16 */
    const float* x;    /* [batch][columns] */
    float* y;          /* [batch][rows] */
} AssayGemv;

/* One feed-forward network whose neurons lie expert by expert. */
typedef struct AssayFfn {
    int32_t width;       /* d */
    int32_t experts;     /* N */
    int32_t expert_size; /* neurons per expert; 32 in the paper */
    AssayType type;      /* F32, F16 or BF16 */
    AssayActivation activation;
    const void* gate;       /* [N][S][d]; ASSAY_SWIGLU only, else null */
    const void* up;         /* [N][S][d] */
    const void* down;       /* [N][S][d]: row j is what neuron j adds to the output */
    const float* up_bias;   /* [N*S] or null */
    const float* down_bias; /* [d] or null */
} AssayFfn;

/* Sigmoid router at threshold tau: expert i is active iff x·w_i > logit(tau), or x·w_i is NaN
 * (which then reaches the output instead of vanishing). mask[b][i] = 1 where active; active[] =
 * ascending ids of experts active for any b (the union); *active_count = how many. */
typedef struct AssayRouter {
    int32_t width, experts;
    AssayType type;      /* F32, F16 or BF16 */
    const void* weights; /* [N][d] */
    float logit_threshold;
    int32_t batch;
    const float* x;        /* [batch][d] */
    uint8_t* mask;         /* [batch][N] */
    int32_t* active;       /* [N] */
    int32_t* active_count; /* [1] */
} AssayRouter;

/* y[b] = sum over experts i in active[] with mask[b][i] of E_i(x[b]) (+ down_bias). Only the active
 * experts' weights are read. The result does not depend on the number of threads. */
typedef struct AssaySparseFfn {
    AssayFfn ffn;
    int32_t batch;               /* 1 … 16 */
    const float* x;              /* [batch][d] */
    const int32_t* active;       /* ascending, each once */
    const int32_t* active_count; /* [1]; CUDA: read on the device only */
    const uint8_t* mask;         /* [batch][N], or null: every token uses the whole union */
    float* y;                    /* [batch][d] */
    void* workspace;             /* at least sparse_ffn_workspace() bytes, 64-byte aligned */
    size_t workspace_bytes;
} AssaySparseFfn;

/* One rank's part in the exchange of a MoE layer: un-padded, to any rank that holds a row's expert
 * (Lazarus, arXiv 2407.04656, Algorithm 1; rounding: impls/lazarus/policy/dispatch). Every rank
 * knows all counts, so what one sends is what the other expects. Rows lie in the buffers by peer
 * rank, and by expert within a peer. */
typedef struct AssayDispatch {
    int32_t experts, ranks, rank; /* ranks: 1 … 1024 */
    const int32_t* tokens;        /* [experts][ranks] rows at each rank that want each expert; of an
                                     expert below 2^31 in all */
    const int32_t* replicas;      /* [experts][ranks] of each expert on each rank */
    int32_t rows;                 /* of this rank */
    const int32_t* choices;       /* [rows]: a row's expert */
    int32_t receive_room; /* entries of `grouped`; rows received beyond are left out of it */

    int32_t* send_first;    /* [ranks * experts + 1]: where the rows for (peer, expert) begin in the
                               buffer that is sent; the last: where they end */
    int32_t* receive_first; /* the same of the buffer that is received */
    int32_t* places; /* [rows]: where a row lies in the buffer that is sent; -1: nowhere, nobody
                        holds its expert, or there are more such rows than `tokens` says */
    int32_t* expert_first; /* [experts + 1]: where the rows of an expert begin once those received
                              are grouped by expert */
    int32_t* grouped;      /* [receive_room]: where a received row lies then */
} AssayDispatch;

/* Rows to or from places that all differ. Places outside are left out. */
typedef struct AssayRowMove {
    int32_t rows;
    int32_t places_end;    /* places: 0 … places_end - 1 */
    size_t row_bytes;      /* a multiple of 16; both buffers are aligned to 16 bytes, too */
    const int32_t* places; /* [rows] */
    const void* from;
    void* to;
} AssayRowMove;

/* How a row's gradient G_b = sum_s go_b[s] x_b[s]^T of a linear map meets the target's, without
 * being there (Dr. Post-Training, arXiv 2605.07063). */
typedef enum AssayScoring {
    ASSAY_PIP = 0,       /* tokens through the target's gradient, which is made once */
    ASSAY_GIP = 1,       /* inner products of all tokens of a row with all of the target's */
    ASSAY_COMPRESSED = 2 /* gradients between projections: not exact */
} AssayScoring;

/* scores[b] = sum over target rows v of <G_b, G_v>; compressed: of the gradients of P_O go and
 * P_I x instead. fp32 sums. */
typedef struct AssayRowScores {
    AssayScoring scoring;
    int32_t out, in, tokens;             /* O, I, T: T of every row; padding has go = 0 */
    int32_t rows, target_rows;           /* n, m */
    AssayType type;                      /* F32 or BF16, of all that is read */
    const void* x;                       /* [n][T][I] inputs of the map */
    const void* go;                      /* [n][T][O] gradients of its outputs */
    const void* target_x;                /* [m][T][I] */
    const void* target_go;               /* [m][T][O] */
    int32_t projected_out, projected_in; /* compressed: a, b */
    const void* project_out;             /* compressed: P_O [a][O] */
    const void* project_in;              /* compressed: P_I [b][I] */
    float* scores;                       /* [n] */
    void* workspace; /* at least row_scores_workspace() bytes, 64-byte aligned */
    size_t workspace_bytes;
} AssayRowScores;

/* gradient[o][i] = sum over rows b of weights[b] * sum_s go_b[s][o] x_b[s][i]. Rows whose weight is
 * 0 are not read. */
typedef struct AssayWeightGradient {
    int32_t out, in, tokens, rows;
    AssayType type;       /* F32 or BF16, of x and go */
    const void* x;        /* [rows][T][I] */
    const void* go;       /* [rows][T][O] */
    const float* weights; /* [rows]; CUDA: read on the device only */
    float* gradient;      /* [O][I] */
} AssayWeightGradient;

/* A part of a device's multiprocessors, and a cudaStream_t whose kernels run on no others. Memory
 * and its caches stay common to all. */
typedef struct AssayPart {
    int32_t multiprocessors; /* asked for; afterwards what it has: at least as many */
    void* stream;            /* afterwards; belongs to the division */
} AssayPart;
/* Of one device into parts that share no multiprocessor (CUDA green contexts). */
typedef struct AssayDivision AssayDivision;

/* Every function returns ASSAY_OK or says why not through last_error(). A CUDA call is asynchronous
 * on the context's stream. Null members: the back end has no such kernel. */
typedef struct AssayKernels {
    int32_t version;  /* ASSAY_KERNELS_VERSION */
    const char* name; /* "cpu/avx512", "cpu/avx2", "cpu/portable", "cuda/sm_90" … */

    /* threads: CPU worker threads, 0: all allowed cores. stream: a cudaStream_t, null: a stream of
     * its own. */
    AssayContext* (*create)(int32_t threads, int32_t device, void* stream);
    void (*destroy)(AssayContext*);
    const char* (*last_error)(const AssayContext*);
    AssayStatus (*synchronise)(AssayContext*);

    AssayStatus (*gemv)(AssayContext*, const AssayGemv*);
    AssayStatus (*router)(AssayContext*, const AssayRouter*);
    size_t (*sparse_ffn_workspace)(const AssayFfn*, int32_t batch);
    AssayStatus (*sparse_ffn)(AssayContext*, const AssaySparseFfn*);

    /* Memory for the pointers of a call: on the device (CUDA), or backed by large pages (CPU).
     * Aligned to 64 bytes or more, contents undefined; null: there is not as much. release() waits
     * for what is under way. */
    void* (*allocate)(AssayContext*, size_t bytes);
    void (*release)(AssayContext*, void*);
    /* Between the caller's memory and the device's, after the calls before; done when they
     * return. */
    AssayStatus (*upload)(AssayContext*, void* to, const void* from, size_t bytes);
    AssayStatus (*download)(AssayContext*, void* to, const void* from, size_t bytes);
    /* Within the device's memory; asynchronous as a kernel is. */
    AssayStatus (*copy)(AssayContext*, void* to, const void* from, size_t bytes);
    /* to[i] = from[ids[i]] for `count` pieces of piece_bytes, a multiple of 16. */
    AssayStatus (*gather)(AssayContext*, void* to, const void* from, const int32_t* ids,
                          int32_t count, size_t piece_bytes);

    /* Reads memory once, in order, with all the width there is and next to no arithmetic: what
     * kernels are measured against. bytes: a multiple of 256 KiB. */
    AssayStatus (*read_pass)(AssayContext*, const void* from, size_t bytes);
    /* Seconds that the calls between the two took: by events on the stream (CUDA), or by the clock
     * (CPU). end_timing() waits for them. */
    AssayStatus (*begin_timing)(AssayContext*);
    AssayStatus (*end_timing)(AssayContext*, double* seconds);

    /* What is put on the stream between the two is kept and does not run; upload, download,
     * synchronise and timing are not allowed there. replay() puts it on the stream as a whole,
     * which spares the time to launch each part. All three and the last are null where launches
     * cost nothing (CPU). */
    AssayStatus (*begin_recording)(AssayContext*);
    AssayStatus (*end_recording)(AssayContext*, AssayRecording** recording);
    AssayStatus (*replay)(AssayContext*, AssayRecording*);
    void (*destroy_recording)(AssayContext*, AssayRecording*);

    AssayStatus (*dispatch)(AssayContext*, const AssayDispatch*);
    AssayStatus (*shuffle)(AssayContext*, const AssayRowMove*);   /* to[places[i]] = from[i] */
    AssayStatus (*unshuffle)(AssayContext*, const AssayRowMove*); /* to[i] = from[places[i]] */

    /* Divides the context's device into `count` parts. Multiprocessors come in groups of 8, or of 2
     * where a part asks for no multiple of 8 (compute capability 9.0); a device may have fewer
     * groups than its number of multiprocessors says. ASSAY_UNSUPPORTED: the driver is older than
     * CUDA 12.5, or the groups do not suffice. reunite() waits for what is under way. Both null
     * where there is nothing to divide (CPU). */
    AssayStatus (*divide)(AssayContext*, AssayPart* parts, int32_t count, AssayDivision** division);
    void (*reunite)(AssayContext*, AssayDivision*);

    size_t (*row_scores_workspace)(const AssayRowScores*); /* 0: no kernel for it */
    AssayStatus (*row_scores)(AssayContext*, const AssayRowScores*);
    AssayStatus (*weight_gradient)(AssayContext*, const AssayWeightGradient*);
} AssayKernels;

/* The best CPU back end for this processor (AVX-512, AVX2 + FMA + F16C, portable C++). Never
 * null. `limit`: null, or one of the names above to force a lesser one; null result: not possible
 * here. */
const AssayKernels* assay_cpu_kernels(const char* limit);

/* Exported by the plug-in under this name; null where no usable device is. */
typedef const AssayKernels* (*AssayPluginEntry)(void);
#define ASSAY_PLUGIN_ENTRY "assay_cuda_kernels"
/* Exported too, or absent: why the first gives null here; empty where it does not. */
typedef const char* (*AssayPluginLack)(void);
#define ASSAY_PLUGIN_LACK "assay_cuda_kernels_lack"

#ifdef __cplusplus
}
#endif
