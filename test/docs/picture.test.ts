import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { themes } from '../../bench/harness/chart.ts';
import { benchmarksPage, charts } from '../../scripts/docs/charts.ts';
import { drawOverview, overviewFile } from '../../scripts/docs/picture/draw.ts';
import { links, parts, size, zones } from '../../scripts/docs/picture/overview.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const test = suite('pictures of the pages');

for (const theme of themes) {
  test(`is what the description says, ${theme}: npm run docs`, () => {
    assert.is(readFileSync(overviewFile(theme), 'utf8'), drawOverview(theme));
  });
}

test('the README shows it, light and dark', () => {
  const readme = readFileSync(`${root}README.md`, 'utf8');
  for (const theme of themes) assert.match(readme, `docs/pictures/overview-${theme}.svg`);
});

test('charts are what the tables of docs/BENCHMARKS.md say, and the page shows each', () => {
  const page = readFileSync(benchmarksPage, 'utf8');
  assert.ok(charts().size >= 6);
  for (const [file, svg] of charts()) {
    assert.is(readFileSync(file, 'utf8'), svg, file.pathname);
    assert.ok(page.includes(`"pictures/${file.pathname.split('/').at(-1)}"`), file.pathname);
  }
});

test('has every component that runs, and each part of ours has its room', () => {
  const rooms = parts.flatMap(({ room }) => room ?? []);
  assert.equal(
    rooms.filter((room) => !existsSync(root + room)),
    [],
  );
  const components = readdirSync(`${root}src/commands/run`).map((file) => file.replace(/\.ts$/, ''));
  assert.ok(components.length >= 4);
  const missing = components.filter(
    (name) => existsSync(`${root}src/plugins/${name}`) && !rooms.includes(`src/plugins/${name}`),
  );
  assert.equal(missing, []);
});

test('links lead from a part to a part, and nothing lies outside', () => {
  const ids = parts.map(({ id }) => id);
  assert.equal(
    links.filter(({ from, to }) => !ids.includes(from) || !ids.includes(to)),
    [],
  );
  const [width, height] = size;
  const outside = [...zones, ...parts].filter(
    ({ at: [x, y, w, h] }) => x < 0 || y < 0 || x + w > width || y + h > height,
  );
  assert.equal(outside, []);
});

test.run();
