// Numbers that somebody tries at an exercise: the page checks what their code gives for some arguments.
(() => {
  "use strict";
  const { make, number, sentence, setUp, ASK } = window.momabQuestions;

  // The twin of momab.exercises._tries: what is compared are digests of numbers with four digits.
  const digest = (text) => {
    let a = 0xdeadbeef;
    let b = 0x41c6ce57;
    for (let round = 0; round < 20; round++) {
      for (const sign of text) {
        a = Math.imul(a ^ sign.charCodeAt(0), 2654435761);
        b = Math.imul(b ^ sign.charCodeAt(0), 1597334677);
      }
      a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
      b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
    }
    const hex = (word, size) => word.toString(16).padStart(size, "0");
    return hex(a >>> 0, 8) + hex(b >>> 16, 4);
  };
  const written = (x, exact) => {
    if (exact && Number.isInteger(x)) return String(x);
    if (Math.abs(x) < 1e-9) return "0";
    return Number.isFinite(x) ? x.toExponential(3).replace(".", "").replace("e+", "e") : x > 0 ? "inf" : "-inf";
  };
  const isRight = (x, exact, salt, wanted) => {
    const unit = Number.isFinite(x) && x !== 0 && !exact ? 10 ** (Math.floor(Math.log10(Math.abs(x))) - 3) : 0;
    return [x, x - unit, x + unit].some((y) => digest(salt + written(y, exact)) === wanted);
  };

  for (const node of document.querySelectorAll("[data-try]")) {
    const { name, calls } = JSON.parse(node.dataset.try);
    const fields = make("fieldset", {}, make("legend", { textContent: "Try it here: what does your code give?" }));
    const rows = calls.map(({ code, right }) => {
      const field = make("input", { type: "text", className: "question-field", autocomplete: "off", spellcheck: false });
      const output = make("output");
      fields.append(make("label", { className: "try-call" }, make("code", { textContent: code }), field), output);
      field.placeholder = right.length > 1 ? `${right.length} numbers` : "a number";
      return { field, output };
    });
    const judge = ({ right, exact, hints }, text, place) => {
      const parts = right.length > 1 ? text.split(/[\s,;[\]()]+/).filter(Boolean) : [text];
      const found = parts.map(number);
      if (!text.trim()) return ["", "Nothing yet."];
      if (found.some(Number.isNaN)) return ["", right.length > 1 ? "Give numbers, separated by blanks or commas." : ASK];
      if (found.length !== right.length) return ["", `${right.length} numbers are wanted, not ${found.length}.`];
      const good = found.filter((x, n) => isRight(x, exact[n], `${name}|${place}|${n}|`, right[n])).length;
      if (good === right.length) return ["right", "Right."];
      const key = digest(`${name}|${place}|` + found.map((x, n) => written(x, exact[n])).join(" "));
      return ["wrong", hints[key] ?? (right.length > 1 ? `Not yet: ${good} of ${right.length} are right.` : "Not yet. Give at least four digits.")];
    };
    const check = () => {
      const told = rows.map(({ field, output }, n) => {
        const [verdict, words] = judge(calls[n], field.value, n);
        output.textContent = words;
        return verdict;
      });
      const answer = JSON.stringify(rows.map(({ field }) => field.value));
      const right = told.every((verdict) => verdict === "right");
      const whole = right ? [sentence("The whole check, with more arguments, is momab.check in Python.")] : [];
      return { verdict: right ? "right" : "wrong", said: whole, answer };
    };
    setUp(node, `try/${name}`, fields, check, (kept) => {
      try {
        JSON.parse(kept).forEach((text, n) => { if (rows[n]) rows[n].field.value = String(text); });
        return true;
      } catch {
        return false;
      }
    });
  }
})();
