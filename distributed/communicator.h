// How the processes of one program that a launcher (mpirun) started side by side exchange bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stein::distributed {

/// What work that ranks share (distributed/shared_work.h) has cost one of them.
struct SharingCost {
  double work_seconds = 0;      ///< its own parts
  double exchange_seconds = 0;  ///< waiting for the others, and the exchange itself
  std::int64_t exchanges = 0;
  std::int64_t bytes = 0;  ///< that it received
};

/// The processes that work on one thing together, the ranks 0 … size − 1. Rank 0, the root, is the one that speaks to
/// the world: files, terminal.
///
/// Every call is collective but rank(), size() and those that say so: all ranks have to make the same calls in the same
/// order, each from one thread, and a call returns once its rank has what it is to have. So nothing that may fail on
/// one rank alone stands between two of them but within `agree` (distributed/agree.h).
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  bool is_root() const { return rank() == 0; }
  /// Its number among the ranks of all processes that are on the same machine, 0, 1, …: not collective.
  virtual int rank_on_machine() const = 0;

  /// On the root what every rank gave, by rank; elsewhere empty.
  virtual std::vector<std::string> gather(const std::string& bytes) = 0;
  /// On every rank what the root gave.
  virtual std::string broadcast(const std::string& bytes) = 0;

  /// Writes to `all`, on every rank, what each gave, by rank; memory that it has is used again.
  virtual void all_gather(const std::string& bytes, std::vector<std::string>& all) = 0;
  std::vector<std::string> all_gather(const std::string& bytes) {
    std::vector<std::string> all;
    all_gather(bytes, all);
    return all;
  }
  /// Writes to `from`, on every rank, what each had for this one, by rank; memory that it has is used again.
  /// @param to  what this rank has for each, itself included
  virtual void all_to_all(const std::vector<std::string>& to, std::vector<std::string>& from) = 0;
  /// The ranks that give the same `group`, in the order that they have here.
  virtual std::shared_ptr<Communicator> split(int group) = 0;

  /// Whether `own` is true on any rank.
  virtual bool any(bool own);

  /// Tells every other rank something that it need not wait for. Not collective; called by the thread that makes the
  /// collective calls, as is `notified`.
  virtual void notify() = 0;
  /// Whether another rank has called `notify` since this was last asked: true at some moment after that, not at once.
  virtual bool notified() = 0;

  /// What was shared through this communicator.
  SharingCost& sharing() { return sharing_; }
  const SharingCost& sharing() const { return sharing_; }

  /// Ends the processes of all ranks at once, with this exit code: for a failure that the other ranks wait through.
  /// Not collective.
  [[noreturn]] virtual void abort(int exit_code) = 0;

 private:
  SharingCost sharing_;
};

/// The only rank there is: a program that was started as ever.
class SingleProcess final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int rank_on_machine() const override { return 0; }
  std::vector<std::string> gather(const std::string& bytes) override { return {bytes}; }
  std::string broadcast(const std::string& bytes) override { return bytes; }
  using Communicator::all_gather;
  void all_gather(const std::string& bytes, std::vector<std::string>& all) override { all = {bytes}; }
  void all_to_all(const std::vector<std::string>& to, std::vector<std::string>& from) override { from = to; }
  std::shared_ptr<Communicator> split(int) override { return std::make_shared<SingleProcess>(); }
  void notify() override {}
  bool notified() override { return false; }
  [[noreturn]] void abort(int exit_code) override;
};

/// One for all who work alone.
Communicator& single_process();

}  // namespace stein::distributed
