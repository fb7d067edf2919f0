// Tells strings for people from data: what of the sources belongs into the catalogue.
//
// The text of a component always does. For a string in an attribute or in a script, three questions are asked: does it
// stand where only data stands (an attribute, an element, a call)? Does it look like data (a selector, an address, a key)?
// And does it look like words (a capital, or several words)? `msg('today')` marks what these questions miss.

/** Attributes that always hold data. */
const DATA_ATTRIBUTES =
  /^(class|id|style|for|href|src|role|type|rel|name|data-.*|testid|icon|look|lang|dir|ink|tone|fill|d|viewBox|transform|points|x|y|key|kind|autocomplete|spellcheck|inputmode|keys|aria-(keyshortcuts|live|haspopup|current|controls|labelledby|describedby|relevant|sort|orientation|autocomplete))$/;
/** Attributes whose text is always for people. */
const TEXT_ATTRIBUTES = /^(label|title|aria-label|placeholder|hint|lead|lede|text|words)$/;
/** Elements whose text is no sentence. */
const DATA_ELEMENTS = /^(style|script|code|pre|path|kbd)$/;
/** Calls whose arguments are data. */
const DATA_CALLS =
  /^(console\.|fetch$|Symbol$|.*\.(types|dataTransfer\.types)\.includes$|.*\.(querySelector|querySelectorAll|closest|matches|mark|addEventListener|startsWith|endsWith|split|getItem|setItem)$|matchMedia$|addEventListener$)/;

/** Strings of scripts that begin like words and are none. */
const NAMES = [
  // Classes and errors of the platform, and names of ours with a capital within.
  /^(INPUT|TEXTAREA|HTML\w+|[A-Z]\w*(Error|Event|Element))$/,
  /^[A-Z]+[a-z]+[A-Z]\w*$/,
  // Keys, as events have them, and chords: `Escape`, `Ctrl+F`.
  /^(Escape|Backspace|Home|End|PageUp|PageDown|Delete|Insert|Space|Plus|Control|Ctrl|Meta|Super|Alt|Shift)$/,
  /^((Ctrl|Shift|Alt|Meta|Super|⇧)[ +])*(\S|F\d+|Enter|Esc|Tab)?$/,
];
/** Signs of selectors, paths, addresses, styles, markup and patterns. */
const CODE = [
  /^#[\w-]|^[.[(/:\-<&?*@]\S|^\(prefers|^https?:|^data:|data-/,
  /[{}]|;(?! )|=>|="|^\w+:#|px;|::|var\(|\w\(#/,
];
/** A string of `plural`, which begins with its number. */
const COUNTED = /^# /;

const hasWord = (text) => /\p{L}{2,}/u.test(text);
const beginsSentence = (text) => /^\p{Lu}[\p{Ll}’']/u.test(text);
const isPhrase = (text) => /\p{L}{2,}[^\p{L}]* +[^ ]*\p{L}/u.test(text) || /# +\p{L}{2,}|\p{L}{2,} +#/u.test(text);
const isOneOf = (patterns, text) => patterns.some((pattern) => pattern.test(text));

/** Tells whether a string that stands in a script is for people. */
function isScriptMessage(text) {
  if (!hasWord(text) || isOneOf(NAMES, text) || (isOneOf(CODE, text) && !COUNTED.test(text))) return false;
  return beginsSentence(text) || isPhrase(text);
}

/** Tells whether the text of an attribute is for people. */
function isAttributeMessage(name, text) {
  if (TEXT_ATTRIBUTES.test(name)) return true;
  return hasWord(text) && !/^[a-z_]+$/.test(text) && (/\s/.test(text) || !/-|\.\w/.test(text));
}

/** Tells whether a string belongs into the catalogue. */
export function isMessage({ msgStr, details }) {
  const text = msgStr.join('\n');
  const { attribute = '', element = '', call = '', scope } = details;
  if (!/\p{L}/u.test(text) || DATA_ATTRIBUTES.test(attribute) || DATA_ELEMENTS.test(element)) return false;
  if (scope === 'markup') return true;
  if (DATA_CALLS.test(call)) return false;
  return scope === 'attribute' ? isAttributeMessage(attribute, text) : isScriptMessage(text);
}
