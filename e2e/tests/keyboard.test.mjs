// Everything works without a pointer, and nothing holds the focus.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { button, clock, clockText, readRuns, waitForOtherClock, waitForOtherRuns } from '../support/page.mjs';
import { stage } from '../support/stage.mjs';

const { openDone } = stage();

test('the keys of the play area', async () => {
  const { page, close } = await openDone('preset=io-bound');
  // Not the slider: there, Home and End mean its own ends.
  await page.getByRole('group', { name: /tasks as dots/ }).first().focus();
  const still = await clockText(page);
  await page.keyboard.press('Home');
  const start = await waitForOtherClock(page, still);
  await page.keyboard.press('.');
  const second = await waitForOtherClock(page, start);
  await page.keyboard.press('.');
  const third = await waitForOtherClock(page, second);
  await page.keyboard.press(',');
  assert.equal(await waitForOtherClock(page, third), second);
  await page.keyboard.press('End');
  const end = await waitForOtherClock(page, second);
  assert.equal(end.split(' of ')[0], end.split(' of ')[1]);
  await page.keyboard.press('Home');
  await waitForOtherClock(page, end);
  await page.keyboard.press('Space');
  await button(page, 'Pause').waitFor();
  await waitForOtherClock(page, start);
  await page.keyboard.press('Space');
  await button(page, 'Play').waitFor();
  await close();
});

test('the buttons of the play area', async () => {
  const { page, close } = await openDone('preset=io-bound');
  const still = await clockText(page);
  await button(page, 'Play').focus();
  await page.keyboard.press('Enter');
  await button(page, 'Pause').waitFor();
  await waitForOtherClock(page, still);
  await button(page, 'Pause').focus();
  await page.keyboard.press('Enter');
  await button(page, 'Play').waitFor();
  // Read only now that the clock stands still.
  const later = await clockText(page);
  await button(page, 'Restart').focus();
  await page.keyboard.press('Enter');
  assert.match(await waitForOtherClock(page, later), /^0 /);
  await close();
});

test('the slider of the clock', async () => {
  const { page, close } = await openDone('preset=io-bound');
  await clock(page).focus();
  const still = await clockText(page);
  await page.keyboard.press('Home');
  const start = await waitForOtherClock(page, still);
  assert.match(start, /^0 /);
  await page.keyboard.press('PageUp');
  const later = await waitForOtherClock(page, start);
  await page.keyboard.press('Space');
  await button(page, 'Pause').waitFor();
  await waitForOtherClock(page, later);
  await close();
});

test('keys typed into a field are text', async () => {
  const { page, close } = await openDone('preset=io-bound');
  const still = await clockText(page);
  await page.locator('#wait').focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('1.5 ms, ?');
  assert.equal(await page.locator('#wait').inputValue(), '1.5 ms, ?');
  assert.equal(await clockText(page), still);
  assert.equal(await page.getByRole('dialog').count(), 0);
  await close();
});

test('a dialog opens, closes and gives the focus back', async () => {
  const { page, close } = await openDone('preset=io-bound');
  await clock(page).focus();
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  assert.ok(await page.evaluate(() => document.activeElement.closest('dialog') !== null), 'the focus is in the dialog');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  assert.ok(await clock(page).evaluate((element) => element === document.activeElement), 'the focus is back');
  await close();
});

test('another scenario and another parameter', async () => {
  const { page, close } = await openDone('preset=io-bound&tasks=300');
  const first = await readRuns(page);
  await page.locator('#pool').focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('3');
  await page.keyboard.press('Enter');
  const second = await waitForOtherRuns(page, first);
  assert.equal(second.length, first.length);
  await page.getByLabel('Scenario', { exact: true }).focus();
  await page.keyboard.type('pinning');
  const third = await waitForOtherRuns(page, second);
  assert.equal(third.length, 4);
  await close();
});

test('Tab reaches every control and leaves the page again', async () => {
  const { page, close } = await openDone('preset=io-bound&tasks=300');
  const total = await page.evaluate(() => {
    const controls = 'a[href], button, input, select, textarea, summary, [tabindex]';
    const usable = [...document.querySelectorAll(controls)].filter(
      (element) => element.tabIndex >= 0 && !element.disabled && element.checkVisibility({ visibilityProperty: true }),
    );
    usable.forEach((element, index) => {
      element.dataset.tabTest = `${index} ${element.tagName} ${element.id} ${element.getAttribute('aria-label') ?? element.textContent.trim().slice(0, 30)}`;
    });
    return usable.length;
  });
  assert.ok(total > 20, `${total} controls`);
  const reached = new Set();
  // Once around the page, with room for stops that a browser adds itself.
  for (let press = 0; press < total + 20; press += 1) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate(() => document.activeElement?.dataset.tabTest);
    if (stop !== undefined) {
      reached.add(stop);
    }
  }
  const all = await page.evaluate(() => [...document.querySelectorAll('[data-tab-test]')].map((e) => e.dataset.tabTest));
  // Of the radio buttons with one name, Tab reaches one.
  const radios = await page.evaluate(() =>
    [...document.querySelectorAll('input[type=radio][data-tab-test]:not(:checked)')].map((e) => e.dataset.tabTest),
  );
  assert.deepEqual(all.filter((stop) => !reached.has(stop) && !radios.includes(stop)), []);
  await close();
});
