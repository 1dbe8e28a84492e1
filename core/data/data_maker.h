// Data that are made, not fetched: stand-ins of data sets, whose truth is known, as files in the data's own format.
#pragma once

#include <stein/core/options.h>
#include <stein/core/options_builder.h>
#include <stein/core/registry.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace stein {

/// A registered maker: its line in `stein list`, its options, and what makes the lines.
struct DataMaker {
  std::string description;
  std::string file;  ///< what the file is called unless somebody says otherwise
  /// Options that are set one by one, and the data that they describe.
  struct Builder {
    virtual ~Builder() = default;
    virtual void describe(OptionTable& table) = 0;
    virtual std::int64_t lines() const = 0;  ///< how many there will be, for progress
    virtual void make(const std::function<void(std::string_view line)>& write) const = 0;
  };
  std::function<std::unique_ptr<Builder>()> builder;
};

/// All makers that are linked in.
Registry<DataMaker>& data_makers();

/// Registers `Maker`, which has `Options` and the static functions `lines(options)` and `make(options, write)`.
template <class Maker>
bool register_data_maker(const std::string& name, std::string description, std::string file) {
  using Base = OptionsBuilder<DataMaker::Builder, typename Maker::Options>;
  struct MakerBuilder final : Base {
    MakerBuilder() : Base({}) {}
    std::int64_t lines() const override { return Maker::lines(this->template part<0>()); }
    void make(const std::function<void(std::string_view line)>& write) const override {
      Maker::make(checked(this->template part<0>()), write);
    }
  };
  return data_makers().add(name, {std::move(description), std::move(file),
                                  [] { return std::unique_ptr<DataMaker::Builder>(new MakerBuilder); }});
}

}  // namespace stein
