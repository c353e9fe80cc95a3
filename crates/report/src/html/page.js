// Draws the timelines: one lane for each thread, time from top to bottom, the recorded run beside the witness.
"use strict";
(() => {
  const ROW = 1.65, SWITCH = 0.75, GAP = 1.15, COLOURS = 8; // heights in rem, before zooming
  const LEAST = 0.4, MOST = 3, STEP = 1.25;
  const timelines = JSON.parse(document.getElementById("data").textContent);
  const tip = document.getElementById("tip");

  /** An element with a class, text and a place in its grid. */
  function make(name, className, text, style) {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    Object.assign(element.style, style);
    return element;
  }

  const colour = (lane) => `t${lane % COLOURS}`;
  const place = (row, column, toRow, toColumn) =>
    ({ gridRow: toRow ? `${row} / ${toRow}` : `${row}`, gridColumn: toColumn ? `${column} / ${toColumn}` : `${column}` });

  /** The connection from the lane of one thread to that of another. */
  function context(from, to, row) {
    const [first, last] = [Math.min(from, to), Math.max(from, to)];
    const span = last - first + 1;
    const x = (lane) => ((lane - first + 0.5) / span) * 100;
    const item = make("li", "switch", undefined, place(row, first + 2, undefined, last + 3));
    item.setAttribute("aria-hidden", "true");
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 100 10");
    svg.setAttribute("preserveAspectRatio", "none");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", `M${x(from)} 0V5H${x(to)}V10`);
    svg.append(path);
    item.append(svg, make("i", "", undefined, { left: `${x(to)}%` }));
    return item;
  }

  /** One run as a list of its events. */
  function drawRun(data, name) {
    const run = data[name], other = data[name === "witness" ? "recorded" : "witness"];
    const pane = make("section", `pane ${name === "witness" ? "witness" : "recorded-run"}`);
    const title = name === "witness" ? "Witness" : "Recorded run";
    pane.setAttribute("aria-label", title);
    const head = make("div", "pane-head");
    head.append(make("h4", "", title), make("p", run.failed ? "failed" : "", run.ended || "not known how it ends"));
    const names = make("div", "names");
    names.setAttribute("aria-hidden", "true");
    names.append(make("i"));
    data.lanes.forEach((lane, at) => names.append(make("span", colour(at), lane)));
    const list = make("ol", "lanes");
    list.setAttribute("aria-label", `${title}: ${run.rows.length} events in their order`);
    pane.style.setProperty("--count", data.lanes.length);

    const heights = [], lives = [];
    const next = (height) => { heights.push(`calc(${height}rem * var(--z))`); return heights.length; };
    let before, burst;
    for (const row of run.rows) {
      if (row.leftOut > 0) {
        const item = make("li", "left-out", undefined, place(next(GAP), 2, undefined, -1));
        item.append(make("span", "", `⋯ ${row.leftOut} left out`));
        list.append(item);
        burst = undefined;
      }
      if (before && before.lane !== row.lane) {
        list.append(context(before.lane, row.lane, next(SWITCH)));
        burst = undefined;
      }
      const at = next(ROW);
      if (!burst) {
        burst = make("li", `burst ${colour(row.lane)}`, undefined, {});
        burst.setAttribute("aria-hidden", "true");
        burst.first = at;
        list.append(burst);
      }
      Object.assign(burst.style, place(burst.first, row.lane + 2, at + 1));
      const twin = other && other.rows.find((one) => one.event === row.event);
      list.append(number(row, at), event(row, at, data, twin, name));
      before = row;
    }
    if (name === "witness" && data.blocked.length) {
      heights.push("auto");
      for (const one of data.blocked) list.append(make("li", "blocked", one.label, place(heights.length, one.lane + 2)));
    }
    data.lanes.forEach((_, lane) => {
      const life = make("li", "life", undefined, place(1, lane + 2, -1));
      life.setAttribute("aria-hidden", "true");
      lives.push(life);
    });
    list.prepend(...lives);
    list.style.gridTemplateRows = heights.join(" ");
    pane.append(head, names, list);
    return pane;
  }

  function number(row, at) {
    const item = make("li", row.marked ? "at marked" : "at", undefined, place(at, 1));
    item.setAttribute("aria-hidden", "true");
    item.append(make("b", "", row.marked ? `▸${row.number}` : `${row.number}`), make("span", "", row.line === null ? "" : `:${row.line}`));
    return item;
  }

  function event(row, at, data, twin, name) {
    const leftwards = row.lane > 0 && row.lane >= data.lanes.length / 2;
    const item = make("li", leftwards ? "leftwards" : "", undefined, place(at, row.lane + 2));
    const button = make("button", `event ${colour(row.lane)}`);
    button.type = "button";
    button.tabIndex = -1;
    button.append(make("span", "words", row.text));
    button.classList.toggle("marked", row.marked);
    const differs = Boolean(twin && twin.text !== row.text);
    button.classList.toggle("differs", differs);
    button.dataset.event = row.event;
    const where = row.line === null ? "" : `, line ${row.line}`;
    const told = twin && differs ? `; in the ${name === "witness" ? "recorded run" : "witness"} ${twin.text}` : "";
    button.setAttribute("aria-label", `${row.number}. ${data.lanes[row.lane]}${where}: ${row.text}${row.marked ? " (marked)" : ""}${told}`);
    button.tell = () => {
      const place = row.file === null ? "" : ` · ${row.file}:${row.line}`;
      const lines = [make("div", "what", row.text), make("div", "quiet", `${row.number}. ${data.lanes[row.lane]}${place}`)];
      if (row.source) lines.push(make("code", "", row.source));
      if (twin) lines.push(make("div", "", `${name === "witness" ? "recorded run" : "witness"}: ${differs ? twin.text : "the same"}, as step ${twin.number}`));
      else if (data.recorded && data.witness) lines.push(make("div", "quiet", "not in the other run's excerpt"));
      return lines;
    };
    item.append(button);
    return item;
  }

  function showTip(button) {
    tip.replaceChildren(...button.tell());
    tip.hidden = false;
    button.setAttribute("aria-describedby", "tip");
    const at = button.getBoundingClientRect(), size = tip.getBoundingClientRect();
    const below = at.bottom + 8 + size.height < innerHeight;
    tip.style.left = `${Math.max(8, Math.min(at.left, innerWidth - size.width - 8))}px`;
    tip.style.top = `${below ? at.bottom + 8 : Math.max(8, at.top - size.height - 8)}px`;
  }

  class View {
    constructor(section, data) {
      this.section = section;
      this.data = data;
      this.zoom = 1;
      this.viewport = section.querySelector(".viewport");
      this.output = section.querySelector("output");
      this.panes = make("div", "panes");
      const runs = ["recorded", "witness"].filter((name) => data[name]);
      runs.forEach((name, at) => {
        if (at > 0) {
          this.links = document.createElementNS("http://www.w3.org/2000/svg", "svg");
          this.links.setAttribute("class", "links");
          this.links.setAttribute("aria-hidden", "true");
          this.panes.append(this.links);
        }
        const pane = drawRun(data, name);
        // The keyboard enters each run where it gets interesting.
        (pane.querySelector(".event.marked") || pane.querySelector(".event"))?.setAttribute("tabindex", "0");
        this.panes.append(pane);
      });
      this.viewport.append(this.panes);
      section.querySelectorAll(".tools, .keys").forEach((element) => { element.hidden = false; });
      const narrow = matchMedia("(max-width: 60rem)").matches;
      this.show(runs.length > 1 && !narrow ? "both" : runs[runs.length - 1]);
      this.setZoom(1);
      this.listen();
    }

    listen() {
      this.section.querySelectorAll("[data-view]").forEach((button) =>
        button.addEventListener("click", () => this.show(button.dataset.view)));
      this.section.querySelectorAll("[data-zoom]").forEach((button) =>
        button.addEventListener("click", () => this.zoomBy(button.dataset.zoom)));
      this.viewport.addEventListener("keydown", (event) => this.key(event));
      this.viewport.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.setZoom(this.zoom * Math.pow(STEP, -Math.sign(event.deltaY)), event);
      }, { passive: false });
      for (const [kind, out] of [["pointerover", "pointerout"], ["focusin", "focusout"]]) {
        this.viewport.addEventListener(kind, (event) => {
          const button = event.target.closest?.(".event");
          if (button) this.point(button);
        });
        this.viewport.addEventListener(out, () => this.unpoint());
      }
      // What is pointed at may move away under its tip.
      addEventListener("scroll", () => this.pointed && showTip(this.pointed), { passive: true, capture: true });
      this.drag();
      new ResizeObserver(() => this.link()).observe(this.panes);
    }

    show(view) {
      this.panes.dataset.view = view;
      this.section.querySelectorAll("[data-view][aria-pressed]").forEach((button) =>
        button.setAttribute("aria-pressed", String(button.dataset.view === view)));
      this.link();
    }

    zoomBy(how) {
      if (how === "fit") {
        this.setZoom(1);
        // Scroll bars come and go: the second time it fits.
        for (let turn = 0; turn < 2; turn++) {
          const room = parseFloat(getComputedStyle(this.viewport).maxHeight) || innerHeight;
          const ratio = Math.min(room / this.panes.scrollHeight, this.viewport.clientWidth / this.panes.scrollWidth);
          if (ratio < 1) this.setZoom(this.zoom * ratio);
        }
      } else this.setZoom(how === "in" ? this.zoom * STEP : this.zoom / STEP);
    }

    /** Zooms; what is under the pointer stays there. */
    setZoom(zoom, pointer) {
      const old = this.zoom;
      this.zoom = Math.min(MOST, Math.max(LEAST, zoom));
      this.viewport.style.setProperty("--z", this.zoom);
      this.panes.classList.toggle("small", this.zoom < 0.65);
      this.output.textContent = `${Math.round(this.zoom * 100)} %`;
      if (pointer) {
        const box = this.viewport.getBoundingClientRect(), ratio = this.zoom / old;
        const [x, y] = [pointer.clientX - box.left, pointer.clientY - box.top];
        this.viewport.scrollLeft = (this.viewport.scrollLeft + x) * ratio - x;
        this.viewport.scrollTop = (this.viewport.scrollTop + y) * ratio - y;
      }
      this.link();
    }

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const here = event.target.closest(".event");
      const all = here ? [...here.closest(".lanes").querySelectorAll(".event")] : [];
      const at = all.indexOf(here);
      const marked = all.filter((one) => one.classList.contains("marked"));
      const move = {
        ArrowDown: () => all[at + 1], ArrowUp: () => all[at - 1], Home: () => all[0], End: () => all[all.length - 1],
        ArrowLeft: () => this.twin(here, "recorded-run"), ArrowRight: () => this.twin(here, "witness"),
        n: () => marked.find((one) => all.indexOf(one) > at) || marked[0],
      }[event.key];
      const zoom = { "+": "in", "=": "in", "-": "out", "0": "fit" }[event.key];
      if (event.key === "Escape") this.unpoint();
      else if (zoom) this.zoomBy(zoom);
      else if (here && move) this.focus(move());
      else return;
      event.preventDefault();
    }

    focus(button) {
      if (!button || button.offsetParent === null) return;
      button.closest(".lanes").querySelectorAll(".event[tabindex='0']").forEach((one) => { one.tabIndex = -1; });
      button.tabIndex = 0;
      button.scrollIntoView({ block: "nearest", inline: "nearest" });
      button.focus({ preventScroll: true });
    }

    /** The same event in a run. */
    twin(button, run) {
      return [...this.panes.querySelectorAll(`.${run} .event`)].find((one) => one.dataset.event === button.dataset.event);
    }

    point(button) {
      this.unpoint();
      this.pointed = button;
      for (const run of ["recorded-run", "witness"]) {
        const twin = this.twin(button, run);
        if (twin && twin !== button) twin.classList.add("twin");
      }
      showTip(button);
      this.link();
    }

    unpoint() {
      tip.hidden = true;
      this.pointed?.removeAttribute("aria-describedby");
      this.pointed = undefined;
      this.panes.querySelectorAll(".twin").forEach((one) => one.classList.remove("twin"));
      this.link();
    }

    /** Lines between the runs: what is marked, and what is pointed at. Where they cross, the order has changed. */
    link() {
      if (!this.links) return;
      this.links.replaceChildren();
      if (this.panes.dataset.view !== "both") return;
      const box = this.links.getBoundingClientRect();
      for (const left of this.panes.querySelectorAll(".recorded-run .event")) {
        const right = this.twin(left, "witness");
        const pointed = this.pointed?.dataset.event === left.dataset.event;
        if (!right || !(pointed || left.classList.contains("marked") || right.classList.contains("marked"))) continue;
        const y = (one) => { const at = one.getBoundingClientRect(); return at.top + at.height / 2 - box.top; };
        const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
        const [from, to, width] = [y(left), y(right), box.width];
        const start = Math.min(0, left.getBoundingClientRect().right - box.left + 2);
        path.setAttribute("d", `M${start} ${from}H0C${width * 0.6} ${from} ${width * 0.4} ${to} ${width} ${to}`);
        path.setAttribute("class", `${[...left.classList].find((one) => /^t\d$/.test(one))}${pointed ? " twin" : ""}`);
        this.links.append(path);
      }
    }

    drag() {
      let from;
      this.viewport.addEventListener("pointerdown", (event) => {
        if (event.button === 0 && event.pointerType === "mouse")
          from = { x: event.clientX + this.viewport.scrollLeft, y: event.clientY + this.viewport.scrollTop, moved: false };
      });
      addEventListener("pointermove", (event) => {
        if (!from) return;
        const [left, top] = [from.x - event.clientX, from.y - event.clientY];
        from.moved ||= Math.hypot(left - this.viewport.scrollLeft, top - this.viewport.scrollTop) > 4;
        if (!from.moved) return;
        this.viewport.classList.add("dragged");
        this.viewport.scrollTo(left, top);
      });
      for (const end of ["pointerup", "pointercancel"]) {
        addEventListener(end, () => { from = undefined; this.viewport.classList.remove("dragged"); });
      }
    }
  }

  document.querySelectorAll("[data-timeline]").forEach((section) => new View(section, timelines[section.dataset.timeline]));

  document.querySelectorAll("[data-copy]").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const code = document.getElementById(button.dataset.copy);
      let done = true;
      try {
        await navigator.clipboard.writeText(code.textContent);
      } catch {
        getSelection().selectAllChildren(code);
        done = document.execCommand("copy");
      }
      button.textContent = done ? "Copied" : "Press Ctrl+C";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  });
})();
