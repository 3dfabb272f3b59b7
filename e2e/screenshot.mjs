// Takes the pictures of the documentation from the built page: `node screenshot.mjs` after `cargo xtask test --only e2e`.
import { fileURLToPath } from 'node:url';
import { launch } from './support/browser.mjs';
import { link, waitForState } from './support/page.mjs';
import { startSite } from './support/site.mjs';

const folder = fileURLToPath(new URL('../docs/images/', import.meta.url));

const [browser, site] = await Promise.all([launch(), startSite()]);
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, locale: 'en-US' });
  await page.goto(link(site, 'preset=io-bound'));
  await waitForState(page, 'done');
  await page.screenshot({ path: `${folder}io-bound.png` });
} finally {
  await browser.close();
  await site.close();
}
