# Options of the build, and the flags that every target of ours gets. Nothing here is exported.
include(GNUInstallDirs)

option(RML_BUILD_TESTS "Build the tests" ON)
option(RML_BUILD_BENCHMARKS "Build the benchmarks" OFF)
option(RML_BUILD_FUZZERS "Build the fuzzers (needs clang with libFuzzer)" OFF)
option(RML_WERROR "Treat warnings as errors" OFF)
set(RML_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined | thread)")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(RML_CCACHE ccache)
if(RML_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${RML_CCACHE})
endif()

# Flags of our own targets: an INTERFACE target that is linked privately, so that none leaks to users.
add_library(rml_flags INTERFACE)
target_compile_options(rml_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -ffp-contract=off)
if(RML_WERROR)
  target_compile_options(rml_flags INTERFACE -Werror)
endif()
# The lowest x86 that we run on has SSE4.2 and POPCNT (Nehalem); anything newer is dispatched at run time.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(rml_flags INTERFACE -march=x86-64-v2)
endif()
if(RML_SANITIZE)
  target_compile_options(rml_flags INTERFACE -fsanitize=${RML_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(rml_flags INTERFACE -fsanitize=${RML_SANITIZE})
endif()

find_program(RML_MOLD mold)
if(RML_MOLD AND NOT CMAKE_CROSSCOMPILING)
  target_link_options(rml_flags INTERFACE -fuse-ld=mold)
endif()
target_include_directories(rml_flags INTERFACE ${PROJECT_SOURCE_DIR})

find_package(Threads REQUIRED)
