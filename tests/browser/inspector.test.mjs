// The transaction inspector, the dead end on screen, and the source hold on the board.
import assert from "node:assert/strict";

import { digestOf, text, until, visit } from "./page.mjs";

/** Opens a case of the gallery and pauses at the beginning. */
async function open(world, name) {
  const visited = await visit(world);
  const { page } = visited;
  await digestOf(page);
  await page.selectOption("#case", name);
  await digestOf(page);
  await page.locator("#inspector").waitFor();
  return visited;
}

/** Waits until the transaction that is shown has its details. */
function reason(page, pattern) {
  return until(page, (source) => new RegExp(source).test(document.querySelector("#txn-reason")?.textContent), pattern.source);
}

export const tests = {
  async "a newcomer steps to the first exhausted transaction and reads why"(world) {
    const { page, faults, close } = await open(world, "twelve-blocks");
    await page.click("#first-exhausted");
    await reason(page, /Request 0 needs 1 block, 0 obtainable: 0 free \+ 0 cached; the running request 3 is preempted and gives back 3 blocks\./);
    assert.match(await text(page, "#txn-outcome-name"), /capacity exhausted/);
    assert.equal(await text(page, "#txn-caller"), "decode growth");
    assert.equal(await text(page, '[data-flow="obtainable"]'), "0");
    assert.equal(await text(page, '[data-flow="needed"]'), "1");
    assert.match(await text(page, "#clock"), /^0\.521 s/);
    assert.match(await text(page, "#live"), /Request 0: capacity exhausted/);
    // What followed at the same instant: the next transaction gets the block.
    const place = await text(page, "#txn-place");
    await page.keyboard.press("]");
    await until(page, (was) => document.querySelector("#txn-place").textContent !== was, place);
    await reason(page, /Request 0 takes 1 block from free slots/);
    assert.match(await text(page, "#clock"), /^0\.521 s/);
    await until(page, () => /Ringed/.test(document.querySelector(".panel--board .below").textContent));
    await page.keyboard.press("[");
    await reason(page, /the running request 3 is preempted/);
    assert.deepEqual(faults, []);
    await close();
  },

  async "transactions are filtered by outcome and by request"(world) {
    const { page, faults, close } = await open(world, "twelve-blocks");
    const total = async () => Number((await text(page, "#txn-place")).split(" of ")[1]);
    await page.locator("#time").fill("1000");
    const all = await total();
    await page.selectOption("#txn-outcome", "exhausted");
    await until(page, (was) => !document.querySelector("#txn-place").textContent.endsWith(` ${was}`), all);
    const exhausted = await total();
    assert.ok(exhausted > 0 && exhausted < all);
    await page.selectOption("#txn-outcome", "ready");
    await until(page, (was) => !document.querySelector("#txn-place").textContent.endsWith(` ${was}`), exhausted);
    assert.equal((await total()) + exhausted, all);
    await page.selectOption("#txn-outcome", "all");
    await page.locator("#txn-request").fill("3");
    await page.locator("#txn-request").press("Enter");
    await until(page, () => /Request 3/.test(document.querySelector(".inspector__who").textContent));
    assert.ok((await total()) < all);
    await page.locator("#txn-request").fill("99");
    await page.locator("#txn-request").press("Enter");
    await page.locator("#txn-none").waitFor();
    assert.deepEqual(faults, []);
    await close();
  },

  async "a dead end shows its banner and who waits for whom"(world) {
    const { page, faults, close } = await open(world, "hold-and-wait");
    await page.locator(".title__dead-end").waitFor();
    assert.match(await text(page, ".title__dead-end"), /Dead end at t = .*2 requests wait/);
    const cycle = page.locator("#wait-cycle li");
    await cycle.first().waitFor();
    assert.match((await cycle.allTextContents()).join("\n"), /request 0 lacks 1 block, and request 1 holds \d+\nrequest 1 stands in the line behind request 0/);
    assert.equal(await text(page, "#outcome"), "dead end");
    await page.selectOption("#case", "hold-and-wait-mended");
    await digestOf(page);
    assert.equal(await text(page, "#outcome"), "finished");
    assert.equal(await page.locator("#wait-cycle").count(), 0);
    assert.deepEqual(faults, []);
    await close();
  },

  async "slots that an offload still reads are shown as such"(world) {
    const { page, faults, close } = await open(world, "blocked-on-offload");
    await page.selectOption("#txn-outcome", "blocked");
    await page.locator("#time").fill("0");
    await page.locator("#txn-none").waitFor();
    await page.click("#txn-next");
    await reason(page, /Request 1 needs 6 blocks.*4 of them hold evicted content.*transfer 0, expected at 120\.00 ms|Request 1 needs 6 blocks.*4 of them hold evicted content.*transfer 0, expected at 0\.120 s/);
    await until(page, () => document.querySelector('[data-state="source-hold"]').textContent === "4");
    assert.equal(await text(page, '[data-flow="source-hold"]'), "4");
    await page.locator("#time").fill("1000");
    await until(page, () => document.querySelector('[data-state="source-hold"]').textContent === "0");
    assert.deepEqual(faults, []);
    await close();
  },

  async "results lie behind the other tab, and arrow keys reach it"(world) {
    const { page, faults, close } = await visit(world);
    await digestOf(page);
    await page.locator("#tab-inspector").focus();
    await page.keyboard.press("ArrowRight");
    await page.locator("#results").waitFor();
    await page.locator("#latency-chart svg").waitFor();
    assert.equal(await page.locator("#inspector").isVisible(), false);
    assert.deepEqual(faults, []);
    await close();
  },
};
