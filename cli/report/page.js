// Draws a bandit report from the data in the page. What a test wants to know stands on <html>: data-plots holds, for
// every plot, how many points it has; data-outside, how many of them lie above or below its view; data-errors counts
// what went wrong.
"use strict";
(() => {
  const root = document.documentElement;
  const shown = {}, outside = {};
  let errors = 0;
  const report = () => {
    root.dataset.plots = JSON.stringify(shown);
    root.dataset.outside = JSON.stringify(outside);
    root.dataset.errors = String(errors);
  };
  window.addEventListener("error", () => { errors += 1; report(); });
  window.addEventListener("unhandledrejection", () => { errors += 1; report(); });

  const {groups, version, commit} = JSON.parse(document.getElementById("data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  // Okabe and Ito's colours, which stay apart for colour-blind readers; a policy has the same one in every report.
  const palette = {
    "uniform": ["#8a867e", "#9b968d"], "epsilon-greedy": ["#d98200", "#f0a336"], "lints": ["#00875f", "#2fc498"],
    "linucb": ["#7a6a00", "#d8c84a"], "ensemble": ["#b0568c", "#dd8dbb"], "svgd": ["#0b62a4", "#6cb4ee"],
    "s2vgd": ["#cf4a00", "#ff8a4c"],
  };
  const spare = [["#5b4db0", "#a79cf0"], ["#3f7f93", "#7cc4d8"], ["#8a4b2a", "#d79a76"], ["#4f7a28", "#9dcb70"]];

  const element = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const format = (value, digits = 1) =>
    value === null || value === undefined ? "–"
      : value.toLocaleString("en-GB", {minimumFractionDigits: digits, maximumFractionDigits: digits});
  const rounded = (value) => format(value, Math.abs(value) < 100 ? 1 : 0);
  const count = (n, noun) => `${n.toLocaleString("en-GB")} ${noun}${n === 1 ? "" : "s"}`;
  const alpha = (hex, share) => hex + Math.round(share * 255).toString(16).padStart(2, "0");

  function paint(runs) {
    const taken = new Set();
    let next = 0;
    for (const run of runs) {
      const own = palette[run.summary.policy];
      run.colours = own && !taken.has(run.summary.policy) ? own : spare[next++ % spare.length];
      taken.add(run.summary.policy);
    }
  }
  const colour = (run) => run.colours[dark.matches ? 1 : 0];

  function layout(extra) {
    const ink = dark.matches ? "#e9e6e0" : "#1d1c1a", soft = dark.matches ? "#a39e95" : "#65615a";
    const line = dark.matches ? "#31353b" : "#e9e5de";
    const axis = {gridcolor: line, zerolinecolor: line, linecolor: line, tickfont: {color: soft}, automargin: true,
                  title: {font: {color: soft, size: 13}, standoff: 10}};
    const merge = (base, more) => {
      const result = {...base};
      for (const [key, value] of Object.entries(more)) {
        const isObject = value && typeof value === "object" && !Array.isArray(value);
        result[key] = isObject ? merge(base[key] || {}, value) : value;
      }
      return result;
    };
    return merge({
      font: {family: getComputedStyle(document.body).fontFamily, size: 13, color: ink},
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      margin: {l: 56, r: 10, t: 8, b: 46},
      hovermode: "closest",
      hoverlabel: {bgcolor: dark.matches ? "#262a30" : "#ffffff", bordercolor: line, font: {color: ink}},
      legend: {orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: {color: ink}, itemwidth: 30},
      xaxis: axis, yaxis: axis,
    }, extra);
  }

  // Each plot is a function of the theme, so that it can be drawn again when the reader's changes.
  const plots = [];
  function addPlot(node, name, make) {
    const plot = {node, name, make, changes: {}};
    plots.push(plot);
    return plot;
  }
  function draw(plot) {
    const {traces, frame} = plot.make(plot.changes);
    const points = traces.reduce((sum, t) => sum + ((t.customdata ?? t.y ?? t.x) || []).length, 0);
    const settings = {responsive: true, displayModeBar: false, showTips: false};
    return Plotly.react(plot.node, traces, layout(frame), settings).then(() => {
      const {range, type} = plot.node.layout.yaxis;
      const [low, high] = type === "log" ? range.map((exponent) => 10 ** exponent) : range;
      shown[plot.name] = points;
      outside[plot.name] = traces.flatMap((t) => [...t.y]).filter((y) => y < low || y > high).length;
      report();
    });
  }

  // Median and quartiles over seeds, one colour a run.
  function bands(runs, tag) {
    const traces = [];
    for (const run of runs) {
      const curve = run.curves[tag];
      if (!curve) continue;
      const edge = {x: curve.step, mode: "lines", line: {width: 0}, legendgroup: run.label, showlegend: false,
                    hoverinfo: "skip"};
      traces.push({...edge, y: curve.low});
      traces.push({...edge, y: curve.high, fill: "tonexty", fillcolor: alpha(colour(run), 0.18)});
    }
    for (const run of runs) {
      const curve = run.curves[tag];
      if (!curve) continue;
      traces.push({x: curve.step, y: curve.median, name: run.label, mode: "lines", legendgroup: run.label,
                   line: {color: colour(run), width: 2.2}, customdata: curve.low.map((low, i) => [low, curve.high[i]]),
                   hovertemplate: `<b>${run.label}</b><br>%{x:,} interactions<br>median %{y:.4~g}` +
                                  "<br>quartiles %{customdata[0]:.4~g} to %{customdata[1]:.4~g}<extra></extra>"});
    }
    return traces;
  }

  function figure(title, caption, wide = false) {
    const plot = element("div", {class: "plot"});
    const words = element("figcaption", {}, element("h3", {}, title), element("p", {}, caption));
    return {node: element("figure", wide ? {class: "wide"} : {}, words, plot), plot, words};
  }

  function scaleChoice(plot) {
    const choice = element("span", {class: "choice", role: "group", "aria-label": "Scale of the vertical axis"});
    for (const scale of ["linear", "log"]) {
      const button = element("button", {type: "button", "aria-pressed": String(scale === "linear")}, scale);
      button.addEventListener("click", () => {
        plot.changes.scale = scale;
        for (const other of choice.children) other.setAttribute("aria-pressed", String(other === button));
        draw(plot);
      });
      choice.append(button);
    }
    return choice;
  }

  const last = (list) => list[list.length - 1];
  const sameSeeds = (runs) => new Set(runs.map((run) => String(run.summary.seeds))).size === 1;
  const seedNames = (seeds) => seeds.length === 1 ? `seed ${seeds[0]}` : `seeds ${seeds[0]} to ${last(seeds)}`;
  const learns = (run) => run.summary.policy !== "uniform";

  // Runs whose mean regret cannot be told from the least: one standard error of the difference or less above it. The
  // noise of a single seed is unknown, so nothing is told from it.
  function leastRegret(runs) {
    const squaredError = ({regret, seeds}) => regret.sd === null ? Infinity : regret.sd ** 2 / seeds.length;
    const best = runs.reduce((a, b) => (b.summary.regret.mean < a.summary.regret.mean ? b : a)).summary;
    return runs.filter(({summary}) =>
      summary === best || summary.regret.mean - best.regret.mean <= Math.sqrt(squaredError(summary) + squaredError(best)));
  }

  function regretCurves(group, key) {
    const reference = group.runs.find((run) => run.curves.uniform_regret);
    const whose = !reference || sameSeeds(group.runs) ? "the same contexts" : `the contexts of ${seedNames(reference.summary.seeds)}`;
    const {node, plot, words} = figure("Cumulative regret",
      "Median over seeds; the band holds the middle half of them." +
      (reference ? ` Dotted: what uniform play expects on ${whose}.` : ""), true);
    const drawn = addPlot(plot, `${key}regret`, ({scale = "linear"}) => {
      const traces = bands(group.runs, "regret");
      if (reference) {
        const curve = reference.curves.uniform_regret;
        traces.push({x: curve.step, y: curve.median, mode: "lines", name: "uniform play, expected",
                     line: {color: dark.matches ? "#a39e95" : "#65615a", width: 1.4, dash: "dot"},
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
                     line: {color: dark.matches ? "#a39e95" : "#65615a", width: 1.4, dash: "dot"}});
      });
      return {traces, frame: {shapes, margin: {l: 20},
              xaxis: {title: {text: "regret at the end (reward units)"}, rangemode: "tozero", tickformat: ","},
              yaxis: {tickvals: runs.map((_, i) => i), ticktext: runs.map((run) => run.label), range: [-0.6, runs.length - 0.4],
                      showgrid: false, zeroline: false}}};
    });
    return node;
  }

  function overTime(group, key, tag, title, caption, axisTitle, extra = {}) {
    const runs = group.runs.filter((run) => run.curves[tag]);
    if (!runs.length) return [];
    const {node, plot} = figure(title, caption);
    addPlot(plot, `${key}${tag}`, () => ({traces: bands(runs, tag),
      frame: {xaxis: {title: {text: "interactions"}, tickformat: ","}, yaxis: {title: {text: axisTitle}, ...extra}}}));
    return [node];
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
          line: {color: dark.matches ? "#e9e6e0" : "#1d1c1a", width: 1.4, dash: "dash"}}));
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
      ["% of uniform", (s) => [format(s.regret_percent_of_uniform)]],
      ["worse than uniform", (s) => [s.policy === "uniform" ? "–" : `${Math.round(s.lock_in_share * s.seeds.length)} of ${s.seeds.length}`]],
      ["decisions/s", (s) => [format(s.decisions_per_second, 0)]],
      ["updates/s", (s) => [s.updates_per_second > 0 ? format(s.updates_per_second, 0) : "–"]],
      ["time", (s) => [`${format(s.wall_seconds, s.wall_seconds < 10 ? 1 : 0)} s`]],
    ];
    const winners = leastRegret(group.runs);
    const marked = winners.length < group.runs.length;
    const head = element("tr", {}, element("th", {scope: "col"}, "policy"), ...columns.map(([name]) => element("th", {scope: "col"}, name)));
    const rows = group.runs.map((run) => {
      const swatch = element("span", {class: "swatch"});
      run.swatch = swatch;
      return element("tr", {}, element("td", {}, swatch, run.label), ...columns.map(([name, text]) => {
        const [main, spread] = text(run.summary);
        const best = marked && name.startsWith("regret") && winners.includes(run);
        const cell = element("td", best ? {class: "best"} : {}, main);
        if (spread) cell.append(element("span", {class: "spread"}, spread));
        return cell;
      }));
    });
    const notes = [
      ...(group.runs.some((run) => run.summary.regret.sd !== null) ? ["± is the standard deviation over seeds."] : []),
      ...(marked ? ["Bold: the least mean regret, and all that are at most one standard error of the difference above it" +
                    (winners.some((run) => run.summary.regret.sd === null) ? ", or have a single seed, of unknown noise." : ".")] : []),
      ...(group.runs.some(learns) ? ["Worse than uniform: seeds with more regret than uniform play expects on their contexts."] : [])];
    return [element("div", {class: "scroll"}, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows))),
            element("p", {class: "note"}, notes.join(" "))];
  }

  function facts(pairs) {
    const list = element("dl", {class: "facts"});
    for (const [name, value] of pairs) {
      if (value === undefined || value === null || value === "") continue;
      list.append(element("dt", {}, name), element("dd", {}, String(value)));
    }
    return list;
  }

  function provenance(group) {
    return group.runs.map((run) => {
      const {manifest, summary} = run;
      const sums = Object.entries(manifest.data || {}).map(([file, sum]) => `${file}: SHA-256 ${sum}`).join("; ");
      return element("details", {}, element("summary", {}, run.label), facts([
        ["bandit", `${summary.env} (${summary.data} data)`], ["source", summary.source], ["data files", sums],
        ["seeds", `${manifest.seeds[0]} to ${manifest.seeds[1] - 1}`],
        ["interactions", summary.steps.toLocaleString("en-GB")],
        ["Stein", `${manifest.version}, commit ${manifest.commit}`], ["instructions", manifest.simd_target],
        ["threads", manifest.threads], ["device", manifest.device],
        ["peak memory", `${format(summary.peak_memory_mb, 0)} MB`], ["directory", summary.run_directory],
      ]), element("pre", {}, run.config));
    });
  }

  function lead(group) {
    const {runs} = group;
    const counts = runs.map((run) => run.summary.seeds.length);
    const [fewest, most] = [Math.min(...counts), Math.max(...counts)];
    const each = runs.length > 1 ? " each" : "";
    const text = element("p", {class: "lead"});
    text.append(`${count(runs.length, "run")}, ` +
                (fewest === most ? count(most, "seed") : `${fewest} to ${count(most, "seed")}`) +
                (sameSeeds(runs) ? "" : " (not the same in all runs)") + ` × ${count(group.steps, "interaction")}${each}. `);
    if (runs.length === 1) return text;
    const winners = leastRegret(runs);
    if (winners.length === runs.length) {
      text.append(counts.includes(1) ? "Of a single seed the noise is unknown: no run is called the best."
                                     : "No run is more than one standard error of the difference above the least regret.");
    } else if (winners.length === 1) {
      const {regret, regret_percent_of_uniform: share} = winners[0].summary;
      text.append("Least regret: ", element("strong", {}, winners[0].label),
                  `, ${rounded(regret.mean)}${regret.sd === null ? "" : ` ± ${rounded(regret.sd)}`}, ${format(share)} % of uniform play.`);
    } else {
      text.append("Least regret, not told apart: ", element("strong", {}, winners.map((run) => run.label).join(", ")), ".");
    }
    return text;
  }

  function section(group, index) {
    paint(group.runs);
    const lengths = groups.filter(({bandit}) => bandit === group.bandit).length;
    const title = lengths > 1 ? `${group.bandit}, ${count(group.steps, "interaction")}` : group.bandit;
    const key = groups.length > 1 ? `${title}/` : "";
    const badge = element("span", {class: `badge ${group.data}`}, `${group.data} data`);
    const single = groups.length === 1;
    const nodes = [element(single ? "h1" : "h2", {}, single ? `Bandit report: ${title}` : title, badge), lead(group)];
    if (group.env.endsWith("-synthetic")) {
      nodes.push(element("div", {class: "notice"}, "These runs used a made-up stand-in, not the real data set."));
    }
    nodes.push(...summaryTable(group));
    nodes.push(element("div", {class: "plots"}, regretCurves(group, key), regretPerSeed(group, key),
      ...overTime(group, key, "propensity_entropy", "Entropy of the propensities",
               "How undecided the policy is: the logarithm of the number of arms for uniform play, 0 where a decision is " +
               "certain. Each point is the mean over a sixtieth of the run.",
               "entropy [nats]", {rangemode: "tozero"}),
      ...posteriors(group, key),
      ...overTime(group, key, "collapse", "Collapse meter",
               "Variance of the weights over particles, as a share of that at the start: near 0 where all are alike.",
               "variance ratio", {rangemode: "tozero"})));
    nodes.push(element(single ? "h2" : "h3", {class: "provenance"}, "Settings and provenance"), ...provenance(group));
    return nodes;
  }

  const page = document.getElementById("page");
  if (groups.length > 1) page.append(element("h1", {}, "Bandit report"));
  groups.forEach((group, index) => page.append(...section(group, index)));
  page.append(element("footer", {}, `Written by Stein ${version}, commit ${commit}. This page needs no network.`));

  const colourSwatches = () => groups.forEach((group) => group.runs.forEach((run) => { run.swatch.style.background = colour(run); }));
  const drawAll = () => { colourSwatches(); return Promise.all(plots.map(draw)); };
  dark.addEventListener("change", drawAll);
  report();
  drawAll().then(() => { root.dataset.ready = "true"; });
})();
