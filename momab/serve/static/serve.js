// The form on a served page: values in, progress, the run shown beside the default.

"use strict";

const make = (name, about = {}, ...inside) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(about)) {
    if (key in made && key !== "list" && key !== "form") made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...inside);
  return made;
};

// ---- asking the server -------------------------------------------------------------------------

const ask = async (path, options = {}) => {
  let answer;
  try {
    answer = await fetch(`/_serve/${path}`, options);
  } catch {
    throw new Error("The server does not answer; is momab serve still running?");
  }
  if (!answer.ok) throw new Error(sentence(await answer.text()));
  return answer.json();
};
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const send = (path, content) =>
  ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(content),
  });

// ---- one field per parameter -------------------------------------------------------------------

const digits = (value, whole) => (whole ? String(Math.round(value)) : String(+value.toPrecision(3)));

/** A slider for a number whose range a hand can resolve; wide ranges are logarithmic. */
const slider = (parameter, field, changed) => {
  const { low, high, kind, name } = parameter;
  const whole = kind === "int";
  if (!["int", "float"].includes(kind) || high - low > 2e8) return null;
  const wide = low > 0 && high / low >= 1000;
  const steps = whole && !wide && high - low <= 1000 ? high - low : 1000;
  const value = (step) => {
    const share = step / steps;
    if (!wide) return low + share * (high - low);
    const found = low * (high / low) ** share;
    return whole && found >= 100 ? +found.toPrecision(2) : found;
  };
  const step = (number) =>
    Math.round(
      steps * (wide ? Math.log(number / low) / Math.log(high / low) : (number - low) / (high - low)),
    );
  const made = make("input", { type: "range", min: 0, max: steps, step: 1 });
  made.setAttribute("aria-label", `${name}, as a slider`);
  const follow = () => {
    const number = Number(field.value);
    if (field.value.trim() !== "" && Number.isFinite(number)) {
      made.value = step(Math.min(Math.max(number, low), high));
    }
    made.setAttribute("aria-valuetext", field.value);
    last = Number(made.value);
  };
  let last = 0;
  made.addEventListener("input", () => {
    let at = value(Number(made.value));
    const way = Math.sign(Number(made.value) - last);
    if (whole && Math.round(at) === Number(field.value)) at = Math.round(at) + way; // a step is a step
    at = Math.min(Math.max(at, low), high);
    if (at <= low && parameter.low_open) at = value(1);
    if (at >= high && parameter.high_open) at = value(steps - 1);
    field.value = digits(at, whole);
    follow();
    changed();
  });
  field.addEventListener("input", follow);
  follow();
  return { made, follow };
};

const fieldOf = (parameter, changed, before = "serve") => {
  const { name, kind, choices } = parameter;
  const words = kind === "bool" ? ["false", "true"] : choices;
  const id = `${before}-${name}`;
  let field;
  if (words.length) {
    field = make("select", { id }, ...words.map((word) => make("option", { value: word }, word)));
    field.append(make("option", { value: words.join(",") }, "each of them (a sweep)"));
  } else {
    field = make("input", { id, type: "text", autocomplete: "off", spellcheck: false });
  }
  field.value = parameter.default;
  field.setAttribute("aria-describedby", `${id}-hint`);
  field.addEventListener("input", changed);
  const hint = make("span", { id: `${id}-hint`, className: "serve-hint" });
  hint.textContent = `${parameter.meaning}${parameter.range ? ` ${parameter.range}` : ""}`;
  const box = make("div", { className: "serve-field" });
  box.append(make("label", { htmlFor: id }, name), hint, field);
  const hand = slider(parameter, field, changed);
  if (hand) box.append(hand.made);
  if (name === "seed") {
    const other = make("button", { type: "button", className: "serve-small" }, "another seed");
    other.addEventListener("click", () => {
      field.value = String(Math.floor(Math.random() * 1e6));
      changed();
    });
    box.append(other);
  }
  return {
    parameter,
    box,
    field,
    set: (text) => {
      field.value = text;
      if (hand) hand.follow();
    },
  };
};

const valuesOf = (fields) =>
  Object.fromEntries(fields.map(({ parameter, field }) => [parameter.name, field.value.trim()]));

// ---- a table of one's own ----------------------------------------------------------------------

const LARGEST = 20 * 2 ** 20;

