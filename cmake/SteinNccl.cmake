# NCCL where it is asked for and found beside CUDA, as one imported target `NCCL::nccl`: sets STEIN_WITH_NCCL.
#
#   STEIN_NCCL   ON, OFF, or AUTO: where nccl.h and the library are. The library is that which LibTorch uses (.deps/libtorch/cuda) if
#                there is one, as a process should have one of them only; else that of the toolkit or the system.
set(STEIN_NCCL AUTO CACHE STRING "Build stein::cuda_ranks, which brings numbers from GPU to GPU: ON, OFF, or AUTO: where NCCL is")
set_property(CACHE STEIN_NCCL PROPERTY STRINGS AUTO ON OFF)

set(STEIN_WITH_NCCL OFF)
if(STEIN_NCCL AND STEIN_WITH_CUDA)
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2 NAMES_PER_DIR HINTS ${STEIN_LIBTORCH}/cuda ${CUDAToolkit_LIBRARY_DIR})
  mark_as_advanced(NCCL_INCLUDE_DIR NCCL_LIBRARY)
  if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
    set(STEIN_WITH_NCCL ON)
    add_library(NCCL::nccl UNKNOWN IMPORTED)
    # The headers of CUDA that nccl.h asks for are not ours to be warned of.
    set_target_properties(NCCL::nccl PROPERTIES IMPORTED_LOCATION ${NCCL_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES "${NCCL_INCLUDE_DIR};${CUDAToolkit_INCLUDE_DIRS}")
  endif()
endif()
if(STEIN_NCCL AND NOT STEIN_WITH_NCCL AND NOT STEIN_NCCL STREQUAL AUTO)
  message(FATAL_ERROR "STEIN_NCCL=${STEIN_NCCL}, but there is no CUDA, or no nccl.h or libnccl.so was found: install NVIDIA's package "
    "libnccl-dev, or set NCCL_INCLUDE_DIR and NCCL_LIBRARY")
endif()
set(STEIN_WITH_NCCL ${STEIN_WITH_NCCL} CACHE INTERNAL "Whether stein::cuda_ranks is built")
