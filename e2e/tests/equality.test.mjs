// The page and the binary are the same engine: equal to the nanosecond, digest by digest, whatever the step budget.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, open } from '../support/browser.mjs';
import { PRESETS, link, readRuns, waitForState } from '../support/page.mjs';
import { simulate } from '../support/parkbench.mjs';
import { startSite } from '../support/site.mjs';

let browser;
let site;
before(async () => {
  [browser, site] = await Promise.all([launch(), startSite()]);
});
after(async () => {
  await browser?.close();
  await site?.close();
});

async function check(preset, query, fragment = '', ...options) {
  const expect = await simulate(preset, ...options);
  const { page, close } = await open(browser, link(site, `preset=${preset}${fragment}`, query));
  await waitForState(page, 'done');
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

test('without a worker', () => check('io-bound', '?worker=off'));

test('every run is the work of one worker, in bounded time', async () => {
  const { page, close } = await open(browser, link(site, 'preset=io-bound'));
  await waitForState(page, 'done');
  const time = Number(await page.locator('[data-run-state]').getAttribute('data-sim-ms'));
  assert.ok(time > 0, `${time} ms`);
  await close();
});
