# What a stranger may include: installs the build in BUILD to a fresh prefix inside WORK and compiles every installed header
# on its own, against the targets of find_package(stein). Kernels and what else is private must not be installed.
file(REMOVE_RECURSE ${WORK})

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
file(GLOB_RECURSE private RELATIVE ${WORK}/prefix ${WORK}/prefix/include/*-inl.h ${WORK}/prefix/include/*_operations.h)
file(GLOB folders RELATIVE ${WORK}/prefix ${WORK}/prefix/include/stein/*/fused)
if(private OR folders)
  message(FATAL_ERROR "expected public headers only, found ${private} ${folders}")
endif()
run(${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR}/headers -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/prefix
  -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DCOMPONENTS=${COMPONENTS})
run(${CMAKE_COMMAND} --build ${WORK}/build --parallel -- -k 0)
