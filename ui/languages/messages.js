// Tells strings for people from data: by where they stand, and by how they look.

/** Attributes that always hold data. */
const DATA_ATTRIBUTES =
  /^(class|id|style|for|href|src|role|type|rel|name|data-.*|testid|icon|look|lang|dir|ink|tone|fill|d|viewBox|transform|points|x|y|key|kind|autocomplete|spellcheck|inputmode|aria-(keyshortcuts|live|haspopup|current|controls|labelledby|describedby|relevant|sort|orientation|autocomplete))$/;

/** Attributes whose text is always for people. */
const TEXT_ATTRIBUTES = /^(label|title|aria-label|placeholder|hint|lead|lede|text|words)$/;
/** Tells whether the text of any other attribute is for people. */
const isAttributeMessage = (text) =>
  /\p{L}{2,}/u.test(text) && !/^[a-z_]+$/.test(text) && (/\s/.test(text) || !/-|\.\w/.test(text));

/** Names of keys as events have them, and other words of the platform. */
const PLATFORM =
  /^(Enter|Escape|Tab|Backspace|Home|End|PageUp|PageDown|Delete|Control|Shift|Alt|Meta|INPUT|TEXTAREA|HTML\w+|[A-Z]\w*(Error|Event|Element))$/;

const isPhrase = (text) => /\p{L}{2,}[^\p{L}]* +[^ ]*\p{L}/u.test(text) || /# +\p{L}{2,}|\p{L}{2,} +#/u.test(text);

/** Tells whether a string that stands in a script is one for people. */
function isScriptMessage(text) {
  if (!/\p{L}{2,}/u.test(text)) return false;
  if (PLATFORM.test(text) || /^[A-Z]+[a-z]+[A-Z]\w*$/.test(text)) return false;
  if (
    /^#[\w-]|^[.[(/:\-<&?*@]\S|^\(prefers|^https?:|^data:|data-|[{}]|;(?! )|=>|="|^\w+:#|px;|::|var\(|\w\(#/.test(
      text,
    ) &&
    !/^# /.test(text)
  )
    return false;
  if (/^\p{Lu}[\p{Ll}’']/u.test(text)) return true;
  return isPhrase(text);
}

/** Tells whether a string belongs into the catalogue. */
export function isMessage({ msgStr, details }) {
  const text = msgStr.join('\n');
  if (!/\p{L}/u.test(text)) return false;
  if (details.attribute && DATA_ATTRIBUTES.test(details.attribute)) return false;
  if (details.element && /^(style|script|code|pre|path|kbd)$/.test(details.element)) return false;
  if (details.scope === 'markup') return true;
  if (
    details.call &&
    /^(console\.|fetch$|Symbol$|.*\.(types|dataTransfer\.types)\.includes$|.*\.(querySelector|querySelectorAll|closest|matches|mark|addEventListener|startsWith|endsWith|split|getItem|setItem)$|matchMedia$|addEventListener$)/.test(
      details.call,
    )
  )
    return false;
  if (details.scope === 'attribute') return TEXT_ATTRIBUTES.test(details.attribute ?? '') || isAttributeMessage(text);
  return isScriptMessage(text);
}
