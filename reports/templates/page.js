"use strict";
(function () {
  var all = function (selector, root) {
    return Array.prototype.slice.call((root || document).querySelectorAll(selector));
  };
  var make = function (name, className, text) {
    var node = document.createElement(name);
    if (className) { node.className = className; }
    if (text !== undefined) { node.textContent = text; }
    return node;
  };

  // Rows that belong together stand in one tbody; a table is sorted by those or by its rows.
  function units(table) {
    return table.querySelector("tbody.entry") ? Array.from(table.tBodies)
      : table.tBodies.length ? Array.from(table.tBodies[0].rows) : [];
  }
  function cellOf(unit, column) {
    var row = unit.tagName === "TBODY" ? unit.rows[0] : unit;
    return row.cells[column];
  }
  function key(unit, column, numeric) {
    var cell = cellOf(unit, column);
    var given = cell.getAttribute("data-sort");
    if (given !== null) { return Number(given); }
    return numeric ? null : cell.textContent.trim().toLowerCase();
  }
  function compare(a, b) {
    if (a === null || b === null) { return 0; }
    if (typeof a === "number" && typeof b === "number") { return a - b; }
    return String(a).localeCompare(String(b), "en", { numeric: true });
  }
  function sort(table, column, descending) {
    var numeric = table.tHead.rows[0].cells[column].classList.contains("num");
    var list = units(table).map(function (unit, at) {
      return { unit: unit, key: key(unit, column, numeric), at: at };
    });
    list.sort(function (a, b) {
      // What is unknown stays last, whichever way the order goes.
      if ((a.key === null) !== (b.key === null)) { return a.key === null ? 1 : -1; }
      var order = compare(a.key, b.key);
      return (descending ? -order : order) || a.at - b.at;
    });
    var parent = list.length ? list[0].unit.parentNode : null;
    var before = parent && parent.tagName === "TABLE" ? table.tFoot : null;
    list.forEach(function (item) { parent.insertBefore(item.unit, before); });
  }
  function makeSortable(table) {
    if (units(table).length < 2) { return; }
    Array.from(table.tHead.rows[0].cells).forEach(function (head, column) {
      var text = head.textContent.trim();
      if (!text) { return; }
      var button = make("button", "sort", text);
      button.type = "button";
      head.textContent = "";
      head.appendChild(button);
      button.addEventListener("click", function () {
        var was = head.getAttribute("aria-sort");
        var first = head.classList.contains("num") ? "descending" : "ascending";
        var other = first === "descending" ? "ascending" : "descending";
        var now = was === first ? other : first;
        all("th[aria-sort]", table).forEach(function (th) { th.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", now);
        sort(table, column, now === "descending");
      });
    });
  }
  function makeFilterable(table) {
    var label = make("label", "filter");
    var input = make("input");
    var count = make("output");
    input.type = "search";
    label.appendChild(make("span", "", "Filter"));
    label.appendChild(input);
    label.appendChild(count);
    var list = units(table);
    input.addEventListener("input", function () {
      var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      var shown = 0;
      list.forEach(function (unit) {
        var text = unit.textContent.toLowerCase();
        unit.hidden = !words.every(function (word) { return text.indexOf(word) >= 0; });
        if (!unit.hidden) { shown += 1; }
      });
      count.textContent = words.length ? shown + " of " + list.length : "";
    });
    var holder = table.closest(".scroll");
    holder.parentNode.insertBefore(label, holder);
  }
  function addLink(entry) {
    var body = entry.querySelector(".proof-body");
    if (!body || !navigator.clipboard) { return; }
    var button = make("button", "plain", "Copy link");
    button.type = "button";
    button.addEventListener("click", function () {
      var address = location.href.split("#")[0] + "#" + entry.id;
      navigator.clipboard.writeText(address).then(
        function () { button.textContent = "Copied"; },
        function () { location.hash = entry.id; }
      );
    });
    body.appendChild(button);
  }
  function addSave() {
    var place = document.getElementById("save");
    var button = make("button", "plain", "Save the data of this page (JSON)");
    button.type = "button";
    button.addEventListener("click", function () {
      var text = JSON.stringify(JSON.parse(document.getElementById("data").textContent), null, 2);
      var link = make("a");
      link.href = URL.createObjectURL(new Blob([text + "\n"], { type: "application/json" }));
      link.download = place.getAttribute("data-name");
      link.click();
      setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
    });
    place.appendChild(button);
  }
  // A link opens what it leads to, and everything around it.
  function reveal() {
    var target = null;
    try { target = document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch (e) { return; }
    if (!target) { return; }
    var inside = target.matches("tbody.entry, .section") ? target.querySelector("details") : null;
    if (inside && (target.matches("tbody.entry") || inside.parentNode === target)) { inside.open = true; }
    for (var node = target; node; node = node.parentElement) {
      if (node.tagName === "DETAILS") { node.open = true; }
    }
    target.scrollIntoView();
  }
  var closed = [];
  addEventListener("beforeprint", function () {
    closed = all("details:not([open])");
    closed.forEach(function (item) { item.open = true; });
  });
  addEventListener("afterprint", function () {
    closed.forEach(function (item) { item.open = false; });
    closed = [];
  });
  // Only what scrolls needs to be reached by the keyboard.
  function reachable() {
    all(".scroll, .drawing").forEach(function (box) {
      box.tabIndex = box.scrollWidth > box.clientWidth ? 0 : -1;
    });
  }
  addEventListener("resize", reachable);
  addEventListener("toggle", reachable, true);
  reachable();
  all("table[data-sortable]").forEach(makeSortable);
  all("table[data-filterable]").forEach(makeFilterable);
  all("tbody.entry[id]").forEach(addLink);
  addSave();
  addEventListener("hashchange", reveal);
  if (location.hash) { reveal(); }
})();
