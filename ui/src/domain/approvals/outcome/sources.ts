// Reads the web pages that a result comes from. Pure.

/** One page of the web. */
export interface Source {
  title: string;
  url: string;
}

/** How many are shown at most. */
const SOURCES_MAX = 20;

/** The pages that a search found, or the one that was fetched; none of any other result. */
export function sourcesOf(data: unknown): Source[] {
  if (!isRecord(data)) return [];
  if (Array.isArray(data['results'])) {
    const found = data['results']
      .filter(isRecord)
      .flatMap(({ title, url }) =>
        typeof url === 'string' ? [{ title: typeof title === 'string' ? title : '', url }] : [],
      );
    return found.slice(0, SOURCES_MAX);
  }
  return data['untrusted'] === true && typeof data['url'] === 'string' ? [{ title: '', url: data['url'] }] : [];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
