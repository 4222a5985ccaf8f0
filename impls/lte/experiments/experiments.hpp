// LTE's experiments, one function per file of this folder.
#pragma once

#include "suite/experiment/experiment.hpp"

namespace assay::lte {

// Arithmetic, and kernels timed: in every build.
Experiment tab1();
Experiment fig8();
Experiment fig8b();

// With libtorch: models are trained, and decode on a GPU.
/// fig8b() with profile gpu.
Experiment with_gpu_profile(Experiment fig8b);
Experiment fig2();
Experiment fig3();
Experiment fig6();
Experiment fig9();
Experiment fig10();
Experiment fig11();
Experiment fig12();
Experiment fig13();
Experiment fig15();
Experiment fig16();
Experiment tab2();
Experiment x_schedule();
Experiment x_smollm2();

}  // namespace assay::lte
