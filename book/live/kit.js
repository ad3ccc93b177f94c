// The kit of the explorables: controls, handles that can be dragged or moved by keys, axes, the
// state in the page's address, and runs in a worker.  Plain DOM and SVG.
//
//   define("name", {
//     title: "What happens when the lead shrinks?",
//     controls: {lead: range({label: "Lead", min: 0.02, max: 0.5, step: 0.02, value: 0.1})},
//     state: {points: [[0.2, 0.8]]},               // what handles move; optional
//     size: [640, 360],                             // on a phone: narrow: (width) => height
//     draw(view) { ... },                           // a function of view.state, width, narrow
//     words: (state, result) => "The gap is 0.10.", // said below the picture and announced
//     python: (state) => "import momab\n...",       // the same digits in Python
//     work: (state) => [job, ...],                  // runs to play; view.result has the outcome
//     workKey: (state) => "...",                    // they are played again when this changes
//     follow: (change) => ({...}),                  // what else changes with a change; optional
//     panel: (view) => ({box, refresh}),            // controls of its own, before the others; optional
//   });

const known = new Map();
const SVG = "http://www.w3.org/2000/svg";
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** An element of HTML with attributes and children; functions become listeners. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same in SVG. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== undefined && value !== null && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** A number as people write it: no exponent, no trailing zeros, thousands set apart. */
export function tidy(x, digits = 3) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "not a number" : x > 0 ? "∞" : "−∞";
  if (x !== 0 && Math.abs(x) < 1e-4) {
    const power = Math.floor(Math.log10(Math.abs(x)));
    return `${(x / 10 ** power).toPrecision(2)} · 10^${power}`;
  }
  const size = Math.abs(x) >= 1 ? Math.floor(Math.log10(Math.abs(x))) + 1 : 0;
  const fixed = x.toFixed(Math.max(0, Math.min(6, Math.abs(x) < 0.01 ? digits + 2 : digits - size)));
  const plain = fixed.includes(".") ? fixed.replace(/\.?0+$/, "") : fixed;
  const [whole, part] = plain.replace("-", "−").split(".");
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (part ? `.${part}` : "");
}

// Controls.  Each knows how to read a value from text, and refuses what is not allowed.

/** A slider with a number field; log: true makes equal steps equal factors. */
export function range({label, min, max, step, value, log = false, integer = false, format = tidy}) {
  const hold = (x) => Math.min(max, Math.max(min, integer ? Math.round(x) : x));
  const round = (x) => (log ? Number(x.toPrecision(2))
    : Number((min + Math.round((x - min) / step) * step).toPrecision(12)));
  return {kind: "range", label, min, max, step, value, log, format,
    snap: (x) => hold(round(x)),
    /** One step up or down, a tenth of it when fine. */
    next(now, way, fine) {
      const by = fine ? 0.1 : 1;
      const to = log ? Number((now * (1 + (step - 1) * by) ** way).toPrecision(fine ? 3 : 2))
        : Number((now + way * step * by).toPrecision(12));
      return hold(integer && Math.abs(to - now) < 1 ? now + way : to);
    },
    parse: (text) => (text.trim() !== "" && +text >= min && +text <= max && (!integer || Number.isInteger(+text))
      ? +text : undefined)};
}

/** A slider over some numbers only, two at a time, one at a time with Shift. */
export function list({label, values, value}) {
  const near = (i) => values[Math.min(values.length - 1, Math.max(0, Math.round(i)))];
  return {kind: "range", label, min: values[0], max: values.at(-1), value, format: (x) => tidy(x), snap: (x) => x,
    to: (x) => values.indexOf(x), from: near, hint: `One of ${values.join(", ")}.`,
    next: (now, way, fine) => near(values.indexOf(now) + way * (fine ? 1 : 2)),
    parse: (text) => (text.trim() !== "" && values.includes(+text) ? +text : undefined)};
}

/** A whole number in a field, such as a seed. */
export function whole({label, min = 0, max = 2 ** 32, value}) {
  return {kind: "whole", label, min, max, value, format: String,
    parse: (text) => (/^\d+$/.test(text.trim()) && +text >= min && +text <= max ? +text : undefined)};
}

