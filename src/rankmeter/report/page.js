"use strict";
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const at = (id) => document.getElementById(id);
  const data = read("data");
  const specs = read("specs");
  const PAGE = 25;
  const NAMED = 3; // a mark of several queries names so many
  const ROW = 26; // pixels of a label
  const COLUMNS = ["query", "baseline", "system", "difference"];
  const names = [data.baseline, ...data.systems];
  const state = {
    system: 0, metric: 0, show: "changed", search: "",
    sort: "change", descending: true, page: 0,
  };
  const collator = new Intl.Collator("en", { numeric: true });
  const lowered = data.queries.map((query) => query.toLowerCase());
  const documents = new Map(Object.entries(data.rankings).map(([i, lists]) =>
    [Number(i), lists.flat().map(([id]) => id.toLowerCase())]));
  let rows = [];
  let open = new Set();

  // Whatever comes from a file is put on the page by this function only, as text.
  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    for (const child of children) made.append(child);
    return made;
  }

  const id = (text) => element("bdi", {}, text);
  const number = (value) => value.toFixed(4);
  const signed = (value) => (value > 0 ? "+" : value < 0 ? "−" : "") + number(Math.abs(value));
  const count = (n) => n === 1 ? "1 query" : `${n.toLocaleString("en")} queries`;
  const direction = (d) => d > 0 ? "better" : d < 0 ? "worse" : "same";
  const system = () => data.systems[state.system];
  const metric = () => data.metrics[state.metric];

  function values() {
    const before = data.values[data.baseline][state.metric];
    const after = data.values[system()][state.metric];
    const change = data.differences[system()][state.metric];
    return data.queries.map((_, i) =>
      ({ i, baseline: before[i], system: after[i], difference: change[i] }));
  }

  // ------------------------------------------------------------------------------------------
  // Charts

  const drawn = new Map();

  async function draw(place, name, datasets, change) {
    const spec = structuredClone(specs[name]);
    spec.datasets = datasets;
    change(spec);
    if (drawn.has(place)) drawn.get(place).finalize();
    drawn.delete(place);
    place.replaceChildren();
    if (!datasets.points.length) return null;
    const result = await vegaEmbed(place, spec, {
      mode: "vega-lite", renderer: "svg", actions: false, ast: true, defaultStyle: false,
      tooltip: { disableDefaultStyle: true },
    });
    drawn.set(place, result);
    const picture = place.querySelector("svg");
    if (picture) picture.setAttribute("aria-hidden", "true"); // the place around it has the words
    return result.view;
  }

  const scatter = { marks: [], view: null, picked: -1 };

  function grouped(all) {
    const marks = new Map();
    for (const row of all) {
      const key = `${row.baseline} ${row.system} ${direction(row.difference)}`;
      if (!marks.has(key)) {
        marks.set(key, {
          baseline: row.baseline, system: row.system, difference: row.difference,
          direction: direction(row.difference), rows: [],
        });
      }
      marks.get(key).rows.push(row.i);
    }
    const sorted = [...marks.values()].sort((a, b) => b.difference - a.difference);
    sorted.forEach((mark, place) => {
      mark.place = place;
      mark.count = mark.rows.length;
      const named = mark.rows.slice(0, NAMED).map((i) => data.queries[i]).join(", ");
      mark.names = mark.count > NAMED ? `${named} and ${mark.count - NAMED} more` : named;
    });
    return sorted;
  }

  async function drawScatter(all) {
    scatter.marks = grouped(all);
    scatter.picked = -1;
    at("said").textContent = "";
    const both = all.flatMap((row) => [row.baseline, row.system]);
    let low = both.reduce((a, b) => Math.min(a, b), 0);
    let high = both.reduce((a, b) => Math.max(a, b), low + 1e-9);
    if (high <= 1 && high > 0.5) high = 1;
    at("scatter").setAttribute("aria-label",
      `${metric()} of each query, ${data.baseline} across and ${system()} upwards`);
    const points = scatter.marks.map(({ rows, ...mark }) => mark);
    scatter.view = await draw(at("scatter"), "scatter",
      { points, diagonal: [{ at: low }, { at: high }] },
      (spec) => {
        const [line, marks, ring] = spec.layer;
        for (const layer of [line, marks, ring]) {
          layer.encoding.x.title = `${data.baseline}: ${metric()}`;
          layer.encoding.y.title = `${system()}: ${metric()}`;
          layer.encoding.x.scale = layer.encoding.y.scale = { domain: [low, high] };
        }
        // The more marks, the smaller and the fainter, so that a cloud keeps its shape.
        const many = Math.min(1, 60 / points.length);
        const size = 12 + 60 * Math.sqrt(many);
        const most = points.reduce((n, mark) => Math.max(n, mark.count), 2);
        Object.assign(marks.encoding.size.scale, { domain: [1, most], range: [size, 6 * size] });
        marks.mark.opacity = 0.3 + 0.5 * Math.sqrt(many);
        marks.encoding.tooltip[1].title = data.baseline;
        marks.encoding.tooltip[2].title = system();
      });
    scatter.view.addEventListener("click", (_, item) => {
      if (item && item.datum && item.datum.place !== undefined) {
        pick(item.datum.place);
        reveal();
      }
    });
  }

  function pick(place) {
    scatter.picked = place;
    const mark = scatter.marks[place];
    at("said").textContent = `${mark.names}: ${number(mark.baseline)} before, ` +
      `${number(mark.system)} now, ${signed(mark.difference)}`;
    if (scatter.view) scatter.view.signal("picked", place).runAsync();
  }

  function reveal() {
    if (scatter.picked < 0) return;
    const first = data.queries[scatter.marks[scatter.picked].rows[0]];
    at("search").value = first;
    at("show").value = "all";
    Object.assign(state, { search: first, show: "all", page: 0 });
    list();
    at("search").focus();
  }

  at("scatter").addEventListener("keydown", (event) => {
    const last = scatter.marks.length - 1;
    const { picked } = scatter;
    const next = {
      ArrowRight: Math.min(picked + 1, last), ArrowDown: Math.min(picked + 1, last),
      ArrowLeft: Math.max(picked - 1, 0), ArrowUp: Math.max(picked - 1, 0), Home: 0, End: last,
    }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      pick(next);
    } else if (event.key === "Enter") {
      reveal();
    }
  });

  function bins(all) {
    const changed = all.map((row) => row.difference).filter((d) => d !== 0);
    const most = changed.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    if (!most) return [];
    const rough = most / 12;
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = unit * [1, 2, 5, 10].find((factor) => factor * unit >= rough * 0.999);
    const found = new Map();
    for (const d of changed) {
      // A change that ends a bin belongs to it, on both sides of 0.
      const n = Math.max(1, Math.ceil(Math.abs(d) / step - 1e-6)) * Math.sign(d);
      found.set(n, (found.get(n) || 0) + 1);
    }
    const places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    return [...found].sort(([a], [b]) => a - b).map(([n, size]) => {
      const [low, high] = n > 0 ? [(n - 1) * step, n * step] : [n * step, (n + 1) * step];
      return {
        low, high, count: size, direction: direction(n),
        range: `${low.toFixed(places)} to ${high.toFixed(places)}`.replaceAll("-", "−"),
      };
    });
  }

  async function drawDistribution(all) {
    const wins = all.filter((row) => row.difference > 0).length;
    const losses = all.filter((row) => row.difference < 0).length;
    const same = all.length - wins - losses;
    const changed = all.map((row) => row.difference).filter((d) => d).sort((a, b) => a - b);
    let words = `Differences in ${metric()}: ${count(wins)} improved, ${losses.toLocaleString("en")} ` +
      `regressed; ${same.toLocaleString("en")} without a difference are not drawn.`;
    if (changed.length) {
      const middle = (changed[Math.floor((changed.length - 1) / 2)] +
        changed[Math.ceil((changed.length - 1) / 2)]) / 2;
      words += ` The median of those that changed is ${signed(middle)}, from ` +
        `${signed(changed[0])} to ${signed(changed[changed.length - 1])}.`;
    }
    at("distribution-help").textContent = words;
    at("distribution").setAttribute("aria-label", words);
    const points = bins(all);
    await draw(at("distribution"), "distribution", { points }, (spec) => {
      const most = points.reduce((n, bin) => Math.max(n, bin.count), 0);
      if (most <= 5) spec.encoding.y.axis.values = [...Array(most + 1).keys()];
      spec.encoding.x.title = `difference in ${metric()}`;
    });
  }

  async function drawFacets() {
    for (const place of document.querySelectorAll(".facet")) {
      const points = data.facets.filter((row) => row.facet === Number(place.dataset.facet) &&
        row.system === system() && row.metric === metric());
      await draw(place, "intervals", { points }, (spec) => {
        spec.height = ROW * points.length;
        if (points.every((point) => point.low === null)) spec.layer.splice(1, 1);
        for (const layer of spec.layer) {
          layer.encoding.x.title = `difference in ${metric()}`;
        }
      });
    }
  }

  async function drawCurves() {
    const place = at("curve-charts");
    if (!place) return;
    // All places first: a chart takes the width that its place has when it is drawn.
    const charts = [];
    for (const name of [...new Set(data.curves.map((curve) => curve.metric))]) {
      const points = data.curves.filter((curve) => curve.metric === name)
        .flatMap((curve) => curve.points.map((point) => ({ ...point, system: curve.system })));
      const chart = element("div", { class: "chart", role: "img",
        "aria-label": `${name} at several k of ${names.join(", ")}; the numbers stand in the table below` });
      place.append(element("figure", {}, chart));
      charts.push([chart, name, points]);
    }
    for (const [chart, name, points] of charts) {
      await draw(chart, "curves", { points }, (spec) => {
        spec.encoding.x.axis.values = [...new Set(points.map((point) => point.k))];
        spec.encoding.y.title = name;
        // The same order for all three makes them one legend.
        for (const channel of ["color", "shape", "strokeDash"]) {
          spec.encoding[channel].scale.domain = names;
        }
      });
    }
  }

  async function drawRisk() {
    const place = at("risk-charts");
    if (!place) return;
    for (const chart of place.querySelectorAll(".chart")) {
      if (drawn.has(chart)) drawn.get(chart).finalize();
      drawn.delete(chart);
    }
    place.replaceChildren();
    const curves = data.risk[metric()];
    if (!curves) {
      place.append(element("p", {}, "This metric is not from 0 to 1, so it has no risk."));
      return;
    }
    const wanted = curves.filter((curve) => [data.baseline, system()].includes(curve.system));
    const charts = [];
    for (const curve of wanted) {
      const points = [];
      curve.coverage.forEach((coverage, i) => {
        points.push({ coverage, risk: curve.risk[i], curve: "top score" });
      });
      curve.coverage.forEach((coverage) => {
        points.push({ coverage, risk: curve.random, curve: "random" });
      });
      curve.coverage.forEach((coverage, i) => {
        points.push({ coverage, risk: curve.oracle[i], curve: "oracle" });
      });
      const chart = element("div", { class: "chart", role: "img",
        "aria-label": `Risk and coverage of ${curve.system}; the numbers stand in the table below` });
      place.append(element("figure", {}, chart, element("figcaption", {}, id(curve.system))));
      charts.push([chart, points]);
    }
    for (const [chart, points] of charts) {
      await draw(chart, "risk", { points }, (spec) => {
        spec.encoding.y.title = `risk: 1 − ${metric()}`;
      });
    }
  }

  // ------------------------------------------------------------------------------------------
  // The table

  function head() {
    const titles = ["query", data.baseline, system(), "difference"];
    at("movers-head").replaceChildren(...COLUMNS.map((column, i) => {
      const active = state.sort === column || (column === "difference" && state.sort === "change");
      const shown = state.sort === "change" && active ? "size" : state.descending ? "↓" : "↑";
      const arrow = element("span", { "aria-hidden": "true" }, active && shown !== "size" ? shown : "");
      const button = element("button", { type: "button", "data-sort": column }, id(titles[i]), arrow);
      const cell = element("th", { scope: "col", class: i ? "" : "id" }, button);
      cell.setAttribute("aria-sort", !active || state.sort === "change" ? "none" :
        state.descending ? "descending" : "ascending");
      return cell;
    }));
    at("movers-caption").textContent = `${metric()} of each query, ` +
      (state.sort === "change" ? "the largest changes first" : `sorted by ${titles[COLUMNS.indexOf(state.sort)]}`);
  }

  function chosen() {
    const wanted = state.search.trim().toLowerCase();
    const found = rows.filter(({ i, difference }) =>
      (state.show === "all" || (state.show === "changed" ? difference !== 0
        : direction(difference) === state.show)) &&
      (!wanted || lowered[i].includes(wanted) ||
        (documents.get(i) || []).some((name) => name.includes(wanted))));
    const way = state.descending ? -1 : 1;
    const compare = {
      query: (a, b) => way * collator.compare(data.queries[a.i], data.queries[b.i]),
      change: (a, b) => Math.abs(b.difference) - Math.abs(a.difference),
    }[state.sort] || ((a, b) => way * (a[state.sort] - b[state.sort]));
    // The query that was searched for comes before those that only hold its name.
    const exact = (row) => wanted && lowered[row.i] === wanted ? 0 : 1;
    return found.sort((a, b) => exact(a) - exact(b) || compare(a, b) || a.i - b.i);
  }

  function documentCell(entry) {
    if (!entry) return element("td", { class: "id" });
    const [name, grade] = entry;
    const words = grade === null ? "not judged" : `grade ${grade}`;
    const shown = element("span", { class: "grade", title: words },
      element("span", { "aria-hidden": "true" }, grade === null ? "–" : String(grade)));
    shown.append(element("span", { class: "unseen" }, words));
    return element("td", { class: grade > 0 ? "id relevant" : "id" }, shown, id(name));
  }

  function ranks(i) {
    const before = data.rankings[i][0];
    const after = data.rankings[i][1 + state.system];
    const body = element("tbody");
    for (let rank = 0; rank < Math.max(before.length, after.length, 1); rank += 1) {
      body.append(element("tr", {}, element("th", { scope: "row" }, String(rank + 1)),
        documentCell(before[rank]), documentCell(after[rank])));
    }
    return element("table", {},
      element("caption", {}, "Ranked documents of ", id(data.queries[i])),
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "rank"),
        element("th", { scope: "col", class: "id" }, id(data.baseline)),
        element("th", { scope: "col", class: "id" }, id(system())))),
      body);
  }

  function list() {
    head();
    const found = chosen();
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    state.page = Math.min(state.page, pages - 1);
    const start = state.page * PAGE;
    const shown = found.slice(start, start + PAGE);
    at("found").textContent = found.length
      ? `${count(found.length)}; ${start + 1} to ${start + shown.length} are shown`
      : "No query is like this";
    at("previous").disabled = state.page === 0;
    at("next").disabled = state.page === pages - 1;
    const body = [];
    for (const row of shown) {
      const { i } = row;
      const name = element("td", { class: "id" });
      if (data.rankings[i]) {
        const button = element("button", { type: "button", "data-open": i,
          "aria-expanded": String(open.has(i)), "aria-controls": `ranks-${i}` },
        open.has(i) ? "▾ " : "▸ ", id(data.queries[i]));
        name.append(button);
      } else {
        name.append(id(data.queries[i]));
      }
      const way = direction(row.difference);
      body.push(element("tr", {}, name, element("td", {}, number(row.baseline)),
        element("td", {}, number(row.system)),
        element("td", { class: `is-${way}` }, signed(row.difference))));
      if (open.has(i) && data.rankings[i]) {
        body.push(element("tr", { class: "ranks", id: `ranks-${i}` },
          element("td", { colspan: 4 }, ranks(i))));
      }
    }
    at("movers-body").replaceChildren(...body);
  }

  at("movers-head").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const column = button.dataset.sort;
    state.descending = state.sort === column ? !state.descending : column !== "query";
    state.sort = column;
    state.page = 0;
    list();
    at("movers-head").querySelector(`[data-sort="${column}"]`).focus();
  });
  at("movers-body").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const i = Number(button.dataset.open);
    if (!open.delete(i)) open.add(i);
    list();
    at("movers-body").querySelector(`[data-open="${i}"]`).focus();
  });
  at("search").addEventListener("input", () => {
    Object.assign(state, { search: at("search").value, page: 0 });
    list();
  });
  at("show").addEventListener("change", () => {
    Object.assign(state, { show: at("show").value, page: 0 });
    list();
  });
  for (const [button, step] of [["previous", -1], ["next", 1]]) {
    at(button).addEventListener("click", () => {
      state.page += step;
      list();
      at("movers-section").scrollIntoView();
    });
  }

  // ------------------------------------------------------------------------------------------
  // Everything

  let last = Promise.resolve();

  function refresh() {
    rows = values();
    open = new Set();
    list();
    // One drawing after the other: a choice made meanwhile waits for its turn.
    last = last.then(async () => {
      await drawScatter(rows);
      await drawDistribution(rows);
      await drawFacets();
      await drawRisk();
    });
    return last;
  }

  for (const [name, options] of [["system", data.systems], ["metric", data.metrics]]) {
    at(name).replaceChildren(...options.map((option, i) => element("option", { value: i }, option)));
    at(name).addEventListener("change", () => {
      Object.assign(state, { [name]: Number(at(name).value), page: 0 });
      refresh();
    });
  }
  window.addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details")) part.open = true;
  });
  refresh();
  last = last.then(drawCurves).then(() => {
    document.documentElement.dataset.ready = String(Math.round(performance.now()));
  });
})();
