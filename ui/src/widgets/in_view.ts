// Acts when an element comes into view.

/** Has an element call `act` each time it comes into view, for as long as the element is there. */
export function whenInView(act: () => void): (element: Element) => () => void {
  return (element) => {
    const seen = new IntersectionObserver((all) => all.some(({ isIntersecting }) => isIntersecting) && act());
    seen.observe(element);
    return () => seen.disconnect();
  };
}