/** One of several words. */
export function choice({label, options, value = Object.keys(options)[0]}) {
  return {kind: "choice", label, options, value, format: (v) => options[v],
    parse: (text) => (Object.hasOwn(options, text) ? text : undefined)};
}

/** On or off. */
export function toggle({label, value = false}) {
  return {kind: "toggle", label, value, format: (v) => (v ? "on" : "off"),
    parse: (text) => ({true: true, false: false})[text]};
}

function control(spec, name, id, get, set) {
  const field = `${id}-${name}`;
  const box = el("div", {class: `live-control live-${spec.kind}`});
  if (spec.kind === "toggle") {
    const input = el("input", {type: "checkbox", id: field, change: () => set(input.checked)});
    box.append(el("label", {for: field}, input, ` ${spec.label}`));
    return {box, refresh: () => { input.checked = get(); }};
  }
  box.append(el("label", {for: field}, spec.label));
  if (spec.kind === "choice") {
    const input = el("select", {id: field, change: () => set(input.value)},
      ...Object.entries(spec.options).map(([value, text]) => el("option", {value}, text)));
    box.append(input);
    return {box, refresh: () => { input.value = get(); }};
  }
  const number = el("input", {type: "number", min: spec.min, max: spec.max, step: "any",
    inputmode: "decimal", id: spec.kind === "whole" ? field : undefined,
    "aria-label": spec.kind === "whole" ? undefined : `${spec.label}, as a number`,
    change: () => {
      const typed = spec.parse(number.value);
      number.setCustomValidity(typed === undefined
        ? spec.hint ?? `Between ${spec.format(spec.min)} and ${spec.format(spec.max)}.` : "");
      if (typed === undefined) number.reportValidity();
      else set(typed);
    }});
  if (spec.kind === "whole") {
    box.append(number);
    return {box, refresh: () => { number.value = get(); }};
  }
  const to = spec.to ?? (spec.log ? (x) => Math.log(x / spec.min) / Math.log(spec.max / spec.min) * 1000 : (x) => x);
  const from = spec.from ?? (spec.log ? (s) => spec.min * (spec.max / spec.min) ** (s / 1000) : (s) => s);
  const slider = el("input", {type: "range", id: field,
    min: to(spec.min), max: to(spec.max), step: "any",
    input: () => set(spec.snap(from(+slider.value))),
    keydown: (event) => {
      const ways = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1};
      if (!(event.key in ways)) return;
      event.preventDefault();
      set(spec.next(get(), ways[event.key], event.shiftKey));
    }});
  box.append(slider, number);
  return {box, refresh: () => {
    slider.value = to(get());
    slider.setAttribute("aria-valuetext", spec.format(get()));
    number.value = Number(get().toPrecision(6));
  }};
}

// Scales and axes.

/** A scale from numbers to pixels; log: true for a logarithmic one. */
export function scale([from, to], [start, end], log = false) {
  const f = log ? Math.log10 : (x) => x;
  const map = (x) => start + (f(x) - f(from)) / (f(to) - f(from)) * (end - start);
  map.invert = (p) => {
    const y = f(from) + (p - start) / (end - start) * (f(to) - f(from));
    return log ? 10 ** y : y;
  };
  map.domain = [from, to], map.range = [start, end], map.log = log;
  map.ticks = (n = 5) => {
    if (n === 0) return [];
    if (log) {
      const powers = [];
      for (let k = Math.ceil(f(from) - 1e-9); k <= f(to) + 1e-9; k++) powers.push(10 ** k);
      const each = Math.ceil(powers.length / 8);
      return powers.filter((_, i) => i % each === 0);
    }
    const rough = (to - from) / n, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((k) => k * power >= rough - 1e-12) * power;
    const ticks = [];
    for (let k = Math.ceil(from / step - 1e-9); k <= to / step + 1e-9; k++) {
      ticks.push(Number((k * step).toPrecision(12)));
    }
    return ticks;
  };
  return map;
}

const tickText = (x, log) => (log && (x >= 1e4 || x < 1e-3)
  ? ["10", String(Math.round(Math.log10(x))).replace("-", "−")] : [tidy(x, 4), ""]);