const study = (about, said, changed) => {
  let table = null;
  const race = about.map((parameter) => fieldOf(parameter, changed, "serve-study"));
  const file = make("input", { type: "file", id: "serve-file", accept: ".csv,text/csv" });
  const zone = make(
    "div",
    { className: "serve-drop" },
    make("label", { htmlFor: "serve-file" }, "Your own table: choose a CSV file, or drop it here"),
    file,
  );
  const columns = make("div", { className: "serve-columns" });
  const take = async (chosen) => {
    if (!chosen) return;
    said("");
    try {
      if (chosen.size > LARGEST) throw new Error("A table may have 20 MB; this one is larger.");
      const name = encodeURIComponent(chosen.name);
      table = await ask(`tables?name=${name}`, { method: "POST", body: chosen });
      describe();
    } catch (error) {
      table = null;
      columns.replaceChildren();
      said(error.message);
    }
    changed();
  };
  const describe = () => {
    const arms = make("select", { id: "serve-arm" });
    for (const { name } of table.columns) arms.append(make("option", { value: name }, name));
    const first = table.columns.find((column) => !column.number && column.distinct > 1);
    if (first) arms.value = first.name;
    const rewards = make("fieldset", {}, make("legend", {}, "reward columns"));
    table.columns.forEach((column, n) => {
      if (!column.number) return;
      const tick = make("input", { type: "checkbox", id: `serve-reward-${n}`, value: column.name });
      const inside = column.low >= 0 && column.high <= 1;
      tick.checked = column.name !== arms.value && inside;
      const entry = (kind, label, placeholder) => {
        const made = make("input", { type: "text", className: `serve-${kind}`, autocomplete: "off" });
        made.setAttribute("aria-label", `${kind} of ${column.name}${label}`);
        made.placeholder = placeholder;
        return made;
      };
      const range = entry("range", ", as low:high", "0:1");
      range.value = inside || column.low === undefined ? "" : column.range;
      const unit = entry("unit", "", "unit");
      const less = make("input", { type: "checkbox", className: "serve-less" });
      less.setAttribute("aria-label", `less is better of ${column.name}`);
      const line = make("div", { className: "serve-reward" });
      line.append(tick, make("label", { htmlFor: tick.id }, column.name), range, unit);
      line.append(make("label", { className: "serve-switch" }, less, " less is better"));
      rewards.append(line);
    });
    columns.replaceChildren(
      make(
        "p",
        {},
        `${table.name}: ${table.rows.toLocaleString("en")} rows`,
        table.encoding ? `, not in UTF-8, so read as ${table.encoding}.` : ".",
      ),
      make("label", { htmlFor: "serve-arm" }, "column that names the arm"),
      arms,
      rewards,
      make("p", { className: "serve-hint" }, "A range low:high is mapped onto [0, 1]."),
      make("div", { className: "serve-fields" }, ...race.map(({ box }) => box)),
    );
    columns.oninput = changed;
  };
  file.addEventListener("change", () => take(file.files[0]));
  for (const kind of ["dragenter", "dragover"]) {
    zone.addEventListener(kind, (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
  }
  for (const kind of ["dragleave", "drop"]) {
    zone.addEventListener(kind, () => zone.classList.remove("over"));
  }
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer.files[0]);
  });
  const chosen = () => {
    if (!table) return {};
    const lines = [...columns.querySelectorAll(".serve-reward")].filter(
      (line) => line.querySelector("[type=checkbox]").checked,
    );
    const names = lines.map((line) => line.querySelector("[type=checkbox]").value);
    const written = (kind) =>
      Object.fromEntries(
        lines
          .map((line, n) => [names[n], line.querySelector(`.serve-${kind}`).value.trim()])
          .filter(([, text]) => text),
      );
    const minimize = names.filter((_, n) => lines[n].querySelector(".serve-less").checked);
    const arm = columns.querySelector("#serve-arm").value;
    const scale = written("range");
    const units = written("unit");
    const values = valuesOf(race);
    return { table: table.id, arm, objectives: names, scale, units, minimize, values };
  };
  return { parts: [zone, columns], chosen };
};

// ---- a policy of one's own ---------------------------------------------------------------------

const brought = (values, said, changed) => {
  let policy = null;
  const file = make("input", { type: "file", id: "serve-policy", accept: ".py,text/x-python" });
  const words = "Your own policy: choose a .py file with one class derived from momab.Policy";
  const hint = `It plays in isolation, beside Width-guided and Pareto IMED, with the values of ${values.join(", ")}.`;
  const label = make("label", { htmlFor: "serve-policy" }, words);
  const part = make("div", { className: "serve-drop" }, label, file);
  part.append(make("span", { className: "serve-hint" }, hint));
  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    const large = chosen && chosen.size > 100_000;
    said(large ? "A policy's file may have 100 kB; this one has more." : "");
    policy = chosen && !large ? { name: chosen.name, text: await chosen.text() } : null;
    changed();
  });
  return { parts: [part], values, chosen: () => (policy ? { policy } : {}) };
};

