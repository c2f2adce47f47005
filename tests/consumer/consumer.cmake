# The steps that a user of the installed library takes; see CMakeLists.txt for the arguments.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed (${code}): ${command}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK}/prefix ${WORK}/moved)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)

# Used from where it was not installed: a package must not remember its prefix.
file(RENAME ${WORK}/prefix ${WORK}/moved)

# No compile flag of our build may reach the user's.
file(GLOB exports ${WORK}/moved/lib*/cmake/rml/rmlTargets*.cmake
  ${WORK}/moved/lib/*/cmake/rml/rmlTargets*.cmake)
if(NOT exports)
  message(FATAL_ERROR "no rmlTargets.cmake was installed")
endif()
foreach(export IN LISTS exports)
  file(READ ${export} text)
  if(text MATCHES "INTERFACE_COMPILE_OPTIONS|INTERFACE_LINK_OPTIONS|-march|rml_flags")
    message(FATAL_ERROR "${export} exports '${CMAKE_MATCH_0}'")
  endif()
endforeach()

file(GLOB_RECURSE strays ${WORK}/moved/include/*_test*.h ${WORK}/moved/include/*-inl.h)
if(strays)
  message(FATAL_ERROR "installed, though internal: ${strays}")
endif()

run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Debug
  -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${WORK}/moved)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer ${TESTDATA})
if(EXISTS ${WORK}/moved/bin/rml)
  run(${WORK}/moved/bin/rml --version)
endif()