/** Axes with ticks and labels around a plot. */
export function axes(layer, x, y, {xlabel = "", ylabel = "", xticks = 5, yticks = 5} = {}) {
  const [left, right] = x.range, [bottom, up] = y.range;
  const text = (at, words, attributes) => {
    const [base, power] = Array.isArray(words) ? words : [words, ""];
    layer.append(svg("text", {x: at[0], y: at[1], ...attributes}, base,
      power ? svg("tspan", {dy: "-0.45em", "font-size": "75%"}, power) : null));
  };
  for (const tick of y.ticks(yticks)) {
    layer.append(svg("line", {class: "live-grid", x1: left, x2: right, y1: y(tick), y2: y(tick)}));
    text([left - 6, y(tick) + 4], tickText(tick, y.log), {"text-anchor": "end", class: "live-tick"});
  }
  for (const tick of x.ticks(xticks)) {
    layer.append(svg("line", {class: "live-axis", x1: x(tick), x2: x(tick), y1: bottom, y2: bottom + 4}));
    text([x(tick), bottom + 18], tickText(tick, x.log), {"text-anchor": "middle", class: "live-tick"});
  }
  layer.append(svg("line", {class: "live-axis", x1: left, x2: right, y1: bottom, y2: bottom}));
  text([(left + right) / 2, bottom + 38], xlabel, {"text-anchor": "middle", class: "live-label"});
  text([left, up - 10], ylabel, {"text-anchor": "start", class: "live-label"});
}

/** The path of a line through points [x, y]; points that are not finite leave a gap. */
export function path(points, x, y) {
  let pen = false;
  return points.map(([a, b]) => {
    if (!Number.isFinite(a) || !Number.isFinite(b)) return (pen = false), "";
    const step = `${pen ? "L" : "M"}${x(a).toFixed(2)} ${y(b).toFixed(2)}`;
    pen = true;
    return step;
  }).join("");
}

// The address: #live-NAME?lead=0.2&seed=3 reproduces what is seen.

function readAddress(id) {
  const [at, text] = location.hash.slice(1).split("?");
  return at === id ? new URLSearchParams(text ?? "") : null;
}

function writeAddress(id, fields) {
  const text = new URLSearchParams(fields).toString();
  try {
    history.replaceState(null, "", `#${id}${text ? `?${text}` : ""}`);
  } catch { /* an address that the browser keeps for itself */ }
}

/** Points as text, and back; undefined unless there are as many as allowed, all in range. */
export function points({value, min = 0, max = 1, least = 1, most = 12}) {
  return {kind: "hidden", value, format: (list) => list.map((row) => row.join(",")).join(";"),
    parse: (text) => {
      const rows = text.split(";").map((row) => row.split(",").map(Number));
      const good = rows.length >= least && rows.length <= most && rows.every((row) =>
        row.length === value[0].length && row.every((x) => Number.isFinite(x) && x >= min && x <= max));
      return good ? rows : undefined;
    }};
}

// Runs.

/** Play jobs in a worker; a new request cancels the one before. */
function player(report) {
  let worker = null, number = 0;
  return {
    cancel() { worker?.terminate(); worker = null; },
    play(jobs) {
      this.cancel();
      const mine = ++number;
      worker = globalThis.momabLive.worker();
      worker.onmessage = ({data}) => { if (mine === number) report(data); };
      worker.onerror = (event) => { if (mine === number) report({failed: event.message}); };
      worker.postMessage({jobs});
    },
  };
}

// Explorables.

/** Register an explorable; it is mounted where the page has a place for it. */
export function define(name, spec) {
  known.set(name, spec);
  const place = document.querySelector(`[data-live="${name}"]`);
  if (place) mount(name, place);
}

