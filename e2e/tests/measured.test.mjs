// A trace file from the binary stands beside the simulated runs; a bad one is refused and changes nothing.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { AxeBuilder } from '@axe-core/playwright';
import { button, change, readRuns, waitForOtherRuns } from '../support/page.mjs';
import { binary } from '../support/site.mjs';
import { stage } from '../support/stage.mjs';

const LIMIT_MS = 300_000;

const { openDone: open } = stage();
const openDone = (options) => open('preset=io-bound&tasks=50', options);

let folder;
let file;
/** What the binary printed about the runs in the file. */
let result;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parkbench-'));
  file = join(folder, 'run.pbtrace');
  const args = ['measure', 'io-bound', '--tasks', '300', '--reps', '1', '--runtime', 'pool,tokio', '--format', 'json'];
  const measured = promisify(execFile)(binary, [...args, '--trace', file], { timeout: LIMIT_MS });
  result = JSON.parse((await measured).stdout);
});
after(() => rm(folder, { recursive: true, force: true }));

/** Variants and totals of the measured columns, once there are any or none. */
async function readMeasured(page, count) {
  const columns = page.locator('[data-origin="measured"]');
  await page.waitForFunction(
    (wanted) =>
      document.querySelector('[data-run-state]').dataset.runState === 'done' &&
      document.querySelectorAll('[data-origin="measured"]').length === wanted,
    count,
  );
  return columns.evaluateAll((all) => all.map(({ dataset }) => [dataset.variant, dataset.makespanNs]));
}

const expected = () => result.runs.map((run) => [run.variant, String(run.trace.makespan_ns)]);

test('a measured run stands beside the simulated ones', async () => {
  const { page, close } = await openDone();
  await page.locator('#measured-file').setInputFiles(file);
  assert.deepEqual(await readMeasured(page, 2), expected());
  // The scenario of the file is simulated beside it.
  const runs = await readRuns(page);
  assert.equal(runs.length, 3);
  await page.locator('.column.measured .dots[aria-label*="300 tasks"]').first().waitFor();
  const origins = await page.locator('.results tr', { hasText: 'Origin' }).locator('td').allInnerTexts();
  assert.deepEqual(origins, ['Simulated', 'Simulated', 'Simulated', 'Measured', 'Measured']);
  const lanes = page.locator('.lanes', { hasText: 'pool-12' });
  assert.equal(await lanes.locator('.names li').count(), 12);
  // Other costs change the simulated runs alone, other tasks take the measured ones away.
  await change(page, 'pool', '30');
  await button(page, 'Run').click();
  const other = await waitForOtherRuns(page, runs);
  assert.deepEqual(await readMeasured(page, 2), expected());
  await change(page, 'wait', '20 ms');
  await button(page, 'Run').click();
  await waitForOtherRuns(page, other);
  await readMeasured(page, 0);
  await page.getByText('other tasks or another seed').waitFor();
  await button(page, 'Remove').click();
  await page.getByText('other tasks or another seed').waitFor({ state: 'hidden' });
  await close();
});

test('a file can be dropped on the page', async () => {
  const { page, close } = await openDone();
  const bytes = (await readFile(file)).toString('base64');
  const data = await page.evaluateHandle((text) => {
    const transfer = new DataTransfer();
    const content = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    transfer.items.add(new File([content], 'dropped.pbtrace'));
    return transfer;
  }, bytes);
  await page.dispatchEvent('main', 'drop', { dataTransfer: data });
  assert.deepEqual(await readMeasured(page, 2), expected());
  await page.getByText('dropped.pbtrace: 2 measured').waitFor();
  await close();
});

test('the key opens the chooser', async () => {
  const { page, close } = await openDone();
  // Choosers are told only from some time after the question on.
  const asked = page.waitForEvent('filechooser');
  await page.locator('.main .dots').first().focus();
  await page.keyboard.press('o');
  const chooser = await asked;
  await chooser.setFiles(file);
  assert.deepEqual(await readMeasured(page, 2), expected());
  await close();
});

for (const [name, spoil, expect] of [
  ['nothing', () => Buffer.alloc(0), /file: 0 bytes; allowed: a file of parkbench measure --trace/],
  ['a text', () => Buffer.from('version = 1'), /file: begins with "version "; allowed: /],
  ['JSON that is no comparison', () => Buffer.from('{"version":1}'), /missing field .*allowed: what parkbench compare/],
  ['broken JSON', () => Buffer.from('{"version":1,'), /EOF .*line 1 .*allowed: what parkbench compare/],
  ['half of one', (bytes) => bytes.subarray(0, bytes.length / 2), /length: .*allowed: /],
  ['another version', (bytes) => bytes.fill(9, 4, 5), /version: 9; allowed: 1/],
  ['a wrong record', (bytes) => bytes.fill(0xff, bytes.length - 4), /runs\[1\]: threads\[\d+\]\.tag/],
]) {
  test(`refuses ${name} and keeps what was shown`, async () => {
    const { page, close } = await openDone();
    const before = await readRuns(page);
    const bad = join(folder, 'bad.pbtrace');
    await writeFile(bad, spoil(await readFile(file)));
    await page.locator('#measured-file').setInputFiles(bad);
    await page.locator('#measured-file[aria-invalid="true"]').waitFor({ state: 'attached' });
    const status = page.locator('#measured-status');
    const told = await status.innerText();
    assert.match(told, expect);
    assert.ok(told.includes('bad.pbtrace'), told);
    assert.deepEqual(await readRuns(page), before);
    await page.locator('#measured-file').setInputFiles(file);
    await readMeasured(page, 2);
    await page.locator('#measured-file:not([aria-invalid])').waitFor({ state: 'attached' });
    assert.ok(!(await status.innerText()).includes('bad.pbtrace'));
    await close();
  });
}

test('refuses a file that is too large without reading it', async () => {
  const { page, close } = await openDone();
  const large = join(folder, 'large.pbtrace');
  await writeFile(large, '');
  await truncate(large, 512 * 1024 * 1024 + 1);
  await page.locator('#measured-file').setInputFiles(large);
  await page.getByText('file: 536870913 bytes; allowed: up to 536870912 bytes').waitFor();
  await close();
});

test('a measured run is never called simulated', async () => {
  const { page, close } = await openDone();
  await page.locator('#measured-file').setInputFiles(file);
  await readMeasured(page, 2);
  for (const text of await page.locator('[data-origin="measured"] .finish').allInnerTexts()) {
    assert.match(text, /^measured, /);
  }
  await page.getByRole('heading', { name: 'Results, simulated and measured' }).waitFor();
  await page.getByText('Simulated, except what is called measured.').waitFor();
  await close();
});

for (const [colorScheme, width, locale] of [['light', 1440, 'en-US'], ['dark', 390, 'ko-KR']]) {
  test(`accessible and no wider than the window: ${colorScheme}, ${width} px, ${locale}`, async () => {
    const { page, close } = await openDone({ colorScheme, locale, viewport: { width, height: 900 } });
    await page.locator('#measured-file').setInputFiles(file);
    await readMeasured(page, 2);
    const { violations } = await new AxeBuilder({ page }).analyze();
    assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' '))}`), []);
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wider <= 0, `the page is ${wider} px wider than the window`);
    if (process.env.PARKBENCH_PICTURES !== undefined) {
      await page.screenshot({ path: join(process.env.PARKBENCH_PICTURES, `measured-${colorScheme}-${width}.png`), fullPage: true });
    }
    await close();
  });
}
