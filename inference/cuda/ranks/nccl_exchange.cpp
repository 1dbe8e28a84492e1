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
  NcclExchange(std::int32_t index, int rank, int size, const ncclUniqueId& id) : index_(index), rank_(rank) {
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
    in_one_launch(blocks, [&](const OwnedBytes& block) {
      return ncclBroadcast(block.data, block.data, block.size, ncclUint8, block.owner, gpus_, nullptr);
    });
  }

  void send(std::span<const SentBytes> blocks) override {
    in_one_launch(blocks, [&](const SentBytes& block) {
      if (block.from == rank_) return ncclSend(block.data, block.size, ncclUint8, block.to, gpus_, nullptr);
      if (block.to == rank_) return ncclRecv(block.data, block.size, ncclUint8, block.from, gpus_, nullptr);
      return ncclSuccess;
    });
  }

 private:
  /// A group of calls, one for each block.
  template <class Block, class Call>
  void in_one_launch(std::span<const Block> blocks, const Call& call) {
    constexpr std::string_view what = "bring numbers from GPU to GPU";
    const CurrentDevice device(index_);
    ncclResult_t before = ncclSuccess;
    check(ncclCommGetAsyncError(gpus_, &before), what);
    check(before, what);
    check(ncclGroupStart(), what);
    ncclResult_t first = ncclSuccess;
    for (const Block& block : blocks)
      if (first == ncclSuccess) first = call(block);
    const ncclResult_t ended = ncclGroupEnd();  // also where one of them was refused
    check(first, what), check(ended, what);
  }

  std::int32_t index_;
  int rank_;
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
