// The search page and dialog: rank the pages of search.json, which is fetched when there is a question.
(() => {
  const fold = (text) =>
    text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").replace(/[’']/g, "'").toLowerCase();
  const words = (text) => fold(text).match(/[\p{L}\p{N}]+/gu) || [];
  const flat = (text) => ` ${words(text).join(" ")} `;

  // Plural and singular are one word; the beginning of a word finds it.
  const stem = (word) => (word.length > 3 ? word.replace(/(?<=[^s])s$/, "") : word);
  const count = (text, part) => {
    let found = 0;
    for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found += 1;
    return found;
  };

  // How well a short text (a title, a heading, an entry of the index) answers a question.
  const named = (text, asked) => {
    const own = words(text);
    const hits = asked.filter((word) => own.some((other) => other.startsWith(word))).length;
    if (hits < asked.length) return 0;
    const phrase = flat(text).includes(` ${asked.join(" ")}`) ? 1 : 0.6;
    return phrase * (0.5 + (0.5 * asked.length) / own.length);
  };

  const prepare = (pages) => {
    for (const page of pages) {
      for (const section of page.sections) section.push(flat(`${section[1]} ${section[2]}`));
      page.all = flat(page.title) + flat(page.keys.join(" ")) + page.sections.map((s) => s[3]).join("");
    }
    return pages;
  };

  const score = (page, asked) => {
    const hits = asked.filter((word) => page.all.includes(` ${word}`)).length;
    if (!hits) return null;
    const phrase = ` ${asked.join(" ")}`;
    let best = page.sections[0] || ["", "", "", ""];
    let top = -1;
    for (const section of page.sections) {
      const value =
        4 * named(section[1], asked) +
        2 * Math.min(3, count(section[3], phrase)) +
        asked.filter((word) => section[3].includes(` ${word}`)).length;
      if (value > top) [best, top] = [section, value];
    }
    const keys = Math.max(0, ...page.keys.map((key) => named(key, asked)));
    const heads = Math.max(0, ...page.sections.map((section) => named(section[1], asked)));
    const often = Math.log2(1 + count(page.all, phrase));
    const value = 40 * named(page.title, asked) + 40 * keys + 15 * heads + 3 * often;
    const library = page.page.startsWith("api") ? 0.3 : 1;
    return { page, section: best, hits, value: (value + 1) * library };
  };

  const search = (pages, query) => {
    const asked = words(query).slice(0, 12).map(stem);
    if (!asked.length) return { asked, found: [] };
    const found = pages.map((page) => score(page, asked)).filter(Boolean);
    const most = Math.max(0, ...found.map((one) => one.hits));
    const full = found.filter((one) => one.hits === most);
    full.sort((a, b) => b.value - a.value || (a.page.title < b.page.title ? -1 : 1));
    return { asked, found: full.slice(0, 30) };
  };

  // About thirty words around the first place that has most of what was asked for.
  const snippet = (text, asked) => {
    const all = text.split(/\s+/).filter(Boolean);
    const isHit = (word) => words(word).some((part) => asked.some((one) => part.startsWith(one)));
    const hits = all.map((word) => (isHit(word) ? 1 : 0));
    // words that were asked for together count more where they stand together
    for (let i = 1; i < all.length; i += 1) if (hits[i] && hits[i - 1]) hits[i] += 2;
    const span = 30;
    let best = 0;
    let now = hits.slice(0, span).reduce((a, b) => a + b, 0);
    let top = now;
    for (let i = span; i < all.length; i += 1) {
      now += hits[i] - hits[i - span];
      if (now > top) [best, top] = [i - span + 1, now];
    }
    best = Math.max(0, best - (best + span < all.length ? 0 : 5));
    const line = document.createElement("p");
    if (best > 0) line.append("… ");
    for (let i = best; i < Math.min(all.length, best + span); i += 1) {
      const part = hits[i] ? document.createElement("mark") : document.createTextNode("");
      part.textContent = all[i];
      line.append(part, " ");
    }
    if (best + span < all.length) line.append("…");
    return line;
  };

  const show = (box, { asked, found }, query) => {
    box.replaceChildren();
    const say = document.createElement("p");
    say.setAttribute("role", "status");
    const number = found.length === 1 ? "One page" : `${found.length} pages`;
    if (!query.trim()) say.textContent = "Type what you are looking for.";
    else if (!found.length) say.textContent = `Nothing in the book has “${query.slice(0, 80)}”.`;
    else say.textContent = `${number}, the best first.`;
    box.append(say);
    const list = document.createElement("ol");
    for (const { page, section } of found) {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = `${page.page}.html`;
      link.textContent = page.title;
      item.append(link);
      if (section[1]) {
        const part = document.createElement("a");
        part.href = `${page.page}.html#${section[0]}`;
        part.textContent = section[1];
        part.className = "part";
        item.append(" › ", part);
      }
      item.append(snippet(section[2], asked));
      list.append(item);
    }
    if (found.length) box.append(list);
  };

  let pages = null;
  const fetched = () => {
    pages = pages || fetch("search.json").then((answer) => answer.json()).then(prepare);
    pages.catch(() => (pages = null)); // the next question tries again
    return pages;
  };
  const fail = (box) => {
    const say = document.createElement("p");
    say.setAttribute("role", "status");
    const index = document.createElement("a");
    index.href = "genindex.html";
    index.textContent = "index";
    const why = "The list of pages could not be read. A page that is opened from a folder may not read it; the ";
    say.append(why, index, " works there, too.");
    box.replaceChildren(say);
  };
  const attend = (input, box) => {
    const answer = async () => {
      const query = input.value;
      const known = query.trim() ? await fetched().catch(() => null) : [];
      if (query !== input.value) return;
      if (known) show(box, query.trim() ? search(known, query) : { asked: [], found: [] }, query);
      else fail(box);
      box.dataset.answered = query;
    };
    input.addEventListener("input", answer);
    return answer;
  };
  const begin = () => {
    const dialog = document.querySelector("#pst-search-dialog form");
    if (dialog) {
      const box = document.createElement("div");
      box.className = "search-results";
      dialog.after(box);
      attend(dialog.querySelector("input"), box)();
    }
    const box = document.getElementById("search-results");
    const form = document.querySelector(".bd-search-container form.bd-search");
    const input = form?.querySelector("input");
    if (!box || !input) return;
    const answer = attend(input, box);
    input.value = new URLSearchParams(location.search).get("q") || "";
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      history.replaceState(null, "", `?q=${encodeURIComponent(input.value)}`);
      answer();
    });
    input.focus();
    answer();
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
