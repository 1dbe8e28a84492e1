# Stein without LibTorch: configures SOURCE in WORK, otherwise as the build in BUILD, where no LibTorch can be found, builds
# the libraries and the program, and runs them. WORK is kept, so that a second run builds only what has changed.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Runs the program, which must end with `code` and say something that matches `pattern`.
function(expect code pattern)
  execute_process(COMMAND ${WORK}/stein ${ARGN} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE result OUTPUT_VARIABLE output
    ERROR_VARIABLE output ECHO_ERROR_VARIABLE)
  if(NOT result STREQUAL code)
    message(FATAL_ERROR "expected exit code ${code} of 'stein ${ARGN}', got ${result}:\n${output}")
  endif()
  if(NOT output MATCHES "${pattern}")
    message(FATAL_ERROR "expected '${pattern}' from 'stein ${ARGN}', got:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(same CMAKE_BUILD_TYPE CMAKE_CXX_COMPILER CMAKE_CXX_FLAGS STEIN_MUJOCO STEIN_PLOTLY STEIN_INCLUDE_LINKS
  CMAKE_COMPILE_WARNING_AS_ERROR STEIN_UNITY_BUILD)
list(JOIN same | same)
file(STRINGS ${BUILD}/CMakeCache.txt options REGEX "^(${same}):")
list(TRANSFORM options PREPEND -D)
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${WORK} -Wno-dev --log-level=WARNING
  -DSTEIN_TORCH=OFF -DSTEIN_LIBTORCH=${WORK}/nowhere -DSTEIN_BUILD_TESTS=OFF ${options})
run(${CMAKE_COMMAND} --build ${WORK} --target stein --parallel)

execute_process(COMMAND ldd ${WORK}/stein OUTPUT_VARIABLE libraries COMMAND_ERROR_IS_FATAL ANY)
if(libraries MATCHES "not found|libtorch|libc10|libstein_torch" OR NOT libraries MATCHES "libstein_inference")
  message(FATAL_ERROR "expected the libraries of Stein and none of LibTorch, found:\n${libraries}")
endif()

expect(0 "mushroom-synthetic" list)
foreach(benchmark a2c decision rollout sampler svgd svpg update)
  if(output MATCHES "benchmarks\n([^\n]+\n)*  ${benchmark} ")
    message(FATAL_ERROR "'stein list' names the benchmark ${benchmark}, which needs LibTorch")
  endif()
endforeach()

file(REMOVE_RECURSE ${WORK}/run)
set(bandit bandit --env mushroom-synthetic --policy s2vgd --quiet --set steps=50 updates=1 batch=8)
expect(0 "regret" ${bandit} --out run --json)
expect(2 "built without" ${bandit} arithmetic=reference --out none)
expect(2 "unknown benchmark 'decision'" bench decision)
