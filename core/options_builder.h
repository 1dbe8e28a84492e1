// Options kept with what is made from them: what an entry of a registry gives to whoever wants to set them first.
#pragma once

#include <stein/core/options.h>

#include <tuple>
#include <utility>

namespace stein {

/// An implementation of the interface `Builder`, which has a virtual `describe(OptionTable&)`, that holds the parts
/// whose options those are. A registration derives from it and makes its thing from `part<0>()`, `part<1>()`, ….
template <class Builder, class... Parts>
class OptionsBuilder : public Builder {
 public:
  explicit OptionsBuilder(Parts... parts) : parts_(std::move(parts)...) {}

  void describe(OptionTable& table) final {
    std::apply([&](Parts&... parts) { (parts.describe(table), ...); }, parts_);
  }

 protected:
  template <std::size_t i>
  auto& part() {
    return std::get<i>(parts_);
  }
  template <std::size_t i>
  const auto& part() const {
    return std::get<i>(parts_);
  }

 private:
  std::tuple<Parts...> parts_;
};

}  // namespace stein
