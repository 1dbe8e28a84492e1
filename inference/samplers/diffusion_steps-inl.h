// One step of every stochastic-gradient MCMC dynamics for one coordinate, written once and included inside a namespace:
// by diffusion_pass.cpp for plain loops in float and double, by fused/diffusion_pass.cpp once for every SIMD target (a
// function that takes vectors must be compiled for their target). `O` gives the operations on one number or vector;
// every multiply-add is explicit, so float has the same bits wherever it runs. g is the gradient of the log joint: −f̃.
// `with` is the same step for other operations.

/// exp(x) for x in [−87, 88], limited to it: Cephes (Moshier) with a polynomial of degree 6, < 1e-7 relative.
template <class O>
STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE typename O::Real exponential_steps(typename O::Real x) {
  using Real = typename O::Real;
  const Real limited = O::largest(O::smallest(x, O::set(88.0f)), O::set(-87.0f));
  const Real turns = O::nearest(limited * O::set(1.44269504088896341f));
  Real r = O::multiply_add(turns, O::set(-0.693359375f), limited);
  r = O::multiply_add(turns, O::set(2.12194440e-4f), r);
  Real p = O::set(1.9875691500e-4f);
  p = O::multiply_add(p, r, O::set(1.3981999507e-3f));
  p = O::multiply_add(p, r, O::set(8.3334519073e-3f));
  p = O::multiply_add(p, r, O::set(4.1665795894e-2f));
  p = O::multiply_add(p, r, O::set(1.6666665459e-1f));
  p = O::multiply_add(p, r, O::set(5.0000001201e-1f));
  p = O::multiply_add(p, r * r, r) + O::set(1.0f);
  return p * O::power_of_two(turns);
}

/// A coordinate and what is known of it.
template <class Real>
struct Coordinate {
  Real value, gradient, normal;
  Real state[3];
  Real thermostat;  ///< ξ of its particle, sgnht_scalar
};

/// What a step is made of, for the loop around it.
template <int all_states, bool draws_noise = true, bool own_sum = false, bool moves_states = true>
struct StepShape {
  static constexpr int states = all_states;          ///< numbers a coordinate
  static constexpr bool noisy = draws_noise;         ///< reads `normal`
  static constexpr bool adds_up_momentum = own_sum;  ///< reads ξ, and its caller wants Σ r²
  static constexpr bool changes_states = moves_states;
};

/// v ← β v + (1 − β)(s g)²: what preconditioned dynamics divide by a root of.
template <class O>
struct AveragedSquareStep {
  using Real = typename O::Real;
  Real decay, rest, scale, epsilon;
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE explicit AveragedSquareStep(const DiffusionNumbers& n)
      : decay(O::set(n.square_decay)),
        rest(O::set(1 - n.square_decay)),
        scale(O::set(n.gradient_scale)),
        epsilon(O::set(n.epsilon)) {}
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE Real next(Real square, Real gradient) const {
    const Real scaled = scale * gradient;
    return O::multiply_add(decay, square, rest * (scaled * scaled));
  }
  /// ε + √v.
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE Real root(Real square) const { return epsilon + O::square_root(square); }
  /// Santa's G = 1/√(ε + √v).
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE Real outer_root_metric(Real square) const {
    return O::set(1) / O::square_root(root(square));
  }
};

/// x ← x + h g + √(2hT) n  (Welling & Teh 2011, eq. 4; Gan et al. 2017, eq. 6).
template <class O>
struct SgldStep : StepShape<0> {
  using Real = typename O::Real;
  template <class P>
  using with = SgldStep<P>;
  Real drift, noise;
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE explicit SgldStep(const DiffusionNumbers& n)
      : drift(O::set(n.drift)), noise(O::set(n.noise)) {}
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE void operator()(Coordinate<Real>& c) const {
    c.value = O::multiply_add(drift, c.gradient, O::multiply_add(noise, c.normal, c.value));
  }
};

/// v ← β v + (1 − β)(s g)²;  G = 1/(ε + √v);  x ← x + (h/2) G g + √(h T G) n  (Li et al. 2016, without the Γ term).
template <class O>
struct PsgldStep : StepShape<1> {
  using Real = typename O::Real;
  template <class P>
  using with = PsgldStep<P>;
  Real drift, noise;
  AveragedSquareStep<O> average;
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE explicit PsgldStep(const DiffusionNumbers& n)
      : drift(O::set(n.drift)), noise(O::set(n.noise)), average(n) {}
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE void operator()(Coordinate<Real>& c) const {
    const Real square = average.next(c.state[0], c.gradient);
    const Real metric = O::set(1) / average.root(square);
    const Real moved = O::multiply_add(drift * metric, c.gradient, c.value);
    c.value = O::multiply_add(noise * O::square_root(metric), c.normal, moved);
    c.state[0] = square;
  }
};

/// r ← (1 − α) r + η g + √(2(αT − β̂)η) n;  x ← x + r  (Chen et al. 2014, eq. 15).
template <class O>
struct SghmcStep : StepShape<1> {
  using Real = typename O::Real;
  template <class P>
  using with = SghmcStep<P>;
  Real drift, noise, keep;
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE explicit SghmcStep(const DiffusionNumbers& n)
      : drift(O::set(n.drift)), noise(O::set(n.noise)), keep(O::set(n.keep)) {}
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE void operator()(Coordinate<Real>& c) const {
    const Real kicked = O::multiply_add(drift, c.gradient, O::multiply_add(noise, c.normal, keep * c.state[0]));
    c.state[0] = kicked;
    c.value = c.value + kicked;
  }
};

