// Draws a report from the data in the page: what all kinds of runs share. What is special to a kind is a function in
// `kindScripts`, which stands before this in the page; it is given what is collected in `tools`, and returns
//   name     what reports of the kind are called: "Bandit"
//   title    (group) → the heading of a group of runs
//   badge    (group) → a node beside the heading, or ""
//   section  (group, key) → the nodes that show a group; `key` begins the names of its plots
//   facts    (run) → pairs [name, value] for the run's provenance
//   palette  colours of methods: name → [light, dark]; may be absent, as may be
//   method   (summary) → the name of a run's method in it
// What a test wants to know stands on <html>: data-plots holds, for every plot, how many points it has; data-outside,
// how many of them lie above or below its view; data-scrolled, how many tables are wider than the page; data-errors counts
// what went wrong.
"use strict";
(() => {
  const root = document.documentElement;
  const shown = {}, outside = {};
  let errors = 0;
  const report = () => {
    root.dataset.plots = JSON.stringify(shown);
    root.dataset.outside = JSON.stringify(outside);
    root.dataset.scrolled = String([...document.querySelectorAll(".scroll")].filter((node) => node.scrollWidth > node.clientWidth).length);
    root.dataset.errors = String(errors);
  };
  window.addEventListener("error", () => { errors += 1; report(); });
  window.addEventListener("unhandledrejection", () => { errors += 1; report(); });

  const {groups, version, commit} = JSON.parse(document.getElementById("data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  // Okabe and Ito's colours, which stay apart for colour-blind readers: [light, dark].
  const spare = [["#5b4db0", "#a79cf0"], ["#3f7f93", "#7cc4d8"], ["#8a4b2a", "#d79a76"], ["#4f7a28", "#9dcb70"],
                 ["#a01f4c", "#f0799f"], ["#1f4e9c", "#7fa8ec"], ["#6b6f00", "#c7cb52"], ["#9c3d9c", "#d78fd7"],
                 ["#444b55", "#b4bcc8"], ["#0b7a75", "#4fd1c5"]];

  // Those of ways of finding a network's weights, which several kinds share.
  const weightMethods = {
    "sgd": ["#8a867e", "#9b968d"], "rmsprop": ["#d98200", "#f0a336"], "adam": ["#7a6a00", "#d8c84a"],
    "sgld": ["#0b62a4", "#6cb4ee"], "psgld": ["#cf4a00", "#ff8a4c"], "sghmc": ["#00875f", "#2fc498"],
    "bbb": ["#5b4db0", "#a79cf0"], "sharpening": ["#b0568c", "#dd8dbb"], "svgd": ["#3f7f93", "#7cc4d8"],
  };

  const element = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const format = (value, digits = 1) => {
    if (value === null || value === undefined) return "–";
    const text = value.toLocaleString("en-GB", {minimumFractionDigits: digits, maximumFractionDigits: digits});
    return /[1-9]/.test(text) ? text : text.replace("-", "");  // "-0.0"
  };
  const rounded = (value) => format(value, Math.abs(value) < 100 ? 1 : 0);
  const count = (n, noun) => `${n.toLocaleString("en-GB")} ${noun}${n === 1 ? "" : "s"}`;
  const alpha = (hex, share) => hex + Math.round(share * 255).toString(16).padStart(2, "0");

  // A measured number's mean; earlier versions wrote some numbers without their spread.
  const mean = (value) => value !== null && typeof value === "object" ? value.mean : value;

  // A method has the same colour in every report where its kind gives it one; others take the spare ones in turn.
  function paint(runs, kind) {
    const method = (run) => kind.method?.(run.summary) ?? run.label, palette = kind.palette ?? {};
    const taken = new Set();
    let next = 0;
    for (const run of runs) {
      const own = palette[method(run)];
      run.colours = own && !taken.has(method(run)) ? own : spare[next++ % spare.length];
      taken.add(method(run));
    }
  }
  const ink = () => dark.matches ? "#e9e6e0" : "#1d1c1a";
  const soft = () => dark.matches ? "#a39e95" : "#65615a";
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
      const [low, high] = (type === "log" ? range.map((exponent) => 10 ** exponent) : [...range]).sort((a, b) => a - b);
      shown[plot.name] = points;
      outside[plot.name] = traces.flatMap((t) => [...(t.y ?? [])]).filter((y) => y < low || y > high).length;
      report();
    });
  }

  // Median and quartiles over seeds, one colour a run.
  function bands(runs, tag, unit) {
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
      traces.push({x: curve.step, y: curve.median, name: run.label, mode: curve.step.length > 1 ? "lines" : "markers", legendgroup: run.label,
                   line: {color: colour(run), width: 2.2}, marker: {color: colour(run), size: 7}, customdata: curve.low.map((low, i) => [low, curve.high[i]]),
                   hovertemplate: `<b>${run.label}</b><br>%{x:,} ${unit}<br>median %{y:.4~g}` +
                                  "<br>quartiles %{customdata[0]:.4~g} to %{customdata[1]:.4~g}<extra></extra>"});
    }
    return traces;
  }

  function figure(title, caption, wide = false) {
    const plot = element("div", {class: "plot"});
    const words = element("figcaption", {}, element("h3", {}, title), element("p", {}, caption));
    return {node: element("figure", wide ? {class: "wide"} : {}, words, plot), plot, words};
  }

  // Buttons of which one is pressed: the first of `names` until the reader chooses.
  function choice(label, names, choose) {
    const node = element("span", {class: "choice", role: "group", "aria-label": label});
    for (const name of names) {
      const button = element("button", {type: "button", "aria-pressed": String(name === names[0])}, name);
      button.addEventListener("click", () => {
        for (const other of node.children) other.setAttribute("aria-pressed", String(other === button));
        choose(name);
      });
      node.append(button);
    }
    return node;
  }
  const scaleChoice = (plot) => choice("Scale of the vertical axis", ["linear", "log"], (scale) => {
    plot.changes.scale = scale;
    draw(plot);
  });

  const last = (list) => list[list.length - 1];
  const sameSeeds = (runs) => new Set(runs.map((run) => String(run.summary.seeds))).size === 1;
  const seedNames = (seeds) => seeds.length === 1 ? `seed ${seeds[0]}` : `seeds ${seeds[0]} to ${last(seeds)}`;

  function facts(pairs) {
    const list = element("dl", {class: "facts"});
    for (const [name, value] of pairs) {
      if (value === undefined || value === null || value === "") continue;
      list.append(element("dt", {}, name), element("dd", {}, String(value)));
    }
    return list;
  }

  // One curve a run, of those that have it.
  function overTime(group, key, unit, tag, title, caption, axisTitle, extra = {}) {
    const runs = group.runs.filter((run) => run.curves[tag]);
    if (!runs.length) return [];
    const {node, plot} = figure(title, caption);
    addPlot(plot, `${key}${tag}`, () => ({traces: bands(runs, tag, unit),
      frame: {xaxis: {title: {text: unit}, tickformat: ","}, yaxis: {title: {text: axisTitle}, ...extra}}}));
    return [node];
  }

  // An axis of counts, which has no fractions.
  const countAxis = (text, most) => ({title: {text}, rangemode: "tozero", ...(most <= 10 ? {dtick: 1} : {})});

  // What averages over 1, 2, … samples of a run's weights lose, the mean over seeds; `score(run, loss)` is in the axis' unit.
  function averages(group, key, what, axisTitle, score) {
    const several = group.runs.filter((run) => run.averages?.test.thinned[0]?.length > 1);
    if (!several.length) return [];
    const {node, plot} = figure("Averages over samples", `${what} of averages over more and more samples: the first ones ` +
      "(dotted), the last ones (dashed), or samples at equal distances. Mean over seeds.", true);
    const dashes = {forward: "dot", backward: "dash", thinned: "solid"};
    const meanScore = (run, seeds) => seeds[0].map((_, i) => seeds.reduce((sum, seed) => sum + score(run, seed[i]), 0) / seeds.length);
    addPlot(plot, `${key}averages`, () => ({
      traces: several.flatMap((run) => Object.entries(dashes).map(([name, dash]) => ({
        x: run.averages.test[name][0].map((_, i) => i + 1), y: meanScore(run, run.averages.test[name]), name: `${run.label}, ${name}`,
        mode: "lines", line: {color: colour(run), dash, width: 2},
        hovertemplate: `<b>${run.label}</b>, ${name}<br>%{x} samples<br>%{y:.4~g}<extra></extra>`}))),
      frame: {xaxis: countAxis("samples", Math.max(...several.map((run) => run.averages.test.thinned[0].length))),
              yaxis: {title: {text: axisTitle}}}}));
    return [node];
  }

  // Runs whose `field` cannot be told from that of `best`, itself included: the 95 % interval of the difference, paired by
  // seed, contains 0, or there is none, as of a single seed or of other seeds than those of `best`.
  function notToldApart(group, field, best) {
    const pairs = group.differences.list.filter((d) => d.field === field && d.interval !== null);
    return group.runs.filter((run) => !pairs.some(({first, second, interval: [low, high]}) =>
      (low > 0 || high < 0) && (first === best.label ? second === run.label : second === best.label && first === run.label)));
  }

  // How pairs of runs differ in `field` of their summaries, with intervals; `better` says which side of 0 is the better.
  function differences(group, key, field, title, axisTitle, better) {
    const mostPairs = 30;  // a figure can be read with
    const all = group.differences.list.filter((d) => d.field === field);
    const more = group.differences.left_out + Math.max(0, all.length - mostPairs);
    const known = all.slice(0, mostPairs).filter((d) => d.difference !== null).reverse();  // the first on top
    if (!known.length) return [];
    const many = known.length > 10;
    const {node, plot} = figure(title,
      "Seeds are paired: the mean over seeds of the first run less the second, both on the same seed" +
      (known.some((d) => d.interval) ? ", with the 95 % interval of Student's t for this pair alone. " : "; a single seed tells no interval. ") +
      `${better}${more ? ` ${count(more, "more pair")} of runs not shown.` : ""}`, many);
    if (many) plot.style.height = `${6 + 1.4 * known.length}rem`;
    const name = (d) => `${d.first} − ${d.second}`, ends = (d) => d.interval ?? [d.difference, d.difference];
    addPlot(plot, `${key}differences`, () => ({
      traces: [{x: known.map((d) => d.difference), y: known.map((_, i) => i), mode: "markers", showlegend: false,
                marker: {color: ink(), size: 8},
                error_x: {type: "data", symmetric: false, array: known.map((d) => ends(d)[1] - d.difference),
                          arrayminus: known.map((d) => d.difference - ends(d)[0]), color: soft(), thickness: 1.6},
                customdata: known.map((d) => [name(d), d.interval ? `${rounded(ends(d)[0])} to ${rounded(ends(d)[1])}` : "one seed"]),
                hovertemplate: "<b>%{customdata[0]}</b><br>%{x:.4~g}<br>%{customdata[1]}<extra></extra>"}],
      frame: {margin: {l: 20}, xaxis: {title: {text: axisTitle}, tickformat: ","},
              shapes: [{type: "line", yref: "paper", x0: 0, x1: 0, y0: 0, y1: 1, line: {color: soft(), width: 1.4, dash: "dot"}}],
              yaxis: {tickvals: known.map((_, i) => i), ticktext: known.map(name), range: [-0.5, known.length - 0.5],
                      showgrid: false, zeroline: false}}}));
    return [node];
  }

  // Rows of runs with a swatch of their colour; each column is [name, (summary, run) → [main, spread]], best cells bold.
  function table(runs, heading, columns, isBest) {
    const head = element("tr", {}, element("th", {scope: "col"}, heading), ...columns.map(([name]) => element("th", {scope: "col"}, name)));
    const rows = runs.map((run) => {
      const swatch = element("span", {class: "swatch"});
      (run.swatches ??= []).push(swatch);
      return element("tr", {}, element("td", {}, swatch, run.label), ...columns.map(([name, text]) => {
        const [main, spread] = text(run.summary, run);
        const cell = element("td", isBest(name, run) ? {class: "best"} : {}, main);
        if (spread) cell.classList.add("measured"), cell.append(element("span", {class: "spread"}, spread));
        return cell;
      }));
    });
    return element("div", {class: columns.length > 8 ? "scroll wide-table" : "scroll"},
                   element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
  }

  const colourSwatches = (runs) => runs.forEach((run) => (run.swatches ?? []).forEach((swatch) => {
    swatch.style.background = colour(run);
  }));

  // What runs warn of, under their names where there are several.
  const warnings = (runs) => runs.flatMap((run) => (run.summary.warnings ?? []).map((text) =>
    element("div", {class: "notice"}, runs.length > 1 ? `${run.label}: ${text}` : text)));

  // What the temperature meters of chains read in the first seed, layer by layer.
  function temperatures(runs) {
    const read = runs.filter((run) => run.summary.temperatures);
    if (!read.length) return [];
    const number = (value) => value === null ? "?" : format(value, 3);
    const layers = (summary) => summary.temperatures.map(({layer, temperature, interval: [low, high]}) =>
      `${layer} ${number(temperature)} (${low === null ? "no interval" : `${number(low)} to ${number(high)}`})`).join(", ");
    return [table(read, "temperature", [["asked for", (summary) => [number(summary.temperature)]], ["as read, with 99 % intervals", (summary) => [layers(summary)]]],
      () => false)];
  }

  // "3 runs, 2 to 3 seeds (not the same in all runs)".
  function counts(runs) {
    const seeds = runs.map((run) => run.summary.seeds.length);
    const [fewest, most] = [Math.min(...seeds), Math.max(...seeds)];
    return `${count(runs.length, "run")}, ` + (fewest === most ? count(most, "seed") : `${fewest} to ${count(most, "seed")}`) +
           (sameSeeds(runs) ? "" : " (not the same in all runs)");
  }

  const tools = {element, format, rounded, count, alpha, colour, soft, ink, addPlot, draw, bands, figure, choice, scaleChoice, last,
                 sameSeeds, seedNames, counts, overTime, countAxis, averages, differences, notToldApart, facts, table, colourSwatches, warnings, temperatures, groups, mean, weightMethods};
  // Of runs that have no result yet: why, and every metric so far.
  const soFar = (kind) => ({
    name: kind.name,
    title: (group) => `${group.task}, not finished`,
    badge: () => "",
    section: (group, key) => {
      const tags = [...new Set(group.runs.flatMap((run) => Object.keys(run.curves)))].sort();
      const words = (tag) => tag.replaceAll("_", " "), sentence = (text) => text[0].toUpperCase() + text.slice(1);
      const figures = tags.flatMap((tag) => overTime(group, key, group.unit, tag, sentence(words(tag)),
        "Median over seeds; the band holds the middle half of them.", words(tag)));
      figures[0]?.classList.add("wide");
      return [...group.runs.map((run) => element("div", {class: "notice"}, sentence(run.unfinished))),
              element("p", {class: "lead"}, `So far: ${group.runs.map((run) =>
                `${run.label} ${run.summary.steps.toLocaleString("en-GB")} ${group.unit}, ${count(run.summary.seeds.length, "seed")}`).join("; ")}.`),
              element("div", {class: "plots"}, ...figures)];
    },
    facts: () => [],
  });

  const kinds = Object.fromEntries(Object.entries(kindScripts).map(([name, script]) => [name, script(tools)]));
  const page = document.getElementById("page");
  const names = new Set(groups.map((group) => kinds[group.kind].name));
  if (groups.length > 1) page.append(element("h1", {}, names.size > 1 ? "Report" : `${[...names][0]} report`));
  for (const group of groups) {
    const kind = group.unfinished ? soFar(kinds[group.kind]) : kinds[group.kind], single = groups.length === 1;
    paint(group.runs, kind);
    const title = kind.title(group), key = single ? "" : `${title}/`;
    page.append(
      element(single ? "h1" : "h2", {}, single ? `${kind.name} report: ${title}` : title, kind.badge(group)),
      ...kind.section(group, key),
      element(single ? "h2" : "h3", {class: "provenance"}, "Settings and provenance"),
      ...group.runs.map((run) => element("details", {}, element("summary", {}, run.label), facts([
        ...kind.facts(run),
        ["Stein", `${run.manifest.version}, commit ${run.manifest.commit}`], ["instructions", run.manifest.simd_target],
        ["threads", run.manifest.threads], ["device", run.manifest.device],
        ["peak memory", run.unfinished ? "" : `${format(run.summary.peak_memory_mb, 0)} MB`], ["directory", run.summary.run_directory],
      ]), element("pre", {}, run.config))));
  }
  page.append(element("footer", {}, `Written by Stein ${version}, commit ${commit}. This page needs no network.`));

  const drawAll = () => { groups.forEach((group) => colourSwatches(group.runs)); return Promise.all(plots.map(draw)); };
  dark.addEventListener("change", drawAll);
  report();
  drawAll().then(() => { root.dataset.ready = "true"; });
})();
