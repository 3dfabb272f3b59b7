// Sliders beside the fields: each place is simulated, the clock keeps its time, and the last one is what a link opens.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PATIENCE_MS } from '../support/browser.mjs';
import { clockText, readRuns, waitForOtherRuns } from '../support/page.mjs';
import { stage } from '../support/stage.mjs';

const { openDone } = stage();

/** What a page shows that was opened with this fragment. */
async function runsOf(fragment) {
  const { page, close } = await openDone(fragment);
  const runs = await readRuns(page);
  await close();
  return runs;
}

const KEYS = [
  ['pool', 'ArrowRight', '15'],
  ['cores', 'ArrowLeft', '10'],
  ['wait', 'Home', '0 ns'],
  ['tasks', 'ArrowLeft', '250'],
];

for (const [field, key, expect] of KEYS) {
  test(`${key} on the slider of ${field}`, async () => {
    const { page, close } = await openDone('preset=io-bound&tasks=300&t=10ms');
    const before = await readRuns(page);
    const time = (await clockText(page)).split(' of ')[0];
    await page.locator(`#${field}-slide`).focus();
    await page.keyboard.press(key);
    const runs = await waitForOtherRuns(page, before);
    assert.equal(await page.locator(`#${field}`).inputValue(), expect);
    const place = `preset=io-bound&tasks=300&${field}=${encodeURIComponent(expect)}`;
    assert.deepEqual(runs, await runsOf(place.replace('&tasks=300&tasks', '&tasks')));
    const end = Number(runs[0].makespan_ns) / 1e6;
    if (end > 10) {
      assert.equal((await clockText(page)).split(' of ')[0], time, 'the clock keeps its time');
    }
    assert.match(decodeURIComponent(page.url()), new RegExp(`${field}=${expect.replace(' ', '')}`));
    await close();
  });
}

test('a slider that is dragged ends at the place where it is let go', async () => {
  const { page, close } = await openDone('preset=io-bound&tasks=2000');
  const before = await readRuns(page);
  const box = await page.locator('#pool-slide').boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.3, y);
  await page.mouse.down();
  for (let part = 0.3; part < 0.85; part += 0.05) {
    await page.mouse.move(box.x + box.width * part, y);
  }
  assert.equal(await page.locator('#run').count(), 1, 'the button stays while the simulations come and go');
  await page.mouse.up();
  const pool = await page.locator('#pool').inputValue();
  assert.ok(Number(pool) > 100, pool);
  await page.waitForFunction(
    (variant) => {
      const done = document.querySelector('[data-run-state]').dataset.runState === 'done';
      return done && document.querySelector('[data-model=thread-pool]').dataset.variant === variant;
    },
    `fixed-${pool}`,
    { timeout: PATIENCE_MS },
  );
  const runs = await readRuns(page);
  assert.notDeepEqual(runs, before);
  assert.deepEqual(runs, await runsOf(`preset=io-bound&tasks=2000&pool=${pool}`));
  await close();
});

test('what is out of view rests while a slider is dragged, and follows when it comes into view or the slider is let go', async () => {
  const viewport = { width: 1440, height: 600 };
  const { page, close } = await openDone('preset=io-bound&tasks=300', { viewport });
  const figures = (of) => of.locator('.results .figures').first().innerText();
  const [before, old] = [await readRuns(page), await figures(page)];
  const box = await page.locator('#wait-slide').boundingBox();
  const to = (part) => page.mouse.move(box.x + box.width * part, box.y + box.height / 2);
  await to(0.5);
  await page.mouse.down();
  await to(0.4);
  const dragged = await waitForOtherRuns(page, before);
  assert.equal(await figures(page), old);
  await page.locator('.results').evaluate((results) => results.scrollIntoView());
  await page.waitForFunction((text) => document.querySelector('.results .figures').innerText !== text, old, { timeout: PATIENCE_MS });
  await page.evaluate(() => scrollTo(0, 0));
  await to(0.8);
  await waitForOtherRuns(page, dragged);
  await page.mouse.up();
  const wait = await page.locator('#wait').inputValue();
  const fresh = await openDone(`preset=io-bound&tasks=300&wait=${encodeURIComponent(wait)}`, { viewport });
  const expect = await figures(fresh.page);
  await fresh.close();
  await page.waitForFunction((text) => document.querySelector('.results .figures').innerText === text, expect, { timeout: PATIENCE_MS });
  await close();
});

test('a range has no slider, and a number has one again', async () => {
  const { page, close } = await openDone('preset=io-bound&tasks=300');
  await page.locator('#wait-slide').waitFor();
  await page.locator('#wait').fill('2 ms .. 5 ms');
  await page.locator('#wait-slide').waitFor({ state: 'detached' });
  await page.locator('#wait').fill('2 ms');
  await page.locator('#wait-slide').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), 'wait', 'the field keeps the focus');
  await close();
});