function mount(name, place) {
  const spec = known.get(name), id = `live-${name}`;
  const fields = {...spec.controls, ...spec.state};
  const initial = () => Object.fromEntries(
    Object.entries(fields).map(([key, field]) => [key, structuredClone(field.value)]));
  let state = initial(), wrong = "";
  /** What the address asks for; what is not possible is said, and left out. */
  function read(asked) {
    const found = initial();
    wrong = "";
    for (const [key, text] of asked) {
      const value = Object.hasOwn(fields, key) ? fields[key].parse(text) : undefined;
      if (value !== undefined) found[key] = value;
      else wrong = `The address asks for ${key.slice(0, 20)} = ${text.slice(0, 20)}, which is not possible here; the usual value is shown.`;
    }
    return found;
  }
  const asked = readAddress(id);
  if (asked) state = read(asked);
  const stage = svg("svg", {class: "live-stage", role: "group", "aria-label": spec.title});
  const under = svg("g"), over = svg("g");
  stage.append(under, over);
  const caption = el("p", {class: "live-words", id: `${id}-words`});
  const status = el("p", {class: "live-status", role: "status"});
  const bar = el("progress", {max: 1, value: 0, hidden: "", "aria-label": "Runs played"});
  const announce = el("p", {class: "live-announce", "aria-live": "polite"});
  const handles = new Map();
  /** Say what is wrong, until the state changes. */
  const complain = (sentence) => {
    wrong = sentence;
    paint();
  };
  /** Something that the panel waits for begins (1) or has come (-1). */
  const hold = (more) => {
    held += more;
    tell();
  };
  const view = {under, result: null, handle, set, complain, hold, get state() { return state; }};
  const controls = Object.entries(spec.controls ?? {}).map(([key, field]) =>
    control(field, key, id, () => state[key], (value) => set({[key]: value})));
  if (spec.panel) controls.unshift(spec.panel(view));
  const running = spec.work ? player(received) : null;
  const key = () => (spec.workKey ?? JSON.stringify)(state);
  let seen = 0, waiting = 0, quiet = 0, timer = 0, later = 0, held = 0, played = "";

  /** The page says whether anything is still to come: the address, the picture, the runs. */
  function tell() {
    place.toggleAttribute("data-due", Boolean(waiting || timer || later || held) || !bar.hidden);
  }

  /** On a phone a unit of the picture is a pixel, so that its words stay legible. */
  function fit() {
    const [width, height] = spec.size, room = Math.floor(stage.parentNode.clientWidth);
    const narrow = room > 0 && room < 520;
    Object.assign(view, narrow ? {narrow, width: Math.max(230, room), height: spec.narrow(room)} : {narrow, width, height});
    stage.setAttribute("viewBox", `0 0 ${view.width} ${view.height}`);
    paint();
  }

  /** Change the state; the picture, the words and the address follow. */
  function set(change) {
    state = {...state, ...spec.follow?.(change), ...change};
    for (const one of controls) one.refresh();
    clearTimeout(later); // browsers allow few changes of the address in a second
    later = setTimeout(() => {
      later = 0;
      const differs = Object.entries(fields).filter(([key, field]) =>
        JSON.stringify(state[key]) !== JSON.stringify(field.value));
      writeAddress(id, differs.map(([key, field]) =>
        [key, field.kind === "hidden" ? field.format(state[key]) : String(state[key])]));
      tell();
    }, 200);
    wrong = "";
    schedule();
  }

  function schedule() {
    if (!waiting) waiting = requestAnimationFrame(() => {
      waiting = 0;
      if (running && key() !== played) {
        clearTimeout(timer);
        place.setAttribute("aria-busy", "true");
        timer = setTimeout(request, 120);
      }
      paint();
      tell();
    });
    tell();
  }

  function request() {
    played = key();
    timer = 0;
    view.result = null;
    running.cancel();
    const jobs = spec.work(state);
    if (!jobs.length) return busy(false);
    bar.value = 0;
    busy(true);
    running.play(jobs);
  }

  function busy(now) {
    bar.hidden = stop.hidden = !now;
    place.setAttribute("aria-busy", now);
    tell();
  }

  function received(data) {
    if (data.progress !== undefined) bar.value = data.progress;
    if (data.result) {
      view.result = data.result;
      busy(false);
      paint();
    }
    if (data.failed) {
      busy(false);
      status.textContent = `This could not be played: ${data.failed}`;
    }
  }

  function paint() {
    under.replaceChildren();
    for (const one of handles.values()) one.seen = false;
    spec.draw(view);
    for (const [key, one] of handles) if (!one.seen) { one.node.remove(); handles.delete(key); }
    const said = spec.words?.(state, view.result) ?? "";
    caption.textContent = said;
    status.textContent = wrong;
    clearTimeout(quiet);
    quiet = setTimeout(() => { announce.textContent = said; }, 700);
  }

  /** A point that can be dragged, or moved by the arrow keys; kept while it is drawn again. */
  function handle(key, {x, y, label, move, step, scales, colour, radius = 9, value = x, valuetext}) {
    let one = handles.get(key);
    if (!one) {
      const node = svg("g", {class: "live-handle", tabindex: 0, role: "slider",
        "aria-valuemin": 0, "aria-valuemax": 1},
        svg("circle", {r: 16, class: "live-reach"}), svg("circle", {class: "live-dot"}));
      one = {node};
      node.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        node.focus();
        node.setPointerCapture(event.pointerId);
      });
      node.addEventListener("pointermove", (event) => {
        if (!node.hasPointerCapture(event.pointerId)) return;
        const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(stage.getScreenCTM().inverse());
        one.move(one.scales[0].invert(at.x), one.scales[1].invert(at.y));
      });
      node.addEventListener("keydown", (event) => {
        const ways = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]};
        if (!(event.key in ways)) return;
        event.preventDefault();
        const [dx, dy] = ways[event.key], fine = event.shiftKey, by = one.step * (fine ? 0.1 : 1);
        one.move(one.at[0] + dx * by, one.at[1] + dy * by, fine);
      });
      over.append(node);
      handles.set(key, one);
    }
    Object.assign(one, {seen: true, move, step, scales, at: [x, y]});
    one.node.setAttribute("transform", `translate(${scales[0](x)} ${scales[1](y)})`);
    one.node.setAttribute("aria-label", label);
    one.node.setAttribute("aria-valuenow", value);
    one.node.setAttribute("aria-valuetext", valuetext);
    const dot = one.node.lastChild;
    dot.setAttribute("r", radius);
    dot.setAttribute("style", `fill: var(--fig-${colour})`);
    return one.node;
  }

  const copy = el("button", {type: "button", click: async () => {
    const text = spec.python(state);
    shown.querySelector("code").textContent = text;
    shown.hidden = false;
    try {
      await navigator.clipboard.writeText(text);
      status.textContent = "Copied.";
    } catch {
      status.textContent = "Shown below.";
    }
  }}, "The same in Python");
  const shown = el("pre", {class: "live-python", hidden: "", tabindex: 0}, el("code"));
  const stop = el("button", {type: "button", hidden: "", click: () => {
    running.cancel();
    busy(false);
    status.textContent = "Stopped.";
  }}, "Stop");
  const buttons = el("div", {class: "live-buttons"},
    ...(spec.actions ?? []).map(({label, act}) => el("button", {type: "button", click: () => act(view)}, label)),
    el("button", {type: "button", click: () => set(initial())}, "Reset"),
    spec.python ? copy : null, stop, bar);
  const heading = el("p", {class: "live-title", id: `${id}-title`}, spec.title);
  place.replaceChildren(heading, el("div", {class: "live-controls"}, ...controls.map((one) => one.box)),
    el("div", {class: "live-picture"}, stage), caption, buttons, shown, status, announce);
  place.setAttribute("role", "group");
  place.setAttribute("aria-labelledby", `${id}-title`);
  place.dataset.ready = "";
  if ("instead" in place.dataset) place.previousElementSibling?.classList.add("live-replaced");
  for (const one of controls) one.refresh();
  if (asked) place.scrollIntoView({behavior: calm() ? "auto" : "smooth"});
  window.addEventListener("hashchange", () => {
    const again = readAddress(id);
    if (!again) return;
    state = read(again);
    for (const one of controls) one.refresh();
    schedule();
  });
  fit();
  new ResizeObserver(() => {
    if (Math.floor(stage.parentNode.clientWidth) !== seen) fit();
    seen = Math.floor(stage.parentNode.clientWidth);
  }).observe(stage.parentNode);
  if (running) request();
}

/** Steps of an animation, `each` per second, until `done`; one step at once when motion is unwanted. */
export function animate(each, step, done = () => {}) {
  if (calm()) {
    while (step()) { /* to the end at once */ }
    done();
    return () => {};
  }
  let last = performance.now(), handle = 0;
  const tick = (now) => {
    if (now - last >= 1000 / each) {
      last = now;
      if (!step()) return done();
    }
    handle = requestAnimationFrame(tick);
  };
  handle = requestAnimationFrame(tick);
  return () => cancelAnimationFrame(handle);
}
