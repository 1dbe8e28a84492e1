// MuJoCo's compiled model and its simulation as values that own them. This header includes nothing of MuJoCo's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

struct mjModel_;
struct mjData_;

namespace stein::envs {

/// A compiled MJCF model. It never changes after it is made, so simulations on several threads may share one.
class MujocoModel {
 public:
  /// The model that `mjcf` describes, compiled once for all who have it at the same time.
  /// @throws Error(data) naming the model, with MuJoCo's own message
  static std::shared_ptr<const MujocoModel> from_text(const std::string& name, const std::string& mjcf);
  /// The model in an MJCF file, compiled once for all who have it at the same time, unless the file has changed since;
  /// of files that it includes no change is seen.
  /// @throws Error(data) naming the file, with MuJoCo's own message
  static std::shared_ptr<const MujocoModel> from_file(const std::filesystem::path& file);

  std::int64_t positions() const;
  std::int64_t velocities() const;
  std::int64_t controls() const;
  /// Numbers that a simulation goes on from with the same bits: positions, velocities, warm start, …
  std::int64_t state_size() const { return state_size_; }
  double timestep() const;
  /// What a control is limited to; low = high where it has no limits.
  struct Limits {
    double low, high;
  };
  Limits control_limits(std::int64_t control) const;
  /// The number of a site; −1 if there is none of that name.
  std::int64_t site(const std::string& name) const;
  /// What error messages call it.
  const std::string& name() const { return name_; }
  /// SHA-256 of everything that is compiled into it, and MuJoCo's version.
  std::string checksum() const;
  /// Of MuJoCo.
  static std::string version();

  const mjModel_* get() const { return model_.get(); }

 private:
  struct Deleter {
    void operator()(mjModel_* model) const;
  };
  MujocoModel(std::string name, mjModel_* model);
  template <class Parse>
  static std::shared_ptr<const MujocoModel> shared(const std::string& name, const std::string& content,
                                                   const Parse& parse);
  template <class Parse>
  static std::shared_ptr<const MujocoModel> parsed(const std::string& name, const Parse& parse);

  std::string name_;
  std::unique_ptr<mjModel_, Deleter> model_;
  std::int64_t state_size_ = 0;
};

/// The numbers of a simulation that a task reads and writes.
struct MujocoView {
  std::span<double> positions;                ///< qpos
  std::span<double> velocities;               ///< qvel
  std::span<const double> constraint_forces;  ///< qfrc_constraint, as the last step or `forward` left them
  const double* site_positions;               ///< [sites, 3], as the last step or `forward` left them
};

/// One simulation of a model.
class MujocoSimulation {
 public:
  explicit MujocoSimulation(std::shared_ptr<const MujocoModel> model);

  /// Back to the model's initial state.
  void reset();
  /// Everything that follows from the state, without time passing. @throws Error(numeric)
  void forward();
  /// Steps of the model under constant controls. @throws Error(numeric) with MuJoCo's words where it loses the state
  void step(std::span<const float> controls, std::int64_t steps);
  /// The same and no more than `mj_step`, inside a guarded call of the caller's; whether MuJoCo lost the state is not
  /// looked at.
  void step_inside_guard(std::span<const float> controls, std::int64_t steps);
  /// [state_size()]; neither makes anything that follows from the state.
  void save(std::span<double> state) const;
  void load(std::span<const double> state);
  MujocoView view();

 private:
  struct Deleter {
    void operator()(mjData_* data) const;
  };
  template <class Body>
  void run(const Body& body);
  void check_warnings();

  std::shared_ptr<const MujocoModel> owner_;
  const mjModel_* model_;
  std::unique_ptr<mjData_, Deleter> data_;
};

}  // namespace stein::envs
