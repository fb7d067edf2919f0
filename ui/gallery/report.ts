// The page to leaf through the pictures of a run, without any file but them.

/** A picture, as the page shows it. */
export interface Shown {
  page: string;
  theme: string;
  width: number;
  /** Its path below the folders `now`, `reference` and `difference`. */
  name: string;
  state: 'same' | 'different' | 'new' | 'not compared';
}

const STYLE = `
  :root { color-scheme: light dark; font: 14px system-ui, sans-serif; }
  body { margin: 0; }
  header { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: 16px; align-items: center; padding: 12px 16px;
    background: Canvas; border-bottom: 1px solid GrayText; }
  h1 { font-size: 16px; margin: 0; }
  article { padding: 16px; }
  h2 { font-size: 14px; margin: 0 0 8px; }
  h2 a { color: inherit; }
  .pictures { display: flex; gap: 16px; overflow-x: auto; align-items: flex-start; }
  figure { margin: 0; }
  figcaption { padding-bottom: 4px; color: GrayText; }
  img { display: block; max-width: none; border: 1px solid GrayText; }
  .different h2, .new h2 { color: light-dark(#a5291f, #ff9b90); }
`;

const SCRIPT = `
  const shown = JSON.parse(document.getElementById('shown').textContent);
  const filters = document.getElementById('filters');
  const list = document.getElementById('list');
  const count = document.getElementById('count');
  function figure(kind, { name, width }) {
    const made = document.createElement('figure');
    const caption = document.createElement('figcaption');
    caption.textContent = kind[0].toUpperCase() + kind.slice(1);
    const image = document.createElement('img');
    image.loading = 'lazy';
    image.width = width;
    image.alt = kind + ' ' + name;
    image.src = kind + '/' + name;
    made.append(caption, image);
    return made;
  }
  function article(one) {
    const made = document.createElement('article');
    made.className = one.state;
    made.id = one.name;
    const title = document.createElement('h2');
    const link = document.createElement('a');
    link.href = '#' + one.name;
    link.textContent = [one.page, one.theme, one.width + ' px', one.state].join(' · ');
    title.append(link);
    const pictures = document.createElement('div');
    pictures.className = 'pictures';
    const kinds = { same: ['now', 'reference'], different: ['now', 'reference', 'difference'] };
    pictures.append(...(kinds[one.state] ?? ['now']).map((kind) => figure(kind, one)));
    made.append(title, pictures);
    return made;
  }
  function draw() {
    const { name, theme, width, state } = Object.fromEntries(new FormData(filters));
    const wanted = shown.filter((one) => one.page.includes(name.trim().toLowerCase())
      && (!theme || one.theme === theme) && (!width || String(one.width) === width) && (!state || one.state === state));
    list.replaceChildren(...wanted.map(article));
    count.textContent = wanted.length + ' of ' + shown.length;
  }
  filters.addEventListener('input', draw);
  filters.addEventListener('submit', (event) => event.preventDefault());
  draw();
  if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
`;

function choice(name: string, label: string, values: readonly (string | number)[]): string {
  const options = values.map((value) => `<option value="${value}">${value}</option>`).join('');
  return `<label>${label} <select name="${name}"><option value="">All</option>${options}</select></label>`;
}

/** Writes the page. */
export function writeIndex(shown: readonly Shown[]): string {
  const widths = [...new Set(shown.map(({ width }) => width))];
  const differs = shown.some(({ state }) => state === 'different');
  const states = choice('state', 'State', ['same', 'different', 'new', 'not compared']);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gallery · Countersign</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>Gallery</h1>
<form id="filters">
<label>Page <input name="name" type="search"></label>
${choice('theme', 'Theme', ['light', 'dark'])}
${choice('width', 'Width', widths)}
${differs ? states.replace('<option value="different">', '<option value="different" selected>') : states}
</form>
<span id="count"></span>
</header>
<main id="list"></main>
<script id="shown" type="application/json">${JSON.stringify(shown).replaceAll('<', '\\u003c')}</script>
<script>${SCRIPT}</script>
</body>
</html>
`;
}
