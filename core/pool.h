// Working memory that calls which run at the same time borrow from one owner.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace stein {

/// Keeps objects between calls. As many are made as are ever out at the same time; the one that came back last goes out
/// first. Which one a call gets must not matter to its result.
template <class T>
class Pool {
 public:
  /// Gives its object back when it ends. The pool must outlive it.
  class Loan {
   public:
    Loan(Pool& pool, std::unique_ptr<T> object) : pool_(pool), object_(std::move(object)) {}
    ~Loan() { pool_.take_back(std::move(object_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    T& operator*() const { return *object_; }
    T* operator->() const { return object_.get(); }

   private:
    Pool& pool_;
    std::unique_ptr<T> object_;
  };

  Pool() = default;
  /// Copies begin with nothing: what is kept is memory, no state.
  Pool(const Pool&) {}
  Pool& operator=(const Pool&) { return *this; }

  /// Lends an object that is here, or make(), a std::unique_ptr<T>. Any thread may call it.
  template <class Make>
  Loan borrow(const Make& make) {
    {
      const std::lock_guard guard(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<T> object = std::move(idle_.back());
        idle_.pop_back();
        return {*this, std::move(object)};
      }
    }
    return {*this, make()};
  }

 private:
  void take_back(std::unique_ptr<T> object) {
    const std::lock_guard guard(mutex_);
    idle_.push_back(std::move(object));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> idle_;
};

}  // namespace stein
