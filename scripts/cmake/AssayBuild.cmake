# How every target of the project is built.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
# -O2 without -DNDEBUG: assertions guard invariants and cost nothing measurable here.
set(CMAKE_CXX_FLAGS_RELEASE "-O2")

set(ASSAY_SANITIZE "" CACHE STRING "Sanitizers for every target, for example address,undefined")

add_library(assay_options INTERFACE)
target_compile_options(assay_options INTERFACE -Wall -Wextra -Wno-missing-field-initializers)
target_include_directories(assay_options INTERFACE "${CMAKE_SOURCE_DIR}")
if(ASSAY_SANITIZE)
    target_compile_options(assay_options INTERFACE -fsanitize=${ASSAY_SANITIZE}
                           -fno-omit-frame-pointer -fno-sanitize-recover=all -g1)
    target_link_options(assay_options INTERFACE -fsanitize=${ASSAY_SANITIZE})
endif()

find_program(ASSAY_CCACHE ccache)
if(ASSAY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${ASSAY_CCACHE}")
endif()
find_program(ASSAY_MOLD mold)
if(ASSAY_MOLD)
    add_link_options(-fuse-ld=mold)
endif()

# assay_library(NAME SOURCES a.cpp … [LINK targets …] [SEPARATE]): a static library of one folder. Its
# sources are compiled a few at a time, because most of a compiler's work are headers that they share.
# Left apart are those with flags of their own, those that say SKIP_UNITY_BUILD_INCLUSION, and with
# SEPARATE all: experiments, say, each of which has its own `run`.
function(assay_library name)
    cmake_parse_arguments(arg "SEPARATE" "" "SOURCES;LINK" ${ARGN})
    add_library(${name} STATIC ${arg_SOURCES})
    target_link_libraries(${name} PUBLIC assay_options ${arg_LINK})
    if(NOT arg_SEPARATE)
        set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
    endif()
endfunction()

# assay_module(NAME SOURCES … LINK …): a module opened at run time (impls/tensors/module.hpp).
function(assay_module name)
    cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
    add_library(${name} MODULE ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE assay_options ${arg_LINK})
    # Calls within it are its own, whatever the program calls by the same names.
    target_link_options(${name} PRIVATE -Wl,--build-id=sha1 -Wl,-Bsymbolic-functions)
endfunction()

# assay_test(NAME SOURCES … LINK … [LABELS fast]): one GoogleTest executable; each TEST is a ctest.
function(assay_test name)
    cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
    if(NOT TARGET GTest::gtest_main)
        return()
    endif()
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE assay_options ${arg_LINK} GTest::gtest_main GTest::gmock)
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 120)
    endif()
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
                         # Tests share the cores: threads of libtorch that wait must not spin.
                         ENVIRONMENT OMP_WAIT_POLICY=passive)
endfunction()

# assay_benchmark(NAME SOURCES … LINK …): one Google Benchmark executable.
function(assay_benchmark name)
    cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
    if(NOT TARGET benchmark::benchmark)
        return()
    endif()
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE assay_options ${arg_LINK} benchmark::benchmark)
endfunction()
