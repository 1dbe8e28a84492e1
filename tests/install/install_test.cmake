# An outsider's day: installs the build in BUILD to a fresh prefix, then configures, builds and runs the project in EXAMPLE
# against it, all inside WORK; EXAMPLE/prepare.cmake, where there is one, makes what the program needs there. A failing command ends the script with an error, and so does a program whose output has
# nothing that matches one of the lines (regular expressions) of EXAMPLE/expected_output.txt.
file(REMOVE_RECURSE ${WORK})

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -G Ninja -S ${EXAMPLE} -B ${WORK}/build -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${WORK}/prefix
  "-DCMAKE_CXX_FLAGS=${FLAGS} -Wall -Wextra" -DCMAKE_COMPILE_WARNING_AS_ERROR=${WARNING_AS_ERROR})
run(${CMAKE_COMMAND} --build ${WORK}/build)
if(EXISTS ${EXAMPLE}/prepare.cmake)
  include(${EXAMPLE}/prepare.cmake)
endif()
file(GLOB programs ${WORK}/build/example_*)
file(STRINGS ${EXAMPLE}/expected_output.txt expected)
foreach(program IN LISTS programs)
  execute_process(COMMAND ${program} WORKING_DIRECTORY ${WORK} OUTPUT_VARIABLE output ECHO_OUTPUT_VARIABLE COMMAND_ERROR_IS_FATAL ANY)
  foreach(line IN LISTS expected)
    if(NOT output MATCHES "${line}")
      message(FATAL_ERROR "expected a line that matches '${line}' in the output of ${program}")
    endif()
  endforeach()
endforeach()
if(NOT programs)
  message(FATAL_ERROR "expected a program example_* from ${EXAMPLE}, found none")
endif()

# What an example says is short, is: at most 25 lines between its marks.
file(GLOB source ${EXAMPLE}/main.c*)
file(READ ${source} source)
if(source MATCHES "\n *(// begin|/\\* begin \\*/)\n(.*)\n *(// end|/\\* end \\*/)\n")
  string(REGEX REPLACE "\n[ \n]*\n" "\n" lines "${CMAKE_MATCH_2}")
  string(REGEX REPLACE "[^\n]" "" lines "${lines}")
  string(LENGTH "${lines}" count)
  math(EXPR count "${count} + 1")
  if(count GREATER 25)
    message(FATAL_ERROR "expected at most 25 lines between 'begin' and 'end' of ${EXAMPLE}, found ${count}")
  endif()
  message(STATUS "${count} lines between the marks")
endif()
