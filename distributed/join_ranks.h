// From how the program was started to the ranks that it is one of.
#pragma once

#include <stein/core/registry.h>
#include <stein/distributed/communicator.h>

#include <functional>
#include <memory>

namespace stein::distributed {

/// Ways to join the other ranks, by the name of the library that has it; loaded with it. Each waits until all ranks
/// have been started.
Registry<std::function<std::shared_ptr<Communicator>()>>& launchers();

/// How many processes a launcher started together with this one, as it tells in the environment: Open MPI's mpirun
/// OMPI_COMM_WORLD_SIZE, MPICH's and Slurm's PMI_SIZE, Slurm with PMIx SLURM_NTASKS. 1 where there was none.
int launched_processes();

/// The ranks that a launcher started, over MPI; a single process where there was none, or one that started one process.
/// @throws Error(usage) where there are several, but Stein was built without MPI, or its MPI does not know the launcher
std::shared_ptr<Communicator> join_ranks();

}  // namespace stein::distributed
