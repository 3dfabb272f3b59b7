// The page and the binary are the same engine: equal to the nanosecond, digest by digest, whatever the step budget.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PRESETS, button, change, readRuns, waitForOtherRuns } from '../support/page.mjs';
import { simulate } from '../support/parkbench.mjs';
import { stage } from '../support/stage.mjs';

const { openDone } = stage();

async function check(preset, query, fragment = '', ...options) {
  const expect = await simulate(preset, ...options);
  const { page, close } = await openDone(`preset=${preset}${fragment}`, { query });
  assert.deepEqual(await readRuns(page), expect);
  await close();
}

for (const preset of PRESETS) {
  test(`${preset}: the page shows what the binary prints`, () => check(preset, ''));
  for (const budget of [1, 7, 1_000_000]) {
    test(`${preset}: the same in steps of ${budget}`, () => check(preset, `?budget=${budget}`));
  }
}

test('another seed and another number of tasks', () =>
  check('llm-agents', '', '&tasks=1234&seed=99', '--tasks', '1234', '--seed', '99'));

/** Every figure of every table of the page. */
const readFigures = (page) => page.locator('main table').allInnerTexts();

test('the same with one worker and with three, again and again', async () => {
  // Its runs are others with another seed.
  const expect = await simulate('web-server');
  const figures = [];
  for (const workers of [1, 3]) {
    const { page, close } = await openDone('preset=web-server', { query: `?workers=${workers}` });
    for (const seed of ['7', '1']) {
      const before = await readRuns(page);
      await change(page, 'seed', seed);
      await button(page, 'Run').click();
      await waitForOtherRuns(page, before);
    }
    assert.equal(page.workers().length, workers);
    assert.deepEqual(await readRuns(page), expect);
    figures.push(await readFigures(page));
    await close();
  }
  assert.ok(figures[0].join().includes('ms'), figures[0].join());
  assert.deepEqual(figures[1], figures[0]);
});

test('without a worker', () => check('io-bound', '?worker=off'));

test('every run is the work of one worker, in bounded time', async () => {
  const { page, close } = await openDone('preset=io-bound');
  const time = Number(await page.locator('[data-run-state]').getAttribute('data-sim-ms'));
  assert.ok(time > 0, `${time} ms`);
  await close();
});