/// r ← r − ξ r h + h g + √(2AhT) n;  x ← x + h r;  ξ ← ξ + h (r² − T)  (Ding et al. 2014, ξ for every coordinate as in
/// Gan et al. 2015; with one ξ a particle the pass leaves ξ to its caller).
template <class O, bool own_thermostat>
struct SgnhtStep : StepShape<own_thermostat ? 2 : 1, true, !own_thermostat> {
  using Real = typename O::Real;
  template <class P>
  using with = SgnhtStep<P, own_thermostat>;
  Real step, noise, temperature;
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE explicit SgnhtStep(const DiffusionNumbers& n)
      : step(O::set(n.step)), noise(O::set(n.noise)), temperature(O::set(n.temperature)) {}
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE void operator()(Coordinate<Real>& c) const {
    const Real thermostat = own_thermostat ? c.state[1] : c.thermostat;
    const Real force = O::multiply_add(O::set(0) - thermostat, c.state[0], c.gradient);
    const Real kicked = O::multiply_add(step, force, O::multiply_add(noise, c.normal, c.state[0]));
    c.state[0] = kicked;
    c.value = O::multiply_add(step, kicked, c.value);
    if constexpr (own_thermostat)
      c.state[1] = O::multiply_add(step, O::multiply_add(kicked, kicked, O::set(0) - temperature), thermostat);
  }
};

/// Santa (Chen et al. 2016): state u (momentum), v (averaged square), α (thermostat); G = 1/√(λ + √v); κ = η T.
///   exploring (Euler, their algorithm 1):  α ← α + u² − κ;  u ← (1 − α) u + η G g + √(2κ G′) n [+ κ (1 − G′/G)/u]
///   refining: α rests, u ← (1 − α) u + η G g;  then x ← x + G u. G′ is the metric before this step; the term in
///   brackets, for a metric that changes, has no finite variance and is an option.
/// Symmetric splitting (their algorithm 2) halves the move of x (the first half is made before the gradient is asked
/// for) and of α, and damps u by e^(−α/2) on both sides of the kick.
template <class O, bool splitting, bool exploring>
struct SantaStep : StepShape<3, exploring> {
  using Real = typename O::Real;
  template <class P>
  using with = SantaStep<P, splitting, exploring>;
  Real drift, noise, kinetic, correction;
  bool corrects;  // a uniform branch: the two quotients cost as much as the rest
  AveragedSquareStep<O> average;
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE explicit SantaStep(const DiffusionNumbers& n)
      : drift(O::set(n.drift)),
        noise(O::set(n.noise)),
        kinetic(O::set(n.temperature)),
        correction(O::set(n.metric_correction)),
        corrects(n.metric_correction != 0),
        average(n) {}
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE Real driven(Real thermostat, Real momentum, Real share) const {
    return O::multiply_add(share, O::multiply_add(momentum, momentum, O::set(0) - kinetic), thermostat);
  }
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE void operator()(Coordinate<Real>& c) const {
    const Real before = average.outer_root_metric(c.state[1]), old = c.state[0];
    const Real square = average.next(c.state[1], c.gradient);
    const Real now = average.outer_root_metric(square);
    const Real share = O::set(splitting ? 0.5 : 1);
    Real thermostat = c.state[2];
    if constexpr (exploring) thermostat = driven(thermostat, old, share);
    Real kick = drift * now * c.gradient;
    if constexpr (exploring) {
      kick = O::multiply_add(noise * O::square_root(before), c.normal, kick);
      if (corrects) kick = kick + O::divide_or_zero(correction * (O::set(1) - before / now), old);
    }
    Real momentum;
    if constexpr (splitting) {
      const Real damping = O::exponential(O::set(-0.5) * thermostat);
      momentum = damping * O::multiply_add(damping, old, kick);
      if constexpr (exploring) thermostat = driven(thermostat, momentum, share);
    } else {
      momentum = O::multiply_add(O::set(1) - thermostat, old, kick);
    }
    c.state[0] = momentum;
    c.state[1] = square;
    c.state[2] = thermostat;
    c.value = O::multiply_add(share * now, momentum, c.value);
  }
};

/// x ← x + G u/2: Santa's splitting before the gradient is asked for.
template <class O>
struct SantaHalfMove : StepShape<2, false, false, false> {
  using Real = typename O::Real;
  template <class P>
  using with = SantaHalfMove<P>;
  AveragedSquareStep<O> average;
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE explicit SantaHalfMove(const DiffusionNumbers& n) : average(n) {}
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE void operator()(Coordinate<Real>& c) const {
    c.value = O::multiply_add(O::set(0.5) * average.outer_root_metric(c.state[1]), c.state[0], c.value);
  }
};

/// Calls visit with the step of `dynamics` for operations O, made from `numbers`.
template <class O, class Visit>
STEIN_ALWAYS_INLINE void with_step(Dynamics dynamics, const DiffusionNumbers& numbers, const Visit& visit) {
  switch (dynamics) {
    case Dynamics::sgld: return visit(SgldStep<O>(numbers));
    case Dynamics::psgld: return visit(PsgldStep<O>(numbers));
    case Dynamics::sghmc: return visit(SghmcStep<O>(numbers));
    case Dynamics::sgnht: return visit(SgnhtStep<O, true>(numbers));
    case Dynamics::sgnht_scalar: return visit(SgnhtStep<O, false>(numbers));
    case Dynamics::santa_euler: return visit(SantaStep<O, false, true>(numbers));
    case Dynamics::santa_splitting: return visit(SantaStep<O, true, true>(numbers));
    case Dynamics::santa_refinement: return visit(SantaStep<O, false, false>(numbers));
    case Dynamics::santa_splitting_refinement: return visit(SantaStep<O, true, false>(numbers));
    case Dynamics::santa_half_move: return visit(SantaHalfMove<O>(numbers));
  }
}
