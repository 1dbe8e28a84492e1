// What a report shows of bandit runs; `tools` are those of runs/report/page.js.
(tools) => {
  const {element, format, rounded, count, alpha, colour, soft, ink, addPlot, bands, figure, scaleChoice, last, sameSeeds,
         seedNames, counts, overTime, groups, mean} = tools;
  const learns = (run) => run.summary.policy !== "uniform";

  // Of a few timed decisions it is noise; earlier versions did not say how many there were. As decision_rate in C++.
  const decisionRate = (s) => (s.timed_decisions ?? 200) < 200 || !(s.decisions_per_second > 0) ? "–" : format(s.decisions_per_second, 0);

  // The run of the least mean regret, and after it all that are not told apart from it.
  function leastRegret(group) {
    const best = group.runs.reduce((a, b) => (b.summary.regret.mean < a.summary.regret.mean ? b : a));
    return [best, ...tools.notToldApart(group, "regret", best).filter((run) => run !== best)];
  }

  function regretCurves(group, key) {
    const reference = group.runs.find((run) => run.curves.uniform_regret);
    const whose = !reference || sameSeeds(group.runs) ? "the same contexts" : `the contexts of ${seedNames(reference.summary.seeds)}`;
    const {node, plot, words} = figure("Cumulative regret",
      "Median over seeds; the band holds the middle half of them." +
      (reference ? ` Dotted: what uniform play expects on ${whose}.` : ""), true);
    const drawn = addPlot(plot, `${key}regret`, ({scale = "linear"}) => {
      const traces = bands(group.runs, "regret", "interactions");
      if (reference) {
        const curve = reference.curves.uniform_regret;
        traces.push({x: curve.step, y: curve.median, mode: "lines", name: "uniform play, expected",
                     line: {color: soft(), width: 1.4, dash: "dot"},
                     hovertemplate: "uniform play expects %{y:.4~g}<extra></extra>"});
      }
      const frame = {xaxis: {title: {text: "interactions"}, tickformat: ","}, hovermode: "closest",
                     yaxis: {title: {text: "regret (reward units)"}, type: scale, rangemode: "tozero", tickformat: ","}};
      if (scale === "log") frame.yaxis.dtick = 1;
      return {traces, frame};
    });
    words.prepend(scaleChoice(drawn));
    return node;
  }

  function regretPerSeed(group, key) {
    const {node, plot} = figure("Regret of every seed",
      "One dot a seed, at the last interaction; the bar is the mean." + (group.runs.some(learns)
        ? " Dots right of the dotted line, the mean that uniform play expects on their contexts, did worse than uniform play."
        : ""));
    addPlot(plot, `${key}regret-per-seed`, () => {
      const runs = [...group.runs].reverse();
      const traces = runs.map((run, i) => {
        const values = run.summary.regret.per_seed;
        const spread = (j) => values.length < 2 ? 0 : 0.26 * Math.sin(2.4 * j + 1);  // dots side by side, the same in every report
        return {x: values, y: values.map((_, j) => i + spread(j)), mode: "markers", showlegend: false, name: run.label,
                marker: {color: alpha(colour(run), 0.75), size: 9, line: {width: 0}},
                customdata: run.summary.seeds,
                hovertemplate: `<b>${run.label}</b>, seed %{customdata}<br>regret %{x:,.1f}<extra></extra>`};
      });
      const shapes = runs.map((run, i) => ({type: "line", x0: run.summary.regret.mean, x1: run.summary.regret.mean,
                                            y0: i - 0.36, y1: i + 0.36, line: {color: colour(run), width: 2.4}}));
      runs.forEach((run, i) => {
        if (!learns(run)) return;  // half of its seeds lie above their own expectation
        const uniform = run.summary.uniform_regret.mean;
        shapes.push({type: "line", x0: uniform, x1: uniform, y0: i - 0.5, y1: i + 0.5,
                     line: {color: soft(), width: 1.4, dash: "dot"}});
      });
      return {traces, frame: {shapes, margin: {l: 20},
              xaxis: {title: {text: "regret at the end (reward units)"}, rangemode: "tozero", tickformat: ","},
              yaxis: {tickvals: runs.map((_, i) => i), ticktext: runs.map((run) => run.label), range: [-0.6, runs.length - 0.4],
                      showgrid: false, zeroline: false}}};
    });
    return node;
  }

  // Expected rewards of the arms of a probe, where the environment knows them and they are the same for every run.
  function truth(runs, probe) {
    const known = runs.map((run) => run.posteriors[probe]?.expected_rewards || []);
    return known.every((rewards) => String(rewards) === String(known[0])) ? known[0] : [];
  }

  function posteriors(group, key) {
    const probes = [...new Set(group.runs.flatMap((run) => Object.keys(run.posteriors)))];
    return probes.map((probe) => {
      const runs = group.runs.filter((run) => run.posteriors[probe]);
      const sizes = runs.map((run) => run.posteriors[probe].arms[0].length);
      const truths = truth(runs, probe);
      const seeds = [...new Set(runs.map((run) => run.posteriors[probe].seed))];
      const {node, plot} = figure(`Posterior reward: ${probe}`, [
        "Expected reward of each arm at the end, " +
          (seeds.length === 1 ? `seed ${seeds[0]} only.` : "the first seed of each run only."),
        ...(Math.max(...sizes) > 1 ? ["Box: samples, from quartile to quartile, line at the median."] : []),
        ...(Math.min(...sizes) === 1 ? ["Dot: a single network, which has no spread."] : []),
        ...(truths.length ? ["Dashed: the true expectation."] : [])].join(" "));
      addPlot(plot, `${key}posterior-${probe}`, () => {
        const arms = runs[0].posteriors[probe].arms.length;
        const names = group.arm_names.length === arms ? group.arm_names : [...Array(arms).keys()].map((i) => `arm ${i}`);
        const clear = "rgba(0,0,0,0)";
        const traces = runs.flatMap((run, i) => {
          // A box that cannot be seen puts the dot of a single network in its place among the boxes.
          const look = sizes[i] > 1
            ? {boxpoints: false, line: {color: colour(run), width: 1.6}, fillcolor: alpha(colour(run), 0.25)}
            : {boxpoints: "all", pointpos: 0, jitter: 0, line: {color: clear}, fillcolor: clear,
               marker: {color: colour(run), size: 9}};
          return run.posteriors[probe].arms.map((samples, arm) => (
            {type: "box", y: samples, x: samples.map(() => names[arm]), name: run.label, legendgroup: run.label,
             offsetgroup: run.label, showlegend: arm === 0, hoverinfo: "y+name", ...look}));
        });
        const shapes = truths.map((value, arm) => ({
          type: "line", x0: arm - 0.45, x1: arm + 0.45, y0: value, y1: value,
          line: {color: ink(), width: 1.4, dash: "dash"}}));
        return {traces, frame: {boxmode: "group", boxgap: 0.25, shapes, xaxis: {showgrid: false},
                                yaxis: {title: {text: "expected reward"}}}};
      });
      return node;
    });
  }

  function summaryTable(group) {
    const columns = [
      ["seeds", (s) => [s.seeds.length === 1 ? `1 (${s.seeds[0]})` : `${s.seeds.length} (${s.seeds[0]}–${last(s.seeds)})`]],
      ["interactions", (s) => [s.steps.toLocaleString("en-GB")]],
      ["regret (reward units)", (s) => [rounded(s.regret.mean), s.regret.sd === null ? "" : ` ± ${rounded(s.regret.sd)}`]],
      ["% of uniform", (s) => [format(mean(s.regret_percent_of_uniform))]],
      ["worse than uniform", (s) => [s.policy === "uniform" ? "–" : `${Math.round(mean(s.lock_in_share) * s.seeds.length)} of ${s.seeds.length}`]],
      ["decisions/s", (s) => [decisionRate(s)]],
      ["updates/s", (s) => [s.updates_per_second > 0 ? format(s.updates_per_second, 0) : "–"]],
      ["time", (s) => [`${format(s.wall_seconds, s.wall_seconds < 10 ? 1 : 0)} s`]],
    ];
    const winners = leastRegret(group);
    const marked = winners.length < group.runs.length;
    const notes = [
      ...(group.runs.some((run) => run.summary.regret.sd !== null) ? ["± is the standard deviation over seeds."] : []),
      ...(marked ? ["Bold: the least mean regret, and all that are not told apart from it: the 95 % interval of the difference, " +
                    `paired by seed, contains 0${sameSeeds(winners) ? "" : ", or the seeds are other ones"}.`] : []),
      ...(group.runs.some(learns) ? ["Worse than uniform: seeds with more regret than uniform play expects on their contexts."] : [])];
    return [tools.table(group.runs, "policy", columns, (name, run) => marked && name.startsWith("regret") && winners.includes(run)),
            element("p", {class: "note"}, notes.join(" "))];
  }

  function lead(group) {
    const {runs} = group;
    const each = runs.length > 1 ? " each" : "";
    const text = element("p", {class: "lead"});
    text.append(`${counts(runs)} × ${count(group.steps, "interaction")}${each}. `);
    if (runs.length === 1) return text;
    const winners = leastRegret(group);
    if (winners.length === runs.length) {
      text.append(runs.every((run) => run.summary.seeds.length === 1)
        ? "Of a single seed the noise is unknown: no run is called the best."
        : `No run is told apart from the least mean regret, that of ${winners[0].label}` +
          (sameSeeds(runs) ? "." : "; runs on other seeds are not paired with it."));
    } else if (winners.length === 1) {
      const {regret, regret_percent_of_uniform: share} = winners[0].summary;
      text.append("Least regret: ", element("strong", {}, winners[0].label),
                  `, ${rounded(regret.mean)}${regret.sd === null ? "" : ` ± ${rounded(regret.sd)}`}, ${format(mean(share))} % of uniform play.`);
    } else {
      text.append("Least regret: ", element("strong", {}, winners[0].label), "; not told apart from it: ",
                  element("strong", {}, winners.slice(1).map((run) => run.label).join(", ")), ".");
    }
    return text;
  }

  function section(group, key) {
    const nodes = [lead(group)];
    if (group.env.endsWith("-synthetic")) {
      nodes.push(element("div", {class: "notice"}, "These runs used a made-up stand-in, not the real data set."));
    }
    nodes.push(...tools.warnings(group.runs), ...summaryTable(group));
    nodes.push(element("div", {class: "plots"}, regretCurves(group, key), regretPerSeed(group, key),
      ...tools.differences(group, key, "regret", "Differences of policies", "difference of regrets (reward units)",
                           "Left of 0 the first has less regret."),
      ...overTime(group, key, "interactions", "propensity_entropy", "Entropy of the propensities",
               "How undecided the policy is: the logarithm of the number of arms for uniform play, 0 where a decision is " +
               "certain. Each point is the mean over a sixtieth of the run.",
               "entropy [nats]", {rangemode: "tozero"}),
      ...posteriors(group, key),
      ...overTime(group, key, "interactions", "collapse", "Collapse meter",
               "Variance of the weights over particles, as a share of that at the start: near 0 where all are alike.",
               "variance ratio", {rangemode: "tozero"})));
    return nodes;
  }

  function title(group) {
    const lengths = groups.filter(({task}) => task === group.task).length;
    return lengths > 1 ? `${group.task}, ${count(group.steps, "interaction")}` : group.task;
  }

  function facts({manifest, summary}) {
    const sums = Object.entries(manifest.data || {}).map(([file, sum]) => `${file}: SHA-256 ${sum}`).join("; ");
    return [["bandit", `${summary.env} (${summary.data} data)`], ["source", summary.source], ["data files", sums],
            ["seeds", `${manifest.seeds[0]} to ${manifest.seeds[1] - 1}`],
            ["interactions", summary.steps.toLocaleString("en-GB")]];
  }

  const badge = (group) => element("span", {class: `badge ${group.data}`}, `${group.data} data`);
  const palette = {
    "uniform": ["#8a867e", "#9b968d"], "epsilon-greedy": ["#d98200", "#f0a336"], "lints": ["#00875f", "#2fc498"],
    "linucb": ["#7a6a00", "#d8c84a"], "ensemble": ["#b0568c", "#dd8dbb"], "svgd": ["#0b62a4", "#6cb4ee"],
    "s2vgd": ["#cf4a00", "#ff8a4c"],
  };
  return {name: "Bandit", title, badge, section, facts, palette, method: (summary) => summary.policy};
}
