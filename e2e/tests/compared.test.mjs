// A comparison from the binary stands beside what it simulated: both halves of every figure, their origin and the error.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
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
/** What the binary printed. */
let result;
/** A file of three comparisons, and what is in it. */
let several;
let comparisons;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parkbench-'));
  file = join(folder, 'compare.json');
  several = join(folder, 'several.json');
  // One after the other, for each measures.
  result = await compare(file, ['io-bound'], ['--tasks', '200', '--reps', '2', '--runtime', 'rust']);
  const all = ['io-bound', 'pinning', 'cpu-bound'];
  ({ comparisons } = await compare(several, all, ['--tasks', '60', '--reps', '1', '--runtime', 'pool,tokio']));
});
after(() => rm(folder, { recursive: true, force: true }));

/** Writes what the binary prints into a file, and returns it. */
async function compare(path, scenarios, options) {
  const args = ['compare', ...scenarios, ...options, '--format', 'json'];
  const { stdout } = await promisify(execFile)(binary, args, { timeout: LIMIT_MS });
  await writeFile(path, stdout);
  return JSON.parse(stdout);
}

/** Opens a file and waits until its runs are simulated. */
async function openFile(page, path = file) {
  const before = await readRuns(page);
  await page.locator('#measured-file').setInputFiles(path);
  return waitForOtherRuns(page, before);
}

test('the page simulates what was compared, and the measured total stands beside it', async () => {
  const { page, close } = await openDone();
  const runs = await openFile(page);
  const pairs = result.runs.map(({ simulated_variant, figures }) => [simulated_variant, String(figures.makespan_ns.simulated)]);
  assert.deepEqual(runs.map((run) => [run.variant, run.makespan_ns]), pairs);
  const beside = await page.locator('.beside').evaluateAll((all) => all.map(({ dataset }) => Number(dataset.measuredNs)));
  assert.deepEqual(beside, result.runs.map((run) => run.figures.makespan_ns.measured));
  assert.deepEqual(await page.locator('.column h3').allInnerTexts(), result.runs.map((run) => run.variant));
  for (const text of await page.locator('.beside').allInnerTexts()) {
    assert.match(text, /^measured .* error of the simulation [+\u2212\d]/);
  }
  // Another pool is another run, so nothing that was measured stands beside it.
  await change(page, 'cores', '7');
  await button(page, 'Run').click();
  await waitForOtherRuns(page, runs);
  assert.equal(await page.locator('.beside').count(), 0);
  await page.getByText('none of them is a run that the comparison simulated').waitFor();
  await button(page, 'Remove').click();
  await page.locator('.compared').waitFor({ state: 'detached' });
  await close();
});

test('the table has both halves of every figure and says where they are from', async () => {
  const { page, close } = await openDone();
  await openFile(page);
  const section = page.getByRole('region', { name: 'Simulated beside measured' });
  const source = await section.locator('.note').innerText();
  for (const part of [result.environment.cpu, `parkbench ${result.environment.parkbench}`, result.profile.name]) {
    assert.ok(part === null || source.includes(part), `${source} names ${part}`);
  }
  for (const run of result.runs) {
    const body = section.locator(`[data-compared="${run.variant}"]`);
    const rows = await body.locator('tr').evaluateAll((all) =>
      all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)),
    );
    assert.deepEqual(rows.map((row) => row.length), [6, 6, 6]);
    const errors = ['makespan_ns', 'throughput_per_s', 'latency_mean_ns', 'latency_p95_ns', 'memory_resident_bytes', 'os_switches'].map(
      (name) => run.figures[name].error_percent,
    );
    errors.forEach((error, index) => {
      const sign = error === null ? '\u2013' : error < -0.05 ? '\u2212' : error >= 0.05 ? '+' : '0';
      assert.ok(rows[2][index].startsWith(sign), `${run.variant}: ${rows[2][index]} for ${error}`);
    });
    const labels = await body.locator('th[scope="row"]').allInnerTexts();
    assert.deepEqual(labels, ['Simulated', 'Measured', 'Error']);
  }
  for (const text of [...result.warnings, ...result.runs.flatMap((run) => run.findings.map((finding) => finding.message))]) {
    assert.ok((await section.locator('.remarks').innerText()).includes(text), text);
  }
  await close();
});

