// Bad input: a message beside the field, the previous run kept, the page alive.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, open } from '../support/browser.mjs';
import { button, change, link, readRuns, waitForOtherRuns, waitForState } from '../support/page.mjs';
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

async function openDone(fragment, query) {
  const opened = await open(browser, link(site, fragment, query));
  await waitForState(opened.page, 'done');
  return opened;
}

const BAD = [
  ['cores', '0'],
  ['cores', 'many'],
  ['tasks', '0'],
  ['tasks', '1000000000000'],
  ['wait', '-5 ms'],
  ['wait', '999999999999999 h'],
  ['cpu', '1e99 iterations'],
  ['pool', '0'],
  ['seed', '-1'],
];

for (const [key, value] of BAD) {
  test(`${key} = ${value}`, async () => {
    const { page, close } = await openDone('preset=io-bound&tasks=300');
    const before = await readRuns(page);
    const good = await page.locator(`#${key}`).inputValue();
    await change(page, key, value);
    await button(page, 'Run').click();
    const field = page.locator(`#${key}[aria-invalid="true"]`);
    await field.waitFor();
    const ids = (await field.getAttribute('aria-describedby')).split(' ');
    const told = (await Promise.all(ids.map((id) => page.locator(`#${id}`).innerText()))).join(' ');
    assert.match(told, /allowed/, told);
    assert.ok(told.includes(value.split(' ')[0]), `${told} names the value`);
    assert.deepEqual(await readRuns(page), before);
    await change(page, key, good);
    await page.locator(`#${key}:not([aria-invalid="true"])`).waitFor();
    await close();
  });
}

const BAD_SCENARIOS = [
  ['an unknown field', (scenario) => ({ ...scenario, colour: 'red' }), /colour/],
  ['no run', (scenario) => ({ ...scenario, runs: [] }), /runs/],
  ['no scenario', () => 'nonsense', /scenario|expected/i],
];

for (const [name, spoil, expect] of BAD_SCENARIOS) {
  test(`a scenario with ${name}`, async () => {
    const { page, close } = await openDone('preset=io-bound&tasks=300');
    const before = await readRuns(page);
    await button(page, 'Scenario as JSON…').click();
    const dialog = page.getByRole('dialog');
    const text = dialog.getByRole('textbox').first();
    const good = JSON.parse(await text.inputValue());
    await text.fill(JSON.stringify(spoil(good)));
    await dialog.getByRole('button', { name: 'Run this scenario' }).click();
    await dialog.getByText(expect).filter({ hasNot: page.locator('textarea') }).first().waitFor();
    assert.deepEqual(await readRuns(page), before);
    await text.fill(JSON.stringify({ ...good, seed: 4321 }));
    await dialog.getByRole('button', { name: 'Run this scenario' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await waitForState(page, 'done');
    await close();
  });
}

test('cancel keeps the previous run, and the next run works', async () => {
  // Small steps make the run last long enough to be cancelled.
  const { page, close } = await openDone('preset=io-bound&tasks=300', '?budget=1');
  const before = await readRuns(page);
  await change(page, 'tasks', '1000000');
  await button(page, 'Run').click();
  await waitForState(page, 'running');
  await button(page, 'Cancel').click();
  await button(page, 'Run').waitFor();
  await waitForState(page, 'done');
  assert.deepEqual(await readRuns(page), before);
  await change(page, 'tasks', '301');
  await button(page, 'Run').click();
  await waitForOtherRuns(page, before);
  await close();
});
