// `npm run languages`: brings the catalogues up to the sources, and lists what each language lacks.

import config from '../wuchale.config.js';
import { findMissing } from './catalogues.js';

for (const language of config.locales.slice(1)) {
  const missing = findMissing(language);
  console.log(`${language}: ${missing.length} missing`);
  for (const text of missing) console.log(`  ${JSON.stringify(text)}`);
}
