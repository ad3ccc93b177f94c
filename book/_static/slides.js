// A deck of the book: its theme, slides that fit, and reveal.js around it all.
(() => {
  const root = document.documentElement;
  const printing = /print-pdf/.test(location.search);
  const system = matchMedia("(prefers-color-scheme: dark)");

  // The theme: what the reader chose in the book, else what the system prefers; paper is light.
  const chosen = () => {
    try {
      return localStorage.getItem("mode");
    } catch {
      return null;
    }
  };
  const paint = (theme) => {
    root.dataset.theme = theme;
  };
  const follow = () => {
    const mode = chosen();
    const own = mode === "light" || mode === "dark" ? mode : system.matches ? "dark" : "light";
    paint(printing ? "light" : own);
  };
  follow();
  system.addEventListener("change", follow);

  // A desk gets slides of 1280 x 720; a phone gets slides of its own shape. The small pictures in
  // the speaker's view are those of a desk.
  const framed = window !== window.top;
  root.classList.toggle("framed", framed);
  const narrow = () => !printing && !framed && innerWidth < 700;
  const size = () =>
    narrow()
      ? { width: 400, height: Math.round((400 * innerHeight) / innerWidth) }
      : { width: 1280, height: 720 };

  // ---- fitting -----------------------------------------------------------------------------

  const inner = ".momab-table-box, pre, div.math, .pst-scrollable-table-container";
  const right = (tag) => tag.getBoundingClientRect().right;
  const isTall = (content) => content.scrollHeight > content.clientHeight + 1;
  const isWide = (box) => box.scrollWidth > box.clientWidth + 1;
  const sticksOut = (formula) => right(formula) > right(formula.closest("p, li, dd, td, th, div")) + 1;
  const overfull = (content) =>
    isTall(content) ||
    isWide(content) ||
    [...content.querySelectorAll(inner)].some(isWide) ||
    [...content.querySelectorAll("span.math")].some(sticksOut);

  // A formula that is a little too wide shrinks alone.
  const squeeze = (content) => {
    const formulas = [...content.querySelectorAll("div.math")];
    for (const formula of formulas) formula.style.fontSize = "";
    for (const formula of formulas.filter(isWide)) {
      const share = formula.clientWidth / formula.scrollWidth - 0.01;
      formula.style.fontSize = `${Math.max(narrow() ? 0.65 : 0.75, share)}em`;
    }
  };

  // The largest of a few sizes at which the content fits, or 0.
  const largest = (section, content, sizes) => {
    for (const scale of sizes) {
      section.style.setProperty("--fit", scale);
      squeeze(content);
      if (!overfull(content)) return scale;
    }
    return 0;
  };

  // How high a figure is drawn within its box.
  const height = (drawing) => {
    const box = drawing.getBoundingClientRect();
    const { width, height } = drawing.viewBox.baseVal;
    return Math.min(box.height, (box.width * height) / width);
  };

  // The ways to lay out a slide: one below the other; with one figure also text and figure, or
  // figure and caption, side by side.
  const layouts = (content, figures) => {
    const parts = content.querySelectorAll(":scope > .part");
    if (narrow() || figures.length !== 1) return [""];
    if (parts.length === 1) return figures[0].querySelector("figcaption") ? ["", "captioned"] : [""];
    return parts[0].contains(figures[0]) ? [""] : ["", "beside"];
  };

  // Enlarge a slide of little text, shrink an overfull one as far as it stays readable; beyond
  // that it scrolls (on paper it shrinks further).
  const fit = (section) => {
    const content = section.querySelector(".content");
    if (!content) return;
    section.classList.remove("beside", "captioned", "long");
    for (const tag of section.querySelectorAll("[tabindex]")) tag.removeAttribute("tabindex");
    for (const tag of section.querySelectorAll(".wide")) tag.classList.remove("wide");
    const last = narrow() ? 0.85 : printing ? 0.3 : 0.62;
    const text = !content.querySelector("figure, pre, .exercises");
    const sizes = text && !narrow() ? [1.2, 1.1] : [];
    for (let scale = 1; scale > last; scale -= 0.02) sizes.push(Number(scale.toFixed(2)));
    sizes.push(last);
    const figures = content.querySelectorAll("figure.momab-figure");
    const tried = layouts(content, figures).map((layout) => {
      section.classList.remove("beside", "captioned");
      if (layout) section.classList.add(layout);
      const scale = largest(section, content, sizes);
      const drawing = figures[0]?.querySelector("svg");
      return { layout, scale, score: drawing ? scale * height(drawing) : scale };
    });
    const { layout, scale: best } = tried.reduce((a, b) => (b.score > a.score ? b : a));
    section.classList.remove("beside", "captioned");
    if (layout) section.classList.add(layout);
    section.style.setProperty("--fit", best || last);
    squeeze(content);
    if (best) return;
    section.classList.toggle("long", isTall(content));
    const formulas = [...content.querySelectorAll("span.math")].filter(sticksOut);
    for (const formula of formulas) formula.classList.add("wide");
    const boxes = [...content.querySelectorAll(inner)].filter(isWide);
    for (const box of [...formulas, ...boxes]) box.tabIndex = 0;
    if (isTall(content)) content.tabIndex = 0;
  };

  const fitAll = () => {
    const deck = document.querySelector(".reveal");
    const { width, height } = size();
    deck.style.setProperty("--width", `${width}px`);
    deck.style.setProperty("--height", `${height}px`);
    root.classList.toggle("narrow", narrow());
    deck.classList.add("measuring");
    for (const section of deck.querySelectorAll(".slides section")) fit(section);
    deck.classList.remove("measuring");
  };

  // A proof that is opened may no longer fit.
  const refit = (fold) => {
    const section = fold.closest?.(".slides > section");
    if (section) fit(section);
  };

  // ---- pictures in steps -------------------------------------------------------------------

  // The panels of a picture are the groups of its axes; groups that lie upon each other are one.
  const panelsOf = (drawing) => {
    const { width, height } = drawing.viewBox.baseVal;
    const found = [];
    for (const group of drawing.querySelectorAll(":scope > g > g")) {
      const box = group.firstElementChild?.getBBox() ?? group.getBBox(); // curves may stick out
      const small = box.width * box.height < 0.03 * width * height;
      if (small || !group.querySelector("[clip-path]")) continue; // a word, a legend
      const same = found.find(
        ({ box: b }) =>
          box.x < b.x + 0.7 * b.width && b.x < box.x + 0.7 * box.width &&
          box.y < b.y + 0.7 * b.height && b.y < box.y + 0.7 * box.height,
      );
      if (same) same.groups.push(group);
      else found.push({ box, groups: [group] });
    }
    return found.sort((a, b) => Math.round(a.box.y - b.box.y) || a.box.x - b.box.x);
  };

  // The part of a picture that holds a panel and its words, which are drawn outside of its frame:
  // everything of the panel that is not cut off at the frame.
  const viewOf = (drawing, { box, groups }) => {
    const toDrawing = drawing.getScreenCTM().inverse();
    let [left, top, right, bottom] = [box.x, box.y, box.x + box.width, box.y + box.height];
    for (const mark of groups.flatMap((group) => [...group.querySelectorAll("path, use")])) {
      if (mark.closest("[clip-path], defs")) continue;
      const r = mark.getBoundingClientRect();
      const a = new DOMPoint(r.left, r.top).matrixTransform(toDrawing);
      const b = new DOMPoint(r.right, r.bottom).matrixTransform(toDrawing);
      [left, top] = [Math.min(left, a.x), Math.min(top, a.y)];
      [right, bottom] = [Math.max(right, b.x), Math.max(bottom, b.y)];
    }
    return [left - 4, top - 4, right - left + 8, bottom - top + 8].join(" ");
  };

  const takeApart = (part) => {
    const drawing = part.querySelector("figure.momab-figure svg");
    const panels = drawing ? panelsOf(drawing) : [];
    if (printing || narrow() || panels.length < 2) return; // a phone shows the whole picture
    const steps = part.dataset.panels === "build" ? panels.slice(1) : [...panels, null];
    steps.forEach((panel, index) => {
      if (part.dataset.panels === "build") {
        for (const group of panel.groups) {
          group.classList.add("fragment");
          group.dataset.fragmentIndex = index;
        }
        return;
      }
      const step = document.createElement("span");
      step.className = "fragment panel";
      step.hidden = true;
      step.dataset.fragmentIndex = index;
      step.dataset.view = panel ? viewOf(drawing, panel) : drawing.getAttribute("viewBox");
      part.append(step);
    });
    drawing.dataset.view = drawing.getAttribute("viewBox");
  };

  // Show the panel of the last step that has been taken.
  const look = () => {
    const slide = Reveal.getCurrentSlide();
    for (const part of slide?.querySelectorAll('[data-panels="zoom"]') ?? []) {
      const drawing = part.querySelector("figure.momab-figure svg");
      const taken = [...part.querySelectorAll(".panel.visible")].pop();
      const view = taken?.dataset.view ?? drawing.dataset.view;
      if (view) drawing.setAttribute("viewBox", view);
    }
  };

  // ---- the deck ----------------------------------------------------------------------------

  const scroll = (way) => () => {
    const content = Reveal.getCurrentSlide().querySelector(".content");
    if (content) content.scrollBy({ top: way * 0.6 * content.clientHeight });
  };

  // Slides are measured when the fonts of their words and formulas are there.
  const start = async () => {
    if (document.readyState !== "complete") {
      await new Promise((go) => addEventListener("load", go, { once: true }));
    }
    fitAll(); // asks for the fonts that the slides need
    await document.fonts.ready;
    fitAll();
    const deck = document.querySelector(".reveal");
    deck.classList.add("measuring"); // what is not laid out has no size
    deck.querySelectorAll("[data-panels]").forEach(takeApart);
    deck.classList.remove("measuring");
    if (!printing) document.fonts.addEventListener("loadingdone", fitAll); // a late font moves lines
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    await Reveal.initialize({
      ...size(),
      margin: 0,
      minScale: 0.05,
      maxScale: 4,
      center: false,
      display: "flex",
      hash: true,
      slideNumber: "c/t",
      controlsTutorial: false,
      transition: calm ? "none" : "fade",
      transitionSpeed: "fast",
      scrollActivationWidth: null,
      pdfSeparateFragments: false,
      pdfMaxPagesPerSlide: 1,
      keyboard: { 38: scroll(-1), 40: scroll(1) },
      plugins: [RevealNotes],
    });
    Reveal.addKeyBinding({ keyCode: 84, key: "T", description: "Light or dark" }, () =>
      paint(root.dataset.theme === "dark" ? "light" : "dark"),
    );
    for (const event of ["fragmentshown", "fragmenthidden", "slidechanged"]) Reveal.on(event, look);
    look();
    let shape = JSON.stringify(size());
    addEventListener("resize", () => {
      if (JSON.stringify(size()) === shape) return;
      shape = JSON.stringify(size());
      fitAll();
      Reveal.configure(size());
      Reveal.layout();
    });
    document.addEventListener("toggle", (event) => refit(event.target), true);
    root.dataset.deck = "ready";
  };
  document.addEventListener("DOMContentLoaded", start);
})();
