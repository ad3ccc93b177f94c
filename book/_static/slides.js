// A deck of the book: its theme, slides that fit, mathematics, and reveal.js around it all.
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

  window.MathJax = { ...window.MathJax, startup: { typeset: false } };

  // A desk gets slides of 1280 x 720; a phone gets slides of its own shape.
  const narrow = () => !printing && innerWidth < 700;
  const size = () =>
    narrow()
      ? { width: 400, height: Math.round((400 * innerHeight) / innerWidth) }
      : { width: 1280, height: 720 };

  // ---- fitting -----------------------------------------------------------------------------

  const inner = ".momab-table-box, pre, div.math, .pst-scrollable-table-container";
  const overfull = (content) => {
    if (content.scrollHeight > content.clientHeight + 1) return true;
    if (content.scrollWidth > content.clientWidth + 1) return true;
    return [...content.querySelectorAll(inner)].some((box) => box.scrollWidth > box.clientWidth + 1);
  };

  // The largest of a few sizes at which the content fits, or 0.
  const largest = (section, content, sizes) => {
    for (const scale of sizes) {
      section.style.setProperty("--fit", scale);
      if (!overfull(content)) return scale;
    }
    return 0;
  };

  // Shrink an overfull slide as far as it stays readable; beyond that it scrolls (on paper it
  // shrinks further). Text beside a figure may stand in two columns if that is larger.
  const fit = (section) => {
    const content = section.querySelector(".content");
    if (!content) return;
    section.classList.remove("beside", "long");
    content.removeAttribute("tabindex");
    const last = narrow() ? 0.85 : printing ? 0.3 : 0.62;
    const sizes = [];
    for (let scale = 1; scale > last; scale -= 0.04) sizes.push(Number(scale.toFixed(2)));
    sizes.push(last);
    let best = largest(section, content, sizes);
    const parts = content.querySelectorAll(":scope > .part");
    const figures = content.querySelectorAll("figure.momab-figure");
    const columns = !narrow() && parts.length > 1 && figures.length === 1;
    if (columns && best < 1 && !parts[0].contains(figures[0])) {
      section.classList.add("beside");
      const other = largest(section, content, sizes);
      if (other > best) best = other;
      else section.classList.remove("beside");
    }
    section.style.setProperty("--fit", best || last);
    if (!best) {
      section.classList.add("long");
      content.tabIndex = 0;
    }
    for (const box of content.querySelectorAll(inner)) {
      if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
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

  // ---- speaker notes -----------------------------------------------------------------------

  // The speaker's window has no MathJax, but every browser draws MathML.
  const writeNotes = () => {
    for (const formula of document.querySelectorAll("aside.notes .formula")) {
      const tex = formula.textContent.trim().replace(/^\\[([]|\\[)\]]$/g, "");
      formula.innerHTML = MathJax.tex2mml(tex, { display: formula.tagName === "DIV" });
    }
  };

  // ---- the deck ----------------------------------------------------------------------------

  const scroll = (way) => () => {
    const content = Reveal.getCurrentSlide().querySelector(".content");
    if (content) content.scrollBy({ top: way * 0.6 * content.clientHeight });
  };

  // Mathematics is set once, all slides in view, when the fonts it is measured against are there.
  const start = async () => {
    fitAll();
    document.querySelector(".reveal").classList.add("measuring");
    await MathJax.startup.promise;
    await document.fonts.ready;
    await MathJax.typesetPromise();
    await document.fonts.ready;
    writeNotes();
    fitAll();
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
    let shape = JSON.stringify(size());
    addEventListener("resize", () => {
      if (JSON.stringify(size()) === shape) return;
      shape = JSON.stringify(size());
      fitAll();
      Reveal.configure(size());
      Reveal.layout();
    });
    document.addEventListener("toggle", (event) => fit(event.target.closest("section")), true);
    root.dataset.deck = "ready";
  };
  document.addEventListener("DOMContentLoaded", start);
})();
