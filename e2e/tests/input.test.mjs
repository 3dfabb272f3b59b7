// Bad input: a message beside the field, the previous run kept, the page alive.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PRESETS, button, change, readRuns, waitForOtherRuns, waitForState } from '../support/page.mjs';
import { stage } from '../support/stage.mjs';

const { address, openAt, openDone } = stage();

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

test('carriers and their limits reach the run, and a limit below the carriers is told beside it', async () => {
  const { page, close } = await openDone('preset=pinned-upgrade');
  const note = (key) => page.locator(`#${key}-note`).innerText();
  assert.match(await note('jdk'), /differs between the runs/);
  await page.goto(address('preset=io-bound&tasks=300&carriers=2&max-pool=4&min-runnable=0'));
  await page.locator('[data-variant="java-25-p2-max4-min0"]').waitFor();
  await change(page, 'max-pool', '1');
  await button(page, 'Run').click();
  await page.locator('#max-pool[aria-invalid="true"]').waitFor();
  assert.match(await note('max-pool'), /1 is not allowed; allowed: 2, the carriers, or more/);
  await close();
});

test('the fields of the first class say so', async () => {
  const { page, close } = await openDone('preset=cpu-hog');
  assert.equal(await page.locator('label[for="tasks"]').innerText(), 'Tasks: hog');
  assert.match(await page.locator('#tasks-note').innerText(), /the first class, hog; 10,000 tasks in all/);
  await change(page, 'tasks', '12');
  assert.match(await page.locator('#tasks-note').innerText(), /10,002 tasks in all/);
  await close();
});

test('every control that cannot be used says why', async () => {
  for (const preset of PRESETS) {
    const { page, close } = await openDone(`preset=${preset}`);
    const silent = await page.locator('#parameters :is(input, select, button):disabled').evaluateAll((all) =>
      all
        .filter((control) => {
          const note = document.getElementById(control.getAttribute('aria-describedby') ?? '');
          return !note?.textContent.trim() && !control.title;
        })
        .map((control) => control.id || control.textContent),
    );
    assert.deepEqual(silent, [], preset);
    await close();
  }
});

test('too many records are refused, and the figures alone can be had', async () => {
  const { page, close } = await openAt(address('preset=io-bound&tasks=300', '?records=3000'));
  await page.waitForFunction(() => document.querySelector('[data-run-state]')?.dataset.runState === 'failed');
  await page.getByText('more than 3000 records of all runs together; allowed: up to 3000').waitFor();
  await button(page, 'Run for the figures alone').click();
  await waitForState(page, 'done');
  const figures = await readRuns(page);
  const dropped = await page.locator('[data-dropped]').evaluateAll((all) => all.map(({ dataset }) => Number(dataset.dropped)));
  assert.equal(dropped.length, 3);
  assert.ok(dropped.every((n) => n > 1000), dropped.join());
  assert.equal(await page.locator('.dots, .lanes, .task').count(), 0);
  // The same figures as with all records.
  await page.goto('about:blank');
  await page.goto(address('preset=io-bound&tasks=300'));
  await waitForState(page, 'done');
  assert.deepEqual(await readRuns(page), figures);
  assert.equal(await page.locator('[data-dropped]').count(), 0);
  await close();
});

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
  const { page, close } = await openDone('preset=io-bound&tasks=300', { query: '?budget=1' });
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

test('choices and what stands for no limit are in Korean on a Korean page, and mean the same', async () => {
  const { page, close } = await openDone('preset=io-bound&tasks=300&queue=5', { locale: 'ko-KR' });
  const texts = (key) => page.locator(`#${key} option`).allInnerTexts();
  assert.deepEqual(await texts('pool-kind'), ['고정 풀', '캐시 풀', '작업당 스레드']);
  assert.deepEqual(await texts('rejection'), ['작업 실패', '제출자가 실행']);
  const before = await readRuns(page);
  await change(page, 'queue', '없음');
  await page.locator('#run').click();
  await waitForOtherRuns(page, before);
  assert.equal(await page.locator('#queue').inputValue(), '없음');
  assert.ok(!page.url().includes('queue='), page.url());
  await close();
});
