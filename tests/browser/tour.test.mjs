// The first five minutes: on a first visit only, by keys and by pointer, in nobody's way.
import assert from "node:assert/strict";

import { digestOf, until, visit } from "./page.mjs";

const title = (page) => page.locator("#tour h2").textContent();

/** Waits for a step. */
const step = (page, number) => until(page, (start) => document.querySelector("#tour h2")?.textContent.startsWith(start), `${number}.`);

export const tests = {
  async "on a first visit four steps lead to free play, by keys alone"(world) {
    const { page, faults, close } = await visit(world, "", { first: true });
    await digestOf(page);
    await step(page, 1);
    await page.keyboard.press("ArrowRight");
    await step(page, 2);
    await page.keyboard.press("ArrowLeft");
    await step(page, 1);
    await page.keyboard.press("Enter");
    await step(page, 2);
    await page.keyboard.press("Enter");
    await step(page, 3);
    await page.keyboard.press("Enter");
    await step(page, 4);
    await page.keyboard.press("Enter");
    await page.locator("#tour").waitFor({ state: "detached" });
    // It is remembered.
    await page.reload();
    await digestOf(page);
    assert.equal(await page.locator("#tour").count(), 0);
    // And can be had again.
    await page.keyboard.press("?");
    await page.click("#start-tour");
    await step(page, 1);
    await page.keyboard.press("Escape");
    await page.locator("#tour").waitFor({ state: "detached" });
    assert.deepEqual(faults, []);
    await close();
  },

  async "the tour blocks nothing: the page works beneath it"(world) {
    const { page, faults, close } = await visit(world, "", { first: true });
    const before = await digestOf(page);
    await step(page, 1);
    await page.selectOption("#case", "preemption");
    assert.notEqual(await digestOf(page), before);
    assert.match(await title(page), /^1\./);
    await page.click("#tour-skip");
    await page.locator("#tour").waitFor({ state: "detached" });
    assert.deepEqual(faults, []);
    await close();
  },

  async "the third step shows a transaction that failed, and its reason"(world) {
    const { page, faults, close } = await visit(world, "", { first: true });
    await digestOf(page);
    await page.click("#tour-next");
    await page.click("#tour-next");
    await step(page, 3);
    await page.click("#tour-offer");
    await until(page, () => /capacity exhausted/.test(document.querySelector("#txn-outcome-name")?.textContent));
    assert.match(await page.locator("#txn-reason").textContent(), /needs \d+ block/);
    assert.deepEqual(faults, []);
    await close();
  },

  async "whoever comes by a link is not shown around"(world) {
    const one = await visit(world);
    await digestOf(one.page);
    await until(one.page, () => location.hash.length > 1);
    const hash = await one.page.evaluate(() => location.hash);
    await one.close();
    const two = await visit(world, hash, { first: true });
    await digestOf(two.page);
    assert.equal(await two.page.locator("#tour").count(), 0);
    assert.deepEqual(two.faults, []);
    await two.close();
  },
};
