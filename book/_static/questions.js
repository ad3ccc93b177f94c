// Questions that a page asks. The page works without this script; what is answered stays in this
// browser.
(() => {
  "use strict";
  const STORE = "momab-answers";
  let memory = {};
  const read = () => {
    try {
      const kept = JSON.parse(localStorage.getItem(STORE));
      if (kept && typeof kept === "object" && !Array.isArray(kept)) memory = kept;
    } catch { /* no storage, or not ours: what is answered lasts as long as the page */ }
    return memory;
  };
  const write = (answers) => {
    memory = answers;
    try {
      localStorage.setItem(STORE, JSON.stringify(answers));
    } catch { /* as above */ }
  };
  const recall = (key) => {
    const kept = read();
    return Object.hasOwn(kept, key) && typeof kept[key] === "string" ? kept[key] : null;
  };
  const remember = (key, answer) => write({ ...read(), [key]: answer });

  const make = (tag, properties = {}, ...inside) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...inside);
    return node;
  };

  // A number as people write it: 0.25, 0,25, 1/4, 25 %, 12,345, 3e-5, inf; NaN if it is none.
  const number = (text) => {
    let said = text.trim().replace(/\u2212/g, "-").replace(/^\+/, "");
    if (/^-?(inf|infinity|∞)$/i.test(said)) return said.startsWith("-") ? -Infinity : Infinity;
    if (/^(true|yes)$/i.test(said)) return 1;
    if (/^(false|no)$/i.test(said)) return 0;
    const share = /%$/.test(said) ? 100 : 1;
    said = said.replace(/\s*%$/, "");
    if (/^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(said)) said = said.replace(/,/g, "");
    const [top, below, ...more] = said.split("/").map((part) => part.trim().replace(/^(-?\d*),(\d+)$/, "$1.$2"));
    const plain = /^-?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;
    if (more.length || !plain.test(top) || (below !== undefined && !plain.test(below))) return NaN;
    return Number(top) / Number(below ?? 1) / share;
  };
  const ASK = "Give a number, such as 0.25, 1/4 or 3e5.";

  const sentence = (text) => make("p", { textContent: text });
  const boxes = [];
  const forgetAll = (box) => {
    write({});
    for (const other of boxes) other.reset();
    box.status.replaceChildren(sentence("All your answers in this book are forgotten."));
    box.first.focus();
  };

  // A form, a button, a place where the page answers.
  const setUp = (node, key, fields, check, restore) => {
    const status = make("div", { className: "question-status" });
    status.setAttribute("role", "status");
    const button = make("button", { type: "submit", textContent: "Check" });
    const drop = make("button", { type: "button", className: "question-forget", textContent: "Forget my answers", hidden: true });
    const form = make("form", { noValidate: true }, fields, make("div", { className: "question-buttons" }, button, drop), status);
    const clear = () => {
      status.replaceChildren();
      delete node.dataset.verdict;
    };
    const box = {
      status,
      first: fields.querySelector("input"),
      reset() {
        form.reset();
        clear();
        drop.hidden = true;
      },
    };
    const show = (told) => {
      status.replaceChildren(...told.said);
      if (told.verdict) node.dataset.verdict = told.verdict;
      else delete node.dataset.verdict;
      drop.hidden = drop.hidden && recall(key) === null;
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const told = check();
      if (told.answer !== undefined) remember(key, told.answer);
      show(told);
    });
    form.addEventListener("input", clear);
    drop.addEventListener("click", () => forgetAll(box));
    boxes.push(box);
    const kept = recall(key);
    if (kept !== null && restore(kept)) show(check());
    node.append(form);
    node.dataset.ready = "";
  };

  for (const node of document.querySelectorAll("[data-question]")) {
    const key = node.dataset.question;
    const right = Number(node.dataset.right);
    const fold = node.querySelector("details");
    const reasons = [...fold.querySelectorAll(".question-reason")];
    const tell = (n, answer) => {
      const said = [...reasons[n].cloneNode(true).childNodes];
      const head = said.map((part) => part.querySelector?.(".question-head")).find(Boolean);
      if (head) head.textContent = n === right ? "Right." : "Not quite.";
      return { verdict: n === right ? "right" : "wrong", said, answer };
    };
    const legend = make("legend");
    legend.innerHTML = node.querySelector(".question-ask p").innerHTML;
    const fields = make("fieldset", {}, legend);
    if (node.dataset.numbers) {
      const numbers = JSON.parse(node.dataset.numbers);
      const within = Number(node.dataset.within);
      const field = make("input", { type: "text", className: "question-field", inputMode: "decimal", autocomplete: "off" });
      field.setAttribute("aria-label", "Your number");
      fields.append(field);
      const check = () => {
        const x = number(field.value);
        if (Number.isNaN(x)) return { said: [sentence(ASK)] };
        const near = numbers.map((y) => Math.abs(x - y)).map((gap, n) => (gap <= Math.max(within * Math.abs(numbers[n]), 1e-9) ? gap : Infinity));
        const least = Math.min(...near);
        return tell(Number.isFinite(least) ? near.indexOf(least) : numbers.length, field.value.trim());
      };
      setUp(node, key, fields, check, (kept) => {
        field.value = kept;
        return !Number.isNaN(number(kept));
      });
    } else {
      const radios = [...node.querySelectorAll(".question-choices > li")].map((item, n) => {
        const radio = make("input", { type: "radio", name: `question ${key}`, value: String(n) });
        const words = make("span");
        words.innerHTML = (item.querySelector("p") ?? item).innerHTML;
        fields.append(make("label", { className: "question-choice" }, radio, words));
        return radio;
      });
      const check = () => {
        const n = radios.findIndex((radio) => radio.checked);
        return n < 0 ? { said: [sentence("Choose an answer first.")] } : tell(n, String(n));
      };
      setUp(node, key, fields, check, (kept) => {
        const chosen = radios.find((radio) => radio.value === kept);
        if (chosen) chosen.checked = true;
        return Boolean(chosen);
      });
    }
    node.append(fold);
  }
})();
