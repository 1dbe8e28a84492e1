// Draws a bandit report from the data in the page. What a test wants to know stands on <html>: data-plots holds, for
// every plot, how many points it shows; data-errors counts what went wrong.
"use strict";
(() => {
  const root = document.documentElement;
  const shown = {};
  let errors = 0;
  const report = () => {
    root.dataset.plots = JSON.stringify(shown);
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
    return Plotly.react(plot.node, traces, layout(frame), settings).then(() => { shown[plot.name] = points; report(); });
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

  function regretCurves(group, key) {
    const {node, plot, words} = figure("Cumulative regret",
      "Median over seeds; the band holds the middle half of them. Dotted: what uniform play expects on the same " +
      "contexts. Double-click to see everything.", true);
    const drawn = addPlot(plot, `${key}regret`, ({scale = "linear"}) => {
      const traces = bands(group.runs, "regret");
      const reference = group.runs.find((run) => run.curves.uniform_regret);
      if (reference) {
        const curve = reference.curves.uniform_regret;
        traces.push({x: curve.step, y: curve.median, mode: "lines", name: "uniform play, expected",
                     line: {color: dark.matches ? "#a39e95" : "#65615a", width: 1.4, dash: "dot"},
                     hovertemplate: "uniform play expects %{y:.4~g}<extra></extra>"});
      }
      // Uniform play would press all others onto the axis: the view ends above the best of the rest.
      const tops = group.runs.filter((run) => run.curves.regret && run.summary.regret_percent_of_uniform < 60)
        .map((run) => last(run.curves.regret.high));
      const frame = {xaxis: {title: {text: "interactions"}, tickformat: ","}, hovermode: "closest",
                     yaxis: {title: {text: "regret"}, type: scale, rangemode: "tozero", tickformat: ","}};
      if (scale === "linear" && tops.length) frame.yaxis.range = [0, 1.25 * Math.max(...tops)];
      if (scale === "log") frame.yaxis.dtick = 1;
      return {traces, frame};
    });
    words.prepend(scaleChoice(drawn));
    return node;
  }

  function regretPerSeed(group, key) {
    const {node, plot} = figure("Regret of every seed",
      "One dot a seed, at the last interaction; the bar is the mean. Dots right of the dotted line did worse than " +
      "uniform play: they locked in.");
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
      const uniform = group.runs[0].summary.uniform_regret.mean;
      shapes.push({type: "line", x0: uniform, x1: uniform, y0: -0.6, y1: runs.length - 0.4,
                   line: {color: dark.matches ? "#a39e95" : "#65615a", width: 1.4, dash: "dot"}});
      return {traces, frame: {shapes, margin: {l: 20},
              xaxis: {title: {text: "regret at the end"}, rangemode: "tozero", tickformat: ","},
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

  function posteriors(group, key) {
    const runs = group.runs.filter((run) => Object.keys(run.posteriors).length);
    if (!runs.length) return [];
    const probes = [...new Set(runs.flatMap((run) => Object.keys(run.posteriors)))];
    return probes.map((probe) => {
      const {node, plot} = figure(`Posterior reward: ${probe}`,
        "Samples of the expected reward of each arm at the end, of all seeds together: box from quartile to quartile, " +
        "line at the median." + (group.truths[probe]?.length ? " Dashed: the true expectation." : ""));
      addPlot(plot, `${key}posterior-${probe}`, () => {
        const arms = Math.max(...runs.map((run) => (run.posteriors[probe] || []).length));
        const names = group.arm_names.length === arms ? group.arm_names : [...Array(arms).keys()].map((i) => `arm ${i}`);
        const traces = [];
        for (const run of runs) {
          (run.posteriors[probe] || []).forEach((samples, arm) => {
            traces.push({type: "box", y: samples, x: samples.map(() => names[arm]), name: run.label, legendgroup: run.label,
                         offsetgroup: run.label, showlegend: arm === 0, boxpoints: false, line: {color: colour(run), width: 1.6},
                         fillcolor: alpha(colour(run), 0.25), hoverinfo: "y+name"});
          });
        }
        const shapes = (group.truths[probe] || []).map((value, arm) => ({
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
      ["regret", (s) => s.regret.mean, (s) => [rounded(s.regret.mean), s.regret.sd === null ? "" : ` ± ${rounded(s.regret.sd)}`], "low"],
      ["% of uniform", (s) => s.regret_percent_of_uniform, (s) => [format(s.regret_percent_of_uniform)], "low"],
      ["locked in", (s) => s.lock_in_share, (s) => [s.policy === "uniform" ? "–" : `${Math.round(s.lock_in_share * s.seeds.length)} of ${s.seeds.length}`]],
      ["decisions/s", (s) => s.decisions_per_second, (s) => [format(s.decisions_per_second, 0)]],
      ["updates/s", (s) => s.updates_per_second, (s) => [s.updates_per_second > 0 ? format(s.updates_per_second, 0) : "–"]],
      ["time", (s) => s.wall_seconds, (s) => [`${format(s.wall_seconds, s.wall_seconds < 10 ? 1 : 0)} s`]],
    ];
    const head = element("tr", {}, element("th", {scope: "col"}, "policy"), ...columns.map(([name]) => element("th", {scope: "col"}, name)));
    const best = columns.map(([, value, , wish]) => wish ? Math.min(...group.runs.map((run) => value(run.summary))) : undefined);
    const rows = group.runs.map((run) => {
      const swatch = element("span", {class: "swatch"});
      run.swatch = swatch;
      return element("tr", {}, element("td", {}, swatch, run.label), ...columns.map(([, value, text], i) => {
        const [main, spread] = text(run.summary);
        const cell = element("td", value(run.summary) === best[i] ? {class: "best"} : {}, main);
        if (spread) cell.append(element("span", {class: "spread"}, spread));
        return cell;
      }));
    });
    return element("div", {class: "scroll"}, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
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
    const best = group.runs.reduce((a, b) => (b.summary.regret.mean < a.summary.regret.mean ? b : a));
    const {regret, seeds, steps, regret_percent_of_uniform: share} = best.summary;
    const text = element("p", {class: "lead"});
    text.append(`${count(group.runs.length, "run")}, ${count(seeds.length, "seed")} × ${count(steps, "interaction")}. `);
    if (group.runs.length > 1) {
      text.append("Least regret: ", element("strong", {}, best.label),
                  `, ${rounded(regret.mean)}${regret.sd === null ? "" : ` ± ${rounded(regret.sd)}`}, ${format(share)} % of uniform play.`);
    }
    return text;
  }

  function section(group, index) {
    paint(group.runs);
    const key = groups.length > 1 ? `${group.bandit}/` : "";
    const badge = element("span", {class: `badge ${group.data}`}, `${group.data} data`);
    const single = groups.length === 1;
    const nodes = [element(single ? "h1" : "h2", {}, single ? `Bandit report: ${group.bandit}` : group.bandit, badge), lead(group)];
    if (group.env.endsWith("-synthetic")) {
      nodes.push(element("div", {class: "notice"}, "These runs used a made-up stand-in, not the real data set."));
    }
    nodes.push(summaryTable(group));
    nodes.push(element("div", {class: "plots"}, regretCurves(group, key), regretPerSeed(group, key),
      ...overTime(group, key, "propensity_entropy", "Entropy of the propensities",
               "How undecided the policy is: the logarithm of the number of arms for uniform play, 0 where a decision is " +
               "certain. Means over sixtieths of the run.",
               "entropy [nats]", {rangemode: "tozero"}),
      ...posteriors(group, key),
      ...overTime(group, key, "collapse", "Collapse meter",
               "Variance of the weights over particles, as a share of that at the start: near 0 where all are alike.",
               "variance ratio", {rangemode: "tozero"})));
    nodes.push(element(single ? "h2" : "h3", {}, "Settings and provenance"), ...provenance(group));
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
