// Text of a tool or an agent is shown, never interpreted.

import { expect, test } from 'vitest';
import { toBlocks } from './markdown';

const html = (markdown: string) =>
  toBlocks(markdown)
    .map((block) => String(block).trim())
    .join('\n');

test.each([
  ['prose with code', 'It is `-2^2`.', '<p>It is <code class="short">-2^2</code>.</p>'],
  ['code with markup', '`<b>`', '<p><code class="short">&lt;b&gt;</code></p>'],
  ['a heading below those of the page', '# Done', '<h3>Done</h3>'],
  ['a fenced block without its language', '```rust\nfn a() {}\n```', '<pre><code>fn a() {}</code></pre>'],
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
  ['a marker of ours from outside', '\ue000U+0041\ue001', '<p>U+0041</p>'],
])('%s', (_, markdown, expected) => expect(html(markdown)).toBe(expected));

test('while a message grows, the blocks that are whole stay the same', () => {
  const [first, second] = toBlocks('One.\n\nTw');
  expect([String(first).trim(), String(second).trim()]).toEqual(['<p>One.</p>', '<p>Tw</p>']);
  expect(toBlocks('One.\n\nTwo.')[0]).toBe(first);
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
