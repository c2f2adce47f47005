# Options of the build, and the flags that every target of ours gets. Nothing here is exported.
include(GNUInstallDirs)

option(RML_BUILD_TESTS "Build the tests" ON)
option(RML_BUILD_BENCHMARKS "Build the benchmarks" OFF)
option(RML_BUILD_FUZZERS "Build the fuzzers (needs clang with libFuzzer)" OFF)
option(RML_UNITY "Compile several files of a module at once: a clean build takes half the time" OFF)
option(RML_WERROR "Treat warnings as errors" OFF)
set(RML_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined | thread)")
set(RML_ONLY_MODULES "" CACHE STRING "Build only these modules, with all that they need (empty: every module)")
# Optional parts: AUTO builds what the installed libraries allow, ON insists, OFF leaves it out.
set(RML_ONEDNN AUTO CACHE STRING "The provider onednn (AUTO | ON | OFF)")
set_property(CACHE RML_ONEDNN PROPERTY STRINGS AUTO ON OFF)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)  # a module's private library is linked from other folders too
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
# A designated initializer names what differs from the default, so members left out are no mistake.
target_compile_options(rml_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor
  -Wno-missing-field-initializers -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(rml_flags INTERFACE -Wno-restrict)  # fires on "text" + std::string (GCC bug 105651)
endif()
if(RML_WERROR)
  target_compile_options(rml_flags INTERFACE -Werror)
endif()
# The lowest x86 that we run on has SSE4.2 and POPCNT (Nehalem); anything newer is dispatched at run time.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(rml_flags INTERFACE -march=x86-64-v2)
endif()
if(RML_SANITIZE)
  target_compile_options(rml_flags INTERFACE -fsanitize=${RML_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(rml_flags INTERFACE -O1 -g1)  # at -O2 a file of kernels takes minutes
  endif()
  target_link_options(rml_flags INTERFACE -fsanitize=${RML_SANITIZE})
endif()

find_program(RML_MOLD mold)
if(RML_MOLD AND NOT CMAKE_CROSSCOMPILING)
  target_link_options(rml_flags INTERFACE -fuse-ld=mold)
endif()
target_include_directories(rml_flags INTERFACE ${PROJECT_SOURCE_DIR})

# Tests are compiled once and run for seconds: the optimiser would take longer than it saves.
add_library(rml_test_flags INTERFACE)
target_link_libraries(rml_test_flags INTERFACE rml_flags)
target_compile_options(rml_test_flags INTERFACE $<$<CONFIG:Release>:-O1>)

find_package(Threads REQUIRED)

# What the tests see. The suppressions name third-party libraries only.
set(RML_TEST_ENVIRONMENT "")
if(CMAKE_CROSSCOMPILING)
  # A death test starts the program anew, and the emulator does not emulate what it starts.
  list(APPEND RML_TEST_ENVIRONMENT "GTEST_FILTER=-*DeathTest.*")
endif()
if(RML_SANITIZE MATCHES "address")
  set(suppressions ${PROJECT_SOURCE_DIR}/tests/sanitizers)
  list(APPEND RML_TEST_ENVIRONMENT
    "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1"
    "LSAN_OPTIONS=suppressions=${suppressions}/lsan.supp:print_suppressions=0")
endif()
if(RML_SANITIZE MATCHES "undefined")
  list(APPEND RML_TEST_ENVIRONMENT
    "UBSAN_OPTIONS=print_stacktrace=1:suppressions=${PROJECT_SOURCE_DIR}/tests/sanitizers/ubsan.supp")
endif()
if(RML_SANITIZE MATCHES "thread")
  list(APPEND RML_TEST_ENVIRONMENT
    "TSAN_OPTIONS=second_deadlock_stack=1:suppressions=${PROJECT_SOURCE_DIR}/tests/sanitizers/tsan.supp")
endif()

# GoogleTest: the installed one, or for another architecture built from Debian's copy of its sources.
if(RML_BUILD_TESTS)
  if(CMAKE_CROSSCOMPILING)
    set(INSTALL_GTEST OFF CACHE BOOL "" FORCE)
    add_subdirectory(/usr/src/googletest ${CMAKE_BINARY_DIR}/googletest EXCLUDE_FROM_ALL SYSTEM)
    foreach(name gtest gtest_main gmock)
      target_compile_options(${name} PRIVATE -w)
      if(NOT TARGET GTest::${name})
        add_library(GTest::${name} ALIAS ${name})
      endif()
    endforeach()
  else()
    find_package(GTest REQUIRED)
  endif()
endif()
