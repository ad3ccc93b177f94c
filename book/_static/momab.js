// Small behaviours of the book's pages: hover definitions, buttons that copy code, folds that
// print open, wide boxes that the keyboard can scroll, the menu of downloads, how to run a page.

// The fonts of formulas that the head asks for are taken up at once, not where they first occur.
for (const link of document.querySelectorAll('link[rel="preload"][href*="/KaTeX_"]')) {
  const [, family, cut] = link.href.match(/(KaTeX_\w+)-(\w+)\.woff2/);
  const style = `${cut.includes("Italic") ? "italic " : ""}${cut.includes("Bold") ? "bold " : ""}`;
  document.fonts.load(`${style}1em ${family}`);
}

document.addEventListener("DOMContentLoaded", () => {
  // The side bar of the theme is no landmark.
  const bar = document.querySelector(".bd-sidebar-primary");
  bar?.setAttribute("role", "region");
  bar?.setAttribute("aria-label", "Search and contents");

  for (const link of document.querySelectorAll("a.notion[title]")) {
    link.dataset.definition = link.title;
    link.removeAttribute("title");
  }

  for (const code of document.querySelectorAll("article div.highlight > pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.title = "Copy this code";
    button.setAttribute("aria-label", "Copy this code");
    button.addEventListener("click", async () => {
      const lines = code.textContent.replace(/\n$/, "").split("\n");
      const typed = lines.filter((line) => /^(>>>|\.\.\.)( |$)/.test(line));
      const text = typed.length ? typed.map((line) => line.slice(4)).join("\n") : lines.join("\n");
      await navigator.clipboard.writeText(text);
      button.setAttribute("aria-label", "Copied");
      button.classList.add("done");
      setTimeout(() => {
        button.setAttribute("aria-label", "Copy this code");
        button.classList.remove("done");
      }, 1500);
    });
    code.parentElement.append(button);
  }

  for (const button of document.querySelectorAll("[data-print]")) {
    button.addEventListener("click", () => window.print());
  }

  for (const button of document.querySelectorAll('[data-bs-toggle="dropdown"]')) {
    const menu = button.parentElement;
    const turn = (open) => {
      button.classList.toggle("show", open);
      button.setAttribute("aria-expanded", String(open));
    };
    button.addEventListener("click", () => turn(!button.classList.contains("show")));
    document.addEventListener("click", (event) => menu.contains(event.target) || turn(false));
    menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !button.classList.contains("show")) return;
      turn(false);
      button.focus();
    });
  }

  // What one can do with a page is at its foot. A served page has a form (momab/serve/static); here the button says how to get it.
  const colophon = document.querySelector("article details.colophon");
  const made = colophon?.querySelector("pre code");
  if (made && !("serve" in document.documentElement.dataset)) {
    const box = document.createElement("div");
    box.innerHTML = `<p class="rerun"><button type="button" class="rerun-button" aria-haspopup="dialog">
        Run this page with your values</button></p>
      <dialog class="rerun-dialog" aria-labelledby="rerun-title"><h2 id="rerun-title">Run this page with your values</h2>
        <p>On your own machine this button opens a form with the values of the page. In a checkout of the book:</p>
        <pre tabindex="0">make book             # once\n.venv/bin/momab serve</pre>
        <p>Open the address that it shows, come back to this page and press the button there.</p>
        <p>Or, for this page alone, with any of its values changed:</p><pre tabindex="0" class="rerun-command"></pre>
        <form method="dialog"><button class="rerun-button">Close</button></form></dialog>`;
    box.querySelector(".rerun-command").textContent = `.venv/bin/${made.textContent}`;
    const dialog = box.querySelector("dialog");
    box.querySelector(".rerun-button").addEventListener("click", () => dialog.showModal());
    const notebook = document.querySelector('.dropdown-menu a[href$=".ipynb"]');
    if (notebook) {
      const link = document.createElement("a");
      link.href = notebook.href;
      link.textContent = "Download the notebook";
      box.querySelector(".rerun").append(" ", link);
    }
    colophon.before(...box.childNodes);
  }

  // The first two exercises are open; one fold holds the others.
  const further = document.querySelectorAll("section#exercises > .exercise.admonition")[2];
  if (further) {
    const fold = document.createElement("details");
    const summary = document.createElement("summary");
    fold.className = "fold further-exercises";
    fold.append(summary);
    further.before(fold);
    while (fold.nextElementSibling?.matches(".exercise, .solution")) fold.append(fold.nextElementSibling);
    const more = fold.querySelectorAll(".exercise").length;
    summary.textContent = more === 1 ? "One more exercise" : `${more} more exercises`;
  }

  // A link into a fold opens it.
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const folds = [...document.querySelectorAll("details:not([open])")].filter((fold) => fold.contains(target || null));
    for (const fold of folds) fold.open = true;
    if (folds.length) target.scrollIntoView();
  };
  window.addEventListener("hashchange", reveal);
  reveal();

  // One switch shows the teaching notes of all pages, and stays as it was left.
  if (document.querySelector("details.teaching")) {
    const root = document.documentElement;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "teaching-switch";
    const turn = (on) => {
      root.classList.toggle("with-teaching", on);
      button.setAttribute("aria-pressed", String(on));
      button.textContent = on ? "Hide teaching notes" : "Show teaching notes";
    };
    button.addEventListener("click", () => {
      turn(!root.classList.contains("with-teaching"));
      try {
        localStorage.setItem("momab-teaching", root.classList.contains("with-teaching") ? "on" : "off");
      } catch {} // a browser may refuse to remember
    });
    let kept = null;
    try {
      kept = localStorage.getItem("momab-teaching");
    } catch {}
    turn(kept === "on" || Boolean(document.querySelector("details.teaching :target")));
    document.querySelector(".article-header-buttons")?.prepend(button);
  }

  // What a paragraph cites is shown beside it, once a page, unless "On this page" is there.
  const cited = new Set();
  const contents = document.querySelector(".bd-sidebar-secondary")?.offsetHeight ?? 0;
  for (const link of document.querySelectorAll("article .bibtex-citation a[title]")) {
    const block = link.closest("section > *");
    if (!block || link.closest("details, .admonition") || cited.has(link.hash)) continue;
    if (block.getBoundingClientRect().top + window.scrollY < contents) continue;
    cited.add(link.hash);
    const note = document.createElement("div");
    note.className = "margin-note";
    note.setAttribute("role", "note");
    note.textContent = `[${link.textContent}] ${link.title}`;
    block.before(note);
  }

  // "On this page" marks the section whose heading was passed last.
  const entries = [...document.querySelectorAll("#pst-page-toc-nav a[href^='#']")];
  const heads = entries.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  if (entries.length) {
    let waiting = false;
    const follow = () => {
      waiting = false;
      const passed = heads.findLastIndex((head) => head && head.getBoundingClientRect().top < 120);
      entries.forEach((link, i) => {
        link.classList.toggle("active", i === passed);
        if (i === passed) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      });
    };
    const later = () => {
      if (!waiting) requestAnimationFrame(follow);
      waiting = true;
    };
    document.addEventListener("scroll", later, { passive: true });
    later();
  }

  // The dialog of the search answers while one types, once its program is there.
  const asking = document.querySelector("#pst-search-dialog input");
  asking?.addEventListener("focus", () => {
    if (document.querySelector('script[src*="search.js"]')) return;
    const script = document.createElement("script");
    script.src = new URL("search.js", document.querySelector('script[src*="momab.js"]').src);
    document.head.append(script);
  }, { once: true });

  const scrolling =
    ".momab-table-box, figure.momab-figure, div.highlight > pre, div.math, " +
    ".graph-box, .pst-scrollable-table-container";
  // All widths are read before anything is written, and none of what is folded: a page is laid
  // out once, not once per box.
  let due = false;
  const mark = () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      const boxes = [...document.querySelectorAll(scrolling)].filter(
        (box) => !box.closest("details:not([open])"),
      );
      const wide = boxes.map((box) => box.scrollWidth > box.clientWidth + 1);
      boxes.forEach((box, i) => {
        box.classList.toggle("wide", wide[i]);
        if (wide[i]) box.setAttribute("tabindex", "0");
      });
    });
  };
  window.addEventListener("resize", mark);
  document.addEventListener("toggle", mark, true); // what is folded has no width
  document.fonts.ready.then(mark);
});

// Paper has no folds, and no answers (momab.css hides them there).
let opened = [];
window.addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("article details:not([open], .solution, .teaching)")];
  for (const fold of opened) fold.open = true;
});
window.addEventListener("afterprint", () => {
  for (const fold of opened) fold.open = false;
  opened = [];
});
