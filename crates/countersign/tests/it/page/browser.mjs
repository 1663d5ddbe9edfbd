// Drives the page in Chromium: LINK REVIEW PROJECT. What is wrong ends it with an error.
import { chromium } from 'playwright-core';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const [link, id, project] = process.argv.slice(2);
const origin = new URL(link).origin;
const widths = [390, 1280];
const axe = createRequire(import.meta.url).resolve('axe-core');
const args = ['--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
if (process.getuid() === 0) args.push('--no-sandbox');
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args });

const wrong = [];
function watch(page) {
  page.on('pageerror', error => wrong.push(`script error: ${error.message}`));
  page.on('console', message => {
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) wrong.push(`console: ${message.text()}`);
  });
  page.on('request', request => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) wrong.push(`request to ${request.url()}`);
  });
}

// Hands other work in, in the place of an agent.
function hand_in(text) {
  writeFileSync(join(project, 'odd <i>.md'), text);
  const env = {};
  for (const [name, value] of Object.entries(process.env)) if (name.startsWith('AGAIN_')) env[name.slice(6)] = value;
  try {
    execFileSync(process.env.REVIEW_AGAIN, ['review', '--subject', 'guide <u>'], { cwd: project, env, stdio: 'ignore' });
  } catch (error) {
    assert.ok([1, 6].includes(error.status), String(error));
  }
}

const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
const page = await context.newPage();
watch(page);

// Sign in: the link is a button, and good once.
await page.goto(link);
await page.getByRole('button', { name: 'Open the inbox' }).click();
await page.waitForURL(`${origin}/`);
assert.equal(await page.evaluate(() => document.cookie), '', 'no script reads the cookie');
assert.equal((await page.goto(link)).status(), 410, 'a link is good once');
await page.goto(`${origin}/`);

// Keys alone: to the review, to its finding, to the decision. No key decides by itself.
await page.keyboard.press('j');
await Promise.all([page.waitForURL(`${origin}/r/${id}`), page.keyboard.press('Enter')]);
await page.keyboard.press('n');
assert.equal(await page.evaluate(() => document.activeElement.className), 'find must');
await page.keyboard.press('d');
assert.equal(await page.evaluate(() => document.activeElement.name), 'verb');
assert.equal(await page.locator('.decide input:checked').count(), 0, 'nothing is chosen before a person chooses');
await page.keyboard.press('?');
assert.ok(await page.locator('#keys').isVisible());
await page.keyboard.press('Escape');

// Hostile texts of file, finding and subject are text.
assert.equal(await page.evaluate(() => window.pwned), undefined);
assert.equal(await page.locator('main img, main iframe, main base').count(), 0);
assert.ok((await page.locator('.diff').innerText()).includes('<script>window.pwned=1</script>'));

// Live: other work of the agent appears without a reload; the part with the focus stays.
await page.evaluate(() => { document.activeElement.blur(); window.same = true; });
hand_in('one\nmore BAD\nthree\n');
await page.locator('#rounds li').nth(1).waitFor({ timeout: 20000 });
assert.ok(await page.evaluate(() => window.same), 'the page was not loaded again');

// A decision about older work is refused, with the words kept; then it is taken.
await page.goto(`${origin}/r/${id}`);
await page.keyboard.press('d');
await page.keyboard.press('Space');
await page.locator('#reason').fill('tracked elsewhere');
hand_in('one\nother BAD work\nthree\n');
await page.locator('#reason').press('Control+Enter');
await page.locator('.refused').waitFor();
assert.ok((await page.locator('.refused').innerText()).includes('Nothing was decided'));
assert.equal(await page.locator('#reason').inputValue(), 'tracked elsewhere');

// Every screen, light and dark, wide and narrow: no errors, nothing sideways, nothing that a screen reader cannot use.
const screens = ['/', `/r/${id}`, '/tasks', '/history', '/insights', '/r/none'];
for (const colorScheme of ['light', 'dark']) {
  const seen = await browser.newContext({ colorScheme, bypassCSP: true, storageState: await context.storageState() });
  const other = await seen.newPage();
  watch(other);
  for (const width of widths) {
    await other.setViewportSize({ width, height: 900 });
    for (const path of screens) {
      await other.goto(origin + path);
      const sideways = await other.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(sideways <= 0, `${path} at ${width} px scrolls sideways by ${sideways}`);
      await other.addScriptTag({ path: axe });
      const { violations } = await other.evaluate(() => window.axe.run());
      const found = violations.map(one => `${one.id}: ${one.nodes.map(node => node.html.slice(0, 120)).join(' | ')}`);
      assert.deepEqual(found, [], `${path} ${colorScheme} ${width}`);
    }
  }
  await seen.close();
}

// Without scripts everything is there.
const plain = await browser.newContext({ javaScriptEnabled: false, storageState: await context.storageState() });
const still = await plain.newPage();
await still.goto(`${origin}/r/${id}`);
await still.locator('input[value=approve]').check();
await still.locator('#reason').fill('without scripts');
await still.getByRole('button', { name: 'Record the decision' }).click();
await still.getByText('without scripts').first().waitFor();
assert.ok((await still.locator('.rhead').innerText()).includes('Overridden'));

assert.deepEqual(wrong, []);
await browser.close();
console.log('all screens seen');
