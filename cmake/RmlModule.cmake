# rml_add_module(NAME [DEPS module...] [LIBS private third-party targets...])
#
# One static library per folder under rml/, from every .cc in it (its subfolders too) but the tests,
# and one test program from its *_test.cc files. DEPS name modules; LIBS stay private, since no
# third-party type appears in a public header.
function(rml_add_module name)
  cmake_parse_arguments(ARG "" "" "DEPS;LIBS;TEST_LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$|_main\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(NOT sources)
    return()
  endif()

  add_library(rml_${name} STATIC ${sources})
  add_library(rml::${name} ALIAS rml_${name})
  set_target_properties(rml_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(rml_${name} PUBLIC cxx_std_20)
  target_include_directories(rml_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  list(TRANSFORM ARG_DEPS PREPEND rml_ OUTPUT_VARIABLE deps)
  target_link_libraries(rml_${name} PUBLIC ${deps} PRIVATE $<BUILD_INTERFACE:rml_flags> ${ARG_LIBS})
  set_property(GLOBAL APPEND PROPERTY RML_MODULES ${name})

  if(RML_BUILD_TESTS AND tests)
    find_package(GTest REQUIRED)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE rml_${name} rml_flags ${ARG_LIBS} ${ARG_TEST_LIBS}
      GTest::gmock GTest::gtest_main)
    target_compile_definitions(${name}_test PRIVATE RML_TESTDATA="${PROJECT_SOURCE_DIR}/testdata")
    add_test(NAME ${name} COMMAND ${name}_test)
  endif()
endfunction()
