# The workspace of the web day: a small service in JavaScript with its infrastructure, some work that is not committed, and a
# secret that git ignores. Run in an empty folder.
set -e
export GIT_CONFIG_GLOBAL=/dev/null
git init -q -b main .
git config user.email a@b.example
git config user.name A
mkdir -p src test scripts deploy data docs .github/workflows
printf 'node_modules/\ndist/\ncoverage/\n*.log\n.env\n.env.*\n!.env.example\n' > .gitignore
cat > package.json <<'J'
{
  "name": "orders",
  "version": "1.4.0",
  "type": "module",
  "scripts": {
    "build": "node scripts/build.js",
    "test": "node --test test/",
    "lint": "node scripts/lint.js"
  },
  "dependencies": { "left-pad": "1.3.0" }
}
J
cat > src/total.js <<'J'
export function total(lines) {
  return lines.reduce((sum, line) => sum + line.price * line.count, 0);
}
J
cat > src/server.js <<'J'
import http from 'node:http';
import { total } from './total.js';

export const server = http.createServer((request, response) => {
  response.end(String(total([{ price: 2, count: 3 }])));
});
J
cat > test/total.test.js <<'J'
import test from 'node:test';
import assert from 'node:assert';
import { total } from '../src/total.js';

test('a total', () => assert.equal(total([{ price: 2, count: 3 }]), 6));
J
cat > scripts/build.js <<'J'
import fs from 'node:fs';
fs.mkdirSync('dist/assets', { recursive: true });
for (let n = 0; n < 300; n += 1) fs.writeFileSync(`dist/assets/${n}.js`, `export default ${n};\n`);
console.log('300 files');
J
cat > scripts/lint.js <<'J'
import fs from 'node:fs';
const bad = fs.readdirSync('src').filter((file) => fs.readFileSync(`src/${file}`, 'utf8').includes('\t'));
console.log(bad.length === 0 ? 'clean' : bad.join());
J
printf 'on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: npm test\n' > .github/workflows/ci.yml
printf 'services:\n  orders:\n    image: orders:1.4.0\n' > deploy/compose.yaml
printf 'resource "null_resource" "orders" {\n}\n' > deploy/main.tf
printf 'id,status\n1,open\n2,paid\n' > data/orders.csv
printf '{\n  "jobs": [\n    { "id": 4711, "name": "nightly", "status": "running" }\n  ]\n}\n' > data/jobs.json
printf '# Orders\n\nA small service.\n' > docs/README.md
printf 'API_KEY=\n' > .env.example
git add .
git commit -qm 'Begin'
printf '\nSee the wiki.\n' >> docs/README.md
git commit -qam 'Point to the wiki'
git switch -qc discounts
printf 'export const discount = 0.1;\n' > src/discount.js
git add .
git commit -qm 'Add a discount'
git switch -q main
printf 'API_KEY=qX7pL2mZ9vRt4KwS\nDATABASE_URL=postgres://orders:hB3vN8wQ5xYz@db.example/orders\n' > .env
printf 'call Mira about the invoices\nask for the new logo\n' > notes.txt
{ echo id,total; for id in 1 2 3 4 5 6 7 8 9; do echo "$id,$((id * 3))"; done; } > data/march.csv
printf '// Half-finished work of a person.\nexport const shipping = (weight) => weight * 2;\n' > src/shipping.js
printf '# Orders\n\nA small service.\n\nSee the wiki.\n\nA paragraph that nobody has committed yet.\n' > docs/README.md
mkdir -p node_modules/left-pad dist
printf '{"name": "left-pad", "scripts": {"postinstall": "true"}}\n' > node_modules/left-pad/package.json
printf 'old\n' > dist/app.js
