'use strict';
(function () {
  const $ = function (id) { return document.getElementById(id); };
  const steps = Array.from(document.querySelectorAll('details.step'));
  const find = $('find'), marked = $('marked'), found = $('found');
  let at = -1, timer = 0, texts = null;

  // The page is read without this script; with it, its tools appear.
  $('tools').hidden = false;

  function text(i) {
    if (!texts) { texts = steps.map(function (s) { return s.textContent.toLowerCase(); }); }
    return texts[i];
  }

  function filter() {
    const words = find.value.trim().toLowerCase();
    let n = 0;
    steps.forEach(function (s, i) {
      const fits = (!words || text(i).includes(words)) && (!marked.checked || s.hasAttribute('data-marked'));
      s.hidden = !fits;
      if (fits) { n++; }
    });
    found.textContent = words || marked.checked ? n + ' of ' + steps.length + ' steps' : '';
  }

  function all(open) { steps.forEach(function (s) { if (!s.hidden) { s.open = open; } }); }

  function go(by) {
    let i = at + by;
    while (i >= 0 && i < steps.length && steps[i].hidden) { i += by; }
    if (i < 0 || i >= steps.length) { return; }
    if (at >= 0) { steps[at].classList.remove('here'); }
    at = i;
    steps[at].classList.add('here');
    steps[at].querySelector('summary').focus({ preventScroll: true });
    steps[at].scrollIntoView({ block: 'start' });
  }

  // A link to what is folded unfolds it.
  function reveal() {
    let e = location.hash.length > 1 ? $(location.hash.slice(1)) : null;
    const target = e;
    for (; e; e = e.parentElement) {
      if (e.tagName === 'DETAILS') { e.open = true; e.hidden = false; }
    }
    if (target) { target.scrollIntoView({ block: 'start' }); }
  }

  function theme() {
    const dark = window.matchMedia('(prefers-color-scheme: dark)').matches;
    const now = document.documentElement.dataset.theme || (dark ? 'dark' : 'light');
    document.documentElement.dataset.theme = now === 'dark' ? 'light' : 'dark';
  }

  find.addEventListener('input', function () { clearTimeout(timer); timer = setTimeout(filter, 150); });
  marked.addEventListener('change', filter);
  $('unfold').addEventListener('click', function () { all(true); });
  $('fold').addEventListener('click', function () { all(false); });
  $('theme').addEventListener('click', theme);
  window.addEventListener('hashchange', reveal);
  document.addEventListener('keydown', function (e) {
    if (e.ctrlKey || e.metaKey || e.altKey) { return; }
    if (e.target.tagName === 'INPUT') {
      if (e.key === 'Escape') { find.value = ''; filter(); e.target.blur(); }
      return;
    }
    const keys = { j: function () { go(1); }, k: function () { go(-1); }, u: function () { all(true); }, f: function () { all(false); },
      o: function () { if (at >= 0) { steps[at].open = !steps[at].open; } }, '/': function () { find.focus(); } };
    if (Object.hasOwn(keys, e.key)) { e.preventDefault(); keys[e.key](); }
  });
  reveal();
})();
