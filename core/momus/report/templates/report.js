(function () {
  "use strict";
  var root = document.documentElement, button = document.getElementById("theme");
  button.hidden = false;
  button.addEventListener("click", function () {
    var dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  // columns of numbers sort by the first number of a cell, after all cells without one
  function key(row, column, numeric) {
    var text = row.cells[column].textContent.trim();
    if (!numeric) return text;
    var number = parseFloat(text.replace(/,/g, "").replace("−", "-").replace(/^[<>]\s*/, ""));
    return isNaN(number) ? -Infinity : number;
  }
  function sortable(table) {
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (head, column) {
      if (!head.textContent.trim()) return;
      var sort = document.createElement("button");
      sort.type = "button";
      sort.textContent = head.textContent;
      head.textContent = "";
      head.appendChild(sort);
      sort.addEventListener("click", function () {
        var down = head.getAttribute("aria-sort") === "ascending", body = table.tBodies[0];
        var rows = Array.prototype.slice.call(body.rows).map(function (row, i) { return [key(row, column, head.classList.contains("num")), i, row]; });
        rows.sort(function (a, b) {
          var order = typeof a[0] === "number" && typeof b[0] === "number" ? a[0] - b[0] : String(a[0]).localeCompare(String(b[0]));
          return (down ? -order : order) || a[1] - b[1];
        });
        Array.prototype.forEach.call(table.tHead.rows[0].cells, function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        rows.forEach(function (row) { body.appendChild(row[2]); });
      });
    });
  }

  // a card shows its rows of the table of all statistics once it is opened: written twice, they would fill the file
  var all = document.querySelector("#statistics table"), rowsOf = {}, axis;
  // only the first row of an axis links to its card; read before anybody sorts the table
  Array.prototype.forEach.call(all ? all.tBodies[0].rows : [], function (row) {
    var link = row.querySelector("a");
    if (link) axis = link.hash;
    (rowsOf[axis] = rowsOf[axis] || []).push(row);
  });
  document.querySelectorAll("p.rows").forEach(function (place) {
    var fold = place.closest("details"), link = place.querySelector("a"), critic = link.dataset.critic;
    function fill() {
      if (!fold.open || !place.isConnected) return;
      var copy = all.cloneNode(false), region = document.createElement("div");
      copy.appendChild(all.tHead.cloneNode(true));
      var body = copy.appendChild(document.createElement("tbody"));
      (rowsOf["#critic-" + critic] || []).forEach(function (row) { body.appendChild(row.cloneNode(true)); });
      region.className = "scroll";
      region.tabIndex = 0;
      region.setAttribute("role", "region");
      region.setAttribute("aria-label", link.dataset.name);
      region.appendChild(copy);
      place.after(all.parentNode.nextElementSibling.cloneNode(true));  // the note on its documents
      place.replaceWith(region);
      sortable(copy);
    }
    fold.addEventListener("toggle", fill);
    fill();
  });
  document.querySelectorAll("table[data-sortable]").forEach(function (table) { if (!table.querySelector("th button")) sortable(table); });

  // a link into a fold opens it
  function open() {
    var target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    for (var at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (target) target.scrollIntoView();
  }
  addEventListener("hashchange", open);
  open();

  // figures can be saved: as SVG with the colours of light paper, as PNG, and their numbers as CSV
  function save(blob, name) {
    var link = document.createElement("a"), url = URL.createObjectURL(blob);
    link.href = url;
    link.download = name;
    document.body.appendChild(link);
    link.click();
    link.remove();
    setTimeout(function () { URL.revokeObjectURL(url); }, 10000);
  }
  function drawing(figure) {
    var svg = figure.querySelector("svg").cloneNode(true), box = svg.viewBox.baseVal, before = root.dataset.theme;
    svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    svg.setAttribute("width", box.width);
    svg.setAttribute("height", box.height);
    svg.setAttribute("font-family", "Helvetica, Arial, sans-serif");
    svg.removeAttribute("style");
    svg.querySelectorAll("a").forEach(function (link) { link.removeAttribute("href"); });
    root.dataset.theme = "light";
    var colours = getComputedStyle(root);
    var text = new XMLSerializer().serializeToString(svg).replace(/var\((--[\w-]+)\)/g, function (_, name) {
      return colours.getPropertyValue(name).trim();
    });
    if (before === undefined) delete root.dataset.theme; else root.dataset.theme = before;
    return { text: text, width: box.width, height: box.height };
  }
  var savers = {
    SVG: function (figure, name) { save(new Blob([drawing(figure).text], { type: "image/svg+xml" }), name + ".svg"); },
    PNG: function (figure, name) {
      var drawn = drawing(figure), image = new Image(), canvas = document.createElement("canvas"), scale = 3;
      canvas.width = drawn.width * scale;
      canvas.height = drawn.height * scale;
      image.onload = function () {
        var pen = canvas.getContext("2d");
        pen.fillStyle = "#fff";
        pen.fillRect(0, 0, canvas.width, canvas.height);
        pen.drawImage(image, 0, 0, canvas.width, canvas.height);
        canvas.toBlob(function (blob) { save(blob, name + ".png"); });
      };
      image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(drawn.text);
    },
    CSV: function (figure, name) {
      // the page names a series in its first row only
      var text = figure.querySelector("pre").textContent, last = "";
      if (/^series,/.test(text)) text = text.replace(/^(?:"(?:[^"]|"")*"|[^,\n]*)(?=,)/gm, function (cell) { return last = cell || last; });
      save(new Blob([text], { type: "text/csv" }), name + ".csv");
    }
  };
  document.querySelectorAll("figure.fig").forEach(function (figure) {
    var bar = document.createElement("p"), title = figure.querySelector("figcaption").textContent;
    bar.className = "save";
    bar.append("Save as ");
    Object.keys(savers).forEach(function (kind) {
      var saver = document.createElement("button");
      saver.type = "button";
      saver.textContent = kind;
      saver.setAttribute("aria-label", "Save “" + title + "” as " + kind);
      saver.addEventListener("click", function () { savers[kind](figure, figure.dataset.name); });
      bar.append(saver, " ");
    });
    figure.querySelector("details.data").before(bar);
  });
})();
