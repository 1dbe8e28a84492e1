// The functions of NCCL that Stein calls, between processes of one machine whose GPUs are those of the tests: a socket
// for every two of them. As NCCL's, transfers of a group are one work of the stream.
#include <nccl.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "emulated_gpu/gpu.h"
#include "emulated_gpu/guarded_memory.h"

namespace {

using stein::test::stop;

/// A name that no file has, of the socket of a rank.
std::pair<sockaddr_un, socklen_t> address_of(const std::string& id, int rank) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "stein-" + id + "-" + std::to_string(rank);
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())};
}

void write_all(int socket, const std::byte* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = ::send(socket, data, bytes, MSG_NOSIGNAL);
    if (written <= 0) stop("another rank has gone while numbers were sent to it");
    data += written, bytes -= static_cast<std::size_t>(written);
  }
}

void read_all(int socket, std::byte* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t read = ::recv(socket, data, bytes, 0);
    if (read <= 0) stop("another rank has gone before its numbers came");
    data += read, bytes -= static_cast<std::size_t>(read);
  }
}

/// What one rank brings to another, or gets from it.
struct Transfer {
  std::byte* data;
  std::size_t bytes;
};

}  // namespace

/// What ncclComm_t points to.
struct ncclComm {
  int gpu = 0, rank = 0;
  std::vector<int> sockets;  ///< [ranks]; −1: itself

  /// Sends and receives, each in its order; of a rank that only gets, nobody waits for the others.
  void transfer(const std::vector<std::vector<Transfer>>& sent,
                const std::vector<std::vector<Transfer>>& received) const {
    std::vector<std::thread> senders;
    for (std::size_t to = 0; to < sockets.size(); ++to)
      if (!sent[to].empty())
        senders.emplace_back([this, to, &sent] {
          for (const Transfer& one : sent[to]) write_all(sockets[to], one.data, one.bytes);
        });
    for (std::size_t from = 0; from < sockets.size(); ++from)
      for (const Transfer& one : received[from]) read_all(sockets[from], one.data, one.bytes);
    for (std::thread& sender : senders) sender.join();
  }
};

namespace {

/// The transfers of a group that is open.
struct Group {
  bool open = false;
  ncclComm* gpus = nullptr;
  std::vector<std::vector<Transfer>> sent{}, received{};

  ncclResult_t add(ncclComm* of, std::vector<std::vector<Transfer>> Group::*which, int peer, void* data,
                   std::size_t bytes) {
    if (!open || peer < 0 || peer >= static_cast<int>(of->sockets.size()) || peer == of->rank)
      return ncclInvalidArgument;
    gpus = of;
    sent.resize(of->sockets.size()), received.resize(of->sockets.size());
    (this->*which)[static_cast<std::size_t>(peer)].push_back({static_cast<std::byte*>(data), bytes});
    return ncclSuccess;
  }
};
thread_local Group group;

}  // namespace

extern "C" {

const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclSuccess ? "no error" : "invalid argument";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  std::memset(id->internal, 0, sizeof id->internal);
  std::random_device entropy;
  static_cast<void>(std::snprintf(id->internal, sizeof id->internal, "%08x%08x", entropy(), entropy()));
  return ncclSuccess;
}

/// Each rank waits for those behind it and calls those before it.
ncclResult_t ncclCommInitRank(ncclComm_t* gpus, int size, ncclUniqueId id, int rank) {
  const int own = ::socket(AF_UNIX, SOCK_STREAM, 0);
  const auto [here, length] = address_of(id.internal, rank);
  if (own < 0 || ::bind(own, reinterpret_cast<const sockaddr*>(&here), length) != 0 || ::listen(own, size) != 0)
    return ncclSystemError;
  auto* const made = new ncclComm{.rank = rank, .sockets = std::vector<int>(static_cast<std::size_t>(size), -1)};
  static_cast<void>(cudaGetDevice(&made->gpu));
  for (int other = 0; other < rank; ++other) {
    const auto [there, bytes] = address_of(id.internal, other);
    int& socket = made->sockets[static_cast<std::size_t>(other)];
    socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    while (::connect(socket, reinterpret_cast<const sockaddr*>(&there), bytes) != 0)
      ::usleep(1000);  // until it listens
    write_all(socket, reinterpret_cast<const std::byte*>(&rank), sizeof rank);
  }
  for (int other = rank + 1; other < size; ++other) {
    const int socket = ::accept(own, nullptr, nullptr);
    int who = 0;
    read_all(socket, reinterpret_cast<std::byte*>(&who), sizeof who);
    made->sockets[static_cast<std::size_t>(who)] = socket;
  }
  ::close(own);
  *gpus = made;
  return ncclSuccess;
}

/// Once what was put into the stream has been done.
ncclResult_t ncclCommDestroy(ncclComm_t gpus) {
  int before = 0;
  static_cast<void>(cudaGetDevice(&before)), static_cast<void>(cudaSetDevice(gpus->gpu));
  static_cast<void>(cudaStreamSynchronize(nullptr));
  static_cast<void>(cudaSetDevice(before));
  return ncclCommAbort(gpus);
}

ncclResult_t ncclCommAbort(ncclComm_t gpus) {
  for (const int socket : gpus->sockets)
    if (socket >= 0) ::close(socket);
  delete gpus;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* error) {
  *error = ncclSuccess;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  group = {.open = true};
  return ncclSuccess;
}

ncclResult_t ncclSend(const void* data, std::size_t count, ncclDataType_t, int peer, ncclComm_t gpus, cudaStream_t) {
  return group.add(gpus, &Group::sent, peer, const_cast<void*>(data), count);
}

ncclResult_t ncclRecv(void* data, std::size_t count, ncclDataType_t, int peer, ncclComm_t gpus, cudaStream_t) {
  return group.add(gpus, &Group::received, peer, data, count);
}

ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t, int root, ncclComm_t gpus,
                           cudaStream_t) {
  if (from != to) return ncclInvalidArgument;
  if (root != gpus->rank) return group.add(gpus, &Group::received, root, to, count);
  for (int other = 0; other < static_cast<int>(gpus->sockets.size()); ++other)
    if (other != root)
      if (const ncclResult_t added = group.add(gpus, &Group::sent, other, to, count); added != ncclSuccess)
        return added;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  const Group ended = std::exchange(group, {});
  if (ended.gpus == nullptr) return ncclSuccess;
  stein::test::start_work([ended] { ended.gpus->transfer(ended.sent, ended.received); });
  return ncclSuccess;
}

}  // extern "C"
