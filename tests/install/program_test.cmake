# The installed program: installs the build in BUILD to a fresh prefix inside WORK and runs it from another folder. With
# LibTorch it finds libstein_torch.so beside its own libraries when a reference is asked for.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK}/elsewhere)

function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${WORK}/elsewhere COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
set(stein ${WORK}/prefix/bin/stein)
run(${stein} list)
set(arithmetic fused)
if(TORCH)
  list(APPEND arithmetic reference)
endif()
foreach(form IN LISTS arithmetic)
  run(${stein} bandit --env mushroom-synthetic --policy s2vgd --quiet --out ${form}
    --set steps=50 updates=1 batch=8 arithmetic=${form})
endforeach()
if(TORCH)
  run(${stein} bench sampler --set parameters=1000 --set only=sgd-momentum)
endif()
