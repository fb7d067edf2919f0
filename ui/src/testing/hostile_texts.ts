// Texts that an agent, a server or a file may bring, and that must be shown and never interpreted.

/** What each does where it is interpreted. `attack()` would be called, and `evil.example` asked. */
export const HOSTILE_TEXTS: Readonly<Record<string, string>> = {
  script: '<script>attack()</script>',
  'image with a handler': '<img src=x onerror="attack()">',
  'image of another host': '<img src="https://evil.example/pixel.png">',
  svg: '<svg onload="attack()"><script>attack()</script></svg>',
  frame: '<iframe srcdoc="<script>parent.attack()</script>"></iframe>',
  form: '<form action="https://evil.example"><button autofocus onfocus="attack()">Allow</button></form>',
  'style sheet': '<style>*{background:url(https://evil.example/s)}</style>',
  'end of an attribute': '" onmouseover="attack()" autofocus onfocus="attack()" x="',
  template: '{@html attack()} ${attack()} {{attack()}}',
  'link to a script': '[Open](javascript:attack())',
  'link with data': '[Open](data:text/html,<script>attack()</script>)',
  'bare address': 'https://evil.example/x <https://evil.example/y>',
  'Markdown image': '![chart](https://evil.example/chart.png) ![x][1]\n\n[1]: https://evil.example/p.png',
  'link that names another host': '[docs.rs](https://evil.example/x "onmouseover=attack()")',
  'reversed order': 'rm \u202etxt.sh\u202c \u2066a\u2069 \u200fb \u061cc',
  'characters of no width': 'r\u200bm\u200c \u200d-\u2060rf\ufeff',
  'other blanks': 'rm\u00a0-rf\u2003\u3000\u3164\u2800',
  tags: 'ls\u{e0020}\u{e0072}\u{e006d}\ufe0f',
  'moved cursor': 'rm -rf /\rls\b\b\u0000\u007f\u0085',
  'colours of a terminal': '\u001b[8mhidden\u001b[0m\u001b[2K\u001b[1A',
  'commands to a terminal': '\u001b]8;;https://evil.example\u0007click\u001b]8;;\u0007\u001b]52;c;cm0=\u0007\u009b31m',
  'line separators': 'one\u2028two\u2029three',
  'half a character': 'a\ud800b\udc00c',
};

/** All of them in one text. */
export const HOSTILE = Object.values(HOSTILE_TEXTS).join(' ');
