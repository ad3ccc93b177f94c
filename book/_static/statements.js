// Statements: cards where they are referred to, marks that open what a machine has checked, a filter for the
// ledger, the graph's neighbourhoods.
// Without this script every entry is shown, every link works, and the graph is a picture of links.
(() => {
  "use strict";

  // ---- cards: what a reference leads to, shown beside it -----------------------------------

  const cards = () => {
    if (!document.querySelector("template[data-card]")) return;
    let card = null;
    let owner = null;
    let timer = 0;

    const close = () => {
      clearTimeout(timer);
      if (!card) return;
      card.remove();
      owner.removeAttribute("aria-describedby");
      card = owner = null;
    };
    const place = () => {
      if (!card) return;
      const at = owner.getBoundingClientRect();
      const room = document.documentElement.clientWidth;
      const left = Math.max(16, Math.min(at.left, room - card.offsetWidth - 16));
      const above = at.top > card.offsetHeight + 12;
      const top = above ? at.top - card.offsetHeight - 6 : at.bottom + 6;
      card.style.left = `${left + window.scrollX}px`;
      card.style.top = `${top + window.scrollY}px`;
    };
    const open = (link) => {
      if (owner === link) return clearTimeout(timer);
      const label = decodeURIComponent(link.hash.slice(1));
      const source = document.querySelector(`template[data-card="${CSS.escape(label)}"]`);
      if (!source) return;
      close();
      owner = link;
      card = document.createElement("div");
      card.className = "statement-card";
      card.id = "statement-card";
      card.setAttribute("role", "tooltip");
      card.append(source.content.cloneNode(true));
      card.addEventListener("pointerenter", () => clearTimeout(timer));
      card.addEventListener("pointerleave", later);
      document.body.append(card);
      link.setAttribute("aria-describedby", card.id);
      place();
    };
    const later = () => {
      clearTimeout(timer);
      timer = setTimeout(close, 250);
    };
    for (const link of document.querySelectorAll("a.statement-link")) {
      // a finger follows the link; only a pointer that can hover, or the keyboard, opens a card
      link.addEventListener("pointerenter", (event) => {
        if (event.pointerType === "touch") return;
        clearTimeout(timer);
        timer = setTimeout(() => open(link), owner ? 0 : 150);
      });
      link.addEventListener("pointerleave", later);
      link.addEventListener("focus", () => link.matches(":focus-visible") && open(link));
      link.addEventListener("blur", close);
      link.addEventListener("click", close);
    }
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") close();
    });
    window.addEventListener("resize", close);
  };

  // ---- marks: what a machine has checked, below the statement ------------------------------

  const marks = () => {
    for (const link of document.querySelectorAll("a.formal-link")) {
      const box = document.getElementById(decodeURIComponent(link.hash.slice(1)));
      if (!box) continue;
      link.addEventListener("click", () => (box.open = true));
      if (location.hash === link.hash) box.open = true;
    }
  };

  // ---- the ledger: entries by verdict, kind and chapter ------------------------------------

  const GROUPS = {
    verdict: "Verdict",
    status: "Status",
    kind: "Kind",
    checked: "Machine-checked",
    page: "Chapter",
  };

  const value = (entry, group) =>
    [...entry.classList]
      .find((name) => name.startsWith(`${group}-`))
      ?.slice(group.length + 1)
      .replaceAll("-", " ") ?? "";

  const filter = () => {
    const entries = [...document.querySelectorAll(".ledger-entry")];
    if (!entries.length) return;
    const form = document.createElement("form");
    form.className = "ledger-filter";
    form.setAttribute("aria-label", "Choose entries");
    const selects = new Map();
    for (const [group, name] of Object.entries(GROUPS)) {
      const found = new Map();
      for (const entry of entries) {
        const one = value(entry, group);
        if (one) found.set(one, (found.get(one) ?? 0) + 1);
      }
      if (found.size < 2) continue;
      const label = document.createElement("label");
      const select = document.createElement("select");
      select.name = group;
      select.add(new Option("all", ""));
      for (const [one, count] of found) select.add(new Option(`${one} (${count})`, one));
      label.append(name, select);
      form.append(label);
      selects.set(group, select);
    }
    if (!selects.size) return;
    const reset = document.createElement("button");
    reset.type = "button";
    reset.textContent = "Show all";
    const told = document.createElement("p");
    told.setAttribute("role", "status");
    form.append(reset, told);

    const apply = () => {
      let shown = 0;
      for (const entry of entries) {
        const fits = [...selects].every(([g, s]) => !s.value || value(entry, g) === s.value);
        entry.hidden = !fits;
        shown += fits;
      }
      told.textContent = `${shown} of ${entries.length} entries are shown.`;
    };
    const remember = () => {
      const address = new URL(location.href);
      for (const [group, select] of selects) {
        if (select.value) address.searchParams.set(group, select.value);
        else address.searchParams.delete(group);
      }
      address.hash = "";
      try {
        history.replaceState(null, "", address.href.replace(/#$/, ""));
      } catch {
        // some browsers do not let a file change its address; the filter works all the same
      }
    };
    const recall = () => {
      const asked = new URLSearchParams(location.search);
      for (const [group, select] of selects) {
        select.value = asked.get(group) ?? "";
        if (select.selectedIndex < 0) select.value = "";
      }
      apply();
    };
    const showTarget = () => {
      const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
      const entry = target && target.closest(".ledger-entry");
      const more = entry && entry.querySelector("details");
      if (more) more.open = true;
      if (!entry || !entry.hidden) return;
      for (const select of selects.values()) select.value = "";
      apply();
      entry.scrollIntoView();
    };
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("change", () => {
      apply();
      remember();
    });
    reset.addEventListener("click", () => {
      for (const select of selects.values()) select.value = "";
      apply();
      remember();
    });
    window.addEventListener("popstate", recall);
    window.addEventListener("hashchange", showTarget);

    const output = entries[0].closest(".cell") ?? entries[0];
    output.before(form);
    for (const entry of entries) {
      const heading = entry.querySelector("p");
      const link = document.createElement("a");
      link.className = "entry-link";
      link.href = `#${entry.id}`;
      link.textContent = "#";
      const name = heading?.querySelector("strong")?.textContent ?? entry.id;
      link.setAttribute("aria-label", `Link to the entry ${name}`);
      heading?.append(link);
    }
    recall();
    showTarget();
  };

  // ---- the graph: what a statement rests on, and what rests on it --------------------------

  const graph = () => {
    for (const svg of document.querySelectorAll(".graph-box svg")) {
      const lines = [...svg.querySelectorAll(".graph-line")];
      const boxes = new Map([...svg.querySelectorAll(".graph-node")].map((a) => [a.dataset.id, a]));
      const follow = (start, from, to) => {
        const found = new Set([start]);
        for (const one of found) {
          for (const line of lines) if (line.dataset[from] === one) found.add(line.dataset[to]);
        }
        return found;
      };
      const trace = (id) => {
        const up = follow(id, "user", "used");
        const down = follow(id, "used", "user");
        svg.classList.add("traced");
        for (const line of lines) {
          const { used, user } = line.dataset;
          line.classList.toggle(
            "on",
            (up.has(used) && up.has(user)) || (down.has(used) && down.has(user)),
          );
        }
        for (const [name, box] of boxes) box.classList.toggle("on", up.has(name) || down.has(name));
      };
      const clear = () => svg.classList.remove("traced");
      for (const [id, box] of boxes) {
        box.addEventListener("pointerenter", (event) => event.pointerType !== "touch" && trace(id));
        box.addEventListener("pointerleave", clear);
        box.addEventListener("focus", () => trace(id));
        box.addEventListener("blur", clear);
      }
    }
  };

  document.addEventListener("DOMContentLoaded", () => {
    cards();
    marks();
    filter();
    graph();
  });
})();
