// The components that stand on a page. Each notes itself, by a line that the build of the pictures puts into it
// (`ui/gallery/mount_marks.ts`); anywhere else nobody does.

/** How many of each component are mounted, by its path below `src`. */
const counts = new Map<string, number>();

/** Notes that a component was mounted. Returns what notes that it is gone. */
export function noteMounted(component: string): () => void {
  counts.set(component, (counts.get(component) ?? 0) + 1);
  return () => {
    const left = (counts.get(component) ?? 0) - 1;
    if (left > 0) counts.set(component, left);
    else counts.delete(component);
  };
}

/** Returns the components that are mounted now. */
export const listMounted = (): string[] => [...counts.keys()];
