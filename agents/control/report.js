// What a report shows of control runs; `tools` are those of runs/report/page.js.
(tools) => {
  const {element, format, rounded, count, alpha, colour, soft, addPlot, bands, figure, counts, overTime, mean} = tools;
  const unit = "environment steps";
  const band = "Median over seeds; the band holds the middle half of them.";

  // A curve over steps of every run, and the return at which the task counts as solved.
  function returns(group, key, tag, title, caption, wide = false) {
    const runs = group.runs.filter((run) => run.curves[tag]);
    if (!runs.length) return [];
    const {threshold} = runs[0].summary;
    const {node, plot} = figure(title, `${caption} ${band}` +
      (threshold === null ? "" : ` Dotted: ${threshold}, where the task counts as solved.`), wide);
    addPlot(plot, `${key}${tag}`, () => {
      const traces = bands(runs, tag, unit);
      if (threshold !== null) {
        const last = Math.max(...runs.map((run) => run.curves[tag].step.at(-1)));
        traces.push({x: [0, last], y: [threshold, threshold], mode: "lines", name: "solved", showlegend: false,
                     line: {color: soft(), width: 1.4, dash: "dot"}, hoverinfo: "skip"});
      }
      return {traces, frame: {xaxis: {title: {text: unit}, tickformat: ","}, yaxis: {title: {text: "return"}, tickformat: ","}}};
    });
    return [node];
  }

  // Mean, median and best particle of every run that has several.
  function particleCurves(group, key) {
    const runs = group.runs.filter((run) => run.curves.return_max);
    if (!runs.length) return [];
    const {node, plot} = figure("Return of the particles",
      "While training. Solid: their mean; dashed: their median; dotted: the best of them. Each is the median over seeds.");
    addPlot(plot, `${key}particles`, () => {
      const kinds = [["return", "mean", "solid"], ["return_median", "median", "dash"], ["return_max", "best", "dot"]];
      const traces = runs.flatMap((run) => kinds.map(([tag, name, dash]) => ({
        x: run.curves[tag].step, y: run.curves[tag].median, mode: run.curves[tag].step.length > 1 ? "lines" : "markers", name: `${run.label}, ${name}`,
        marker: {color: colour(run), size: 7},
        legendgroup: run.label, showlegend: name === "mean" || runs.length === 1, line: {color: colour(run), width: 1.8, dash},
        hovertemplate: `<b>${run.label}</b><br>%{x:,} ${unit}<br>${name} particle %{y:.4~g}<extra></extra>`})));
      return {traces, frame: {xaxis: {title: {text: unit}, tickformat: ","}, yaxis: {title: {text: "return"}, tickformat: ","}}};
    });
    return [node];
  }

  // Where the particles of a run go, one small picture each, all on the same axes.
  function visits(group, key) {
    const runs = group.runs.filter((run) => run.visits?.x);
    const range = (axis) => {
      const values = runs.flatMap((run) => run.visits.particles.flatMap((particle) => particle[axis]));
      const low = values.reduce((a, b) => Math.min(a, b), Infinity), high = values.reduce((a, b) => Math.max(a, b), -Infinity);
      const margin = 0.05 * (high - low) || 1;
      return [low - margin, high + margin];
    };
    const ranges = {x: range("x"), y: range("y")};
    const wide = (run) => run.visits.particles.length > 2;
    return [...runs.filter(wide), ...runs.filter((run) => !wide(run))].map((run) => {
      const {particles, seed, of, x, y} = run.visits;
      const name = ({name, unit}) => unit ? `${name} [${unit}]` : name;
      const {node, plot} = figure(`Visited states: ${run.label}`,
        `States of a few episodes with drawn actions after training, seed ${seed}: ${name(x)} against ${name(y)}, the same axes for all. ` +
        (particles.length > 1 ? `One picture a particle, with its mean return${particles.length < of ? `; ${particles.length} of ${of} particles` : ""}.`
                              : "The number is the mean return."), wide(run));
      const columns = Math.min(particles.length, 8), rows = Math.ceil(particles.length / columns);
      if (rows > 1) plot.style.height = `${13 * rows}rem`;
      addPlot(plot, `${key}visits-${run.label}`, () => {
        const gap = 0.02, width = (1 - gap * (columns - 1)) / columns, between = 0.1, height = (1 - between * (rows - 1)) / rows;
        const traces = [], frame = {showlegend: false, annotations: [], margin: {t: 26}};
        particles.forEach((particle, i) => {
          const suffix = i === 0 ? "" : String(i + 1), column = i % columns, row = Math.floor(i / columns);
          const left = column * (width + gap), top = 1 - row * (height + between), lowest = i + columns >= particles.length;
          traces.push({x: particle.x, y: particle.y, xaxis: `x${suffix}`, yaxis: `y${suffix}`, mode: "markers", type: "scatter",
                       marker: {color: alpha(colour(run), 0.35), size: 3.5}, hoverinfo: "x+y", name: `particle ${particle.particle}`});
          frame[`xaxis${suffix}`] = {domain: [left, left + width], range: ranges.x, anchor: `y${suffix}`, nticks: 4, showticklabels: lowest, automargin: lowest,
                                     gridcolor: alpha(soft(), 0.25), zerolinecolor: alpha(soft(), 0.4), tickfont: {color: soft(), size: 11},
                                     title: {text: lowest && (column === 0 || columns < 4) ? name(x) : "", font: {color: soft(), size: 12}}};
          frame[`yaxis${suffix}`] = {domain: [Math.max(0, top - height), top], range: ranges.y, anchor: `x${suffix}`, showticklabels: column === 0, automargin: column === 0,
                                     gridcolor: alpha(soft(), 0.25), zerolinecolor: alpha(soft(), 0.4), tickfont: {color: soft(), size: 11},
                                     title: {text: column === 0 ? name(y) : "", font: {color: soft(), size: 12}}};
          frame.annotations.push({text: `${columns > 1 ? `${particle.particle}: ` : ""}${rounded(particle.return)}`, showarrow: false,
                                  xref: "paper", yref: "paper", x: left + width / 2, y: top, yanchor: "bottom", font: {size: 12, color: soft()}});
        });
        return {traces, frame};
      });
      return node;
    });
  }

  // An episode of the trained policy, as `stein render` draws it.
  function episodes(group) {
    return group.runs.filter((run) => run.episode).map((run) => {
      const picture = element("img", {class: "episode", alt: `An episode of ${run.label}`,
                                      src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(run.episode)}`});
      return element("figure", {}, element("figcaption", {}, element("h3", {}, `An episode: ${run.label}`),
        element("p", {}, "After training, the most likely action at every step.")), picture);
    });
  }

  const spread = ({mean, sd}) => [rounded(mean), sd === null ? "" : ` ± ${rounded(sd)}`];
  // Steps of every seed, null where it did not get there.
  // Of a seed; an iteration is played whole, so they may be more than were asked for. Older runs have their sum over seeds.
  const played = (s) => s.env_steps.mean ?? s.env_steps / s.seeds.length;
  const stepsToThreshold = (s) => s.steps_to_threshold.per_seed ?? s.steps_to_threshold;
  const reached = (s) => {
    const steps = stepsToThreshold(s);
    if (s.evaluated === false) return "not evaluated";
    return s.threshold === null ? "–" : `${steps.filter((step) => step !== null).length} of ${steps.length}`;
  };
  function medianOf(values) {
    const known = values.filter((value) => value !== null).sort((a, b) => a - b);
    if (known.length === 0) return "–";
    const middle = (known.length - 1) / 2;
    return format((known[Math.floor(middle)] + known[Math.ceil(middle)]) / 2, 0);
  }

  function summaryTable(group) {
    const {runs} = group;
    const several = runs.some((run) => run.summary.particles.count > 1), threshold = runs[0].summary.threshold;
    const columns = [
      ["seeds", (s) => [String(s.seeds.length)]],
      ["steps", (s) => [Math.round(played(s)).toLocaleString("en-GB")]],
      ["return", (s) => spread(s.return)],
      ["drawn actions", (s) => spread(s.return_sampled)],
      ...(several ? [["particles: mean", (s) => [rounded(mean(s.particles.mean))]], ["median", (s) => [rounded(mean(s.particles.median))]],
                     ["best", (s) => [rounded(mean(s.particles.max))]]] : []),
      ["length", (s) => [rounded(mean(s.episode_length))]],
      ...(threshold === null ? [] : [[`reached ${threshold}`, (s) => [reached(s)]], ["after steps", (s) => [medianOf(stepsToThreshold(s))]]]),
      ["steps/s", (s) => [format(s.steps_per_second, 0)]],
      ["time", (s) => [`${format(s.wall_seconds, s.wall_seconds < 10 ? 1 : 0)} s`]],
    ];
    const notes = [`Return: ${runs[0].summary.evaluation_episodes} episodes after training with the most likely action, a particle drawn for each.`,
      ...(runs.some((run) => run.summary.return.sd !== null) ? ["± is the standard deviation over seeds."] : []),
      ...(several ? ["Particles: every one's own episodes, averaged over seeds."] : []),
      ...(threshold === null ? [] : ["After steps: the median of the seeds that got there."])];
    return [tools.table(runs, "agent", columns, () => false), element("p", {class: "note"}, notes.join(" "))];
  }

  function section(group, key) {
    const lead = element("p", {class: "lead"}, `${counts(group.runs)}. ${group.source}.`);
    return [lead, ...tools.warnings(group.runs), ...summaryTable(group), element("div", {class: "plots"},
      ...returns(group, key, "evaluation_return", "Return of evaluation episodes",
                 "The most likely action at every step, a particle drawn for each episode.", true),
      ...returns(group, key, "return", "Return while training", "With drawn actions, the mean over particles."),
      ...tools.differences(group, key, "return", "Differences of agents", "difference of returns",
                           "Right of 0 the first has the larger return."),
      ...particleCurves(group, key),
      ...overTime(group, key, unit, "entropy", "Entropy of the policies", `How undecided they are, the mean over states and particles. ${band}`,
                  "entropy [nats]"),
      ...overTime(group, key, unit, "particle_distance", "Particle distance",
                  `Mean squared distance of two particles' weights, a weight: near 0 where all are alike. ${band}`,
                  "squared distance", {rangemode: "tozero"}),
      ...overTime(group, key, unit, "collapse", "Collapse meter",
                  `Variance of the weights over particles, as a share of that of particles that start independently. ${band}`, "variance ratio", {rangemode: "tozero"}),
      ...visits(group, key), ...episodes(group))];
  }

  const facts = ({manifest, summary}) => [
    ["task", `${summary.env}, version ${summary.env_version}`], ["source", summary.source],
    ["seeds", `${manifest.seeds[0]} to ${manifest.seeds[1] - 1}`], ["steps", `${count(summary.steps, "step")} of every seed, all particles together`],
    ["horizon", count(manifest.protocol?.horizon ?? 0, "step")],
  ];
  const palette = {
    "none": ["#00875f", "#2fc498"], "independent": ["#b0568c", "#dd8dbb"], "svgd": ["#0b62a4", "#6cb4ee"],
    "s2vgd": ["#cf4a00", "#ff8a4c"],
  };
  return {name: "Control", title: (group) => group.task, section, facts, palette, method: (summary) => summary.posterior,
          badge: (group) => element("span", {class: "badge"}, `version ${group.env_version}`)};
}
