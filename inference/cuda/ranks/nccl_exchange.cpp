// What ranks bring from GPU to GPU by NCCL, registered as "cuda". NCCL only carries bytes here and adds nothing, so the
// numbers do not depend on how many ranks there are. Everything is put in the stream 0 of the GPU, as all that stands
// beside it. The ranks find one another by an id that the root's Communicator tells, over MPI.
#include <fmt/format.h>
#include <nccl.h>
#include <stein/core/error.h>
#include <stein/inference/cuda/call.h>
#include <stein/inference/storage/device_exchange.h>

#include <cstring>
#include <exception>

namespace stein::inference::cuda {
namespace {

using cuda::check;  // of calls of CUDA; beside it:
void check(ncclResult_t status, std::string_view what) {
  if (status != ncclSuccess)
    fail(ErrorKind::io, "cannot {}: NCCL says '{}' (with NCCL_DEBUG=INFO it says more)", what,
         ncclGetErrorString(status));
}

/// The GPUs of all ranks as one communicator of NCCL.
class NcclExchange final : public DeviceExchange {
 public:
  NcclExchange(std::int32_t index, int rank, int size, const ncclUniqueId& id) : index_(index) {
    const CurrentDevice device(index);
    check(ncclCommInitRank(&gpus_, size, id, rank), "join the GPUs of all ranks");
  }
  /// Ranks leave together, and wait for one another; one that fails alone does not, as the others know nothing of it.
  ~NcclExchange() override {
    static_cast<void>(std::uncaught_exceptions() > 0 ? ncclCommAbort(gpus_) : ncclCommDestroy(gpus_));
  }
  NcclExchange(const NcclExchange&) = delete;
  NcclExchange& operator=(const NcclExchange&) = delete;

  /// Parts need not be equal, which ncclAllGather asks for: a group of broadcasts, each in the place where it belongs,
  /// is one launch without a copy.
  void all_gather(std::span<const OwnedBytes> blocks) override {
    const CurrentDevice device(index_);
    ncclResult_t before = ncclSuccess;
    check(ncclCommGetAsyncError(gpus_, &before), gather_);
    check(before, gather_);
    check(ncclGroupStart(), gather_);
    ncclResult_t first = ncclSuccess;
    for (const OwnedBytes& block : blocks)
      if (first == ncclSuccess)
        first = ncclBroadcast(block.data, block.data, block.size, ncclUint8, block.owner, gpus_, nullptr);
    const ncclResult_t ended = ncclGroupEnd();  // also where one of them was refused
    check(first, gather_), check(ended, gather_);
  }

 private:
  static constexpr std::string_view gather_ = "bring numbers from GPU to GPU";

  std::int32_t index_;
  ncclComm_t gpus_ = nullptr;
};

/// What NVIDIA numbers every GPU by.
std::string identity(std::int32_t index) {
  const CurrentDevice device(index);
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "use a GPU");
  std::string text;
  for (const char byte : properties.uuid.bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string invitation() {
  ncclUniqueId id{};
  check(ncclGetUniqueId(&id), "invite the GPUs of other ranks");
  return {id.internal, sizeof(id.internal)};
}

std::unique_ptr<DeviceExchange> join(std::int32_t index, int rank, int size, const std::string& invitation) {
  ncclUniqueId id{};
  STEIN_CHECK(invitation.size() == sizeof(id.internal), "NCCL: expected an id of {} bytes, got {}", sizeof(id.internal),
              invitation.size());
  std::memcpy(id.internal, invitation.data(), sizeof(id.internal));
  return std::make_unique<NcclExchange>(index, rank, size, id);
}

const DeviceExchangeDriver driver{.name = "cuda", .identity = identity, .invitation = invitation, .join = join};
const bool registered = device_exchange_drivers().add("cuda", &driver);

}  // namespace
}  // namespace stein::inference::cuda
