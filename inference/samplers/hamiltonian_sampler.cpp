#include <stein/core/parallel.h>
#include <stein/distributed/shared_work.h>
#include <stein/inference/samplers/hamiltonian_sampler.h>

#include <algorithm>
#include <functional>

namespace stein::inference {

template <class Scalar>
HamiltonianSampler<Scalar>::HamiltonianSampler(const TrajectoryOptions& options, const Ensemble& ensemble)
    : options_(checked(options)),
      windows_(options.warm_up),
      rows_(ensemble.rows),
      size_(ensemble.size()),
      device_(ensemble.device),
      seed_(ensemble.seed) {
  check_sampler_size(rows_.count, size_);
  const auto width = static_cast<std::size_t>(size_);
  const Chain fresh{.step_size = options.step_size,
                    .inverse_mass = std::vector<Scalar>(width, Scalar{1}),
                    .mean = std::vector<double>(width),
                    .square = std::vector<double>(width)};
  chains_.assign(static_cast<std::size_t>(rows_.count), fresh);
  trajectories_.resize(static_cast<std::size_t>(rows_.count));
  moved_ = Matrix<Scalar>(rows_.count, size_);
}

template <class Scalar>
StepReport HamiltonianSampler<Scalar>::step(Particles<Scalar>& particles, Target<Scalar>& target,
                                            const Batch<Scalar>& batch) {
  check_particles(particles, rows_, size_);
  STEIN_CHECK(target.has_value(batch), "{} needs a target with a log density, not a gradient alone", this->name());
  STEIN_CHECK(batch.inputs.carried.empty(),
              "{}: a trajectory asks for many gradients, expected a batch without carried state", this->name());
  for (std::int64_t row = rows_.first; row < rows_.first + rows_.count; ++row)
    STEIN_CHECK(target.free_coordinates(row).empty(),
                "{}: the target holds coordinates of chain {} at zero, which a trajectory cannot do", this->name(),
                row);
  const NoiseKey noise{.seed = seed_, .step = static_cast<std::uint64_t>(steps_), .stream = Stream::model};
  const auto move_one = [&](std::int64_t i) {
    trajectories_[static_cast<std::size_t>(i)] = move_chain(i, particles, target, share_of(batch, i, 1), noise);
  };
  const auto move = [&](distributed::PartRange own) {
    if (target.concurrent()) return parallel_for(own.end - own.first, [&](std::int64_t k) { move_one(own.first + k); });
    for (std::int64_t i = own.first; i < own.end; ++i) move_one(i);
  };
  distributed::share_work(
      *ranks_, rows_.count, std::ref(move),
      [this](std::int64_t i, std::string& message) {
        visit_moved(i, [&](auto numbers) { distributed::write_numbers(numbers, message); });
      },
      [this](std::int64_t i, std::string_view& message) {
        visit_moved(i, [&](auto numbers) { distributed::read_numbers(message, numbers); });
      });

  StepReport report{.accepted = false, .exploring = exploring(steps_)};
  for (const Trajectory& trajectory : trajectories_) {
    gradients_ += 1 + trajectory.gradients;
    report.accepted = report.accepted || trajectory.accepted;
    report.divergent = report.divergent || trajectory.divergent;
    if (report.exploring) continue;
    if (trajectory.divergent) ++divergences_;
    acceptances_ += trajectory.acceptance;
  }
  for (std::int64_t i = 0; i < rows_.count; ++i)  // only now: an error in one chain leaves all of them where they were
    copy_there<Scalar>(moved_.row(i), particles.values().row(i), device_);
  if (report.accepted) target.adapt(particles.coordinates(), batch, noise, particles.buffers());
  ++steps_;
  return report;
}

template <class Scalar>
template <class Visit>
void HamiltonianSampler<Scalar>::visit_moved(std::int64_t i, const Visit& visit) {
  const auto place = static_cast<std::size_t>(i);
  visit(std::span(&trajectories_[place], 1));
  visit(moved_.row(i));
  if (!exploring(steps_)) return;
  Chain& chain = chains_[place];
  visit(std::span(&chain.step_size, 1)), visit(std::span(chain.inverse_mass));
  chain.averaging.visit([&](double& number) { visit(std::span(&number, 1)); });
  visit(std::span(&chain.count, 1)), visit(std::span(chain.mean)), visit(std::span(chain.square));
}

template <class Scalar>
Trajectory HamiltonianSampler<Scalar>::move_chain(std::int64_t i, const Particles<Scalar>& particles,
                                                  Target<Scalar>& target, const Batch<Scalar>& batch,
                                                  const NoiseKey& noise) {
  const auto space = workspaces_.borrow([this] {
    auto made = std::make_unique<Workspace>(Workspace{make_walker(), PhasePoint<Scalar>(size_), {}});
    if (device_ != Device{}) made->place.emplace(size_, device_);
    return made;
  });
  PhasePoint<Scalar>& point = space->point;
  Chain& chain = chains_[static_cast<std::size_t>(i)];
  const std::int64_t row = particles.first_row() + i;
  const Hamiltonian<Scalar> hamiltonian(target, batch, noise, row, chain.inverse_mass, particles.buffers().block(i, 1),
                                        space->place ? &*space->place : nullptr);
  Draws draws({seed_, static_cast<std::uint64_t>(steps_), Stream::sampler}, static_cast<std::uint32_t>(row));
  copy_home<Scalar>(particles.values().row(i), point.position, device_);
  hamiltonian.evaluate(point);
  if (!std::isfinite(point.log_density))
    fail(ErrorKind::numeric, "{}: the log density where chain {} stands is no finite number at step {}", this->name(),
         row, steps_);
  for (std::int64_t q = 0; q < size_; ++q)
    if (!std::isfinite(point.gradient[static_cast<std::size_t>(q)]))
      fail(ErrorKind::numeric, "the gradient of {} of particle {} is {} at update {}",
           particles.layout().describe_position(q), row, point.gradient[static_cast<std::size_t>(q)], steps_);
  if (steps_ == 0 && windows_.warming_up(0)) {
    chain.step_size = reasonable_step_size(hamiltonian, chain.step_size, draws, point);
    chain.averaging.restart(chain.step_size);
  }
  const Trajectory trajectory = space->walker->move(hamiltonian, chain.step_size, draws, point);
  std::ranges::copy(point.position, moved_.row(i).begin());
  if (exploring(steps_)) tune(chain, trajectory, hamiltonian, draws, point);
  return trajectory;
}

/// The step at which one leapfrog step is accepted with a probability near 0.8 (Hoffman & Gelman 2014, algorithm 4,
/// with Stan's 0.8 in place of ½): doubled or halved until the acceptance crosses it.
template <class Scalar>
double HamiltonianSampler<Scalar>::reasonable_step_size(const Hamiltonian<Scalar>& hamiltonian, double start,
                                                        Draws& draws, const PhasePoint<Scalar>& point) const {
  const auto gain = [&](double step) {
    PhasePoint<Scalar> trial = point;
    hamiltonian.draw_momentum(trial, [&] { return draws.normal(); });
    const double before = hamiltonian.log_joint(trial);
    hamiltonian.leapfrog(trial, step);
    return hamiltonian.log_joint(trial) - before;
  };
  const double bar = std::log(0.8);
  double step = start;
  const bool grow = gain(step) > bar;
  for (int i = 0; i < 100; ++i) {
    const double next = grow ? 2 * step : step / 2;
    const bool above = gain(next) > bar;
    if (grow && !above) break;
    step = next;
    if (!grow && above) break;
  }
  return step;
}

template <class Scalar>
void HamiltonianSampler<Scalar>::tune(Chain& chain, const Trajectory& trajectory,
                                      const Hamiltonian<Scalar>& hamiltonian, Draws& draws,
                                      const PhasePoint<Scalar>& point) {
  chain.step_size = chain.averaging.update(trajectory.acceptance, options_.target_acceptance);
  if (options_.adapt_mass && windows_.estimates(steps_)) {
    ++chain.count;
    for (std::size_t q = 0; q < point.position.size(); ++q) {
      const double x = point.position[q], off = x - chain.mean[q];
      chain.mean[q] += off / chain.count;
      chain.square[q] += off * (x - chain.mean[q]);
    }
    if (windows_.closes(steps_)) {
      const double n = chain.count;
      for (std::size_t q = 0; q < chain.square.size(); ++q) {
        const double variance = chain.square[q] / (n - 1);
        chain.inverse_mass[q] = static_cast<Scalar>(n / (n + 5) * variance + 1e-3 * 5 / (n + 5));  // as Stan shrinks it
      }
      chain.count = 0;
      std::ranges::fill(chain.mean, 0);
      std::ranges::fill(chain.square, 0);
      chain.step_size = reasonable_step_size(hamiltonian, chain.step_size, draws, point);
      chain.averaging.restart(chain.step_size);
    }
  }
  if (!windows_.warming_up(steps_ + 1)) chain.step_size = chain.averaging.average();
}

template <class Scalar>
void HamiltonianSampler<Scalar>::scale_step_size(double factor) {
  for (Chain& chain : chains_) {
    chain.step_size *= factor;
    chain.averaging.scale(factor);
  }
}

template <class Scalar>
double HamiltonianSampler<Scalar>::acceptance() const {
  const std::int64_t kept = std::max<std::int64_t>(0, steps_ - options_.warm_up);
  return acceptances_ / static_cast<double>(kept * rows_.count);
}

template <class Scalar>
void HamiltonianSampler<Scalar>::save(Snapshot& snapshot) const {
  SavedSampler::of(*this, rows_, size_).save(snapshot);
  snapshot.put("counts", std::vector<std::int64_t>{steps_, divergences_, gradients_});
  snapshot.put("acceptances", acceptances_);
  for (std::size_t i = 0; i < chains_.size(); ++i) {
    Chain chain = chains_[i];
    std::vector<double> numbers{chain.step_size, chain.count};
    chain.averaging.visit([&](double& number) { numbers.push_back(number); });
    Snapshot part;
    part.put("numbers", numbers);
    part.put("inverse_mass", chain.inverse_mass);
    part.put("mean", chain.mean);
    part.put("square", chain.square);
    snapshot.put_part("chain" + std::to_string(i), part);
  }
}

template <class Scalar>
void HamiltonianSampler<Scalar>::restore(const Snapshot& snapshot) {
  SavedSampler::of(*this, rows_, size_).check(snapshot);
  const auto counts = snapshot.get_vector<std::int64_t>("counts");
  steps_ = counts.at(0), divergences_ = counts.at(1), gradients_ = counts.at(2);
  acceptances_ = snapshot.get_scalar<double>("acceptances");
  for (std::size_t i = 0; i < chains_.size(); ++i) {
    Chain& chain = chains_[i];
    const Snapshot part = snapshot.part("chain" + std::to_string(i));
    const auto numbers = part.get_vector<double>("numbers");
    chain.step_size = numbers.at(0), chain.count = numbers.at(1);
    std::size_t next = 2;
    chain.averaging.visit([&](double& number) { number = numbers.at(next++); });
    part.get("inverse_mass", std::span<Scalar>(chain.inverse_mass));
    part.get("mean", std::span<double>(chain.mean));
    part.get("square", std::span<double>(chain.square));
  }
}

template class HamiltonianSampler<float>;
template class HamiltonianSampler<double>;

}  // namespace stein::inference
