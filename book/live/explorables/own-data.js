// Own data: paste or drop a table; its front, gaps and price, and a race of the policies on it.
// Nothing leaves the page.  What people paste is only ever shown as text.

import {axes, define, el, path, range, scale, svg, tidy, whole} from "../kit.js";
import {exactSum, front, gaps, leads, meanInterval, price, regret} from "../math.js";

const MOST = {bytes: 20e6, rows: 100_000, arms: 100, objectives: 20, shown: 14};
const RUNS = 20, NUMBER = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i;

// From a text to a table.

/** What is wrong with a table, in one sentence. */
class Unfit extends Error {}

/** A name as it may be shown: one line, and a long one without its middle. */
const clip = (text, most = 18) => {
  const plain = [...String(text).replace(/[\p{C}\s]+/gu, " ").trim()];
  return plain.length <= most ? plain.join("") || "(no name)" : `${plain.slice(0, most - 7).join("")}…${plain.slice(-6).join("")}`;
};
const quote = (text) => `“${clip(text)}”`;
const byCodePoint = (p, q) => {
  const [a, b] = [[...p], [...q]], k = a.findIndex((x, i) => x !== b[i]);
  return k < 0 ? a.length - b.length : k >= b.length ? 1 : a[k].codePointAt(0) - b[k].codePointAt(0);
};

/** Which sign parts the cells: the one that is most frequent in the header. */
function delimiter(text) {
  const header = text.slice(0, 10_000).split(/[\r\n]/, 1)[0].replace(/"[^"]*"/g, "");
  const count = (sign) => header.split(sign).length;
  return [",", ";", "\t"].reduce((best, sign) => (count(sign) > count(best) ? sign : best));
}

