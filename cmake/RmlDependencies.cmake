# rml_find_dependency(TARGET [OPTIONAL]) — makes a third-party target known, whatever way its package
# is found. With OPTIONAL a package that is not installed is no error.
#
# The one table of third-party libraries. rml_add_module calls it for every target in LIBS, and the
# installed package (rmlConfig.cmake) for every one that a static library of ours must be linked with,
# so a module only names the target. A new library is one new line here and one in
# scripts/packages.txt.

set(_rml_by_config hwy::hwy=HWY simdjson::simdjson=simdjson fmt::fmt=fmt
  spdlog::spdlog=spdlog CLI11::CLI11=CLI11 nlohmann_json::nlohmann_json=nlohmann_json
  benchmark::benchmark=benchmark benchmark::benchmark_main=benchmark DNNL::dnnl=dnnl)
set(_rml_by_module Threads::Threads=Threads ZLIB::ZLIB=ZLIB OpenSSL::SSL=OpenSSL
  OpenSSL::Crypto=OpenSSL OpenMP::OpenMP_CXX=OpenMP)
set(_rml_by_pkg_config PkgConfig::utf8proc=libutf8proc PkgConfig::pcre2=libpcre2-8
  PkgConfig::httplib=cpp-httplib PkgConfig::hwloc=hwloc PkgConfig::edit=libedit
  PkgConfig::libzip=libzip)  # its CMake package wants the zip tools installed too

# Never part of what a user of the library links: headers that are compiled into our objects.
set(RML_HEADER_ONLY_DEPENDENCIES CLI11::CLI11 nlohmann_json::nlohmann_json)

macro(rml_find_dependency target)
  if(NOT TARGET ${target})
    set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
    set(_rml_known FALSE)
    set(_rml_required REQUIRED)
    if("${ARGN}" STREQUAL "OPTIONAL")
      set(_rml_required "")
    endif()
    foreach(_rml_entry IN LISTS _rml_by_config _rml_by_module _rml_by_pkg_config)
      string(REPLACE "=" ";" _rml_pair ${_rml_entry})
      list(GET _rml_pair 0 _rml_target)
      list(GET _rml_pair 1 _rml_package)
      string(TOLOWER ${target} _rml_name)  # PkgConfig::PCRE2 and PkgConfig::pcre2 are one
      string(TOLOWER ${_rml_target} _rml_target)
      if(NOT _rml_target STREQUAL _rml_name)
        continue()
      endif()
      set(_rml_known TRUE)
      if(_rml_entry IN_LIST _rml_by_config)
        find_package(${_rml_package} ${_rml_required} CONFIG QUIET)
      elseif(_rml_entry IN_LIST _rml_by_module)
        find_package(${_rml_package} ${_rml_required} QUIET)
      else()
        find_package(PkgConfig ${_rml_required} QUIET)
        string(REPLACE "PkgConfig::" "" _rml_prefix ${target})
        pkg_check_modules(${_rml_prefix} ${_rml_required} QUIET IMPORTED_TARGET GLOBAL ${_rml_package})
      endif()
      break()
    endforeach()
    if(NOT _rml_known)
      message(FATAL_ERROR "rml: '${target}' is not in the table of cmake/RmlDependencies.cmake")
    endif()
  endif()
endmacro()

# rml_optional(OUT OPTION TARGET...) — sets OUT to whether to build what needs these targets. The cache
# variable OPTION is OFF, ON (then a missing target is an error) or AUTO, which takes what is installed.
function(rml_optional out option)
  set(${out} OFF PARENT_SCOPE)
  if(NOT ${option})
    return()
  endif()
  foreach(target IN LISTS ARGN)
    if(NOT ${option} STREQUAL "AUTO")
      rml_find_dependency(${target})
      continue()
    endif()
    rml_find_dependency(${target} OPTIONAL)
    if(NOT TARGET ${target})
      message(STATUS "rml: ${option} is AUTO and ${target} is not installed: built without it")
      return()
    endif()
  endforeach()
  set(${out} ON PARENT_SCOPE)
endfunction()