// ---- the panel ---------------------------------------------------------------------------------

const panel = (about) => {
  const form = make("form", { className: "serve-form", noValidate: true, id: "serve-form" });
  const alert = make("p", { className: "serve-alert", role: "alert" });
  const command = make("code", {});
  const fields = about.parameters.map((parameter) => fieldOf(parameter, () => edited()));
  const said = (text) => {
    alert.textContent = text;
    const [, named] = text.match(/^(\w+) must be/i) ?? [];
    for (const { parameter, field } of fields) {
      const wrong = named?.toLowerCase() === parameter.name.toLowerCase();
      field.toggleAttribute("aria-invalid", wrong);
      if (wrong) field.setAttribute("aria-invalid", "true");
      if (wrong) field.focus();
    }
  };

  const preset = make("select", { id: "serve-preset" });
  const titles = { quick: "quick: the page as it is", paper: "paper: as large as the paper's" };
  for (const [name, values] of Object.entries(about.presets)) {
    const title = name === "yours" ? "yours: the last run, or as typed" : (titles[name] ?? name);
    preset.append(make("option", { value: name, disabled: !values && name !== "yours" }, title));
  }
  const apply = (values) => {
    for (const { parameter, set } of fields) {
      if (values && parameter.name in values) set(values[parameter.name]);
    }
    show();
  };
  preset.addEventListener("change", () => apply(about.presets[preset.value]));

  const asked = () => ({ values: valuesOf(fields), ...own?.chosen() });
  let waiting = 0;
  const show = () => {
    const { table, policy } = own?.chosen() ?? {};
    const used = fields.filter(({ parameter }) => !policy || own.values.includes(parameter.name));
    const boxes = table ? [] : used.map(({ box }) => box);
    if (mine.childElementCount !== boxes.length) mine.replaceChildren(...boxes);
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      try {
        const found = (await send(`commands/${about.page}`, asked())).command;
        command.textContent = found || "(these values are not allowed yet)";
      } catch {
        command.textContent = "";
      }
    }, 200);
  };
  const edited = () => {
    preset.value = "yours";
    show();
  };

  const mine = make("div", { className: "serve-fields" }, ...fields.map(({ box }) => box));
  let own = about.study ? study(about.study, said, () => show()) : null;
  if (about.policy) own = brought(about.policy, said, () => show());
  const run = make("button", { type: "submit", className: "serve-run" }, "Run");
  const watching = progress();
  form.append(
    make("div", { className: "serve-field" }, make("label", { htmlFor: "serve-preset" }, "preset"), preset),
  );
  if (own) form.append(...own.parts);
  form.append(mine);
  form.append(
    make("p", { className: "serve-hint" }, "Several values with commas between them make a sweep: one page each."),
    make("p", { className: "serve-actions" }, run),
    alert,
    watching.box,
    make("p", { className: "serve-hint" }, "The same in a terminal: ", command),
    past(about.history),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (run.disabled) return;
    run.disabled = true;
    said("");
    try {
      const { job } = await send(`pages/${about.page}`, asked());
      const ended = await watching.follow(job);
      if (ended.state === "done") location.assign(ended.address);
      else said(ended.state === "failed" ? sentence(ended.message) : "");
    } catch (error) {
      said(error.message);
    }
    run.disabled = false;
  });
  const here = about.history.find(({ id }) => id === document.documentElement.dataset.run);
  if (here) preset.value = "yours";
  if (here && about.history[0] === here) apply(about.presets.yours);
  show();
  return { form, watching };
};

const past = (history) => {
  const box = make("div", { className: "serve-past" });
  if (history.length) {
    box.append(make("p", {}, "Your last runs of this page:"));
    const list = make("ul");
    for (const { address, what } of history) {
      list.append(make("li", {}, make("a", { href: address }, what)));
    }
    box.append(list);
  }
  box.append(make("p", {}, make("a", { href: "/_serve/history" }, "Everything that was run")));
  return box;
};

// ---- progress ----------------------------------------------------------------------------------

const describe = ({ state, tasks, ahead }) => {
  if (state === "waiting") {
    return ahead > 0 ? `Waiting: ${ahead} before this one.` : "Waiting for a free process.";
  }
  const done = tasks.filter((task) => task.state === "done").length;
  const busy = tasks.filter((task) => ["running", "rendering"].includes(task.state));
  const parts = tasks.length > 1 ? [`${done} of ${tasks.length} runs done`] : [];
  for (const task of busy) {
    if (task.state === "rendering") parts.push("writing the page");
    else if (task.total) parts.push(`cell ${task.done} of ${task.total}, ${Math.round(task.seconds)} s`);
    else parts.push(`running, ${Math.round(task.seconds)} s`);
  }
  return `${parts.join("; ")}.`;
};

