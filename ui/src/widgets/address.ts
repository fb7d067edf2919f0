// Reads an address of the web as a browser does. Pure.

/** An address that may be opened. */
interface Leads {
  /** All of it, as a browser would go there. */
  address: string;
  /** Host of the address, with its port if it has one of its own: in ASCII, so that no letter passes for another. */
  host: string;
  /** Whether nobody on the way can read the traffic: `https`, or an address of this machine. */
  safe: boolean;
}

/** Reads where an address leads; none where it is no address of the web, or hides its host behind a user name. */
export function leadsTo(text: string): Leads | null {
  if (/[\p{Cc}\\]/u.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  if (
    (url.protocol !== 'https:' && url.protocol !== 'http:') ||
    url.host === '' ||
    url.username !== '' ||
    url.password !== ''
  )
    return null;
  const here = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  return { address: url.href, host: url.host, safe: url.protocol === 'https:' || here };
}
