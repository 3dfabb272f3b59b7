// axe over every theme, width and language, and over what only opens on request.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { button } from '../support/page.mjs';
import { stage } from '../support/stage.mjs';

const WIDTHS = [1440, 390];
const LANGUAGES = { en: 'English', ko: '한국어' };

const { openDone } = stage();

async function expectNoViolation(page) {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' ')).join(', ')}`);
  assert.deepEqual(told, []);
}

for (const colorScheme of ['light', 'dark']) {
  for (const width of WIDTHS) {
    for (const [language, name] of Object.entries(LANGUAGES)) {
      test(`${colorScheme}, ${width} px, ${language}`, async () => {
        const { page, close } = await openDone('preset=io-bound', { colorScheme, viewport: { width, height: 900 } });
        if (language !== 'en') {
          await button(page, name).click();
        }
        await page.waitForFunction((wanted) => document.documentElement.lang === wanted, language);
        await expectNoViolation(page);
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wider <= 0, `the page is ${wider} px wider than the window`);
        await close();
      });
    }
  }
}

for (const [colorScheme, toggled] of [['dark', 'light'], ['light', 'dark']]) {
  test(`${toggled} by the toggle while the system is ${colorScheme}`, async () => {
    const { page, close } = await openDone('preset=io-bound', { colorScheme });
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const before = await background();
    const toggle = page.getByRole('button', { name: /^Theme/ });
    for (let press = 0; press < 3 && (await page.locator('html').getAttribute('data-theme')) !== toggled; press += 1) {
      await toggle.click();
    }
    assert.equal(await page.locator('html').getAttribute('data-theme'), toggled);
    assert.notEqual(await background(), before);
    await expectNoViolation(page);
    await close();
  });
}

for (const name of ['Keyboard shortcuts', 'Scenario as JSON…']) {
  test(`the dialog "${name}"`, async () => {
    const { page, close } = await openDone('preset=io-bound');
    await button(page, name).click();
    await page.getByRole('dialog').waitFor();
    await expectNoViolation(page);
    await close();
  });
}

test('an error beside its field', async () => {
  const { page, close } = await openDone('preset=io-bound&tasks=200');
  await page.locator('#cores').fill('0');
  await button(page, 'Run').click();
  await page.locator('#cores[aria-invalid="true"]').waitFor();
  await expectNoViolation(page);
  await close();
});
