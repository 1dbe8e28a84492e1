#include <stein/core/component.h>
#include <stein/core/error.h>
#include <stein/distributed/join_ranks.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace stein::distributed {
namespace {

/// The number that an environment variable holds; 0 if it holds none.
int number_in(const char* variable) {
  const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): before there are threads
  if (value == nullptr) return 0;
  const std::string_view text(value);
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

Registry<std::function<std::shared_ptr<Communicator>()>>& launchers() {
  static Registry<std::function<std::shared_ptr<Communicator>()>> registry("launcher of ranks");
  return registry;
}

int launched_processes() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const int processes = number_in(variable); processes > 0) return processes;
  // A batch script has SLURM_NTASKS too; only what srun starts with PMIx has a PMIX_RANK besides.
  if (std::getenv("PMIX_RANK") == nullptr) return 1;  // NOLINT(concurrency-mt-unsafe): see above
  return std::max(1, number_in("SLURM_NTASKS"));
}

std::shared_ptr<Communicator> join_ranks() {
  const int processes = launched_processes();
  if (processes == 1) return std::make_shared<SingleProcess>();
  STEIN_CHECK(has_component("mpi"),
              "this program was started as one of {} processes, but it was built without MPI: start it alone, or build "
              "it where Open MPI is found (-DSTEIN_MPI=ON says why it is not)",
              processes);
  load_component("mpi");
  std::shared_ptr<Communicator> ranks = launchers().at("mpi")();
  STEIN_CHECK(ranks->size() == processes,
              "this program was started as one of {} processes, but its MPI sees {}: the launcher belongs to another "
              "MPI than the one that Stein was built with",
              processes, ranks->size());
  return ranks;
}

}  // namespace stein::distributed