const progress = () => {
  const bar = make("progress", { max: 1, value: 0 });
  bar.setAttribute("aria-label", "how far the run is");
  const text = make("span", { className: "serve-how-far" });
  const status = make("span", { className: "serve-hidden", role: "status" });
  const cancel = make("button", { type: "button", className: "serve-cancel" }, "Cancel");
  const box = make("div", { className: "serve-progress", hidden: true }, bar, text, cancel);
  const outer = make("div", {}, box, status);
  const words = { waiting: "Waiting.", running: "Running.", done: "Done.", failed: "It failed." };
  const follow = async (id) => {
    box.hidden = false;
    cancel.disabled = false;
    cancel.onclick = () => {
      cancel.disabled = true;
      ask(`jobs/${id}`, { method: "DELETE" }).catch(() => {});
    };
    for (let last = ""; ; ) {
      const job = await ask(`jobs/${id}`);
      if (job.state !== last) status.textContent = words[job.state] ?? "Cancelled.";
      last = job.state;
      const shares = job.tasks.map((task) =>
        task.state === "done" ? 1 : task.total ? (0.95 * task.done) / task.total : 0,
      );
      bar.value = shares.reduce((sum, share) => sum + share, 0) / shares.length;
      text.textContent = describe(job);
      if (["done", "failed", "cancelled"].includes(job.state)) {
        text.textContent = job.state === "cancelled" ? "Cancelled; nothing is left of it." : "";
        bar.hidden = cancel.hidden = true;
        if (job.state !== "cancelled") box.hidden = job.state === "failed";
        if (job.state === "done") text.textContent = "Done; the page opens.";
        return job;
      }
      bar.hidden = cancel.hidden = false;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  };
  return { box: outer, follow, text };
};

// ---- the page ----------------------------------------------------------------------------------

const begin = async () => {
  const { serve: page } = document.documentElement.dataset;
  const title = document.querySelector("article.bd-article h1");
  if (!page || !title) return;
  const open = make("button", { type: "button", className: "rerun-button" });
  open.textContent = "Run this page with your values";
  open.setAttribute("aria-expanded", "false");
  const box = make("section", { className: "serve" });
  box.setAttribute("aria-label", "Run this page with your values");
  box.append(make("p", { className: "rerun" }, open));
  title.after(box);
  let shown = null;
  const turn = async () => {
    if (!shown) {
      try {
        shown = panel(await ask(`pages/${page}`));
      } catch (error) {
        box.append(make("p", { role: "alert", className: "serve-alert" }, error.message));
        return;
      }
      shown.form.hidden = true;
      box.append(shown.form);
    }
    shown.form.hidden = !shown.form.hidden;
    open.setAttribute("aria-expanded", String(!shown.form.hidden));
  };
  open.addEventListener("click", turn);
  try {
    const { jobs } = await ask(`pages/${page}`);
    if (jobs.length && !shown) {
      await turn();
      const ended = await shown.watching.follow(jobs.at(-1));
      if (ended.state === "done") {
        shown.watching.text.replaceChildren("Done: ", make("a", { href: ended.address }, "show it"));
      }
    }
  } catch {
    // the button says it
  }
};

const turnMarks = () => {
  const tick = document.getElementById("serve-was");
  tick?.addEventListener("change", () =>
    document.documentElement.classList.toggle("serve-show-was", tick.checked),
  );
};

const history = () => {
  if (!document.querySelector(".serve-history")) return;
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const chosen = localStorage.getItem("theme") || (dark ? "dark" : "light");
  document.documentElement.dataset.theme = chosen === "auto" ? (dark ? "dark" : "light") : chosen;
  const said = document.querySelector(".serve-said");
  for (const time of document.querySelectorAll("time[data-made]")) {
    const made = new Date(1000 * Number(time.dataset.made));
    time.dateTime = made.toISOString();
    time.textContent = made.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
  }
  for (const button of document.querySelectorAll(".serve-forget")) {
    button.addEventListener("click", async () => {
      const line = button.closest("li");
      try {
        await ask(`runs/${line.dataset.id}`, { method: "DELETE" });
        (line.nextElementSibling ?? line.previousElementSibling)?.querySelector("button")?.focus();
        line.remove();
        said.textContent = "Forgotten.";
      } catch (error) {
        said.textContent = error.message;
      }
    });
  }
};

const all = () => {
  begin();
  turnMarks();
  history();
};
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", all);
else all();
