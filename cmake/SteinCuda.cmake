# The language CUDA where it is asked for and there is an nvcc: sets STEIN_WITH_CUDA.
set(STEIN_CUDA AUTO CACHE STRING "Build stein::cuda: ON, OFF, or AUTO: where there is an nvcc that works")
set_property(CACHE STEIN_CUDA PROPERTY STRINGS AUTO ON OFF)

set(STEIN_WITH_CUDA OFF)
if(STEIN_CUDA)
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(STEIN_NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
    mark_as_advanced(STEIN_NVCC)
    if(STEIN_NVCC)
      set(ENV{CUDACXX} ${STEIN_NVCC}) # not CMAKE_CUDA_COMPILER, which would be taken without a look at whether it works
    endif()
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    # Machine code for the A100 and the H100, and PTX, which drivers translate for what came after them.
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 90-virtual)
    endif()
    enable_language(CUDA)
    if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION) # CMake 3.25 does not know that nvcc has C++20
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    # As for C++: an -isystem=/usr/include, which packages ask for, would hide the C library's headers from libstdc++.
    list(APPEND CMAKE_CUDA_IMPLICIT_INCLUDE_DIRECTORIES ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
    find_package(CUDAToolkit REQUIRED)
    set(STEIN_WITH_CUDA ON)
    # The bits of the host: a multiply-add is one only where the source says so. std::array and std::bit_cast are constexpr
    # functions without __device__. A conversion of MatrixView that only views of non-const numbers have is no mistake.
    # A register that is spilled to memory is a warning of ptxas.
    add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-fmad=false;--expt-relaxed-constexpr;-diag-suppress=554;--Werror=cross-execution-space-call;-Xptxas=--warn-on-spills>")
    if(STEIN_CCACHE)
      set(CMAKE_CUDA_COMPILER_LAUNCHER ${STEIN_CCACHE})
    endif()
  elseif(NOT STEIN_CUDA STREQUAL AUTO)
    message(FATAL_ERROR "STEIN_CUDA=${STEIN_CUDA}, but no nvcc that works was found: put it on the PATH, or set CUDA_HOME or CMAKE_CUDA_COMPILER")
  endif()
endif()
set(STEIN_WITH_CUDA ${STEIN_WITH_CUDA} CACHE INTERNAL "Whether stein::cuda is built")
