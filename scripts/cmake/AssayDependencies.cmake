# What the build found. ASSAY_HAVE_* end up in suite/measure/build_info, so that the program can say
# what it was built without.
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLiteCpp QUIET)
find_path(ASSAY_SQLITECPP_INCLUDE SQLiteCpp/SQLiteCpp.h REQUIRED)
find_library(ASSAY_SQLITECPP_LIBRARY SQLiteCpp REQUIRED)
find_library(ASSAY_SQLITE3_LIBRARY sqlite3 REQUIRED)
add_library(assay_sqlite INTERFACE)
target_include_directories(assay_sqlite INTERFACE "${ASSAY_SQLITECPP_INCLUDE}")
target_link_libraries(assay_sqlite INTERFACE "${ASSAY_SQLITECPP_LIBRARY}" "${ASSAY_SQLITE3_LIBRARY}")

# Entries of CUDA binaries are compressed with either of the first two; tokenizers compose Unicode.
foreach(library zstd lz4 utf8proc)
    find_path(ASSAY_${library}_INCLUDE ${library}.h REQUIRED)
    find_library(ASSAY_${library}_LIBRARY ${library} REQUIRED)
    add_library(assay_${library} INTERFACE)
    target_include_directories(assay_${library} INTERFACE "${ASSAY_${library}_INCLUDE}")
    target_link_libraries(assay_${library} INTERFACE "${ASSAY_${library}_LIBRARY}")
endforeach()

find_package(GTest QUIET)
include(GoogleTest)
find_package(benchmark QUIET)

# libtorch: an imported target of our own. Its CMake package cannot be used without a CUDA toolkit
# of its own taste; we need two libraries and the headers.
set(ASSAY_TORCH_ROOT "${CMAKE_SOURCE_DIR}/.deps/libtorch/torch" CACHE PATH
    "Folder with include/ and lib/ of libtorch (scripts/dependencies puts it into .deps)")
if(EXISTS "${ASSAY_TORCH_ROOT}/lib/libtorch_cpu.so" AND EXISTS "${ASSAY_TORCH_ROOT}/include/ATen/ATen.h"
   AND NOT ASSAY_WITHOUT_TORCH)
    add_library(assay_torch INTERFACE)
    # Searched last: libtorch ships headers of other libraries (fmt), which must not hide the system's.
    target_compile_options(assay_torch INTERFACE
        "SHELL:-idirafter ${ASSAY_TORCH_ROOT}/include"
        "SHELL:-idirafter ${ASSAY_TORCH_ROOT}/include/torch/csrc/api/include")
    target_link_libraries(assay_torch INTERFACE "${ASSAY_TORCH_ROOT}/lib/libtorch_cpu.so"
                          "${ASSAY_TORCH_ROOT}/lib/libc10.so")
    set(ASSAY_HAVE_TORCH ON)
    # Debian's libgloo-dev serves for its headers only; the symbols are inside libtorch_cpu.
    find_path(ASSAY_GLOO_INCLUDE gloo/transport/tcp/device.h)
    if(ASSAY_GLOO_INCLUDE)
        set(ASSAY_HAVE_GLOO ON)
    endif()
endif()
if(TARGET benchmark::benchmark)
    set(ASSAY_HAVE_BENCHMARK ON)
endif()
find_program(ASSAY_NVCC nvcc HINTS /usr/local/cuda/bin)
if(ASSAY_NVCC)
    set(ASSAY_HAVE_NVCC ON)
endif()
# The driver's interface alone; libcuda itself is opened at run time.
find_path(ASSAY_CUDA_HEADER cuda.h HINTS "${CMAKE_SOURCE_DIR}/.deps/cuda/include" /usr/local/cuda/include
          NO_DEFAULT_PATH)
if(ASSAY_CUDA_HEADER)
    add_library(assay_cuda_header INTERFACE)
    target_include_directories(assay_cuda_header SYSTEM INTERFACE "${ASSAY_CUDA_HEADER}")
    set(ASSAY_HAVE_CUDA_HEADER ON)
endif()
option(ASSAY_SIMGRID "Simulated networks, where SimGrid is installed" ON)
if(ASSAY_SIMGRID)
    find_package(SimGrid QUIET)
    set(ASSAY_HAVE_SIMGRID ${SimGrid_FOUND})
endif()
find_package(Qt6 QUIET COMPONENTS Widgets OPTIONAL_COMPONENTS Test)
if(Qt6_FOUND)
    set(ASSAY_HAVE_QT ON)
endif()
foreach(part TORCH GLOO BENCHMARK NVCC CUDA_HEADER SIMGRID QT)
    if(ASSAY_HAVE_${part})
        message(STATUS "assay: ${part} found")
    else()
        message(STATUS "assay: ${part} absent, its parts are left out")
    endif()
endforeach()
