// The languages that the window knows.

/** Languages that have a catalogue. */
export type Language = 'en' | 'de' | 'ar';

/** Languages as they name themselves, how they run, and as figures and dates are written in them. */
export const known: Record<Language, { name: string; dir: 'ltr' | 'rtl'; figures: string }> = {
  en: { name: 'English', dir: 'ltr', figures: 'en-GB' },
  de: { name: 'Deutsch', dir: 'ltr', figures: 'de' },
  // Digits stay those of paths, commands and code, which stand beside them.
  ar: { name: 'العربية', dir: 'rtl', figures: 'ar-u-nu-latn' },
};
