# An outsider's day: installs the build in BUILD to a fresh prefix, then configures, builds and runs the project in EXAMPLE
# against it, all inside WORK. A failing command ends the script with an error.
file(REMOVE_RECURSE ${WORK})

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -G Ninja -S ${EXAMPLE} -B ${WORK}/build -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/build)
file(GLOB programs ${WORK}/build/example_*)
foreach(program IN LISTS programs)
  run(${program})
endforeach()
if(NOT programs)
  message(FATAL_ERROR "expected a program example_* from ${EXAMPLE}, found none")
endif()
