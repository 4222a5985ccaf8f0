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
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g")

set(ASSAY_SANITIZE "" CACHE STRING "Sanitizers for every target, for example address,undefined")

add_library(assay_options INTERFACE)
target_compile_options(assay_options INTERFACE -Wall -Wextra -Wno-missing-field-initializers)
target_include_directories(assay_options INTERFACE "${CMAKE_SOURCE_DIR}")
if(ASSAY_SANITIZE)
    target_compile_options(assay_options INTERFACE -fsanitize=${ASSAY_SANITIZE}
                           -fno-omit-frame-pointer -fno-sanitize-recover=all -g1)
    target_link_options(assay_options INTERFACE -fsanitize=${ASSAY_SANITIZE})
endif()

# Programs that only test are compiled with -Og, which halves the compiler's work; the libraries that
# they link are those that are shipped. (Not the command line: a linker takes the first copy of an
# inline function that it meets, and code that is measured would get such slower copies.)
add_library(assay_test_options INTERFACE)
target_link_libraries(assay_test_options INTERFACE assay_options)
target_compile_options(assay_test_options INTERFACE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-Og>)

find_program(ASSAY_CCACHE ccache)
if(ASSAY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # What ccache asks for to keep what was compiled with precompiled headers.
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros
        "${ASSAY_CCACHE}")
    target_compile_options(assay_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()
find_program(ASSAY_MOLD mold)
if(ASSAY_MOLD)
    add_link_options(-fuse-ld=mold)
endif()

# Headers that most files include are compiled once for all targets of a kind. A file still includes
# what it uses: the presets with sanitizers compile without.
option(ASSAY_PRECOMPILE "Compile the headers that most files include once" ON)
set(assay_headers_plain <algorithm> <cmath> <cstdint> <filesystem> <fstream> <functional> <map> <memory>
    <optional> <set> <span> <sstream> <string> <string_view> <vector> <fmt/format.h> <fmt/ranges.h>
    <nlohmann/json.hpp>)
set(assay_headers_cli ${assay_headers_plain} <CLI/App.hpp> <CLI/Config.hpp> <CLI/Formatter.hpp>)
set(assay_headers_torch ${assay_headers_plain} <ATen/ATen.h> <ATen/Parallel.h>)
set(assay_headers_test <algorithm> <cmath> <filesystem> <fstream> <functional> <map> <optional> <string>
    <vector> <gmock/gmock.h> <gtest/gtest.h> <nlohmann/json.hpp>)
set(assay_headers_torch_test ${assay_headers_test} <ATen/ATen.h>)

# assay_precompile(TARGET KIND): one of the lists above; TARGET is compiled like all others of its KIND.
function(assay_precompile target kind)
    if(NOT ASSAY_PRECOMPILE)
        return()
    endif()
    set(owner assay_headers_${kind})
    if(NOT TARGET ${owner})
        set(source "${CMAKE_BINARY_DIR}/headers/${owner}.cpp")
        if(kind MATCHES "test$")  # of programs, which are compiled with other flags than libraries
            file(CONFIGURE OUTPUT "${source}" CONTENT "int main() {}\n")
            add_executable(${owner} "${source}")
            target_link_libraries(${owner} PRIVATE assay_test_options GTest::gmock)
            set_target_properties(${owner} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/headers")
        else()
            file(CONFIGURE OUTPUT "${source}" CONTENT "// Compiles headers only.\n")
            add_library(${owner} OBJECT "${source}")
            target_link_libraries(${owner} PRIVATE fmt::fmt)
        endif()
        target_link_libraries(${owner} PRIVATE assay_options nlohmann_json::nlohmann_json)
        if(kind MATCHES "torch")
            target_link_libraries(${owner} PRIVATE assay_torch)
        elseif(kind STREQUAL "cli")
            target_link_libraries(${owner} PRIVATE CLI11::CLI11)
        endif()
        target_precompile_headers(${owner} PRIVATE ${assay_headers_${kind}})
    endif()
    target_precompile_headers(${target} REUSE_FROM ${owner})
    if(NOT kind MATCHES "test$")
        target_link_libraries(${target} PRIVATE fmt::fmt)  # its macros are part of the headers
    endif()
endfunction()

# assay_sees_torch(OUT TARGET…): whether what links these is compiled with libtorch's headers.
function(assay_sees_torch out)
    foreach(target IN LISTS ARGN)
        if(target STREQUAL "assay_torch")
            set(${out} ON PARENT_SCOPE)
            return()
        endif()
        if(TARGET ${target})
            get_target_property(behind ${target} INTERFACE_LINK_LIBRARIES)
            if(behind)
                assay_sees_torch(seen ${behind})
                if(seen)
                    set(${out} ON PARENT_SCOPE)
                    return()
                endif()
            endif()
        endif()
    endforeach()
    set(${out} OFF PARENT_SCOPE)
endfunction()

# assay_library(NAME SOURCES a.cpp … [LINK targets …] [SEPARATE]): a static library of one folder. Its
# sources are compiled a few at a time, because most of a compiler's work are headers that they share.
# Left apart are those with flags of their own, those that say SKIP_UNITY_BUILD_INCLUSION, and with
# SEPARATE all: experiments, say, each of which has its own `run`. HEADERS cli: commands, which include
# CLI11.
function(assay_library name)
    cmake_parse_arguments(arg "SEPARATE" "HEADERS" "SOURCES;LINK" ${ARGN})
    add_library(${name} STATIC ${arg_SOURCES})
    target_link_libraries(${name} PUBLIC assay_options ${arg_LINK})
    if(NOT arg_HEADERS)
        assay_sees_torch(torch ${arg_LINK})
        if(torch)
            set(arg_HEADERS torch)
        else()
            set(arg_HEADERS plain)
        endif()
    endif()
    assay_precompile(${name} ${arg_HEADERS})
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

# assay_test(NAME SOURCES … LINK … [LABELS fast] [SEPARATE]): one GoogleTest executable; each TEST is a
# ctest. Sources are compiled a few at a time, as those of a library; SEPARATE: one by one, where they
# give the same name to helpers of their own.
function(assay_test name)
    cmake_parse_arguments(arg "SEPARATE" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
    if(NOT TARGET GTest::gtest_main)
        return()
    endif()
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE assay_test_options ${arg_LINK} GTest::gtest_main GTest::gmock)
    assay_sees_torch(torch ${arg_LINK})
    if(torch)
        assay_precompile(${name} torch_test)
    else()
        assay_precompile(${name} test)
    endif()
    if(NOT arg_SEPARATE)
        set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
    endif()
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
