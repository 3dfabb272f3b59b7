// What the tests know about the page: its data attributes, the ids of its controls and its English words.
import assert from 'node:assert/strict';
import { PATIENCE_MS } from './browser.mjs';

export const PRESETS = ['io-bound', 'cpu-bound', 'high-concurrency', 'llm-agents', 'pinning', 'tool-chain', 'connection-pool', 'web-server', 'cpu-hog', 'native-threads', 'blocking-in-coroutine', 'pinned-upgrade'];

/** The address of a scenario with changed parameters. */
export function link(site, fragment, query = '') {
  return `${site.url}${query}#v=1&${fragment}`;
}

/** Waits until the simulation is in this state, and says why when it failed instead. */
export async function waitForState(page, state) {
  const root = page.locator('[data-run-state]');
  await page.waitForFunction(
    (wanted) => [wanted, 'failed'].includes(document.querySelector('[data-run-state]')?.dataset.runState),
    state,
    { timeout: PATIENCE_MS },
  );
  assert.equal(await root.getAttribute('data-run-state'), state, await root.innerText());
}

/** The runs on the page, in their order, with every number as text. */
export function readRuns(page) {
  return page.locator('[data-model][data-digest]').evaluateAll((columns) =>
    columns.map(({ dataset }) => ({
      model: dataset.model,
      variant: dataset.variant,
      makespan_ns: dataset.makespanNs,
      digest: dataset.digest,
      events: dataset.events,
    })),
  );
}

/** Waits until the runs differ from `before`, and returns them. */
export async function waitForOtherRuns(page, before) {
  const old = before.map((run) => run.digest).join();
  await page.waitForFunction(
    (digests) => {
      const columns = [...document.querySelectorAll('[data-model][data-digest]')];
      const done = document.querySelector('[data-run-state]').dataset.runState === 'done';
      return done && columns.length > 0 && columns.map((column) => column.dataset.digest).join() !== digests;
    },
    old,
    { timeout: PATIENCE_MS },
  );
  return readRuns(page);
}

export const button = (page, name) => page.getByRole('button', { name, exact: true });

/** The slider of the simulated clock. */
export const clock = (page) => page.getByRole('slider', { name: 'Simulated time' });

/** What the clock says to a screen reader, such as "20 ms of 41.9 s". */
export const clockText = (page) => clock(page).getAttribute('aria-valuetext');

/** Waits until the clock says something else than `before`. */
export async function waitForOtherClock(page, before) {
  const handle = await clock(page).elementHandle();
  await page.waitForFunction(
    ([element, text]) => element.getAttribute('aria-valuetext') !== text,
    [handle, before],
    { timeout: PATIENCE_MS },
  );
  return clockText(page);
}

/** Replaces what a control says and asks for the run. */
export async function change(page, key, value) {
  const control = page.locator(`#${key}`);
  if ((await control.evaluate((element) => element.tagName)) === 'SELECT') {
    await control.selectOption(value);
  } else {
    await control.fill(value);
  }
  await control.blur();
}