/** The cells, row by row; a cell in quotes may hold anything, a quote is doubled in it. */
function cells(text, sign) {
  const rows = [];
  const add = (row) => {
    if (row.length === 1 && row[0] === "") return;
    if (rows.push(row) > MOST.rows + 1) throw new Unfit(`A page plays with at most ${tidy(MOST.rows, 6)} rows; momab study takes any table.`);
  };
  if (!text.includes('"')) {
    for (const line of text.split(/\r\n|\n|\r/)) add(line.split(sign));
    return rows;
  }
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|(?!")([^${sign}\\r\\n]*))(${sign}|\\r\\n|\\n|\\r|$)`, "y");
  let row = [], at = 0;
  while (at < text.length) {
    cell.lastIndex = at;
    const found = cell.exec(text);
    if (!found) throw new Unfit(`${rows.length ? `Row ${rows.length}` : "The header"} has a quotation mark that does not end its cell.`);
    row.push(found[1] === undefined ? found[2] : found[1].replaceAll('""', '"'));
    at = cell.lastIndex;
    if (found[3] !== sign) add(row), row = [];
  }
  if (row.length) add([...row, ""]);
  return rows;
}

/** A table from text: {name, sign, decimal, columns: [{name, cells, numbers}]}. */
function readTable(text, name, encoding = "") {
  if (text.length > MOST.bytes) throw new Unfit(`A page plays with at most ${MOST.bytes / 1e6} MB; momab study takes any table.`);
  const plain = text.replace(/^\uFEFF/, "");
  if (plain.trim() === "") throw new Unfit("The table is empty; it needs a header and rows.");
  if (/[\u0000-\u0008\u000E-\u001F\uFFFD]/.test(plain)) throw new Unfit("This is not a table in plain text; save it as CSV first.");
  const sign = delimiter(plain), [header, ...rows] = cells(plain, sign);
  if (header.length < 2) throw new Unfit("The table has one column; it needs one that says who, and one of numbers.");
  if (!rows.length) throw new Unfit("The table has a header and no rows.");
  const ragged = rows.findIndex((row) => row.length !== header.length);
  if (ragged >= 0) throw new Unfit(`Row ${ragged + 1} has ${rows[ragged].length} cells, the header has ${header.length}.`);
  const names = header.map((title, k) => (title === "" ? `Unnamed: ${k}` : title));
  const twice = names.find((title, k) => names.indexOf(title) !== k);
  if (twice !== undefined) throw new Unfit(`Two columns are called ${quote(twice)}.`);
  const comma = sign !== "," && rows.some((row) => row.some((x) => /^\s*[+-]?\d*,\d+\s*$/.test(x)));
  const columns = names.map((title, k) => column(title, rows.map((row) => row[k]), comma));
  return {name, sign, comma, encoding, columns, rows: rows.length};
}

/** A column; it has numbers if at least half of its cells are, and then all of them must be. */
function column(name, list, comma) {
  const texts = comma ? list.map((x) => x.replace(",", ".")) : list;
  const good = texts.map((x) => NUMBER.test(x));
  const many = good.filter(Boolean).length;
  if (many < list.length / 2) return {name, cells: list, numbers: null};
  const bad = good.indexOf(false), numbers = texts.map(Number);
  const far = numbers.findIndex((x) => !Number.isFinite(x));
  return {name, cells: list, numbers, wrong: bad >= 0
    ? `Row ${bad + 1} of column ${quote(name)} is ${list[bad].trim() === "" ? "empty" : `${quote(list[bad])}, which is no number`}.`
    : far >= 0 ? `Row ${far + 1} of column ${quote(name)} is too large.` : ""};
}

/** The example: eight cafés. */
function example() {
  const {columns, arms, rows, ratings} = globalThis.momabLive.data["own-data"], d = columns.length - 1;
  const bytes = Uint8Array.from(atob(ratings), (c) => c.charCodeAt(0));
  const names = arms.flatMap((arm) => Array(rows).fill(arm));
  return {name: null, rows: names.length, columns: columns.map((name, j) => ({name, cells: names,
    numbers: j ? names.map((_, i) => bytes[i * d + j - 1] / 100) : null}))};
}

const EXAMPLE = example();
let table = EXAMPLE, version = 0, made = {};

const armColumn = ({arm}) => (arm in table.columns ? arm : Math.max(0, table.columns.findIndex((one) => !one.numbers)));
const candidates = (state) => table.columns.map((_, k) => k).filter((k) => k !== armColumn(state) && table.columns[k].numbers);

/** The instance that the table gives with the chosen columns, or a sentence. */
function instance(state) {
  const key = JSON.stringify([version, state.arm, state.out]);
  if (made.key !== key) {
    try {
      made = {key, ...build(state)};
    } catch (error) {
      made = {key, wrong: error instanceof Unfit ? error.message : "This table could not be used."};
    }
  }
  return made;
}

function build(state) {
  const who = table.columns[armColumn(state)];
  const kept = candidates(state).filter((k) => !state.out.includes(k)).map((k) => table.columns[k]);
  if (!kept.length) throw new Unfit(`Beside ${quote(who.name)} no column of numbers is chosen.`);
  if (kept.length > MOST.objectives) throw new Unfit(`A page plays with at most ${MOST.objectives} objectives; this table has ${kept.length}.`);
  const wrong = kept.find((one) => one.wrong);
  if (wrong) throw new Unfit(wrong.wrong);
  const places = new Map();
  who.cells.forEach((name, i) => (places.has(name) ? places.get(name).push(i) : places.set(name, [i])));
  if (places.size < 2) throw new Unfit(`Column ${quote(who.name)} names one arm only; a race needs two.`);
  if (places.size > MOST.arms) throw new Unfit(`Column ${quote(who.name)} names ${tidy(places.size, 7)} arms; a page plays with at most ${MOST.arms}.`);
  if (places.has("")) throw new Unfit(`Row ${places.get("")[0] + 1} does not say who: column ${quote(who.name)} is empty.`);
  const scaled = {};
  const values = kept.map(({name, numbers}) => {
    const low = numbers.reduce((x, y) => Math.min(x, y)), high = numbers.reduce((x, y) => Math.max(x, y));
    if (low >= 0 && high <= 1) return numbers;
    if (!(low < high)) throw new Unfit(`Column ${quote(name)} has the same number everywhere, outside [0, 1].`);
    if (!Number.isFinite(high - low)) throw new Unfit(`The numbers of column ${quote(name)} are too large.`);
    scaled[name] = [low, high];
    return numbers.map((x) => (x - low) / (high - low));
  });
  const names = [...places.keys()].sort(byCodePoint);
  const arms = names.map((name) => places.get(name).map((i) => values.map((list) => list[i])));
  const means = arms.map((rows) => values.map((_, j) => exactSum(rows.map((row) => row[j])) / rows.length));
  return {names, arms, means, scaled, who: who.name, objectives: kept.map((one) => one.name),
    on: front(means), gap: gaps(means), lead: leads(means), cheapest: price(means)};
}

// The race.

const players = ({c}) => [
  {label: "Width-guided", colour: "blue", dash: "", policy: {family: "width-guided", c: 2}, code: "momab.WidthGuided()"},
  {label: `Width-guided (c = ${c})`, colour: "ink", dash: "7 4", policy: {family: "width-guided", c}, code: `momab.WidthGuided(c=${c})`},
  {label: "Pareto UCB1", colour: "orange", dash: "", policy: {family: "pareto-ucb1"}, code: "momab.ParetoUCB1()"},
  {label: "Annealing-Pareto", colour: "green", dash: "2 3", policy: {family: "annealing-pareto"}, code: "momab.AnnealingPareto()"},
  {label: "Scalarized UCB", colour: "pink", dash: "9 3 2 3", policy: {family: "scalarized-ucb"}, code: "momab.ScalarizedUCB()"},
];

const steps = ({horizon}) => [...new Set(Array.from({length: 40}, (_, i) => Math.round(100 * (horizon / 100) ** (i / 39))))];
const workKey = ({arm, out, horizon, c, seed}) => JSON.stringify([version, arm, out, horizon, c, seed]);
let played = "";

/** Mean regret of every policy at every step, or null while they play. */
function curves(state, result) {
  const {gap} = instance(state);
  if (!result || played !== workKey(state) || !gap) return null;
  return result.map(({counts}) => steps(state).map((_, i) => meanInterval(counts.map((run) => regret(run[i], gap)))[0]));
}

function work(state) {
  played = workKey(state);
  const {arms, gap} = instance(state);
  if (!arms || !gap.some((x) => x > 0)) return [];
  const source = {kind: "rows", arms};
  return players(state).map(({policy}) => ({source, policy, horizon: state.horizon, seed: state.seed, runs: RUNS,
    checkpoints: steps(state)}));
}

// What is seen.

/** How far every arm is from the front. */
function drawGaps(under, {names, on, gap}, [left, right, top, bottom]) {
  const order = names.map((_, a) => a).sort((p, q) => gap[q] - gap[p] || on[p] - on[q] || p - q).slice(0, MOST.shown);
  const most = Math.max(...gap) || 1, x = scale([0, most * 1.08], [left + 118, right]);
  const y = (row) => top + 10 + (row + 0.5) * (bottom - top - 10) / order.length;
  axes(under, x, scale([0, 1], [bottom, top]), {xlabel: "Pareto gap", xticks: 3, yticks: 0});
  order.forEach((a, row) => {
    const colour = on[a] ? "blue" : gap[a] > 0 ? "orange" : "gold";
    under.append(
      svg("line", {x1: x(0), x2: x(gap[a]), y1: y(row), y2: y(row), "stroke-width": 2.5, style: `stroke: var(--fig-${colour})`}),
      svg("circle", {cx: x(gap[a]), cy: y(row), r: 5, style: `fill: var(--fig-${colour})`}),
      svg("text", {x: left + 108, y: y(row) + 4, "text-anchor": "end", class: "live-tick"}, clip(names[a], 15)));
    if (on[a]) under.append(svg("text", {x: x(0) + 10, y: y(row) + 4, class: "live-tick"}, "on the front"));
  });
  if (names.length > order.length) under.append(svg("text", {x: right, y: top + 4, "text-anchor": "end", class: "live-tick"},
    `${order.length} of ${names.length}: the largest gaps`));
}

/** Labels of the curves, moved until none covers another. */
function apart(heights, room, top) {
  const order = heights.map((_, k) => k).sort((p, q) => heights[p] - heights[q]), placed = [];
  let last = -Infinity;
  for (const k of order) placed[k] = last = Math.max(heights[k], last + room);
  const over = Math.min(Math.max(0, last - Math.max(...heights)), Math.min(...placed) - top);
  return placed.map((h) => h - over);
}

function drawRace(under, state, result, [left, right, top, bottom], narrow) {
  const all = curves(state, result), times = steps(state), list = players(state);
  const x = scale([100, state.horizon], [left, right], true);
  const ends = all ? all.flat().filter((v) => v > 0) : [];
  const y = ends.length ? scale([Math.max(Math.min(...ends), Math.max(...ends) / 1e4), Math.max(...ends) * 1.2], [bottom, top], true)
    : scale([0, 1], [bottom, top]);
  axes(under, x, y, {xlabel: "rounds", ylabel: `regret, mean of ${RUNS} runs`});
  if (!ends.length) return;
  const labels = apart(all.map((curve) => (curve.at(-1) > 0 ? y(curve.at(-1)) : bottom)), 16, top);
  list.forEach(({label, colour, dash}, k) => {
    const points = times.map((t, i) => [t, all[k][i] >= y.domain[0] ? all[k][i] : NaN]), style = `stroke: var(--fig-${colour})`;
    under.append(svg("path", {d: path(points, x, y), fill: "none", "stroke-width": 2.2, "stroke-dasharray": dash, style}));
    const at = narrow ? left : right + 6, row = narrow ? bottom + 60 + 18 * k : labels[k] + 4;
    under.append(
      svg("line", {x1: at, x2: at + 26, y1: row - 4, y2: row - 4, "stroke-width": 2.2, "stroke-dasharray": dash, style}),
      svg("text", {x: at + 32, y: row, class: narrow ? "live-label" : "live-tick"}, label));
  });
}

function words(state, result) {
  const {wrong, names, gap, on, lead, cheapest, objectives, scaled} = instance(state);
  if (wrong) return `${wrong} Change the columns, or bring another table.`;
  const list = names.filter((_, a) => on[a]), j = lead.indexOf(Math.max(...lead));
  const shown = list.slice(0, 8).map((name) => clip(name)).join(", ") + (list.length > 8 ? ` and ${list.length - 8} more` : "");
  const all = curves(state, result), worst = gap.indexOf(Math.max(...gap));
  const text = `${table.name === null ? "The example" : clip(table.name, 30)}: ${names.length} arms, ${objectives.length} ${
    objectives.length === 1 ? "objective" : "objectives"}, ${tidy(table.rows, 6)} rows. On the front: ${shown}. `
    + (Object.keys(scaled).length ? `Brought to [0, 1] by least and largest: ${Object.keys(scaled).slice(0, 8).map((name) => clip(name)).join(", ")}. ` : "");
  if (gap[worst] === 0) return `${text}No arm has a positive gap, so no policy has any regret here.`;
  const said = `${text}The largest gap is ${tidy(gap[worst])} (${clip(names[worst])}), the largest lead ${tidy(lead[j])} (${
    clip(objectives[j])}), the price ${tidy(cheapest.value)} (settling on ${clip(names[cheapest.arm])}). `;
  if (!all) return `${said}The policies play …`;
  const ends = all.map((curve, k) => ({label: players(state)[k].label, end: curve.at(-1)})).sort((p, q) => p.end - q.end);
  return `${said}Regret after ${tidy(state.horizon, 6)} rounds, least first: ${ends.map(({label, end}) => `${label} ${tidy(end)}`).join("; ")}.`;
}

/** A text, or a list of them, as Python writes it. */
const literal = (value) => (Array.isArray(value) ? `[${value.map(literal).join(", ")}]` : JSON.stringify(value));

/** How pandas reads this table with the same digits. */
function reading(who) {
  if (table.name === null) return ["from momab.chapters import own_data", "frame = own_data.example_table(1)"];
  const options = [literal(table.name), table.sign !== "," ? `sep=${literal(table.sign)}` : "", table.comma ? 'decimal=","' : "",
    table.encoding ? `encoding="${table.encoding}"` : "", `dtype={${literal(who)}: str}`, "keep_default_na=False",
    'float_precision="round_trip"'];
  return ["import pandas as pd", `frame = pd.read_csv(${options.filter(Boolean).join(", ")})`];
}

function python(state) {
  const {wrong, who, objectives, scaled} = instance(state);
  if (wrong) return "# With these columns the table is no instance.\n";
  const [needed, read] = reading(who);
  const ranges = Object.entries(scaled).map(([name, [low, high]]) => `${literal(name)}: (${low}, ${high})`);
  return `import momab
from momab import theory
${needed}

${read}
instance = momab.from_frame(frame, ${literal(who)}, ${literal(objectives)}, {${ranges.join(", ")}})
price = theory.price(instance.means)
print([instance.arm_names[a] for a in instance.geometry.front])
print(instance.geometry.max_gap, instance.geometry.g_dagger, price.value, instance.arm_names[price.arm], sep=";")
players = {${players(state).map(({label, code}) => `"${label}": ${code}`).join(", ")}}
results = momab.simulate(instance, players, ${state.horizon}, ${RUNS}, ${state.seed}, progress=False)
print(results.summary()[["policy", "mean"]].to_csv(index=False, sep=";"))
`;
}

/** The place where a table comes in: a field, a file, or a drop; and its columns. */
function panel(view) {
  let timer = 0;
  const take = (read) => {
    try {
      const found = read(), before = [table, version, made];
      table = found, version += 1;
      const {wrong} = instance({arm: -1, out: []});
      if (wrong && !table.columns.some((one) => one.numbers && !one.wrong)) {
        [table, version, made] = before;
        throw new Unfit(wrong);
      }
      view.set({table: "yours", arm: -1, out: []});
    } catch (error) {
      note.textContent = `${error instanceof Unfit ? error.message : "This table could not be read."} The table before is still shown.`;
      view.complain(note.textContent);
    }
  };
  const open = async (file) => {
    if (!file) return;
    if (file.size > MOST.bytes) return take(() => { throw new Unfit(`A page plays with at most ${MOST.bytes / 1e6} MB; momab study takes any table.`); });
    view.hold(1);
    const bytes = await file.arrayBuffer().catch(() => null);
    take(() => {
      if (!bytes) throw new Unfit("The file could not be read.");
      try {
        return readTable(new TextDecoder("utf-8", {fatal: true}).decode(bytes), file.name);
      } catch (error) {
        if (error instanceof Unfit) throw error;
        return readTable(new TextDecoder("windows-1252").decode(bytes), file.name, "cp1252");
      }
    });
    view.hold(-1);
  };
  const field = el("textarea", {rows: 3, id: "live-own-data-field", spellcheck: "false", autocomplete: "off",
    placeholder: "cafe,coffee,quiet\nAurora,0.8,0.4\nDock 4,0.5,0.3",
    paste: (event) => { // a long text would only slow the field down
      const text = event.clipboardData?.getData("text") ?? "";
      if (text.length < 100_000) return;
      event.preventDefault();
      take(() => readTable(text, "table.csv"));
    },
    input: () => {
      if (!timer) view.hold(1);
      clearTimeout(timer);
      timer = setTimeout(() => {
        timer = 0;
        if (field.value.trim() === "") view.set({table: "example", arm: -1, out: []});
        else take(() => readTable(field.value, "table.csv"));
        view.hold(-1);
      }, 500);
    }});
  const file = el("input", {type: "file", id: "live-own-data-file", accept: ".csv,.tsv,.txt,text/csv,text/plain",
    change: () => open(file.files[0])});
  const who = el("select", {id: "live-own-data-arm", change: () => view.set({arm: +who.value, out: []})});
  const ticks = el("div", {class: "live-ticks", role: "group", "aria-label": "Columns to count"});
  const note = el("p", {class: "live-note"});
  const box = el("div", {class: "live-panel",
    dragover: (event) => event.preventDefault(),
    drop: (event) => {
      event.preventDefault();
      open(event.dataTransfer.files[0]);
    }},
  el("label", {for: field.id}, "Paste a table: a header, then a row per observation; one column names the arm, the others are rewards (more is better). Nothing leaves this page."),
  field,
  el("p", {}, el("label", {for: file.id}, "Or drop a file here, or choose one: "), file),
  el("p", {}, el("label", {for: who.id}, "Arms: "), who, " Objectives: ", ticks), note);
  let shown = "";
  const refresh = () => {
    const {state} = view;
    if (state.table === "example" && table !== EXAMPLE) {
      table = EXAMPLE, version += 1, field.value = "", file.value = "";
    }
    note.textContent = instance(state).wrong ?? "";
    const now = JSON.stringify([version, armColumn(state), state.out]);
    if (now === shown) return;
    shown = now;
    who.replaceChildren(...table.columns.slice(0, 60).map(({name}, k) => el("option", {value: k}, clip(name))));
    who.value = armColumn(state);
    const at = document.activeElement?.dataset?.column;
    ticks.replaceChildren(...candidates(state).slice(0, 60).map((k) => {
      const input = el("input", {type: "checkbox", "data-column": k, change: () => view.set({out: input.checked
        ? view.state.out.filter((other) => other !== k) : [...view.state.out, k].sort((p, q) => p - q)})});
      input.checked = !state.out.includes(k);
      return el("label", {}, input, ` ${clip(table.columns[k].name)}`);
    }));
    if (at !== undefined) ticks.querySelector(`[data-column="${at}"]`)?.focus();
  };
  return {box, refresh};
}

define("own-data", {
  title: "Your table: which arms are on the front, and which policy has the least regret?",
  panel,
  controls: {
    horizon: range({label: "Rounds", min: 1000, max: 100_000, step: 1.25, value: 20_000, log: true, integer: true}),
    c: range({label: "A second c for Width-guided", min: 0.01, max: 2, step: 1.25, value: 0.1, log: true}),
    seed: whole({label: "Seed", value: 1}),
  },
  state: {
    table: {kind: "hidden", value: "example", format: String, parse: (text) => (text === "example" ? text : undefined)},
    arm: {kind: "hidden", value: -1, format: String, parse: (text) => (/^\d+$/.test(text) && +text in table.columns ? +text : undefined)},
    out: {kind: "hidden", value: [], format: (list) => list.join(","), parse: (text) => {
      const list = text.split(",").map(Number);
      return /^\d+(,\d+)*$/.test(text) && list.every((k) => k in table.columns) ? list : undefined;
    }},
  },
  size: [700, 350], narrow: () => 680,
  work, workKey,
  draw({under, state, result, width, height, narrow}) {
    const found = instance(state);
    if (found.wrong) return;
    if (narrow) {
      drawGaps(under, found, [0, width - 12, 14, 266]);
      drawRace(under, state, result, [52, width - 12, 352, 522], true);
    } else {
      drawGaps(under, found, [0, 256, 14, height - 52]);
      drawRace(under, state, result, [314, width - 172, 32, height - 52], false);
    }
  },
  words, python,
});
