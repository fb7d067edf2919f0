// Text of a tool or an agent is shown, never interpreted.

import { expect, test } from 'vitest';
import { toBlocks, type Block } from './markdown';

/** A block as a test compares it: HTML as text, all else as it is. */
function plain(block: Block): unknown {
  switch (block.kind) {
    case 'html':
      return String(block.html).trim();
    case 'code':
      return { code: block.text, language: block.language };
    case 'quote':
      return { quote: block.blocks.map(plain) };
    case 'list':
      return { list: block.items.map((item) => item.map(plain)), start: block.start };
  }
}
const blocks = (markdown: string) => toBlocks(markdown).map(plain);
const html = (markdown: string) => blocks(markdown).join('\n');

test.each([
  ['prose with code', 'It is `-2^2`.', '<p>It is <code class="short">-2^2</code>.</p>'],
  ['code with markup', '`<b>`', '<p><code class="short">&lt;b&gt;</code></p>'],
  ['a heading below those of the page', '# Done', '<h3>Done</h3>'],
  ['a list of things to do', '- [x] one\n- [ ] two', '<ul>\n<li>☑ one</li>\n<li>☐ two</li>\n</ul>'],
  [
    'a link says its host and does not open',
    '[the docs](https://docs.rs/axum)',
    '<p><span class="link" title="https://docs.rs/axum">the docs <span class="host">docs.rs</span></span></p>',
  ],
  [
    'a link that names another host than it leads to',
    '[docs.rs](https://evil.example/x)',
    '<p><span class="link" title="https://evil.example/x">docs.rs <span class="host">evil.example</span></span></p>',
  ],
  [
    'an image is a word',
    '![a cat](https://evil.example/pixel.png)',
    '<p><span class="link" title="https://evil.example/pixel.png">image: a cat</span></p>',
  ],
  ['a script is text', '<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
  ['an image tag is text', 'a <img src=x onerror=alert(1)> b', '<p>a &lt;img src=x onerror=alert(1)&gt; b</p>'],
  [
    'a link to a script does not',
    '[x](javascript:alert(1))',
    '<p><span class="link" title="javascript:alert(1)">x <span class="host">javascript:</span></span></p>',
  ],
  ['text that turns its direction', 'rm \u202etxt.exe', '<p>rm <span class="ctl">U+202E</span>txt.exe</p>'],
  ['a character of no width in code', '`a\u200bb`', '<p><code class="short">a[U+200B]b</code></p>'],
  [
    'a marker of ours from outside',
    '\ue000U+0041\ue001',
    '<p><span class="ctl">U+E000</span>U+0041<span class="ctl">U+E001</span></p>',
  ],
  ["a terminal's escape", 'a \u001b[31mred', '<p>a <span class="ctl">U+001B</span>[31mred</p>'],
  ['mathematics', '$x_1 * y_2 * z$', '<p>$x_1 * y_2 * z$</p>'],
])('%s', (_, markdown, expected) => expect(html(markdown)).toBe(expected));

test.each([
  ['by a fence', '```rust title="a"\nfn a() {}\n```', [{ code: 'fn a() {}', language: 'rust' }]],
  ['by an indent', '    a <b>', [{ code: 'a <b>', language: '' }]],
  [
    'within a list, and the words before it stay one part',
    '1. [x] **one**\n   ```sh\n   ls\n   ```\n2. two',
    [{ list: [['☑ <strong>one</strong>', { code: 'ls', language: 'sh' }], ['two']], start: 1 }],
  ],
  [
    'within a list within a quote',
    '> q\n> - a\n>\n>   ```\n>   b\n>   ```',
    [{ quote: ['<p>q</p>', { list: [['<p>a</p>', { code: 'b', language: '' }]], start: null }] }],
  ],
  ['that is not whole yet', 'See:\n```py\nx = 1', ['<p>See:</p>', { code: 'x = 1', language: 'py' }]],
])('code is a block of its own: %s', (_, markdown, expected) => expect(blocks(markdown)).toEqual(expected));

test.each([
  ['markup', '<script>alert(1)</script>\n<img src=x onerror=alert(1)>&amp;'],
  ['text that turns its direction', 'rm \u202etxt.exe\u2066'],
  ['characters of no width', 'a\u200bb\ufeff'],
  ['the escapes of a terminal', '\u001b[31mred\u001b[0m \u001b]8;;https://evil.example\u0007x'],
  ['private characters, our marks among them', '\ue000U+0041\ue001 \ue0b0'],
  ['tabs', 'all:\n\tcargo build\t# x'],
])('code is kept as it was written: %s', (_, code) => {
  const fenced = `\`\`\`sh\n${code}\n\`\`\``;
  expect(blocks(fenced)).toEqual([{ code, language: 'sh' }]);
  const listed = `- a\n${fenced.replace(/^/gm, '  ')}`;
  expect(blocks(listed)).toEqual([{ list: [['a', { code, language: 'sh' }]], start: null }]);
});

test('while a message grows, the blocks that are whole stay the same', () => {
  const text = 'One.\n\n```rs\nfn a() {}\n```\n\nTw';
  const before = toBlocks(text);
  const after = toBlocks(`${text}o.`);
  expect(before.map(plain)).toEqual(['<p>One.</p>', { code: 'fn a() {}', language: 'rs' }, '<p>Tw</p>']);
  expect([after[0] === before[0], after[1] === before[1], plain(after[2]!)]).toEqual([true, true, '<p>Two.</p>']);
});

test('nothing that is written can load, run or navigate', () => {
  const attacks = [
    '<iframe src="https://evil.example"></iframe>',
    '<a href="https://evil.example" target=_top>x</a>',
    '<svg><script>alert(1)</script></svg>',
    '<style>*{background:url(https://evil.example)}</style>',
    '<form action="https://evil.example"><button>ok</button></form>',
    '[x](https://evil.example "onmouseover=alert(1)")',
    '<https://evil.example>',
    '![x][1]\n\n[1]: https://evil.example/p.png',
  ];
  const page = document.createElement('div');
  page.innerHTML = attacks.map(html).join('\n');
  expect(page.querySelectorAll('a, img, iframe, script, style, form, button, svg, [href], [src], [style]').length).toBe(
    0,
  );
  const names = [...page.querySelectorAll('*')].flatMap((element) => element.getAttributeNames());
  expect([...new Set(names)].sort()).toEqual(['class', 'title']);
});
