// A link restores everything, and copying it again gives the same link.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { button, clockText, readRuns, waitForState } from '../support/page.mjs';
import { stage } from '../support/stage.mjs';

const { address, openAt, openDone } = stage();

const allow = ['clipboard-read', 'clipboard-write'];

async function copiedLink(page) {
  await button(page, 'Copy link').click();
  await page.getByText('Link copied').first().waitFor();
  return page.evaluate(() => navigator.clipboard.readText());
}

const FRAGMENTS = [
  'preset=io-bound&t=20ms',
  'preset=cpu-bound&tasks=500&cores=4&t=1ms',
  'preset=llm-agents&tasks=2000&seed=9&from=0ns&to=3s&t=1s&task=17',
  'preset=pinning&cores=2&t=5ms',
];

for (const fragment of FRAGMENTS) {
  test(fragment, async () => {
    const first = await openDone(fragment, { allow });
    const runs = await readRuns(first.page);
    const time = await clockText(first.page);
    const copied = await copiedLink(first.page);
    const told = new URLSearchParams(new URL(copied).hash.slice(1));
    for (const [key, value] of new URLSearchParams(fragment)) {
      assert.equal(told.get(key), value, copied);
    }
    await first.close();
    const second = await openAt(copied, { allow });
    await waitForState(second.page, 'done');
    assert.deepEqual(await readRuns(second.page), runs);
    assert.equal(await clockText(second.page), time);
    assert.equal(await copiedLink(second.page), copied);
    await second.close();
  });
}

const ODD = [
  ['preset=nope', 'nope'],
  ['preset=io-bound&tasks=300&colour=red', 'colour=red'],
  ['preset=io-bound&tasks=300&t=soon', 't=soon'],
  ['scenario=%7Bbroken', 'scenario'],
];

for (const [fragment, told] of ODD) {
  test(`${fragment} is told and stops nothing`, async () => {
    const { page, close } = await openDone(fragment);
    await page.getByText(`Ignored in the link: `).filter({ hasText: told }).first().waitFor();
    assert.equal((await readRuns(page)).length, 3);
    await close();
  });
}

test('a newer version of the link is told', async () => {
  const url = address('preset=cpu-bound&tasks=300').replace('v=1', 'v=999');
  const { page, close } = await openAt(url);
  await waitForState(page, 'done');
  await page.getByText('v=999').first().waitFor();
  await close();
});

test('where the clipboard refuses, the link can be copied by hand', async () => {
  const init = () => {
    Object.defineProperty(navigator, 'clipboard', { value: undefined });
  };
  const { page, close } = await openDone('preset=io-bound&tasks=300', { init });
  await button(page, 'Copy link').click();
  const field = page.getByRole('textbox', { name: 'Copy this link' });
  await field.waitFor();
  assert.match(await field.inputValue(), /#v=1&preset=io-bound&tasks=300/);
  await close();
});