test('of several comparisons one is chosen, and the address keeps which', async () => {
  const { page, close } = await openDone();
  const simulated = (index) => comparisons[index].runs.map((run) => [run.simulated_variant, String(run.figures.makespan_ns.simulated)]);
  const shown = async () => (await readRuns(page)).map((run) => [run.variant, run.makespan_ns]);
  let runs = await openFile(page, several);
  assert.deepEqual(await shown(), simulated(0));
  const chooser = page.getByRole('combobox', { name: 'Comparison' });
  const titles = comparisons.map(({ scenario }, index) => `${index + 1}. ${scenario.title}`);
  assert.deepEqual(await chooser.locator('option').allInnerTexts(), titles);
  assert.ok(!page.url().includes('comparison='), page.url());
  await chooser.focus();
  await page.keyboard.press('ArrowDown');
  runs = await waitForOtherRuns(page, runs);
  assert.deepEqual(await shown(), simulated(1));
  const section = page.getByRole('region', { name: 'Simulated beside measured' });
  const tables = () => section.locator('[data-compared]').evaluateAll((all) => all.map(({ dataset }) => dataset.compared));
  assert.deepEqual(await tables(), comparisons[1].runs.map((run) => run.variant));
  const beside = await page.locator('.beside').evaluateAll((all) => all.map(({ dataset }) => Number(dataset.measuredNs)));
  assert.deepEqual(beside, comparisons[1].runs.map((run) => run.figures.makespan_ns.measured));
  await page.waitForURL(/&comparison=2$/);
  // The same address in a page that has no file yet opens the file at the same place.
  const again = await open(new URL(page.url()).hash.replace('#v=1&', ''));
  await again.page.locator('#measured-file').setInputFiles(several);
  assert.equal(await again.page.locator('#comparison').inputValue(), '1');
  await again.close();
  await chooser.selectOption('2');
  await waitForOtherRuns(page, runs);
  assert.deepEqual(await shown(), simulated(2));
  await button(page, 'Remove').click();
  await chooser.waitFor({ state: 'detached' });
  await page.waitForURL((url) => !url.hash.includes('comparison='));
  await close();
});

test('a file whose simulated total is another says so', async () => {
  const { page, close } = await openDone();
  const other = structuredClone(result);
  other.runs[0].figures.makespan_ns.simulated += 5_000_000;
  await writeFile(file, JSON.stringify(other));
  await openFile(page);
  await page.getByText('it is of another version of the engine').waitFor();
  await writeFile(file, JSON.stringify(result));
  await close();
});

for (const [colorScheme, width, locale] of [['dark', 1440, 'ko-KR'], ['light', 390, 'en-US']]) {
  test(`accessible and no wider than the window: ${colorScheme}, ${width} px, ${locale}`, async () => {
    const { page, close } = await openDone({ colorScheme, locale, viewport: { width, height: 900 } });
    await openFile(page);
    const { violations } = await new AxeBuilder({ page }).analyze();
    assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' '))}`), []);
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wider <= 0, `the page is ${wider} px wider than the window`);
    await close();
  });
}

test('at 390 px the chooser is one line, and what puts a file away begins where its line begins', async () => {
  const { page, close } = await openDone({ viewport: { width: 390, height: 844 } });
  await openFile(page, several);
  const lines = (selector) => page.locator(selector).evaluate((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return { left: range.getBoundingClientRect().left, lines: range.getClientRects().length };
  });
  assert.equal((await lines('.opened .picker .note')).lines, 1);
  assert.equal((await lines('.open button')).left, (await lines('.open span')).left);
  assert.ok((await page.locator('#comparison').boundingBox()).width > 100);
  await close();
});

test('in Korean the scenario of a comparison has its Korean title, wherever it stands', async () => {
  const { page, close } = await openDone({ locale: 'ko-KR' });
  await openFile(page, several);
  const chosen = (id) => page.locator(`${id} option:checked`).innerText();
  assert.equal(await chosen('#scenario'), 'I/O 중심');
  assert.equal(await chosen('#comparison'), '1. I/O 중심');
  await close();
});
