// Ranks over MPI (Open MPI, or another implementation of MPI 3).
#include <mpi.h>
#include <stein/distributed/join_ranks.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>

namespace stein::distributed {
namespace {

enum Tag : int { gathering = 1, broadcasting = 2, notifying = 3, scattering = 4 };

/// visit(begin, size) of the messages that so many bytes go in: MPI counts in int.
template <class Visit>
void in_parts(std::size_t bytes, const Visit& visit) {
  constexpr std::size_t longest_message = std::size_t{1} << 30;
  for (std::size_t begin = 0; begin < bytes; begin += longest_message)
    visit(begin, static_cast<int>(std::min(longest_message, bytes - begin)));
}

/// Waits for a message. MPI's own wait would take a whole core from the ranks beside it, also for the minutes in which
/// the root evaluates alone.
void wait_for(MPI_Request& request) {
  constexpr int patience = 2000;  // looks before the first pause
  for (int looks = 0;; ++looks) {
    int arrived = 0;
    MPI_Test(&request, &arrived, MPI_STATUS_IGNORE);
    if (arrived != 0) return;
    if (looks < patience)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

/// From the first communicator of this process to the end of the last.
class MpiSession {
 public:
  MpiSession() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  }
  ~MpiSession() { MPI_Finalize(); }
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
};

/// Among those that can share memory. Collective.
int number_on_machine() {
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  int number = 0;
  MPI_Comm_rank(machine, &number);
  MPI_Comm_free(&machine);
  return number;
}

/// All processes of the launcher, or some of them.
class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator()
      : session_(std::make_shared<MpiSession>()), processes_(MPI_COMM_WORLD), rank_on_machine_(number_on_machine()) {
    look();
  }
  ~MpiCommunicator() override {
    if (processes_ != MPI_COMM_WORLD) MPI_Comm_free(&processes_);
  }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int rank_on_machine() const override { return rank_on_machine_; }

  std::vector<std::string> gather(const std::string& bytes) override {
    if (!is_root()) {
      send(bytes, 0, Tag::gathering);
      return {};
    }
    std::vector<std::string> all{bytes};
    for (int other = 1; other < size_; ++other) all.push_back(receive(other, Tag::gathering));
    return all;
  }

  std::string broadcast(const std::string& bytes) override {
    if (!is_root()) return receive(0, Tag::broadcasting);
    for (int other = 1; other < size_; ++other) send(bytes, other, Tag::broadcasting);
    return bytes;
  }

  using Communicator::all_gather;
  void all_gather(const std::string& bytes, std::vector<std::string>& all) override {
    const std::uint64_t own = bytes.size();
    std::vector<std::uint64_t> sizes(static_cast<std::size_t>(size_));
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(&own, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, processes_, &request);
    wait_for(request);
    all.resize(sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) all[i].resize(sizes[i]);
    all[static_cast<std::size_t>(rank_)] = bytes;
    std::vector<MPI_Request> requests;
    for (int root = 0; root < size_; ++root) {
      std::string& part = all[static_cast<std::size_t>(root)];
      in_parts(part.size(), [&](std::size_t begin, int count) {
        MPI_Ibcast(part.data() + begin, count, MPI_BYTE, root, processes_, &requests.emplace_back());
      });
    }
    for (MPI_Request& each : requests) wait_for(each);
  }

  void all_to_all(const std::vector<std::string>& to, std::vector<std::string>& from) override {
    std::vector<std::uint64_t> sent, received(static_cast<std::size_t>(size_));
    for (const std::string& message : to) sent.push_back(message.size());
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ialltoall(sent.data(), 1, MPI_UINT64_T, received.data(), 1, MPI_UINT64_T, processes_, &request);
    wait_for(request);
    from.resize(received.size());
    std::vector<MPI_Request> requests;
    for (int other = 0; other < size_; ++other) {
      const auto place = static_cast<std::size_t>(other);
      if (other == rank_) {
        from[place] = to[place];
        continue;
      }
      from[place].resize(received[place]);
      in_parts(received[place], [&](std::size_t begin, int count) {
        MPI_Irecv(from[place].data() + begin, count, MPI_BYTE, other, Tag::scattering, processes_,
                  &requests.emplace_back());
      });
      in_parts(sent[place], [&](std::size_t begin, int count) {
        MPI_Isend(to[place].data() + begin, count, MPI_BYTE, other, Tag::scattering, processes_,
                  &requests.emplace_back());
      });
    }
    for (MPI_Request& each : requests) wait_for(each);
  }

  std::shared_ptr<Communicator> split(int group) override {
    return std::shared_ptr<Communicator>(new MpiCommunicator(*this, group));
  }

  void notify() override {
    for (int other = 0; other < size_; ++other)
      if (other != rank_) send_part(nullptr, 0, other, Tag::notifying);
  }

  bool notified() override {
    bool any = false;
    for (int arrived = 1; arrived != 0;) {
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, Tag::notifying, processes_, &arrived, &status);
      if (arrived == 0) break;
      receive_part(nullptr, 0, status.MPI_SOURCE, Tag::notifying);
      any = true;
    }
    return any;
  }

  [[noreturn]] void abort(int exit_code) override {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::_Exit(exit_code);
  }

 private:
  MpiCommunicator(const MpiCommunicator& all, int group)
      : session_(all.session_), processes_(MPI_COMM_NULL), rank_on_machine_(all.rank_on_machine_) {
    MPI_Comm_split(all.processes_, group, all.rank_, &processes_);
    look();
  }

  void look() {
    MPI_Comm_rank(processes_, &rank_);
    MPI_Comm_size(processes_, &size_);
  }

  void send_part(const void* bytes, int size, int to, Tag tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(bytes, size, MPI_BYTE, to, tag, processes_, &request);
    wait_for(request);
  }

  void receive_part(void* bytes, int size, int from, Tag tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(bytes, size, MPI_BYTE, from, tag, processes_, &request);
    wait_for(request);
  }

  void send(const std::string& bytes, int to, Tag tag) {
    const std::uint64_t size = bytes.size();
    send_part(&size, sizeof(size), to, tag);
    in_parts(size, [&](std::size_t begin, int part) { send_part(bytes.data() + begin, part, to, tag); });
  }

  std::string receive(int from, Tag tag) {
    std::uint64_t size = 0;
    receive_part(&size, sizeof(size), from, tag);
    std::string bytes(size, '\0');
    in_parts(size, [&](std::size_t begin, int part) { receive_part(bytes.data() + begin, part, from, tag); });
    return bytes;
  }

  std::shared_ptr<MpiSession> session_;
  MPI_Comm processes_;
  int rank_on_machine_;
  int rank_ = 0, size_ = 1;
};

const bool registered = launchers().add("mpi", [] { return std::make_shared<MpiCommunicator>(); });

}  // namespace
}  // namespace stein::distributed
