// The module of tensors: beside main.cpp the one file that names the systems. What each declares in
// its tensor_functions.hpp is filled in here.
#include "impls/dr_post_training/tensor_functions.hpp"
#include "impls/hetermoe/tensor_functions.hpp"
#include "impls/lte/tensor_functions.hpp"
#include "impls/model/tensor_functions.hpp"

#ifdef ASSAY_LAZARUS_LIVE
#include "impls/lazarus/tensor_functions.hpp"
#endif
#ifdef ASSAY_HETERMOE_LIVE
#include "impls/hetermoe/tensor_functions.hpp"
#endif

extern "C" {

#ifdef ASSAY_LAZARUS_LIVE
extern const assay::lazarus::TensorFunctions assay_lazarus_tensors;
const assay::lazarus::TensorFunctions assay_lazarus_tensors{
    .run_fig9 = assay::lazarus::run_fig9,
    .run_x_clocks = assay::lazarus::run_x_clocks,
    .run_tab2 = assay::lazarus::run_tab2,
    .run_x_operations = assay::lazarus::run_x_operations,
    .run_x_loss = assay::lazarus::run_x_loss,
    .run_fig10a = assay::lazarus::run_fig10a,
    .run_fig10a_on_gpu = assay::lazarus::run_fig10a_on_gpu,
    .gpu_layers_lack = assay::lazarus::gpu_layers_lack,
    .run_live_schedule = assay::lazarus::run_live_schedule,
};
#endif

extern const assay::hetermoe::TensorFunctions assay_hetermoe_tensors;
const assay::hetermoe::TensorFunctions assay_hetermoe_tensors{
    .run_fig2 = assay::hetermoe::run_fig2,
    .module_timing_lacks = assay::hetermoe::module_timing_lacks,
#ifdef ASSAY_HETERMOE_LIVE
    .run_paced = assay::hetermoe::run_paced_processes,
    .run_on_parts = assay::hetermoe::run_on_parts,
    .measure_profile = assay::hetermoe::measure_profile,
    .run_x_live = assay::hetermoe::run_x_live,
    .run_live_schedule = assay::hetermoe::run_live_schedule,
#else
    .run_paced = nullptr,
    .run_on_parts = nullptr,
    .measure_profile = nullptr,
    .run_x_live = nullptr,
    .run_live_schedule = nullptr,
#endif
};

extern const assay::lte::TensorFunctions assay_lte_tensors;
const assay::lte::TensorFunctions assay_lte_tensors{
    .compete = assay::lte::compete,
    .compete_overall = assay::lte::compete_overall,
    .histogram_of_scores = assay::lte::histogram_of_scores,
    .train_on_grouping = assay::lte::train_on_grouping,
    .train_with_lambda = assay::lte::train_with_lambda,
    .measure_unions = assay::lte::measure_unions,
    .train_router_arm = assay::lte::train_router_arm,
    .make_product = assay::lte::make_product,
    .answer_task = assay::lte::answer_task,
    .run_fig8b_on_gpu = assay::lte::run_fig8b_on_gpu,
    .workbench_lacks = assay::lte::workbench_lacks,
    .gpu_decoding_lacks = assay::lte::gpu_decoding_lacks,
};

extern const assay::dr_post_training::TensorFunctions assay_dr_post_training_tensors;
const assay::dr_post_training::TensorFunctions assay_dr_post_training_tensors{
    .run_sft = assay::dr_post_training::run_sft,
    .run_rlvr = assay::dr_post_training::run_rlvr,
    .run_rlhf = assay::dr_post_training::run_rlhf,
    .run_steps = assay::dr_post_training::run_steps,
    .run_scoring = assay::dr_post_training::run_scoring,
    .run_x_faults = assay::dr_post_training::run_x_faults,
    .run_bias_exposure = assay::dr_post_training::run_bias_exposure,
    .run_compression = assay::dr_post_training::run_compression,
    .timing_on_gpu_lacks = assay::dr_post_training::timing_on_gpu_lacks,
    .run_live_schedule = assay::dr_post_training::run_live_schedule,
};

extern const assay::model::TensorFunctions assay_model_tensors;
const assay::model::TensorFunctions assay_model_tensors{
    .decoder_scorer = assay::model::decoder_scorer,
    .write_gradients = assay::model::write_gradients,
};

}  // extern "C"
