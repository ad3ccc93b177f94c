// Small behaviours of the book's pages: hover definitions, folds that print open, wide boxes
// that the keyboard can scroll.
document.addEventListener("DOMContentLoaded", () => {
  for (const link of document.querySelectorAll("a.notion[title]")) {
    link.dataset.definition = link.title;
    link.removeAttribute("title");
  }
  const scrolling =
    ".momab-table-box, div.highlight > pre, div.math, mjx-container[display], " +
    ".pst-scrollable-table-container";
  const mark = () => {
    for (const box of document.querySelectorAll(scrolling)) {
      if (box.scrollWidth > box.clientWidth + 1) box.setAttribute("tabindex", "0");
    }
  };
  mark();
  window.addEventListener("resize", mark);
  document.addEventListener("toggle", mark, true); // what is folded has no width
  if (window.MathJax && window.MathJax.startup && window.MathJax.startup.promise) {
    window.MathJax.startup.promise.then(mark);
  } else {
    window.addEventListener("load", () => setTimeout(mark, 500));
  }
});

let opened = [];
window.addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("article details:not([open])")];
  for (const fold of opened) fold.open = true;
});
window.addEventListener("afterprint", () => {
  for (const fold of opened) fold.open = false;
  opened = [];
});
