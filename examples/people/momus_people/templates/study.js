(function () {
  "use strict";
  var study = JSON.parse(document.getElementById("study").textContent), root = document.documentElement;
  var screen = document.getElementById("screen"), trials = study.trials, at = -1, shownAt = 0, dirty = false;
  var prefix = "momus-study/" + study.study + "/" + study.rater + "/", memory = {}, stored = true;
  var letters = ["A", "B"];

  // Each answer has a key of its own: two tabs never overwrite each other's answers. Without storage, memory holds them.
  function load(key) {
    try {
      var text = localStorage.getItem(prefix + key);
      if (text !== null) return JSON.parse(text);
    } catch (error) { /* no storage, or something else under this key */ }
    return Object.prototype.hasOwnProperty.call(memory, key) ? memory[key] : null;
  }
  function save(key, value) {
    memory[key] = value;
    try { localStorage.setItem(prefix + key, JSON.stringify(value)); } catch (error) { stored = false; dirty = true; }
  }
  function answered(trial) { return load("answer/" + trial.id); }
  function count() { return trials.filter(answered).length; }

  function make(tag, content, settings) {
    var element = document.createElement(tag);
    if (content !== undefined && content !== null) element.textContent = content;
    Object.keys(settings || {}).forEach(function (name) {
      if (name in element && name !== "for") element[name] = settings[name]; else element.setAttribute(name, settings[name]);
    });
    return element;
  }
  function clear() { screen.textContent = ""; scrollTo(0, 0); }
  function progress() {
    var done = count();
    document.getElementById("progress").value = done / trials.length;
    document.getElementById("count").textContent = done + " of " + trials.length + " answered";
  }

  function welcome() {
    at = -1;
    clear();
    screen.append(make("h2", "Before you begin"), make("p", study.instructions, { className: "text" }));
    screen.append(make("p", "The question: " + study.question));
    screen.append(make("p", "There are " + trials.length + " screens. Your answers are kept in this browser: you can close "
      + "the page and continue later. Nothing is sent; at the end you save a file and return it."));
    var form = make("form"), box = make("input", null, { type: "checkbox", id: "consent", checked: !!load("consent") });
    var label = make("label", null, { className: "check" });
    label.append(box, make("span", study.consent));
    var say = make("p", "", { className: "say", role: "alert" });
    form.append(label, say, steps([["Begin", null, "main"]]));
    form.addEventListener("submit", function (event) {
      event.preventDefault();
      if (!box.checked) { say.textContent = "Please read the text above, and tick the box if you agree."; box.focus(); return; }
      save("consent", new Date().toISOString());
      next();
    });
    screen.append(form);
    progress();
  }

  function steps(buttons) {
    var line = make("div", null, { className: "steps" });
    buttons.forEach(function (b) {
      var button = make("button", b[0], { type: b[1] ? "button" : "submit", className: b[2] || "" });
      if (b[1]) button.addEventListener("click", b[1]);
      line.append(button);
    });
    return line;
  }

  function passage(trial, index, form) {
    var box = make("section", null, { className: "piece" }), many = trial.passages.length > 1;
    var name = many ? "Passage " + letters[index] : "Passage", id = "passage-" + index;
    box.setAttribute("aria-labelledby", id);
    box.append(make("h3", name, { id: id }));
    trial.passages[index].forEach(function (text, k) {
      var part = make("div", null, { className: "part" });
      part.append(make("p", text));
      if (study.labels.length) part.append(labelling(trial, k, form));
      box.append(part);
    });
    return box;
  }
  function labelling(trial, k, form) {
    var label = make("label", "Type of section " + (k + 1) + ": "), select = make("select", null, { name: "label-" + k });
    select.append(make("option", "choose …", { value: "" }));
    study.labels.forEach(function (text) { select.append(make("option", text, { value: text })); });
    var kept = answered(trial);
    if (kept && kept.labels) select.value = kept.labels[k] || "";
    label.append(select);
    return label;
  }

  function group(options, chosen) {
    var set = make("fieldset"), choices = make("div", null, { className: "choices" });
    set.append(make("legend", study.question));
    options.forEach(function (option, k) {
      var label = make("label"), input = make("input", null, { type: "radio", name: "answer", value: String(option[1]) });
      input.checked = chosen !== null && String(chosen) === String(option[1]);
      label.append(input, make("span", option[0]));
      if (k < 9) label.append(make("kbd", String(k + 1), { "aria-hidden": "true" }));
      input.dataset.key = k + 1;
      choices.append(label);
    });
    set.append(choices);
    return set;
  }

  function choicesOf(trial) {
    var kept = answered(trial), value = kept ? kept.answer : null;
    if (study.kind === "rating") {
      return group(study.scale.map(function (s, k) { return [s, k]; }), value);
    }
    var sides = [["Passage A", "left"], ["Passage B", "right"]];
    if (study.ties) sides.splice(1, 0, ["Both alike", "equal"]);
    return group(sides, value);
  }

  function show(index) {
    at = index;
    shownAt = Date.now();
    var trial = trials[index];
    clear();
    var form = make("form", null, { noValidate: true, autocomplete: "off" });
    var box = make("div", null, { className: trial.passages.length > 1 ? "passages two" : "passages" });
    screen.append(make("h2", (trial.truth ? "Training, screen " : "Screen ") + (index + 1) + " of " + trials.length));
    trial.passages.forEach(function (_, k) { box.append(passage(trial, k, form)); });
    var say = make("p", "", { className: "say", role: "alert" });
    form.append(box);
    form.append(choicesOf(trial));
    form.append(say);
    form.append(steps([["Next", null, "main"], ["Back", function () { if (at > 0) show(at - 1); else welcome(); }]]));
    form.append(keysBox());
    form.addEventListener("submit", function (event) { event.preventDefault(); answer(trial, form, say); });
    screen.append(form);
    screen.focus({ preventScroll: true });
    progress();
  }

  function value(form) {
    var input = form.querySelector("input[name=answer]:checked");
    if (!input) return "Please choose an answer.";
    return { answer: study.kind === "rating" ? Number(input.value) : input.value };
  }

  function answer(trial, form, say) {
    var found = value(form), labels = Array.prototype.map.call(form.querySelectorAll("select"), function (s) { return s.value; });
    if (labels.some(function (l) { return !l; })) { say.textContent = "Please choose a type for every section."; return; }
    if (typeof found === "string") { say.textContent = found; return; }
    if (trial.truth && !form.dataset.verified) { verify(trial, form, say); return; }
    found.trial = trial.id;
    var before = answered(trial), looking = count() === trials.length;
    found.seconds = Math.round((Date.now() - shownAt) / 100) / 10 + (before ? before.seconds : 0);
    found.at = new Date().toISOString();
    if (labels.length) found.labels = labels;
    save("answer/" + trial.id, found);
    if (looking && at + 1 < trials.length) show(at + 1); else next();
  }

  function verify(trial, form, say) {
    var wrong = 0;
    form.querySelectorAll("select").forEach(function (select, k) {
      var truth = trial.truth[k], right = truth === null || select.value === truth;
      if (!right) wrong += 1;
      select.parentNode.append(make("span", right ? " ✓ right" : " ✗ it is " + truth, { className: "true" }));
    });
    form.dataset.verified = "yes";
    say.textContent = wrong ? wrong + " of the types differ from the true ones, which are shown. Press Next to continue." : "All types are right. Press Next to continue.";
  }

  // the first screen without an answer, here or, by wrapping around, before
  function next() {
    for (var k = 1; k <= trials.length; k++) {
      var index = (at + k + trials.length) % trials.length;
      if (!answered(trials[index])) { show(index); return; }
    }
    finish();
  }

  function result() {
    return {
      format: "momus-answers-1", study: study.study, rater: study.rater, consent: load("consent"),
      saved: new Date().toISOString(),
      answers: trials.map(answered).filter(Boolean)
    };
  }

  function finish() {
    at = trials.length;
    clear();
    screen.append(make("h2", "Thank you"), make("p", "All screens are answered. Save the file, and return it to whoever sent you this page."));
    var name = "answers-" + study.study + "-" + study.rater + ".json";
    screen.append(steps([
      ["Save " + name, function () { download(name); }, "main"],
      ["Look at my answers again", function () { show(0); }]
    ]));
    progress();
  }

  function download(name) {
    var blob = new Blob([JSON.stringify(result(), null, 1) + "\n"], { type: "application/json" }), url = URL.createObjectURL(blob);
    var link = make("a", "", { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    dirty = false;
    setTimeout(function () { URL.revokeObjectURL(url); }, 10000);
  }

  // number keys choose; they can be turned off, since some people's tools send keys of their own
  function keysBox() {
    var label = make("label", null, { className: "check keys" }), box = make("input", null, { type: "checkbox", checked: load("keys") !== false });
    label.append(box, make("span", "Number keys choose an answer, Enter continues"));
    root.classList.toggle("keys-off", !box.checked);
    box.addEventListener("change", function () { save("keys", box.checked); root.classList.toggle("keys-off", !box.checked); });
    return label;
  }
  addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey || load("keys") === false || /^(TEXTAREA|SELECT|BUTTON)$/.test(event.target.tagName)) return;
    if (/^[1-9]$/.test(event.key)) {
      var input = screen.querySelector('input[data-key="' + event.key + '"]');
      if (input) { input.checked = true; input.focus({ preventScroll: true }); }
    } else if (event.key === "Enter" && !/^(INPUT|A)$/.test(event.target.tagName)) {
      var form = screen.querySelector("form");
      if (form) { event.preventDefault(); form.requestSubmit(); }
    }
  });

  // another tab of the same form has saved something
  addEventListener("storage", function (event) {
    if (event.key === null || event.key.indexOf(prefix) !== 0) return;
    progress();
    if (at >= 0 && at < trials.length && event.key === prefix + "answer/" + trials[at].id) next();
  });
  addEventListener("beforeunload", function (event) { if (dirty && !stored) event.preventDefault(); });

  var button = document.getElementById("theme");
  button.hidden = false;
  button.addEventListener("click", function () {
    var dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  if (load("consent")) next(); else welcome();
  if (!stored) screen.prepend(make("p", "This browser keeps nothing for this page: do not close it before you have saved the file.", { className: "warning" }));
})();
