/* Marking by keys and pointer: what is given is sent at once, and nothing is left unsent. */

"use strict";

const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const dress = () => (root.dataset.theme = dark.matches ? "dark" : "light");
dark.addEventListener("change", dress);
dress();

document.addEventListener("DOMContentLoaded", () => {
  const at = (id) => document.getElementById(`mark-${id}`);
  const state = at("state");
  const form = at("form");

  async function post(address, body) {
    const answer = await fetch(address, { method: "POST", body: JSON.stringify(body), keepalive: true });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  }
  function say(text, wrong = false) {
    state.textContent = text;
    state.classList.toggle("mark-wrong", wrong);
  }

  // ---- giving marks --------------------------------------------------------------------

  let unsent = false;
  let sending = Promise.resolve(true);

  async function sendNow() {
    const points = at("points").value.trim();
    unsent = false;
    try {
      const kept = await post(form.dataset.at, { points, comment: at("comment").value });
      at("done").textContent = kept.done;
      at("bar").value = kept.done;
      for (const button of form.querySelectorAll(".mark-point"))
        button.setAttribute("aria-pressed", String(Number(button.dataset.point) === kept.points));
      at("points").removeAttribute("aria-invalid");
      say(kept.points === null ? "Saved, without points." : `Saved: ${kept.points} of ${form.dataset.most}.`);
      return true;
    } catch (error) {
      unsent = true;
      const gone = error instanceof TypeError;
      at("points").toggleAttribute("aria-invalid", !gone);
      say(gone ? "Not saved: momab course mark has ended." : `Not saved: ${error.message}`, true);
      return false;
    }
  }
  const send = () => (sending = sending.then(sendNow)); // in the order in which they were given

  async function go(link) {
    if (!link) return;
    if (form && unsent && !(await send())) return;
    if (form) await sending;
    location.href = link.href;
  }

  if (form) {
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("click", (event) => {
      const button = event.target.closest(".mark-point");
      if (button) give(button.dataset.point);
    });
    let later = 0;
    for (const field of [at("points"), at("comment")]) {
      field.addEventListener("input", () => {
        unsent = true;
        clearTimeout(later);
        if (field.id === "mark-comment") later = setTimeout(send, 800);
      });
      field.addEventListener("change", () => unsent && send());
      field.addEventListener("keydown", (event) => {
        const leave = event.key === "Escape" || (event.key === "Enter" && field.id === "mark-points");
        if (leave) field.blur();
        if (leave) event.preventDefault();
      });
    }
    addEventListener("pagehide", () => unsent && send());
  }
  function give(point) {
    if (Number(point) > Number(form.dataset.most)) {
      say(`Not saved: there are ${form.dataset.most} points at most.`, true);
      return;
    }
    at("points").value = point;
    send();
  }

  at("feedback")?.addEventListener("click", async () => {
    say("Writing…");
    try {
      say((await post("/feedback", {})).said);
    } catch (error) {
      say(error instanceof TypeError ? "momab course mark has ended." : error.message, true);
    }
  });

  // ---- keys ----------------------------------------------------------------------------

  const help = at("help");
  const on = at("on");
  on.checked = localStorage.getItem("momab-mark-keys") !== "off";
  on.addEventListener("change", () => localStorage.setItem("momab-mark-keys", on.checked ? "on" : "off"));
  at("keys").addEventListener("click", () => help.showModal());

  const focus = (id) => () => at(id) && (at(id).focus(), at(id).select());
  const follow = (id) => () => go(at(id));
  const keys = {
    j: follow("next"),
    ArrowRight: follow("next"),
    k: follow("previous"),
    ArrowLeft: follow("previous"),
    n: follow("unmarked"),
    c: focus("comment"),
    p: focus("points"),
    o: () => go(document.querySelector('.mark-top a[href="/"]')),
    "?": () => help.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, dialog, [tabindex='0']:not(body)");
    const arrows = event.key.startsWith("Arrow");
    if (event.ctrlKey || event.metaKey || event.altKey || help.open || !on.checked) return;
    if (typing && (arrows || !typing.matches("[tabindex]"))) return;
    if (form && /^[0-9]$/.test(event.key)) give(event.key);
    else if (keys[event.key]) keys[event.key]();
    else return;
    event.preventDefault();
  });
  for (const link of document.querySelectorAll(".mark-top a"))
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      go(link);
    });
});
