#include <mujoco/mujoco.h>
#include <stein/core/checksum.h>
#include <stein/envs/mujoco/guarded_call.h>
#include <stein/envs/mujoco/mujoco_simulation.h>

#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <type_traits>
#include <vector>

namespace stein::envs {
namespace {

static_assert(std::is_same_v<mjtNum, double>);
/// All that decides how a simulation goes on.
constexpr int whole_state = mjSTATE_INTEGRATION;

}  // namespace

// What frees raises no errors, and neither do mj_versionString, mjs_getError and mju_warningText, which give a text;
// every other call of MuJoCo is guarded.

void MujocoModel::Deleter::operator()(mjModel_* model) const {
  mj_deleteModel(model);
}

void MujocoSimulation::Deleter::operator()(mjData_* data) const {
  mj_deleteData(data);
}

MujocoModel::MujocoModel(std::string name, mjModel_* model) : name_(std::move(name)), model_(model) {
  model->opt.disableflags |= mjDSBL_AUTORESET;  // a lost state is an error, not a new start
  guarded_call(ErrorKind::data, [this] { state_size_ = mj_stateSize(model_.get(), whole_state); });
}

template <class Parse>
std::shared_ptr<const MujocoModel> MujocoModel::parsed(const std::string& name, const Parse& parse) {
  std::array<char, 1024> message{};
  mjSpec* spec = nullptr;
  guarded_call(ErrorKind::data, [&] { spec = parse(message.data(), static_cast<int>(message.size())); });
  const std::unique_ptr<mjSpec, void (*)(mjSpec*)> owner(spec, mj_deleteSpec);
  mjModel* model = nullptr;
  if (spec != nullptr) guarded_call(ErrorKind::data, [&] { model = mj_compile(spec, nullptr); });
  if (model == nullptr)
    fail(ErrorKind::data, "the model {} cannot be used; MuJoCo: {}", name,
         one_line(spec == nullptr ? message.data() : mjs_getError(spec)));
  return std::shared_ptr<const MujocoModel>(new MujocoModel(name, model));
}

template <class Parse>
std::shared_ptr<const MujocoModel> MujocoModel::shared(const std::string& name, const std::string& content,
                                                       const Parse& parse) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::string>, std::weak_ptr<const MujocoModel>> compiled;
  const std::lock_guard guard(mutex);
  std::weak_ptr<const MujocoModel>& place = compiled[{name, content}];
  std::shared_ptr<const MujocoModel> model = place.lock();
  if (model == nullptr) place = model = parsed(name, parse);
  return model;
}

std::shared_ptr<const MujocoModel> MujocoModel::from_text(const std::string& name, const std::string& mjcf) {
  return shared(name, mjcf,
                [&mjcf](char* message, int size) { return mj_parseXMLString(mjcf.c_str(), nullptr, message, size); });
}

std::shared_ptr<const MujocoModel> MujocoModel::from_file(const std::filesystem::path& file) {
  std::string content;  // empty where there is no file: MuJoCo says so
  if (std::ifstream in(file, std::ios::binary); in && std::filesystem::is_regular_file(file))
    content.assign(std::istreambuf_iterator<char>(in), {});
  return shared(fmt::format("'{}'", file.string()), content,
                [&file](char* message, int size) { return mj_parseXML(file.c_str(), nullptr, message, size); });
}

std::int64_t MujocoModel::positions() const {
  return model_->nq;
}

std::int64_t MujocoModel::velocities() const {
  return model_->nv;
}

std::int64_t MujocoModel::controls() const {
  return model_->nu;
}

double MujocoModel::timestep() const {
  return model_->opt.timestep;
}

MujocoModel::Limits MujocoModel::control_limits(std::int64_t control) const {
  if (!model_->actuator_ctrllimited[control]) return {0, 0};
  return {model_->actuator_ctrlrange[2 * control], model_->actuator_ctrlrange[2 * control + 1]};
}

std::int64_t MujocoModel::site(const std::string& name) const {
  int number = -1;
  guarded_call(ErrorKind::data, [&] { number = mj_name2id(model_.get(), mjOBJ_SITE, name.c_str()); });
  return number;
}

std::string MujocoModel::version() {
  return mj_versionString();
}

std::string MujocoModel::checksum() const {
  mjtSize size = 0;
  guarded_call(ErrorKind::data, [&] { size = mj_sizeModel(model_.get()); });
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  guarded_call(ErrorKind::data,
               [&] { mj_saveModel(model_.get(), nullptr, bytes.data(), static_cast<int>(bytes.size())); });
  return fmt::format("{} on MuJoCo {}", sha256(bytes), version());
}

MujocoSimulation::MujocoSimulation(std::shared_ptr<const MujocoModel> model)
    : owner_(std::move(model)), model_(owner_->get()) {
  mjData* data = nullptr;
  guarded_call(ErrorKind::data, [&] { data = mj_makeData(model_); });
  data_.reset(data);
}

void MujocoSimulation::reset() {
  guarded_call(ErrorKind::numeric, [this] { mj_resetData(model_, data_.get()); });
}

template <class Body>
void MujocoSimulation::run(const Body& body) {
  try {
    guarded_call(ErrorKind::numeric, body);
  } catch (...) {
    reset();  // what MuJoCo was in the middle of
    throw;
  }
  check_warnings();
}

void MujocoSimulation::forward() {
  run([this] { mj_forward(model_, data_.get()); });
}

void MujocoSimulation::step(std::span<const float> controls, std::int64_t steps) {
  run([this, controls, steps] { step_inside_guard(controls, steps); });
}

void MujocoSimulation::step_inside_guard(std::span<const float> controls, std::int64_t steps) {
  for (std::size_t k = 0; k < controls.size(); ++k) data_->ctrl[k] = controls[k];
  for (std::int64_t k = 0; k < steps; ++k) mj_step(model_, data_.get());
}

void MujocoSimulation::check_warnings() {
  for (int kind = 0; kind < mjNWARNING; ++kind) {
    mjWarningStat& warning = data_->warning[kind];
    if (warning.number == 0) continue;
    warning.number = 0;
    fail(ErrorKind::numeric, "MuJoCo: {}", mju_warningText(kind, static_cast<std::size_t>(warning.lastinfo)));
  }
}

void MujocoSimulation::save(std::span<double> state) const {
  guarded_call(ErrorKind::numeric, [&] { mj_getState(model_, data_.get(), state.data(), whole_state); });
}

void MujocoSimulation::load(std::span<const double> state) {
  guarded_call(ErrorKind::numeric, [&] { mj_setState(model_, data_.get(), state.data(), whole_state); });
}

MujocoView MujocoSimulation::view() {
  const auto positions = static_cast<std::size_t>(model_->nq), velocities = static_cast<std::size_t>(model_->nv);
  return {.positions = {data_->qpos, positions},
          .velocities = {data_->qvel, velocities},
          .constraint_forces = {data_->qfrc_constraint, velocities},
          .site_positions = data_->site_xpos};
}

}  // namespace stein::envs
