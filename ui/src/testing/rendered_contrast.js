// Contrast of the texts of a page as they are painted. The tests of the window put this into the real page, with a picture of
// it: it is a script and no module, without types that would have to be compiled away, and sets one global.

/**
 * @typedef {{ width: number, height: number, data: Uint8ClampedArray }} Pixels
 * @typedef {{ left: number, top: number, right: number, bottom: number }} Box In pixels of the picture.
 * @typedef {[red: number, green: number, blue: number]} Colour
 * @typedef {{ at: string, text: string, contrast: number, needed: number, ink: string, ground: string }} Finding
 */

globalThis.renderedContrast = (() => {
  /** What WCAG 2.2 asks of texts (1.4.3), and of large ones. */
  const NEEDED = 4.5;
  const NEEDED_LARGE = 3;
  const LARGE_PX = 24;
  const LARGE_BOLD_PX = 18.66;
  const BOLD = 700;
  /** Parts that a person cannot use at the moment: WCAG asks nothing of them. */
  const INACTIVE = ':disabled, [aria-disabled="true"], [inert]';
  const TEXT_MAX = 40;

  /** @param {number} channel */
  const linear = (channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  /** @param {Colour} colour */
  const luminance = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);

  /**
   * The contrast of two colours, from 1 to 21.
   * @param {Colour} one
   * @param {Colour} other
   */
  function contrastOf(one, other) {
    const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  }

  /**
   * The colour that most of a box has: what its text stands on. None where the box is not in the picture.
   * @param {Pixels} pixels
   * @param {Box} box
   * @returns {Colour | null}
   */
  function groundOf({ width, height, data }, box) {
    const [left, right] = [Math.max(0, Math.floor(box.left)), Math.min(width, Math.ceil(box.right))];
    const [top, bottom] = [Math.max(0, Math.floor(box.top)), Math.min(height, Math.ceil(box.bottom))];
    /** @type {Map<number, number>} */
    const counts = new Map();
    let most = 0;
    let ground = -1;
    for (let y = top; y < bottom; y += 1) {
      for (let x = left; x < right; x += 1) {
        const at = (y * width + x) * 4;
        const colour = ((data[at] ?? 0) << 16) | ((data[at + 1] ?? 0) << 8) | (data[at + 2] ?? 0);
        const count = (counts.get(colour) ?? 0) + 1;
        counts.set(colour, count);
        if (count > most) [most, ground] = [count, colour];
      }
    }
    return ground < 0 ? null : [ground >> 16, (ground >> 8) & 255, ground & 255];
  }

  /**
   * A colour of a style as it looks on a ground.
   * @param {string} css `rgb()` or `rgba()`, as every browser computes it.
   * @param {number} opacity
   * @param {Colour} ground
   * @returns {Colour}
   */
  function inkOn(css, opacity, ground) {
    const [red = 0, green = 0, blue = 0, alpha = 1] = (css.match(/[\d.]+/g) ?? []).map(Number);
    const share = alpha * opacity;
    const mix = (/** @type {number} */ ink, /** @type {number} */ below) =>
      Math.round(ink * share + below * (1 - share));
    return [mix(red, ground[0]), mix(green, ground[1]), mix(blue, ground[2])];
  }

  /**
   * The opacity of an element with everything around it.
   * @param {Element} element
   */
  function opacityOf(element) {
    let opacity = 1;
    for (let at = /** @type {Element | null} */ (element); at; at = at.parentElement)
      opacity *= Number.parseFloat(getComputedStyle(at).opacity || '1');
    return opacity;
  }

  /** @param {CSSStyleDeclaration} style */
  function neededFor(style) {
    const size = Number.parseFloat(style.fontSize);
    const isBold = Number.parseInt(style.fontWeight, 10) >= BOLD;
    return size >= LARGE_PX || (isBold && size >= LARGE_BOLD_PX) ? NEEDED_LARGE : NEEDED;
  }

  /**
   * Whether the middle of a box of an element is seen: nothing around it cuts it off, and nothing lies over it.
   * @param {Element} element
   * @param {DOMRect} box
   */
  function isSeen(element, box) {
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    for (let at = /** @type {Element | null} */ (element); at; at = at.parentElement) {
      const { overflow, position } = getComputedStyle(at);
      const edge = at.getBoundingClientRect();
      const isWithin = x >= edge.left && x <= edge.right && y >= edge.top && y <= edge.bottom;
      if (/auto|scroll|hidden|clip/.test(overflow) && !isWithin) return false;
      // What is fixed is cut off by nothing around it.
      if (position === 'fixed') break;
    }
    const hit = document.elementFromPoint(x, y);
    return hit !== null && (element.contains(hit) || hit.contains(element));
  }

  /**
   * The texts that are painted: of elements, and of fields with what is written in them or stands there meanwhile.
   * @returns {{ element: Element, text: string, style: CSSStyleDeclaration, boxes: DOMRect[] }[]}
   */
  function paintedTexts() {
    const texts = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode.textContent?.trim() ?? '';
      const element = walker.currentNode.parentElement;
      if (text === '' || !element) continue;
      const range = document.createRange();
      range.selectNodeContents(walker.currentNode);
      texts.push({ element, text, style: getComputedStyle(element), boxes: [...range.getClientRects()] });
    }
    for (const field of document.querySelectorAll('input, textarea')) {
      const isEmpty = /** @type {HTMLInputElement} */ (field).value === '';
      const text = isEmpty ? (field.getAttribute('placeholder') ?? '') : /** @type {HTMLInputElement} */ (field).value;
      if (text === '' || ['checkbox', 'radio', 'file'].includes(field.getAttribute('type') ?? '')) continue;
      const style = getComputedStyle(field, isEmpty ? '::placeholder' : null);
      texts.push({ element: field, text, style, boxes: [field.getBoundingClientRect()] });
    }
    return texts;
  }

  /** @param {Element} element */
  function describe(element) {
    const near = element.closest('[data-testid]')?.getAttribute('data-testid');
    return `${element.tagName.toLowerCase()}${element.classList[0] ? `.${element.classList[0]}` : ''} in ${near}`;
  }

  /**
   * The texts of the page with less contrast than WCAG asks for, each kind of place once.
   * @param {Pixels} pixels The page, from its left upper corner on.
   * @returns {Finding[]}
   */
  function findFaintTexts(pixels) {
    const scale = pixels.width / innerWidth;
    /** @type {Map<string, Finding>} */
    const found = new Map();
    for (const { element, text, style, boxes } of paintedTexts()) {
      const opacity = opacityOf(element);
      if (element.closest(INACTIVE) || style.visibility !== 'visible' || opacity === 0) continue;
      const box = boxes.find((one) => one.width > 1 && one.height > 1 && isSeen(element, one));
      const ground =
        box &&
        groundOf(pixels, {
          left: box.left * scale,
          top: box.top * scale,
          right: box.right * scale,
          bottom: box.bottom * scale,
        });
      if (!ground) continue;
      const ink = inkOn(style.color, opacity, ground);
      const [contrast, needed] = [contrastOf(ink, ground), neededFor(style)];
      if (contrast >= needed) continue;
      const at = describe(element);
      const colours = { ink: `rgb(${ink.join(' ')})`, ground: `rgb(${ground.join(' ')})` };
      found.set(`${at} ${colours.ink} ${colours.ground}`, {
        at,
        text: text.slice(0, TEXT_MAX),
        contrast: Math.floor(contrast * 100) / 100,
        needed,
        ...colours,
      });
    }
    return [...found.values()];
  }

  /**
   * The pixels of a picture.
   * @param {string} png Its file in base64, as WebDriver gives it.
   * @returns {Promise<Pixels>}
   */
  async function readPicture(png) {
    const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.width, image.height];
    const drawing = canvas.getContext('2d', { willReadFrequently: true });
    if (!drawing) throw new Error('The page has no canvas to read a picture with.');
    drawing.drawImage(image, 0, 0);
    return drawing.getImageData(0, 0, image.width, image.height);
  }

  return { contrastOf, groundOf, inkOn, findFaintTexts, readPicture };
})();
