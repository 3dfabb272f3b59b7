// What nearly every file of tests needs: one browser and one site for all of its tests, and pages whose runs are done.
import { after, before } from 'node:test';
import { launch, open } from './browser.mjs';
import { link, waitForState } from './page.mjs';
import { startSite } from './site.mjs';

/** Starts browser and site before the tests of the file that calls this, and ends them after the last of them. */
export function stage() {
  let browser;
  let site;
  before(() =>
    Promise.all([
      launch().then((started) => (browser = started)),
      startSite().then((started) => (site = started)),
    ]),
  );
  after(async () => {
    await browser?.close();
    await site?.close();
  });

  /** The address of a scenario with changed parameters. */
  const address = (fragment, query) => link(site, fragment, query);

  /** Opens an address, in whatever state its runs are. */
  const openAt = (url, options) => open(browser, url, options);

  /** Opens a scenario and waits until its runs are done; `query` is the part of the address before the fragment. */
  async function openDone(fragment, { query, ...options } = {}) {
    const opened = await openAt(address(fragment, query), options);
    await waitForState(opened.page, 'done');
    return opened;
  }

  return { address, openAt, openDone };
}
