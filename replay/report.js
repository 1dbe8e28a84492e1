// What a report shows of replays; `tools` are those of runs/report/page.js.
(tools) => {
  const {element, format, count, alpha, colour, soft, addPlot, figure, seedNames} = tools;

  const palette = {
    "uniform": ["#8a867e", "#9b968d"], "logged": ["#3f4a57", "#c3ccd6"], "epsilon-greedy": ["#d98200", "#f0a336"],
    "lints": ["#00875f", "#2fc498"], "linucb": ["#7a6a00", "#d8c84a"], "ensemble": ["#b0568c", "#dd8dbb"],
    "svgd": ["#0b62a4", "#6cb4ee"], "s2vgd": ["#cf4a00", "#ff8a4c"], "vmg": ["#5b4db0", "#a79cf0"],
  };
  const spare = [["#3f7f93", "#7cc4d8"], ["#8a4b2a", "#d79a76"], ["#4f7a28", "#9dcb70"], ["#a3324b", "#e58a9d"]];

  // One series a policy of every run, each with a colour of its own.
  function seriesOf(group) {
    const taken = new Set();
    let next = 0;
    return group.runs.flatMap((run) => run.summary.policies.map((policy) => {
      const own = palette[policy.policy];
      const colours = own && !taken.has(policy.policy) ? own : spare[next++ % spare.length];
      taken.add(policy.policy);
      const label = group.runs.length > 1 ? `${run.label}: ${policy.policy}` : policy.policy;
      return {run, name: policy.policy, label, colours, summary: {...policy, run}};
    }));
  }

  const percent = (value, digits = 2) => value === null || value === undefined ? "–" : format(100 * value, digits);
  // Clicks are shown in percent, other rewards as they are.
  const paysClicks = ({summary}) => { const bounds = summary.log.reward_bounds; return bounds && bounds[0] === 0 && bounds[1] === 1; };
  const reward = (run, value) => value === null || value === undefined ? "–" : paysClicks(run) ? percent(value) : format(value, 3);
  const unit = (run) => paysClicks(run) ? ", %" : "";
  const interval = (run, ends) => ends && ends[0] !== null ? `[${reward(run, ends[0])}, ${reward(run, ends[1])}]` : "–";
  const uniformOf = (run) => run.summary.log.uniform.value;

  // A line with a band around it; `curve` gives {step, middle, low, high} of a series.
  function lines(series, curve, unit) {
    const traces = [];
    const drawn = series.map((one) => [one, curve(one)]).filter(([, points]) => points);
    for (const [one, {step, low, high}] of drawn) {
      const edge = {x: step, mode: "lines", line: {width: 0}, legendgroup: one.label, showlegend: false, hoverinfo: "skip"};
      traces.push({...edge, y: low}, {...edge, y: high, fill: "tonexty", fillcolor: alpha(colour(one), 0.14)});
    }
    for (const [one, {step, middle, low, high}] of drawn) {
      traces.push({x: step, y: middle, name: one.label, mode: "lines", legendgroup: one.label,
                   line: {color: colour(one), width: 2.2}, customdata: low.map((value, i) => [value, high[i]]),
                   hovertemplate: `<b>${one.label}</b><br>%{x:,} events<br>%{y:.4~g}${unit}` +
                                  "<br>%{customdata[0]:.4~g} to %{customdata[1]:.4~g}<extra></extra>"});
    }
    return traces;
  }

  const events = {xaxis: {title: {text: "events of the log"}, tickformat: ","}};
  const atOne = () => ({type: "line", xref: "paper", x0: 0, x1: 1, y0: 1, y1: 1, line: {color: soft(), width: 1.4, dash: "dot"}});

  function relativeSoFar(group, series, key) {
    const {node, plot} = figure("Reward so far, relative to uniformly drawn arms",
      "Mean reward of all accepted events so far, divided by what arms drawn uniformly earn on this log (dotted). The band is " +
      (group.runs.every((run) => run.summary.log.reward_bounds) ? "the confidence sequence, which holds at all times at once" :
       "the interval of large samples, for one look, where rewards have no bounds") + "; the first quarter, where it is wide, is left out" +
      (group.runs.some((run) => run.summary.seeds.length > 1) ? "; line and band are medians over seeds." : ".") +
      (group.runs.every((run) => run.summary.log.uniformly_logged) ? "" :
       " The log was not uniform, and these events have no weights: ÷ uniform in the table, where they weigh 1/propensity, is another number."), true);
    const curve = ({run, name}) => {
      const [middle, low, high] = ["", "_low", "_high"].map((end) => run.curves[`mean_reward${end}/${name}`]);
      if (!middle) return null;
      const late = (values) => values.slice(values.length >> 2);
      const relative = (values) => late(values).map((value) => value / uniformOf(run));
      return {step: late(middle.step), middle: relative(middle.median), low: relative(low.median), high: relative(high.median)};
    };
    addPlot(plot, `${key}relative-so-far`, () => {
      tools.colourSwatches(series);
      return {traces: lines(series, curve, " × uniform"),
              frame: {...events, shapes: [atOne()], yaxis: {title: {text: "reward ÷ uniform"}}}};
    });
    return node;
  }

  const ofTag = (tag) => ({run, name}) => {
    const curve = run.curves[`${tag}/${name}`];
    return curve && {step: curve.step, middle: curve.median, low: curve.low, high: curve.high};
  };

  function overWindows(series, key, tag, title, caption, axis, shapes = () => []) {
    const {node, plot} = figure(title, caption);
    addPlot(plot, `${key}${tag}`, () => ({traces: lines(series, ofTag(tag), ""),
      frame: {...events, shapes: shapes(), yaxis: {title: {text: axis}, rangemode: "tozero"}}}));
    return node;
  }

  const mostArms = 150, mostNames = 30;

  // When arms were there, the brighter the more they paid.
  function lifetimes(group, key) {
    const {arms} = group.runs[0].facts;
    const shown = [...arms].sort((a, b) => b.pulls - a.pulls).slice(0, mostArms).sort((a, b) => a.first - b.first || a.last - b.last);
    const {node, plot} = figure("Life of the arms",
      `From the first event that an arm could be chosen in to the last, ${shown.length < arms.length ? `of the ${mostArms} that were logged most` : "one line an arm"}; ` +
      "the darker, the larger its mean reward.");
    addPlot(plot, `${key}lifetimes`, () => {
      const rates = shown.map((arm) => arm.pulls > 0 ? arm.reward / arm.pulls : 0), most = Math.max(...rates, 1e-12);
      const base = colour({colours: palette.svgd});
      const traces = shown.map((arm, i) => ({
        x: [arm.first, arm.last], y: [i, i], mode: "lines", showlegend: false,
        line: {color: alpha(base, 0.15 + 0.85 * Math.max(0, rates[i]) / most), width: Math.max(2, Math.min(8, 260 / shown.length))},
        hovertemplate: `<b>${arm.arm}</b><br>events ${arm.first.toLocaleString("en-GB")} to ${arm.last.toLocaleString("en-GB")}` +
                       `<br>logged ${arm.pulls.toLocaleString("en-GB")} times, mean reward ${rates[i].toPrecision(3)}<extra></extra>`}));
      const few = shown.length <= mostNames;
      const names = {tickvals: shown.map((_, i) => i), ticktext: shown.map(({arm}) => arm.length > 18 ? `${arm.slice(0, 17)}…` : arm)};
      return {traces, frame: {...events, yaxis: {title: {text: "arms, by first event"}, ...(few ? names : {}), showticklabels: few,
                                                 automargin: few, showgrid: false, zeroline: false}}};
    });
    return node;
  }

  function propensities(group, key) {
    const {ends: allEnds, counts: allCounts} = group.runs[0].facts.propensities;
    const first = allCounts.findIndex((events) => events > 0), last = allCounts.findLastIndex((events) => events > 0);
    const ends = allEnds.slice(Math.max(0, first - 1), last + 2), counts = allCounts.slice(Math.max(0, first - 1), last + 2);
    const {node, plot} = figure("Logged propensities",
      "How many events were logged with which probability, in bins of a quarter of a power of ten. Events with small ones weigh much in an estimate.");
    addPlot(plot, `${key}propensities`, () => ({
      traces: [{type: "bar", x: ends.map((end) => `≤ ${Number(end.toPrecision(2))}`), y: counts, showlegend: false,
                marker: {color: colour({colours: palette.logged})}, hovertemplate: "%{x}<br>%{y:,} events<extra></extra>"}],
      frame: {xaxis: {title: {text: "propensity"}, type: "category"}, yaxis: {title: {text: "events"}, tickformat: ","}}}));
    return node;
  }

  // Which differences a run's figure shows: of replay where arms were logged uniformly, else of an estimator without bias.
  function shownWay({summary}) {
    if (summary.log.uniformly_logged) return "replay";
    const asked = new Set(summary.differences.map(({by}) => by));
    return ["dr", "snips", "ips"].find((way) => asked.has(way));
  }

  // Differences of policies on the same events, with their intervals.
  function differences(group, key) {
    const ways = [...new Set(group.runs.map(shownWay))].filter(Boolean);
    const rows = group.runs.flatMap((run) => run.summary.differences.filter(({by}) => by === shownWay(run)).map((d) => ({
      ...d, label: `${d.first} − ${d.second}${group.runs.length > 1 ? ` (${run.label})` : ""}`})));
    const known = rows.filter(({difference}) => difference !== null).reverse();  // the first on top
    if (!known.length) return [];
    const {node, plot} = figure("Differences of policies, on the same events",
      `Mean reward of the first less that of the second by ${ways.join(", ")}, with the interval of the paired difference: right of 0 ` +
      "the first is better.");
    addPlot(plot, `${key}differences`, () => ({
      traces: [{x: known.map((d) => d.difference), y: known.map((_, i) => i), mode: "markers", showlegend: false,
                marker: {color: colour({colours: palette.s2vgd}), size: 8},
                error_x: {type: "data", symmetric: false, array: known.map((d) => d.interval[1] - d.difference),
                          arrayminus: known.map((d) => d.difference - d.interval[0]), color: soft(), thickness: 1.6},
                customdata: known.map((d) => [d.label, ...d.interval]),
                hovertemplate: "<b>%{customdata[0]}</b><br>%{x:.4~g} [%{customdata[1]:.4~g}, %{customdata[2]:.4~g}]<extra></extra>"}],
      frame: {margin: {l: 20}, xaxis: {title: {text: "difference of mean rewards"}, zeroline: true},
              shapes: [{type: "line", yref: "paper", x0: 0, x1: 0, y0: 0, y1: 1, line: {color: soft(), width: 1.4, dash: "dot"}}],
              yaxis: {tickvals: known.map((_, i) => i), ticktext: known.map((d) => d.label), range: [-0.5, known.length - 0.5],
                      showgrid: false, zeroline: false}}}));
    return [node];
  }

  function policyTable(series) {
    const columns = [
      ["accepted", (p) => [format(p.accepted, 0), ` ${percent(p.acceptance_rate, 1)} %`]],
      [series.every(({run}) => paysClicks(run)) ? "CTR, %" : "mean reward", (p) => [reward(p.run, p.ctr), ` ${interval(p.run, p.interval)}`]],
      ["÷ uniform", (p) => [format(p.relative, 3), p.relative_interval ? ` [${format(p.relative_interval[0], 3)}, ${format(p.relative_interval[1], 3)}]` : ""]],
      [series.every(({run}) => paysClicks(run)) ? "clicks" : "sum of rewards", (p) => [format(p.clicks, 0)]],
      ["events/s", (p) => [format(p.events_per_second, 0)]],
    ];
    return tools.table(series, "policy", columns, () => false);
  }

  function estimateTable(series) {
    const rows = series.flatMap((one) => Object.entries(one.summary.estimates ?? {}).map(([name, estimate]) => element("tr", {},
      ...[one.label, name, reward(one.run, estimate.value), interval(one.run, estimate.interval), format(estimate.effective_sample_size, 0)]
        .map((text) => element("td", {}, text)),
      element("td", {class: "spread"}, estimate.refused ?? ""))));
    if (!rows.length) return [];
    const head = element("tr", {}, ...["policy", "estimator", `value${unit(series[0].run)}`, "interval", "effective sample size", ""]
      .map((name) => element("th", {scope: "col"}, name)));
    return [element("h3", {}, "Estimates from propensities"),
            element("div", {class: "scroll"}, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)))];
  }

  // Differences by every way, as the program prints them.
  function differenceTable(group) {
    const rows = group.runs.flatMap((run) => run.summary.differences.map((d) => element("tr", {},
      ...[...(group.runs.length > 1 ? [run.label] : []), `${d.first} − ${d.second}`, d.by === "replay" && !run.summary.log.uniformly_logged ? "replay, 1/p" : d.by, reward(run, d.difference), interval(run, d.interval)]
        .map((text) => element("td", {}, text)),
      element("td", {class: "spread"}, d.refused ?? ""))));
    if (!rows.length) return [];
    const head = element("tr", {}, ...[...(group.runs.length > 1 ? ["run"] : []), "policies", "by", `difference${unit(group.runs[0])}`, "interval", ""].map((name) => element("th", {scope: "col"}, name)));
    return [element("h3", {}, "Differences on the same events"),
            element("div", {class: "scroll"}, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)))];
  }

  function lead(group) {
    const {log, seeds} = group.runs[0].summary;
    const bad = Object.entries(log.bad_lines_by_reason).map(([reason, lines]) => `${lines.toLocaleString("en-GB")}: ${reason}`).join(", ");
    return element("p", {class: "lead"},
      `${count(log.events, "event")} of ${count(log.arms, "arm")}, ${seedNames(seeds)}. ` +
      (log.bad_lines ? `${count(log.bad_lines, "bad line")} passed over: ${bad}. ` : "No bad lines. ") +
      `Arms drawn uniformly earn ${reward(group.runs[0], log.uniform.value)}${paysClicks(group.runs[0]) ? " %" : ""} ` +
      `${interval(group.runs[0], log.uniform.interval)}.`);
  }

  function section(group, key) {
    const series = seriesOf(group);
    const nodes = [lead(group)];
    if (group.runs.some((run) => !run.summary.log.uniformly_logged)) {
      nodes.push(element("div", {class: "notice"}, "Arms were not logged uniformly at random: the events that a policy accepts " +
        "are not those that it would have met, and the rewards below are biased. Estimates from propensities are not."));
    }
    nodes.push(...tools.warnings(group.runs));
    nodes.push(policyTable(series), ...estimateTable(series), ...differenceTable(group));
    nodes.push(element("div", {class: "plots"}, relativeSoFar(group, series, key),
      overWindows(series, key, "relative", "Reward in each window, relative to uniform",
                  "Mean reward of the events accepted in a window, divided by that of uniformly drawn arms in it; median and middle half of the seeds.",
                  "reward ÷ uniform", () => [atOne()]),
      overWindows(series, key, "acceptance", "Acceptance", "Share of a window's events in which the policy chose the logged arm.", "share"),
      ...differences(group, key), lifetimes(group, key), propensities(group, key)));
    return nodes;
  }

  function facts({manifest, summary}) {
    const sums = Object.entries(manifest.data || {}).map(([file, sum]) => `${file}: SHA-256 ${sum}`).join("; ");
    return [["format", summary.format], ["files", summary.log.files.join(", ")], ["checksums", sums],
            ["seeds", `${manifest.seeds[0]} to ${manifest.seeds[1] - 1}`]];
  }

  const title = (group) => group.task;
  const badge = (group) => element("span", {class: "badge"}, group.runs[0].summary.format);
  return {name: "Replay", title, badge, section, facts};
}
