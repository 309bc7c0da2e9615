(function () {
  "use strict";
  var root = document.documentElement, button = document.getElementById("theme");
  button.hidden = false;
  button.addEventListener("click", function () {
    var dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  function key(row, column) {
    var cell = row.cells[column];
    if (cell.dataset.value === undefined) return cell.textContent.trim();
    return cell.dataset.value === "" ? -Infinity : Number(cell.dataset.value);
  }
  document.querySelectorAll("table[data-sortable]").forEach(function (table) {
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (head, column) {
      var sort = document.createElement("button");
      sort.type = "button";
      sort.textContent = head.textContent;
      head.textContent = "";
      head.appendChild(sort);
      sort.addEventListener("click", function () {
        var down = head.getAttribute("aria-sort") === "ascending", body = table.tBodies[0];
        var rows = Array.prototype.slice.call(body.rows).map(function (row, i) { return [key(row, column), i, row]; });
        rows.sort(function (a, b) {
          var order = typeof a[0] === "number" && typeof b[0] === "number" ? a[0] - b[0] : String(a[0]).localeCompare(String(b[0]));
          return (down ? -order : order) || a[1] - b[1];
        });
        Array.prototype.forEach.call(table.tHead.rows[0].cells, function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        rows.forEach(function (row) { body.appendChild(row[2]); });
      });
    });
  });
})();
