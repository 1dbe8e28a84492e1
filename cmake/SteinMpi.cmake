# MPI where it is asked for and found: sets STEIN_WITH_MPI.
set(STEIN_MPI AUTO CACHE STRING "Build stein::mpi, which spreads runs over processes: ON, OFF, or AUTO: where there is an MPI")
set_property(CACHE STEIN_MPI PROPERTY STRINGS AUTO ON OFF)

set(STEIN_WITH_MPI OFF)
if(STEIN_MPI STREQUAL AUTO AND CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
  message(STATUS "no stein::mpi: Open MPI keeps memory to the end, and synchronises in ways that sanitizers do not see")
elseif(STEIN_MPI)
  set(MPI_CXX_SKIP_MPICXX ON) # the functions of C alone
  if(STEIN_MPI STREQUAL AUTO)
    find_package(MPI 3 COMPONENTS CXX QUIET)
  else()
    find_package(MPI 3 REQUIRED COMPONENTS CXX)
  endif()
  if(MPI_CXX_FOUND)
    set(STEIN_WITH_MPI ON)
  endif()
endif()
set(STEIN_WITH_MPI ${STEIN_WITH_MPI} CACHE INTERNAL "Whether stein::mpi is built")
