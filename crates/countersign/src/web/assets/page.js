// Keys and live updates. Every page works without this.
'use strict';
const first = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const isTyping = event => event.target.matches('input:not([type=radio]), textarea, select');

function step(selector, by) {
  const list = all(selector);
  if (!list.length) return;
  const at = list.indexOf(document.activeElement);
  const next = list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.max(0, Math.min(list.length - 1, at + by))];
  next.closest('details')?.setAttribute('open', '');
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}

addEventListener('keydown', event => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && event.target.form) {
    event.target.form.requestSubmit();
    return;
  }
  if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
  const keys = {
    j: () => step('.row', 1),
    k: () => step('.row', -1),
    n: () => step('.find', 1),
    p: () => step('.find', -1),
    d: () => first('.decide input[type=radio]')?.focus(),
    g: () => { location.href = '/'; },
    '?': () => first('#keys')?.showModal(),
  };
  if (keys[event.key]) {
    keys[event.key]();
    event.preventDefault();
  }
});

// An event makes the page fetch itself; parts that differ are replaced, but never the one with the focus.
let busy = false, again = false, took = 0, timer;
async function refresh() {
  if (document.hidden || busy) { again = true; return; }
  busy = true;
  again = false;
  const began = performance.now();
  try {
    const answer = await fetch(location.href);
    if (answer.ok) {
      const now = new DOMParser().parseFromString(await answer.text(), 'text/html');
      document.title = now.title;
      for (const part of all('[data-live]')) {
        const other = now.getElementById(part.id);
        if (other && other.outerHTML !== part.outerHTML && !part.contains(document.activeElement)) part.replaceWith(other);
      }
    }
  } finally {
    busy = false;
    took = performance.now() - began;
    if (again && !document.hidden) later();
  }
}
function later() {
  clearTimeout(timer);
  // A large page is not drawn all the time.
  timer = setTimeout(refresh, Math.max(250, 10 * took));
}
document.addEventListener('visibilitychange', () => { if (!document.hidden && again) later(); });

const live = first('.live');
if (live && first('[data-live]')) {
  const events = new EventSource('/events');
  events.addEventListener('change', later);
  events.onopen = () => { live.textContent = 'Live'; live.classList.remove('off'); };
  events.onerror = () => { live.textContent = 'Reconnecting'; live.classList.add('off'); };
}
